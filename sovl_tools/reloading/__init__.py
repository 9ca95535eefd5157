"""What changes in directories: what matters there, what it looks like, what the system tells."""
