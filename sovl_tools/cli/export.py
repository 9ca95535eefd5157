"""``sovl-tools export``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import FINDINGS, Command, note
from sovl_tools.cli.load_tools import all_tools, complete_names
from sovl_tools.cli.output import json_text, table, write_to
from sovl_tools.formats.base import FORMATS, estimate
from sovl_tools.formats.export import Target
from sovl_tools.loading.exporting import exported
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools export --format openai --strict
  sovl-tools export --format anthropic --tool calculate --tool convert_units
  sovl-tools export --format markdown -o TOOLS.md
  sovl-tools export --tokens"""
EXITS = {1: "The provider would reject the definitions."}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@option.registry
@option.views
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default=next(iter(FORMATS)),
    show_default=True,
    metavar="FORMAT",
    help=f"One of {', '.join(FORMATS)}.",
)
@click.option("--strict", is_flag=True, help="Convert schemas to what the provider can enforce.")
@click.option(
    "--tool",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_names,
    help="Only this tool; can be repeated, the order counts.",
)
@click.option("--tokens", is_flag=True, help="Estimate the tokens of the definitions instead.")
@option.file("-o", "--output", words="Write into a file; - is the standard output.")
@click.pass_context
def export(
    ctx: click.Context,
    *,
    tools: option.ToolOptions,
    format_: str,
    strict: bool,
    names: tuple[str, ...],
    tokens: bool,
    output: str | None,
) -> None:
    """Print the tools in a provider's format.

    The output is a list of definitions, or one document (openapi), a string (prompt) or a catalogue
    for people (markdown). The losses of the format are written to the error output.

    --tokens prints a table with the tokens of each definition in the usual formats, or in FORMAT.
    """
    if strict:
        try:
            Target.of(f"{format_}-strict")
        except ValueError as error:  # the format has no strict form
            raise click.BadParameter(str(error), param_hint="--strict") from error
    registry = all_tools(tools, lazy=True)
    if tokens:
        is_given = ctx.get_parameter_source("format_") is click.core.ParameterSource.COMMANDLINE
        targets = (f"{format_}-strict" if strict else format_,) if is_given else _USUAL
        chosen = [registry[name] for name in dict.fromkeys(names)] or registry.list_tools()
        write_to(output, _token_table(chosen, targets))
        note("tokens are estimated from the number of characters: up to half too many, rarely less")
        return
    found = registry.export(format_, strict=strict, tools=tuple(dict.fromkeys(names)) or None)
    text = found.definitions
    if not isinstance(text, str):
        text = json_text(text, indent=2)
    write_to(output, text)
    for each in found.diagnostics:
        note(str(each))
    ctx.exit(FINDINGS if any(each.severity == "error" for each in found.diagnostics) else 0)


_USUAL = ("openai", "openai-strict", "anthropic", "gemini", "mcp", "prompt")
"""The formats of ``--tokens`` unless one is named."""


def _token_table(tools: Sequence[ToolDefinition], targets: Sequence[str]) -> str:
    """Return an estimate for each tool and target, and for all tools together."""
    # by target; a tool that a target can't express is missing there
    counts: list[dict[str, int]] = []
    for target in targets:
        shapes = exported(tools, Target.of(target)).shapes
        counts.append({name: estimate(shape.definition) for name, shape in shapes.items()})
    rows = []
    for tool in tools:
        cells = (each.get(tool.name) for each in counts)
        rows.append([plain(tool.name), *("-" if cell is None else f"{cell:,}" for cell in cells)])
    rows.append(["all", *(f"{sum(each.values()):,}" for each in counts)])
    head = ["TOOL", *map(str.upper, targets)]
    return table(head, rows, numbers=range(1, len(head)))
