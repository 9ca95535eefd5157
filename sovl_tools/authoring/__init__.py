"""Tools made from Python: what annotations and docstrings say about a function's arguments."""
