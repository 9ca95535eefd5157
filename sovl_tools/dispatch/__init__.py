"""Calling tools with a model's arguments."""
