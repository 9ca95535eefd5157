"""Serves tools to programs elsewhere: a JSON API over HTTP, and the Model Context Protocol."""

from sovl_tools.serving.sdk import import_in_parts

import_in_parts("mcp", "mcp.server")
import_in_parts("mcp_types", "mcp_types._v2025_11_25", "mcp_types._v2026_07_28")
