"""``sovl-tools list``."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import click

from sovl_tools.cli.command import Command, code_option, results, tools_option, write
from sovl_tools.cli.documents import serialized
from sovl_tools.cli.loaded import all_tools
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.reporting.plain import plain

EXAMPLES = """\b
Examples:
  sovl-tools list --tag math
  sovl-tools list --name 'search_*' --format json"""

_COLUMNS = ("NAME", "CATEGORY", "TAGS", "DESCRIPTION")
_GAP = "  "


@click.command("list", cls=Command, epilog=EXAMPLES)
@tools_option
@code_option
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only with this tag; repeatable.")
@click.option("--category", metavar="C", help="Only of this category.")
@click.option("--name", "pattern", metavar="PATTERN", help="Only these names: a shell pattern.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "yaml"]),
    default="table",
    show_default=True,
)
def list_tools(
    *,
    tools: tuple[str, ...],
    entry_points: bool,
    tags: tuple[str, ...],
    category: str | None,
    pattern: str | None,
    format_: str,
) -> None:
    """List the tools that load, by name."""
    registry = all_tools(tools, entry_points=entry_points)
    criteria = {"category": category} if category is not None else {}
    found = registry.filter(name_pattern=pattern, tags=tags, **criteria)
    if format_ == "table":
        write(table([_row(tool) for tool in found], width=_width()))
    else:
        write(serialized([_entry(tool) for tool in found], format_))


def _width() -> int | None:
    """Return how wide the terminal is; None if the results go elsewhere."""
    return shutil.get_terminal_size().columns if results().isatty() else None


def _row(tool: ToolDefinition) -> tuple[str, ...]:
    first_line = tool.description.strip().partition("\n")[0]
    cells = (tool.name, tool.category or "", ", ".join(tool.tags), first_line)
    return tuple(plain(cell) for cell in cells)


def _entry(tool: ToolDefinition) -> dict[str, JSON]:
    return {
        "name": tool.name,
        "description": tool.description,
        "category": tool.category,
        "tags": list(tool.tags),
        "version": tool.version,
        "path": tool.source,
    }


def table(rows: Sequence[tuple[str, ...]], *, width: int | None) -> str:
    """Return rows under their headings; the last column is cut to a width, if there is one."""
    if not rows:
        return "no tools"
    lines = [_COLUMNS, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(_COLUMNS) - 1)]
    taken = sum(widths) + len(_GAP) * len(widths)
    room = None if width is None else max(20, width - taken)
    return "\n".join(_line(line, widths, room) for line in lines)


def _line(cells: tuple[str, ...], widths: Sequence[int], room: int | None) -> str:
    *first, last = cells
    if room is not None and len(last) > room:
        last = f"{last[: room - 1]}…"
    padded = [cell.ljust(size) for cell, size in zip(first, widths, strict=True)]
    return _GAP.join([*padded, last]).rstrip()
