"""Diagnostics on paper: one module for each format, chosen from the table in ``rendering``."""
