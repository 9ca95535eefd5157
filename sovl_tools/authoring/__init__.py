"""Tools made from Python: ``@tool``, ``AITool``, and what annotations and docstrings say."""
