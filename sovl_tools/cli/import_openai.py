"""``sovl-tools import openai``."""

from __future__ import annotations

from typing import Any

import click

from sovl_tools.cli.command import Command, Misuse, is_quiet
from sovl_tools.cli.import_tools import EXITS, read_source, target_of, target_options, write_all
from sovl_tools.formats.foreign import definitions_in
from sovl_tools.model.document import parse_json
from sovl_tools.scaffolding.imported import import_tools, stub

EXAMPLES = """\b
Examples:
  sovl-tools import openai functions.json
  sovl-tools import openai functions.json -o lab --dry-run
  cat request.json | sovl-tools import openai -

FILE holds JSON: one definition, a list of them, or an object around such a list, in the form of
OpenAI (both APIs), Anthropic, Gemini, Bedrock, MCP, or name, description and parameters alone."""


@click.command("openai", cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("file")
@target_options
def import_openai(*, file: str, **options: Any) -> None:
    """Write a folder for each definition in a file: a manifest, and a function to be written.

    The function takes what the schema says and raises NotImplementedError until you write it. A
    name that no folder may have becomes one that it may.
    """
    target = target_of(**options)
    try:
        document = parse_json(read_source(file))
    except ValueError as error:
        raise Misuse(f"{file!r} is not JSON: {error}") from error
    definitions = definitions_in(document, target.selection)
    write_all(import_tools(definitions, stub), target, source=file)
    if not target.dry_run and not is_quiet():
        click.echo("next: write the functions, then: sovl-tools validate", err=True)
