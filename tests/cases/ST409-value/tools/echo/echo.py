"""A module."""

echo = 5
