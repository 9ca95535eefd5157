"""``sovl-tools list``."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import click

from sovl_tools.cli.command import Command, format_option, registry_options
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import aligned, colored, results, serialized, write
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.reporting.text import cut, plain

EXAMPLES = """\b
Examples:
  sovl-tools list --tag math
  sovl-tools list --name 'search_*' --format json"""
EXITS = {
    0: "Also if tools did not load; they are counted on the error output.",
    2: "A directory of tools is not there or can't be listed.",
}

_COLUMNS = ("NAME", "CATEGORY", "TAGS", "DESCRIPTION")


@click.command("list", cls=Command, epilog=EXAMPLES, exits=EXITS)
@registry_options
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
    catalog = registry.catalog
    statuses = {each.name: each.status for each in catalog.candidates}
    lost = [
        NotLoaded(name, statuses.get(name, "rejected"), "; ".join(reasons))
        for name, reasons in catalog.unavailable.items()
        if not tags and category is None and fnmatchcase(name, pattern or "*")
    ]
    if format_ == "table":
        dim_rows = [
            (plain(each.name), "", "", plain(f"{each.status}: {each.reason}")) for each in lost
        ]
        # whole lines for grep and for files
        width = shutil.get_terminal_size().columns if results().isatty() else None
        rows = sorted([*map(row, found), *dim_rows])
        write(table(rows, width=width, dim={each.name for each in lost}))
        return
    entries: list[dict[str, JSON]] = [
        {
            "name": tool.name,
            "description": tool.description,
            "category": tool.category,
            "tags": list(tool.tags),
            "version": tool.version,
            "path": tool.source,
        }
        for tool in found
    ]
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


def row(tool: ToolDefinition) -> tuple[str, ...]:
    """Return what a table of tools says of one."""
    first_line = tool.description.strip().partition("\n")[0]
    cells = (tool.name, tool.category or "", ", ".join(tool.tags), first_line)
    return tuple(plain(cell) for cell in cells)


def table(rows: Sequence[tuple[str, ...]], *, width: int | None, dim: Collection[str] = ()) -> str:
    """Return rows under their headings; the last column is cut to a width, if there is one.

    ``dim`` are the names of rows that are shown dimmed where colours are.
    """
    if not rows:
        return "no tools"
    names = ["", *(each[0] for each in rows)]
    if width is not None:
        columns = zip(_COLUMNS, *rows, strict=True)
        *others, _ = (max(map(len, column)) + 2 for column in columns)
        room = max(20, width - sum(others))  # a narrow terminal wraps the last column
        rows = [(*cells, cut(last, room)) for *cells, last in rows]
    lines = aligned([_COLUMNS, *rows])
    dimmed = dim if dim and colored() else ()
    return "\n".join(
        click.style(line, dim=True) if name in dimmed else line
        for name, line in zip(names, lines, strict=True)
    )
