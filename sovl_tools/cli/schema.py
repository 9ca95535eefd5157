"""``sovl-tools schema``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import Command
from sovl_tools.cli.output import write
from sovl_tools.schema.engine import PUBLISHED, schema_text

EXAMPLES = """\b
Examples:
  sovl-tools schema tool > tool.schema.json      then name it under "$schema" in a manifest"""


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("name", type=click.Choice(PUBLISHED), default="tool")
def schema(*, name: str) -> None:
    """Print a published JSON Schema.

    It is that of manifests (tool), of procedures (procedure) or of pyproject.toml's table (config).
    """
    write(schema_text(name).rstrip("\n"))
