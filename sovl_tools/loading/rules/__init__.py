"""One module for each shape that a tool folder passes through, one rule for each question."""
