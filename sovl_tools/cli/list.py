"""``sovl-tools list``."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from sovl_tools.cli.command import Command, entry_points_option, format_option, tools_option
from sovl_tools.cli.loaded import all_tools
from sovl_tools.cli.output import colored, results, serialized, write
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.plain import plain

EXAMPLES = """\b
Examples:
  sovl-tools list --tag math
  sovl-tools list --name 'search_*' --format json"""
EXITS = {
    0: "Also if tools did not load; they are counted on the error output.",
}

_COLUMNS = ("NAME", "CATEGORY", "TAGS", "DESCRIPTION")
_GAP = "  "


@click.command("list", cls=Command, epilog=EXAMPLES, exits=EXITS)
@tools_option
@entry_points_option
@click.option("--tag", "tags", multiple=True, metavar="T", help="Only with this tag; repeatable.")
@click.option("--category", metavar="C", help="Only of this category.")
@click.option("--name", "pattern", metavar="PATTERN", help="Only these names: a shell pattern.")
@click.option(
    "--all", "all_", is_flag=True, help="With json or yaml: those that are not loaded as well."
)
@format_option("table", "json", "yaml")
def list_tools(
    *,
    tools: tuple[str, ...],
    entry_points: bool,
    tags: tuple[str, ...],
    category: str | None,
    pattern: str | None,
    all_: bool,
    format_: str,
) -> None:
    """List the tools, by name, and why some are not loaded.

    Of those nothing is known but their names, so a tag or a category leaves them out.
    """
    registry = all_tools(tools, entry_points=entry_points)
    criteria = {"category": category} if category is not None else {}
    found = registry.filter(name_pattern=pattern, tags=tags, **criteria)
    lost = [] if tags or category is not None else _not_loaded(registry, pattern)
    if format_ == "table":
        rows = sorted([*map(_row, found), *map(_dim_row, lost)])
        write(table(rows, width=_width(), dim={each.name for each in lost}))
        return
    entries = [_entry(tool) for tool in found]
    if all_:
        entries = [{**each, "status": "loaded", "reason": None} for each in entries]
        entries += [each._asdict() for each in lost]
        entries.sort(key=lambda each: each["name"])
    write(serialized(entries, format_))


class NotLoaded(NamedTuple):
    """A tool that can't be called, with its status and the reason in words."""

    name: str
    status: str
    reason: str


def _not_loaded(registry: ToolRegistry, pattern: str | None) -> list[NotLoaded]:
    """Return what can't be called, of the names that fit a pattern."""
    catalog = registry.catalog
    statuses = {each.name: each.status for each in catalog.candidates}
    return [
        NotLoaded(name, statuses.get(name, "rejected"), "; ".join(reasons))
        for name, reasons in catalog.unavailable.items()
        if pattern is None or fnmatchcase(name, pattern)
    ]


def _width() -> int | None:
    """Return how wide the terminal is; None if the results go elsewhere."""
    return shutil.get_terminal_size().columns if results().isatty() else None


def _row(tool: ToolDefinition) -> tuple[str, ...]:
    first_line = tool.description.strip().partition("\n")[0]
    cells = (tool.name, tool.category or "", ", ".join(tool.tags), first_line)
    return tuple(plain(cell) for cell in cells)


def _dim_row(lost: NotLoaded) -> tuple[str, ...]:
    return plain(lost.name), "", "", plain(f"{lost.status}: {lost.reason}")


def _entry(tool: ToolDefinition) -> dict[str, JSON]:
    return {
        "name": tool.name,
        "description": tool.description,
        "category": tool.category,
        "tags": list(tool.tags),
        "version": tool.version,
        "path": tool.source,
    }


def table(rows: Sequence[tuple[str, ...]], *, width: int | None, dim: Collection[str] = ()) -> str:
    """Return rows under their headings; the last column is cut to a width, if there is one.

    ``dim`` are the names of rows that are shown dimmed where colours are.
    """
    if not rows:
        return "no tools"
    lines = [_COLUMNS, *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(_COLUMNS) - 1)]
    taken = sum(widths) + len(_GAP) * len(widths)
    room = None if width is None else max(20, width - taken)
    dimmed = dim if dim and colored() else ()
    shown = ((_line(line, widths, room), line[0] in dimmed) for line in lines)
    return "\n".join(click.style(text, dim=True) if is_dim else text for text, is_dim in shown)


def _line(cells: tuple[str, ...], widths: Sequence[int], room: int | None) -> str:
    *first, last = cells
    if room is not None and len(last) > room:
        last = f"{last[: room - 1]}…"
    padded = [cell.ljust(size) for cell, size in zip(first, widths, strict=True)]
    return _GAP.join([*padded, last]).rstrip()
