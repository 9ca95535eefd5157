"""``sovl-tools export``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    ToolOptions,
    format_option,
    note,
    output_option,
    registry_options,
)
from sovl_tools.cli.load_tools import all_tools, complete_names
from sovl_tools.cli.output import json_text, write_to
from sovl_tools.formats.base import FORMATS
from sovl_tools.loading.exporting import Target
from sovl_tools.model.errors import ToolNotFoundError

EXAMPLES = """\b
Examples:
  sovl-tools export --format openai --strict
  sovl-tools export --format anthropic --tool calculate --tool slugify
  sovl-tools export --format openapi -o openapi.json
  sovl-tools export --format prompt
  sovl-tools export --format markdown -o TOOLS.md"""
EXITS = {1: "The provider would refuse the definitions."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@registry_options
@format_option(*FORMATS)
@click.option("--strict", is_flag=True, help="Convert schemas to what the provider can enforce.")
@click.option(
    "--tool",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_names,
    help="Only this tool; may be repeated, the order counts.",
)
@output_option
@click.pass_context
def export(
    ctx: click.Context,
    *,
    tools: ToolOptions,
    format_: str,
    strict: bool,
    names: tuple[str, ...],
    output: str | None,
) -> None:
    """Print the tools in a provider's format.

    It is a list of definitions; for openapi it is one document, for prompt a text, for markdown a
    catalogue for people. What a format loses is written to the error output.
    """
    if strict:
        try:
            Target.of(f"{format_}-strict")
        except ValueError as error:  # the format has no strict form
            raise click.BadParameter(str(error), param_hint="--strict") from error
    registry = all_tools(tools)
    chosen = tuple(dict.fromkeys(names)) or None
    try:
        found = registry.export(format_, strict=strict, tools=chosen)
    except ToolNotFoundError as error:
        raise Misuse(str(error)) from error
    text = found.definitions
    if not isinstance(text, str):
        text = json_text(text, indent=2)
    write_to(output, text)
    for each in found.diagnostics:
        note(str(each))
    ctx.exit(FINDINGS if any(each.severity == "error" for each in found.diagnostics) else 0)
