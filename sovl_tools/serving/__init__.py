"""Serves tools to programs elsewhere: a JSON API over HTTP, and the Model Context Protocol."""
