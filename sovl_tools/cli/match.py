"""``sovl-tools match``."""

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
from sovl_tools.search.phrases import PhraseMatch

EXAMPLES = """\b
Examples:
  sovl-tools match "could you add numbers for me"
  sovl-tools match what time is it in Oslo --format json"""
EXITS = {
    0: "Whether a phrase was found or not.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@tools_option
@entry_points_option
@limit_option(None)
@format_option("text", "json")
def match(
    *,
    words: tuple[str, ...],
    tools: tuple[str, ...],
    entry_points: bool,
    limit: int | None,
    format_: str,
) -> None:
    """Find the tools whose activation phrases stand in TEXT, the longest phrase first.

    TEXT is one argument or several, which count as joined by spaces. Words are compared whole,
    without case and punctuation. A score is the share of the words that the
    phrase covers; START and END count characters from 0.
    """
    found = all_tools(tools, entry_points=entry_points).match(" ".join(words))[:limit]
    if format_ == "json":
        write(json_text([each._asdict() for each in found], indent=2))
    else:
        write(
            "\n".join(_line(each) for each in found) or "no phrase of any tool stands in the text"
        )


def _line(found: PhraseMatch) -> str:
    place = f"{found.start}-{found.end}"
    return f"{found.tool}  {plain(found.phrase)!r} at {place}, score {found.score:g}"
