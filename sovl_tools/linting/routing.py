"""Routing tests: does a message lead to the tool that it should?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import log2
from statistics import fmean
from typing import NamedTuple

from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.registry import ToolRegistry
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import explanations, place, shown
from sovl_tools.search.phrases import PhraseMatch

WAYS = ("match", "search", "both", "suggest")
"""How tools are found: by phrases, by a search, by phrases first, as agents do, and good
matches only."""
OFFERING = ("match", "search", "suggest")
"""The ways whose offers to messages for no tool are counted."""
DEPTHS = (1, 3, 5, 10)
"""The numbers of first tools among which the right one counts as found."""

_ROUTE: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "pattern": r"\S"},
        "tool": {"type": ["string", "null"]},
    },
    "required": ["text", "tool"],
    "additionalProperties": False,
}


class Route(NamedTuple):
    """A message and the tool that it should lead to; None for no tool.

    Attributes:
        line: its line in its file, from 1.
        text: the user's message.
        tool: the tool's name.
    """

    line: int
    text: str
    tool: str | None


class RouteError(Exception):
    """A line isn't a route."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(line, message)
        self.line = line
        self.message = message


class Routed(NamedTuple):
    """The tools that a message leads to.

    Attributes:
        route: the message and the right tool.
        found: the tools found in each of ``WAYS``, the best first.
        phrases: the phrases in the message.
        words: the message's words that each tool has, by the tools of a search.
    """

    route: Route
    found: Mapping[str, Sequence[str]]
    phrases: Sequence[PhraseMatch]
    words: Mapping[str, Collection[str]]

    def rank(self, way: str) -> int | None:
        """Return the rank of the right tool, from 1; None if it isn't found."""
        found, tool = self.found[way], self.route.tool
        return found.index(tool) + 1 if tool in found else None

    @property
    def is_missed(self) -> bool:
        """Whether another tool comes first, or none is found."""
        return self.route.tool is not None and self.rank("both") != 1

    @property
    def astray(self) -> list[str]:
        """What of the message leads to the first tool and not to the right one.

        This is the first tool's phrase, or else the words that only this tool has, or else all its
        words, which then count for more in its fields.
        """
        first, right = self.found["both"][0], str(self.route.tool)
        text = self.route.text
        said = [text[each.start : each.end] for each in self.phrases if each.tool == first]
        own = self.words.get(first, ())
        return said[:1] or [each for each in own if each not in self.words.get(right, ())] or [*own]

    @property
    def colliding(self) -> dict[str, PhraseMatch]:
        """The longest phrase of each tool, if the message has phrases of several."""
        first: dict[str, PhraseMatch] = {}
        for each in self.phrases:
            first.setdefault(each.tool, each)
        return first if len(first) > 1 else {}


class Confusion(NamedTuple):
    """A tool that precedes the right one.

    Attributes:
        meant: the right tool.
        first: the tool that precedes it.
        times: the number of messages.
        words: the words or phrases that lead astray, with the number of messages.
    """

    meant: str
    first: str
    times: int
    words: Counter[str]


class Routing(NamedTuple):
    """The result of a routing test.

    Attributes:
        routed: the messages whose tools are loaded or broken, and those for no tool.
        left_out: the messages for disabled or unavailable tools, and the reasons.
    """

    routed: Sequence[Routed]
    left_out: Sequence[tuple[Route, str]]

    @property
    def meant(self) -> list[Routed]:
        """The messages for a tool."""
        return [each for each in self.routed if each.route.tool is not None]

    @property
    def unmeant(self) -> list[Routed]:
        """The messages for no tool."""
        return [each for each in self.routed if each.route.tool is None]

    def recall(self, way: str, depth: int) -> float | None:
        """Return the share of messages whose tool is among the first; None without messages."""
        ranks = [each.rank(way) for each in self.meant]
        hits = sum(rank is not None and rank <= depth for rank in ranks)
        return hits / len(ranks) if ranks else None

    def ndcg(self, way: str) -> float | None:
        """Return the mean of 1 / log2(1 + rank), up to rank 10; None without messages."""
        ranks = [each.rank(way) for each in self.meant]
        gains = [1 / log2(1 + each) if each and each <= DEPTHS[-1] else 0.0 for each in ranks]
        return fmean(gains) if gains else None

    def false_offers(self, way: str) -> list[Routed]:
        """Return the messages for no tool that lead to one."""
        return [each for each in self.unmeant if each.found[way]]

    def confusions(self) -> list[Confusion]:
        """Return the tools that precede the right ones, the most frequent first."""
        found: dict[tuple[str, str], list[Routed]] = {}
        for each in self.meant:
            if each.is_missed and each.found["both"]:
                pair = (str(each.route.tool), each.found["both"][0])
                found.setdefault(pair, []).append(each)
        made = [
            Confusion(
                *pair, len(several), Counter(word for each in several for word in each.astray)
            )
            for pair, several in found.items()
        ]
        return sorted(made, key=lambda each: -each.times)


