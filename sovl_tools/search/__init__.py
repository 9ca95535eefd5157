"""Finding tools for a string."""
