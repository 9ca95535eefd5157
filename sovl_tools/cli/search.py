"""``sovl-tools search`` and ``match``: find tools for a string."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from sovl_tools.cli import option
from sovl_tools.cli.command import Command
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import show, show_json
from sovl_tools.reporting.text import plain
from sovl_tools.schema.problem import shown
from sovl_tools.search.phrases import MOST_FOUND

SEARCH_EXAMPLES = """\b
Examples:
  sovl-tools search convert miles
  sovl-tools search "how many words does this text have?" --limit 3"""
MATCH_EXAMPLES = """\b
Examples:
  sovl-tools match "could you add numbers for me"
  sovl-tools match what time is it in Oslo --format json"""


def _lookup_options(limit: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    limit_option = click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=limit,
        show_default=limit is not None,
        metavar="N",
        help="The maximum number of results.",
    )
    return option.several(
        option.registry, option.views, limit_option, option.format_("text", "json")
    )


@click.command(cls=Command, epilog=SEARCH_EXAMPLES, exits={0: "Whether a tool was found or not."})
@click.argument("query", nargs=-1, required=True)
@_lookup_options(MOST_FOUND)
def search(
    *,
    query: tuple[str, ...],
    tools: option.ToolOptions,
    limit: int,
    format_: str,
) -> None:
    """Find the tools that have words of QUERY, or mean something similar, the best first.

    QUERY is a few words or whole sentences. Names count most, then phrases, titles, tags and
    descriptions. Each line names the matching words and their places. Similar meanings need the
    extra semantic: pip install 'sovl-tools[semantic]'.
    """
    registry = all_tools(tools, lazy=True)
    found = registry.search(" ".join(query), limit=limit)
    if format_ == "json":
        show_json([each._asdict() for each in found], indent=2)
    else:
        lines = []
        for tool, score, fields, evidence in found:
            words = [f"{plain(word)!r} in {', '.join(each)}" for word, each in fields.items()]
            said = "; ".join(words) or "a similar meaning"
            lines.append(f"{tool}  score {score:.2f}, evidence {evidence:.2f}: {said}")
        show("\n".join(lines) or "no tool has a word of the query")


@click.command(cls=Command, epilog=MATCH_EXAMPLES, exits={0: "Whether a phrase was found or not."})
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@_lookup_options(None)
def match(
    *,
    words: tuple[str, ...],
    tools: option.ToolOptions,
    limit: int | None,
    format_: str,
) -> None:
    """Find the tools whose activation phrases are in TEXT, the longest phrase first.

    TEXT can be several arguments, joined by spaces. Whole words are compared, without case and
    punctuation. A score is the share of the words that the phrase covers; START and END count
    characters from 0. The slots of a phrase, such as "weather in {city}", take arguments.
    """
    found = all_tools(tools, lazy=True).match(" ".join(words))[:limit]
    if format_ == "json":
        show_json([each._asdict() for each in found], indent=2)
    else:
        lines = []
        for tool, phrase, start, end, score, arguments in found:
            taken = "".join(f", {key}={shown(value)}" for key, value in arguments.items())
            lines.append(f"{tool}  {plain(phrase)!r} at {start}-{end}, score {score:g}{taken}")
        show("\n".join(lines) or "no activation phrase is in the text")
