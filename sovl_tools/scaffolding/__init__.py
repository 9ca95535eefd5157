"""Tool folders made from code, and kept in line with it."""
