"""Runs of procedures."""
