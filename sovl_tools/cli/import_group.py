"""``sovl-tools import``."""

from __future__ import annotations

import click

from sovl_tools.cli.import_openai import import_openai

EXAMPLES = """\b
Examples:
  sovl-tools import openai functions.json"""


@click.group("import", epilog=EXAMPLES, commands=[import_openai])
def import_() -> None:
    """Write folders of tools that are defined elsewhere."""
