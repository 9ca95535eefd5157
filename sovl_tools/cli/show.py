"""``sovl-tools show``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    format_option,
    registry_options,
)
from sovl_tools.cli.load_tools import complete_names, one_tool
from sovl_tools.cli.output import serialized, write
from sovl_tools.formats.text import Described, described
from sovl_tools.model.definition import ToolDefinition, manifest_values
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolNotFoundError
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools show example_tool
  sovl-tools show example_tool --format yaml"""
EXITS = {
    1: "The tool did not load.",
    2: "There is no such tool.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", shell_complete=complete_names)
@registry_options
@format_option("text", "json", "yaml")
@click.pass_context
def show(
    ctx: click.Context, *, name: str, tools: tuple[str, ...], entry_points: bool, format_: str
) -> None:
    """Show what a model sees of a tool, and what else is known of it.

    Only this tool is imported.
    """
    try:
        tool = one_tool(tools, name, entry_points=entry_points)[name].resolve()
    except ToolNotFoundError as error:
        click.echo(plain(str(error)), err=True)
        ctx.exit(FINDINGS)
    write(_text(tool) if format_ == "text" else serialized(_document(tool), format_))


_KEYS = (
    "name", "title", "description", "parameters", "category", "version", "tags",
    "activation_phrases", "examples", "instructions", "output_schema", "annotations", "execution",
    "requires",
)  # fmt: skip


def _document(tool: ToolDefinition) -> dict[str, JSON]:
    """Return everything that is known of the tool and not empty."""
    known = manifest_values(tool, _KEYS)
    if tool.step_handlers:
        known["step_actions"] = list(tool.step_handlers)
    return {**known, **manifest_values(tool, ("metadata",)), "path": tool.source}


def _text(tool: ToolDefinition) -> str:
    lines = [
        f"{tool.name}  {plain(tool.source)}",
        "",
        *map(plain, tool.description.split("\n")),
        "",
    ]
    lines += _parameters(tool)
    for key, value in _document(tool).items():
        if key not in {"name", "description", "parameters", "path", "instructions"}:
            is_words = isinstance(value, list) and all(isinstance(each, str) for each in value)
            text = ", ".join(value) if is_words else value
            text = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
            lines.append(f"{key.replace('_', ' ')}: {plain(text)}")
    if tool.instructions:
        lines += ["instructions:", *(f"  {plain(line)}" for line in tool.instructions.split("\n"))]
    return "\n".join(lines)


def _parameters(tool: ToolDefinition) -> list[str]:
    """Return the lines about the parameters, which say what the prompt export says of them."""
    found = list(described(tool.parameters))
    return ["parameters:" if found else "no parameters", *chain.from_iterable(map(_lines, found))]


def _lines(parameter: Described) -> Iterator[str]:
    kind = "anything" if parameter.type == "any" else parameter.type
    mark = "" if parameter.mark == "optional" else f", {parameter.mark}"
    yield plain(f"  {parameter.name}  {kind}{mark}")
    for text in filter(None, (parameter.meaning, " ".join(parameter.notes))):
        yield from (f"      {plain(line)}" for line in text.split("\n") if line)
    yield from (f"      {plain(line)}" for line in parameter.inner)
