"""Serves tools to programs elsewhere: a JSON API over HTTP, and the Model Context Protocol."""

from sovl_tools.serving.sdk import import_in_parts

import_in_parts("mcp", "mcp.server")
