"""What a function takes: read from it or from its text, and held against a schema."""
