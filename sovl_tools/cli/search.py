"""``sovl-tools search``."""

from __future__ import annotations

import click

from sovl_tools.cli.command import (
    Command,
    entry_points_option,
    format_option,
    limit_option,
    tools_option,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import json_text, write
from sovl_tools.reporting.text import plain
from sovl_tools.search.phrases import MOST_FOUND, ToolMatch

EXAMPLES = """\b
Examples:
  sovl-tools search convert miles
  sovl-tools search "how many words does this text have?" --limit 3
  sovl-tools search statistics --format json"""
EXITS = {
    0: "Whether a tool was found or not.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("query", nargs=-1, required=True)
@tools_option
@entry_points_option
@limit_option(MOST_FOUND)
@format_option("text", "json")
def search(
    *,
    query: tuple[str, ...],
    tools: tuple[str, ...],
    entry_points: bool,
    limit: int,
    format_: str,
) -> None:
    """Find the tools that have words of QUERY, the best first.

    QUERY is a few words or whole sentences. Names count most, then phrases, titles, tags and
    descriptions. Each line says which words were found, and where.
    """
    registry = all_tools(tools, entry_points=entry_points)
    found = registry.search(" ".join(query), limit=limit)
    if format_ == "json":
        write(json_text([each._asdict() for each in found], indent=2))
    else:
        write("\n".join(map(_line, found)) or "no tool has a word of the query")


def _line(found: ToolMatch) -> str:
    words = [f"{plain(word)!r} in {', '.join(fields)}" for word, fields in found.words.items()]
    return f"{found.tool}  score {found.score:.2f}: {'; '.join(words)}"
