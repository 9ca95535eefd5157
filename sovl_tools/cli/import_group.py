"""``sovl-tools import``."""

from __future__ import annotations

import click

from sovl_tools.cli.import_mcp import import_mcp
from sovl_tools.cli.import_openai import import_openai
from sovl_tools.cli.import_openapi import import_openapi

EXAMPLES = """\b
Examples:
  sovl-tools import mcp 'uvx mcp-server-git'
  sovl-tools import openapi https://example.com/openapi.json
  sovl-tools import openai functions.json"""


@click.group("import", epilog=EXAMPLES, commands=[import_mcp, import_openapi, import_openai])
def import_() -> None:
    """Write folders of tools that are defined elsewhere."""
