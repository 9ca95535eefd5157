"""Finding the tool that a text asks for."""
