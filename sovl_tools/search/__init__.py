"""Finding the tool that a string asks for."""
