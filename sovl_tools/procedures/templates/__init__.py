"""Templates and expressions, which give values once the variables are known."""
