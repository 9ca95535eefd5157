"""A conversation with a model that calls the tools of a registry."""
