"""A server imports the parts of the MCP SDK that it uses; others are there when asked for."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import sovl_tools.serving.mcp_server
assert "mcp.client" not in sys.modules, "the clients"
assert "mcp.server.mcpserver" not in sys.modules, "the other server"
import mcp.server
from mcp import *
assert mcp.server.Server is sovl_tools.serving.mcp_server.Server
assert mcp.Client is Client
assert not hasattr(mcp, "nothing")
from mcp.server import MCPServer
"""


def test_parts_of_the_sdk_are_imported_when_they_are_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
