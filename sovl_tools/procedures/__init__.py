"""Procedures: multi-step work from tools and custom steps."""
