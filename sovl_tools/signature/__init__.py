"""The parameters of functions: read from the object or its source, and compared with a schema."""
