"""The routes of ``sovl-tools test --routes``: whether strings lead to their tools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sovl_tools.cli import option
from sovl_tools.cli.arguments import read_text
from sovl_tools.cli.command import FINDINGS, Misuse
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import show, show_json, table
from sovl_tools.linting.routing import (
    DEPTHS,
    OFFERING,
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

_MOST_LINES = 20
_MOST_WORDS = 5


def check_routes(
    file: str, tools: option.ToolOptions, format_: str, *, at_least: float | None, depth: int
) -> int:
    """Show the routes of a file's strings; return the exit code.

    Raises:
        Misuse: the file can't be read, or a line of it is wrong.
    """
    try:
        routes = read_routes(read_text(file))
        if not routes:
            raise Misuse(f"{file}: there's no string in it")
        routing = routing_of(routes, all_tools(tools))
    except RouteError as error:
        raise Misuse(f"{file}:{error.line}: {plain(error.message)}") from error
    recall = routing.recall("both", depth)
    if at_least is not None and recall is None:
        raise Misuse(f"{file}: no string is meant for a tool that is there, so there's no recall")
    if format_ == "json":
        show_json(document_of(routing), indent=2)
    else:
        show("\n".join(_lines(file, routing)))
    if at_least is None or recall is None or recall >= at_least:
        return 0
    show(f"recall@{depth} is {recall:.3f}, below {at_least:g}", err=True)
    return FINDINGS


def _lines(file: str, routing: Routing) -> Iterator[str]:
    yield from _first([_missed(file, each) for each in routing.meant if each.is_missed])
    yield from _first([_false_offer(file, each) for each in routing.false_offers("both")])
    yield from _first([_collision(file, each) for each in routing.routed if each.colliding])
    yield from _first(
        [f"{file}:{route.line}: omitted: {plain(why)}" for route, why in routing.left_out]
    )
    for meant, first, times, words in routing.confusions()[:_MOST_LINES]:
        if times > 1:
            said = _astray([word for word, _ in words.most_common(_MOST_WORDS)])
            yield f"{first!r} precedes {meant!r} in {counted(times, 'text')}{said}"
    if routing.meant:
        head = ["recall", *(f"@{depth}" for depth in DEPTHS), f"NDCG@{DEPTHS[-1]}"]
        rows = [
            [way, *(f"{routing.recall(way, d):.2f}" for d in DEPTHS), f"{routing.ndcg(way):.2f}"]
            for way in WAYS
        ]
        yield table(head, rows, numbers=range(1, len(head)))
    number = len(routing.unmeant)
    if number:
        by_way = [f"{len(routing.false_offers(way))} by {way}" for way in OFFERING]
        yield f"false offers: {', '.join(by_way)} of {counted(number, 'text')} for no tool"
    yield f"{counted(len(routing.routed), 'text')}, {len(routing.meant)} of them for a tool"


def _first(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"… and {len(lines) - _MOST_LINES:,} more like the last one"


def _missed(file: str, routed: Routed) -> str:
    route, rank = routed.route, routed.rank("both")
    place = "is not found" if rank is None else f"comes as number {rank}"
    others = routed.found["both"][:1]
    astray = _astray(routed.astray) if others else ""
    first = f"{others[0]!r} comes first{astray}" if others else "no tool is found"
    text = f"{file}:{route.line}: {shown(route.text)} is meant for {route.tool!r}, which {place}"
    return f"{plain(text)}; {first}"


def _astray(words: Sequence[str]) -> str:
    """Return the words that lead astray; there are none where only the meaning is similar."""
    return f", by {', '.join(map(repr, words[:_MOST_WORDS]))}" if words else ""


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
