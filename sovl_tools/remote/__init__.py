"""Tools that are somewhere else: operations of HTTP APIs, and the tools of MCP servers."""