def read_routes(text: str) -> list[Route]:
    """Return the routes in JSON Lines, each an object with ``text`` and ``tool``.

    Raises:
        RouteError: a line is neither a route nor blank.
    """
    found = []
    validator = compile_schema(_ROUTE)
    # splitlines would also split at characters that JSON strings can contain
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            document = parse_json(line)
        except ValueError as error:
            raise RouteError(number, f"it isn't JSON: {error}") from error
        wrong = explanations(validator.problems(document), lambda _: _ROUTE["properties"])
        if wrong:
            path, words = wrong[0]
            raise RouteError(number, f"{place(path)}: {words}".removeprefix(": "))
        found.append(Route(number, document["text"], document["tool"]))
    return found


def routing_of(routes: Sequence[Route], registry: ToolRegistry) -> Routing:
    """Return the routes of messages among the tools of a registry.

    Raises:
        RouteError: a tool is unknown.
    """
    catalog = registry.catalog
    # a broken tool is a miss, but one that lacks a variable here can work elsewhere
    absent = {c.name for c in catalog.candidates if c.status in {"disabled", "unavailable"}}
    routed, left_out = [], []
    for route in routes:
        each = route._replace(tool=route.tool and catalog.named(route.tool))
        tool = each.tool
        if tool is None or tool in registry:
            routed.append(_routed(each, registry))
        elif tool in absent:
            left_out.append((each, "; ".join(catalog.unavailable.get(tool, ()))))
        elif tool in catalog.unavailable:
            routed.append(_routed(each, registry))
        else:
            hint = did_you_mean(tool, catalog.tools) or "sovl-tools list shows the tools"
            raise RouteError(each.line, f"there's no tool {shown(tool)}; {hint}")
    return Routing(routed, left_out)


def _routed(route: Route, registry: ToolRegistry) -> Routed:
    phrases = registry.match(route.text)
    match = list(dict.fromkeys(each.tool for each in phrases))
    found = registry.search(route.text)
    search = [each.tool for each in found]
    both = list(dict.fromkeys([*match, *search]))
    fitting = [each.tool for each in registry.suggest(route.text)]
    ways = dict(zip(WAYS, (match, search, both, fitting), strict=True))
    return Routed(route, ways, phrases, {each.tool: each.words for each in found})


def document_of(routing: Routing) -> JSON:
    """Return the result as a JSON object."""
    missed = [each for each in routing.meant if each.is_missed]
    return {
        "version": 1,
        "summary": {
            "texts": len(routing.routed),
            "for_tools": len(routing.meant),
            "left_out": len(routing.left_out),
            "recall": {
                way: {str(depth): routing.recall(way, depth) for depth in DEPTHS} for way in WAYS
            },
            "ndcg": {way: routing.ndcg(way) for way in WAYS},
            "false_offers": {way: len(routing.false_offers(way)) for way in OFFERING},
        },
        "confusions": [
            {"meant": meant, "first": first, "count": times, "words": dict(words.most_common())}
            for meant, first, times, words in routing.confusions()
        ],
        "missed": [
            {
                **each.route._asdict(),
                "ranks": {way: each.rank(way) for way in WAYS},
                "astray": each.astray if each.found["both"] else [],
            }
            for each in missed
        ],
        "false_offers": [
            {**each.route._asdict(), "found": {way: each.found[way] for way in OFFERING}}
            for each in routing.false_offers("both")
        ],
        "collisions": [
            {
                **each.route._asdict(),
                "phrases": {tool: one.phrase for tool, one in each.colliding.items()},
            }
            for each in routing.routed
            if each.colliding
        ],
        "left_out": [{**each._asdict(), "reason": reason} for each, reason in routing.left_out],
    }
