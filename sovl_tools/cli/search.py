"""Which tools a text asks for: ``sovl-tools search``, ``match`` and ``route-test``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from sovl_tools.cli.arguments import read_text
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    Range,
    ToolOptions,
    format_option,
    limit_option,
    options,
    registry_options,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import aligned, json_text, write
from sovl_tools.linting.routing import (
    DEPTHS,
    WAYS,
    Routed,
    RouteError,
    Routing,
    document_of,
    read_routes,
    routing_of,
)
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain
from sovl_tools.schema.problem import shown
from sovl_tools.search.phrases import MOST_FOUND

SEARCH_EXAMPLES = """\b
Examples:
  sovl-tools search convert miles
  sovl-tools search "how many words does this text have?" --limit 3
  sovl-tools search statistics --format json"""
MATCH_EXAMPLES = """\b
Examples:
  sovl-tools match "could you add numbers for me"
  sovl-tools match what time is it in Oslo --format json"""


def _lookup_options(limit: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return options(registry_options, limit_option(limit), format_option("text", "json"))


@click.command(cls=Command, epilog=SEARCH_EXAMPLES, exits={0: "Whether a tool was found or not."})
@click.argument("query", nargs=-1, required=True)
@_lookup_options(MOST_FOUND)
def search(
    *,
    query: tuple[str, ...],
    tools: ToolOptions,
    limit: int,
    format_: str,
) -> None:
    """Find the tools that have words of QUERY, the best first.

    QUERY is a few words or whole sentences. Names count most, then phrases, titles, tags and
    descriptions. Each line says which words were found, and where.
    """
    registry = all_tools(tools)
    found = registry.search(" ".join(query), limit=limit)
    if format_ == "json":
        write(json_text([each._asdict() for each in found], indent=2))
    else:
        lines = []
        for tool, score, fields in found:
            words = [f"{plain(word)!r} in {', '.join(each)}" for word, each in fields.items()]
            lines.append(f"{tool}  score {score:.2f}: {'; '.join(words)}")
        write("\n".join(lines) or "no tool has a word of the query")


@click.command(cls=Command, epilog=MATCH_EXAMPLES, exits={0: "Whether a phrase was found or not."})
@click.argument("words", metavar="TEXT...", nargs=-1, required=True)
@_lookup_options(None)
def match(
    *,
    words: tuple[str, ...],
    tools: ToolOptions,
    limit: int | None,
    format_: str,
) -> None:
    """Find the tools whose activation phrases stand in TEXT, the longest phrase first.

    TEXT is one argument or several, which count as joined by spaces. Words are compared whole,
    without case and punctuation. A score is the share of the words that the
    phrase covers; START and END count characters from 0.
    """
    found = all_tools(tools).match(" ".join(words))[:limit]
    if format_ == "json":
        write(json_text([each._asdict() for each in found], indent=2))
    else:
        lines = [
            f"{each.tool}  {plain(each.phrase)!r} at {each.start}-{each.end}, score {each.score:g}"
            for each in found
        ]
        write("\n".join(lines) or "no phrase of any tool stands in the text")


ROUTE_EXAMPLES = """\b
Examples:
  sovl-tools route-test routes.jsonl
  sovl-tools route-test routes.jsonl --at-least 0.9        in CI
  sovl-tools route-test routes.jsonl --at-least 1 --at 5   for agents with few tools"""
ROUTE_EXITS = {
    1: "The recall is below --at-least.",
    2: "The file can't be read, or a line of it is wrong.",
}
_MOST_LINES = 20


@click.command("route-test", cls=Command, epilog=ROUTE_EXAMPLES, exits=ROUTE_EXITS)
@click.argument("file", type=click.Path(allow_dash=True))
@registry_options
@click.option(
    "--at-least",
    type=Range(0, 1),
    metavar="R",
    help="Fail where the recall of both together is less: a share from 0 to 1.",
)
@click.option(
    "--at",
    "depth",
    type=click.Choice([str(each) for each in DEPTHS]),
    default=str(DEPTHS[0]),
    show_default=True,
    help="Which recall --at-least is about.",
)
@format_option("text", "json")
@click.pass_context
def route_test(
    ctx: click.Context,
    *,
    file: str,
    tools: ToolOptions,
    at_least: float | None,
    depth: str,
    format_: str,
) -> None:
    """Test whether texts lead to the tools that they are meant for, by phrases and by searching.

    Each line of FILE is an object such as {"text": "will it rain", "tool": "weather"}, with null
    for the tool where none is meant; FILE may be -. Recall@3 is the share of the texts whose tool
    is among the first three. "both" takes what phrases find first, then what searching finds, as
    agents do.

    What is told: texts for which another tool comes first, those that lead to a tool although none
    is meant, and those in which phrases of several tools stand.
    """
    try:
        routes = read_routes(read_text(file, file))
        if not routes:
            raise Misuse(f"{file}: there is no text in it")
        routing = routing_of(routes, all_tools(tools))
    except RouteError as error:
        raise Misuse(f"{file}:{error.line}: {plain(error.message)}") from error
    recall = routing.recall("both", int(depth))
    if at_least is not None and recall is None:
        raise Misuse(f"{file}: no text is meant for a tool that is there, so there is no recall")
    if format_ == "json":
        write(json_text(document_of(routing), indent=2))
    else:
        write("\n".join(_lines(file, routing)))
    is_below = at_least is not None and recall is not None and recall < at_least
    if is_below:
        click.echo(f"recall@{depth} is {recall:.3f}, below {at_least:g}", err=True)
    ctx.exit(FINDINGS if is_below else 0)


def _lines(file: str, routing: Routing) -> Iterator[str]:
    yield from _first([_missed(file, each) for each in routing.meant if each.is_missed])
    yield from _first([_false_offer(file, each) for each in routing.false_offers("both")])
    yield from _first([_collision(file, each) for each in routing.routed if each.colliding])
    yield from _first(
        [f"{file}:{route.line}: left out: {plain(why)}" for route, why in routing.left_out]
    )
    for (meant, first), count in routing.confusions().most_common(_MOST_LINES):
        if count > 1:
            yield f"{first!r} comes before {meant!r} in {counted(count, 'text')}"
    if routing.meant:
        head = ["recall", *(f"@{depth}" for depth in DEPTHS)]
        rows = [[way, *(f"{routing.recall(way, d):.2f}" for d in DEPTHS)] for way in WAYS]
        yield from aligned([head, *rows], numbers=range(1, len(head)))
    number = len(routing.unmeant)
    if number:
        by_way = [f"{len(routing.false_offers(way))} by {way}" for way in WAYS[:2]]
        words = f"{' and '.join(by_way)} of {counted(number, 'text')} for no tool"
        yield f"false offers: {words}"
    yield f"{counted(len(routing.routed), 'text')}, {len(routing.meant)} of them for a tool"


def _first(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"… and {len(lines) - _MOST_LINES:,} more like the last one"


def _missed(file: str, routed: Routed) -> str:
    route, rank = routed.route, routed.rank("both")
    place = "is not found" if rank is None else f"comes as number {rank}"
    others = routed.found["both"][:1]
    first = f"{others[0]!r} comes first" if others else "no tool is found"
    text = f"{file}:{route.line}: {shown(route.text)} is meant for {route.tool!r}, which {place}"
    return f"{plain(text)}; {first}"


def _false_offer(file: str, routed: Routed) -> str:
    tool = routed.found["both"][0]
    way = next(way for way in WAYS if tool in routed.found[way])
    text = f"{file}:{routed.route.line}: {shown(routed.route.text)} is meant for no tool"
    return f"{plain(text)}; {way} finds {tool!r}"


def _collision(file: str, routed: Routed) -> str:
    phrases = [f"{one.phrase!r} of {tool}" for tool, one in routed.colliding.items()]
    text = (
        f"{file}:{routed.route.line}: in {shown(routed.route.text)} stand {' and '.join(phrases)}"
    )
    return plain(text)
