"""Search: which tools does a text ask for? The best come first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from math import log
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.subschemas import nodes
from sovl_tools.search.phrases import MOST_FOUND, ToolMatch
from sovl_tools.search.words import COMMON, parts, term, terms


class Field(NamedTuple):
    """How much a field counts.

    Attributes:
        weight: of a term that occurs in it once.
        usual: how many terms it has as a rule; in a longer one each counts for less.
        bit: what represents it in a set of fields.
    """

    weight: float
    usual: int
    bit: int


FIELDS: Mapping[str, Field] = {
    "name": Field(4, 3, 1 << 0),
    "phrases": Field(3, 8, 1 << 1),
    "title": Field(3, 3, 1 << 2),
    "tags": Field(2, 3, 1 << 3),
    "category": Field(2, 1, 1 << 4),
    "description": Field(1.5, 15, 1 << 5),
    "parameters": Field(1, 20, 1 << 6),
    "choices": Field(0.5, 6, 1 << 7),
    "examples": Field(0.5, 20, 1 << 8),
}
"""The fields of ``texts``, by weight."""

# k1 and b of BM25: how soon more of a term counts for no more, and how much length counts
_SATURATION = 2.0
_LENGTH = 0.5
_SHORTEST = 3


class SearchIndex:
    """The terms of all tools of a catalog, each with the tools that have it.

    Tools are ranked by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
    2009). The lengths of fields are compared with what is usual instead of with the average of
    the catalog, so what is kept of a tool depends on that tool alone.

    An index never changes: one that differs is another, which shares with it what is alike.
    """

    def __init__(self, tools: Iterable[ToolDefinition] = ()) -> None:
        self._impacts: dict[str, dict[str, float]] = {}
        self._fields: dict[str, Mapping[str, int]] = {}
        self._replace((), tools)

    def changed(
        self, removed: Iterable[ToolDefinition], added: Iterable[ToolDefinition]
    ) -> SearchIndex:
        """Return the index without some tools and with others.

        A tool that was updated is in both, as it was and as it is now.
        """
        index = SearchIndex()
        index._impacts, index._fields = self._impacts.copy(), self._fields.copy()
        index._replace(removed, added)
        return index

    def _replace(self, removed: Iterable[ToolDefinition], added: Iterable[ToolDefinition]) -> None:
        """Take tools out and put tools in; tables that others may share are copied first."""
        new = {tool.name: _weigh(tool) for tool in added}
        # an updated tool is in both
        names = {*(tool.name for tool in removed), *new}
        gone = {name: self._fields.pop(name, {}) for name in names}
        touched = {word for known in gone.values() for word in known}.union(
            *(impacts for impacts, _ in new.values())
        )
        tables = {word: self._impacts.get(word, {}).copy() for word in touched}
        for name, known in gone.items():
            for word in known:
                del tables[word][name]
        for name, (impacts, fields) in new.items():
            self._fields[name] = fields
            for word, impact in impacts.items():
                tables[word][name] = impact
        self._impacts |= tables
        for word, table in tables.items():
            if not table:
                del self._impacts[word]

    def search(self, query: str, *, limit: int | None = MOST_FOUND) -> list[ToolMatch]:
        """Return the tools that have words of the query, the best first, then by name.

        Common English words count only if the query has no others. Where no tool has any of the
        others, words of tools that begin like them are taken, from three letters on.

        Raises:
            ValueError: the limit is below 0.
        """
        asked = self._asked(query)
        scores: dict[str, float] = {}
        whole = 0.0
        for word in asked:
            impacts = self._impacts.get(word, {})
            # how much it tells that a tool has the term: the fewer have it, the more
            rarity = log(1 + (len(self._fields) - len(impacts) + 0.5) / (len(impacts) + 0.5))
            whole += rarity
            for name, impact in impacts.items():
                scores[name] = scores.get(name, 0.0) + rarity * impact
        limit = len(scores) if limit is None else limit
        # so that not all of a large catalog is sorted for the best ten
        least = min(nlargest(limit, scores.values()), default=0.0)
        found = [each for each in scores.items() if each[1] >= least]
        best = sorted(found, key=lambda each: (-each[1], each[0]))[:limit]
        return [ToolMatch(name, score / whole, self._words(name, asked)) for name, score in best]

    def _asked(self, query: str) -> dict[str, str]:
        """Return the terms to look for, each with the part of the query that it comes from."""
        asked: dict[str, str] = {}
        for part in parts(query):
            asked.setdefault(term(part), part)
        telling = {word: part for word, part in asked.items() if part not in COMMON}
        if not self._impacts.keys().isdisjoint(telling):
            return telling
        # the terms that begin like a part of the query, each with the longest such part
        long = {part for part in telling.values() if len(part) >= _SHORTEST}
        sizes = sorted({len(part) for part in long})
        begun = {
            word: word[:size] for word in self._impacts for size in sizes if word[:size] in long
        }
        return begun or asked

    def _words(self, name: str, asked: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Return the parts of the query that a tool has, each with its fields."""
        known = self._fields[name]
        found: dict[str, int] = {}
        for word, part in asked.items():
            if word in known:
                found[part] = found.get(part, 0) | known[word]
        return {
            part: tuple(field for field, each in FIELDS.items() if bits & each.bit)
            for part, bits in found.items()
        }


def _weigh(tool: ToolDefinition) -> tuple[dict[str, float], dict[str, int]]:
    """Return the terms of a tool with their impacts, from 0 to 1, and with their fields."""
    weights: dict[str, float] = {}
    fields: dict[str, int] = {}
    for name, said in texts(tool).items():
        found = terms("\n".join(said))
        weight, usual, bit = FIELDS[name]
        share = weight / (1 - _LENGTH + _LENGTH * len(found) / usual)
        for word in found:
            weights[word] = weights.get(word, 0.0) + share
            fields[word] = fields.get(word, 0) | bit
    return {word: weight / (_SATURATION + weight) for word, weight in weights.items()}, fields


def texts(tool: ToolDefinition) -> dict[str, list[str]]:
    """Return the texts in which a tool is found, by field.

    ``parameters`` has names and descriptions at any depth, ``choices`` what an enum offers.
    Functions in the schema are not called, so what they would say is not there.
    """
    parameters: list[str] = []
    choices: list[str] = []
    for node in nodes(
        without_functions(tool.parameters) if tool.is_dynamic else tool.parameters, ()
    ):
        found = node.schema
        parameters += [found.get("title", ""), found.get("description", "")]
        parameters += found.get("properties", ())
        choices += [each for each in found.get("enum", ()) if isinstance(each, str)]
    examples = [each for each in tool.examples if isinstance(each, dict)]
    return {
        "name": [tool.name],
        "title": [tool.title or ""],
        "phrases": [*tool.activation_phrases],
        "tags": [*tool.tags],
        "category": [tool.category or ""],
        "description": [tool.description],
        "parameters": parameters,
        "choices": choices,
        "examples": [
            text
            for each in examples
            for text in _strings([each.get("description"), each.get("input")])
        ],
    }


def _strings(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
