"""Search: which tools does a string ask for? The best come first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import log
from types import MappingProxyType
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
    """

    weight: float
    usual: int


FIELDS: Mapping[str, Field] = {
    "name": Field(4, 3),
    "phrases": Field(3, 8),
    "title": Field(3, 3),
    "tags": Field(2, 3),
    "category": Field(2, 1),
    "description": Field(1.5, 15),
    "parameters": Field(1, 20),
    "choices": Field(0.5, 6),
    "examples": Field(0.5, 20),
}
"""The fields of ``texts``, by weight."""

# k1 and b of BM25: how soon more of a term counts for no more, and how much length counts
_SATURATION = 2.0
_LENGTH = 0.5
_SHORTEST = 3


class Entry(NamedTuple):
    """What is known of one tool, by the terms that it has.

    Attributes:
        impacts: how much each term tells of the tool, from 0 to 1.
        fields: the fields that have the term.
    """

    impacts: Mapping[str, float]
    fields: Mapping[str, set[str]]


class SearchIndex:
    """The terms of all tools of a catalog, each with the tools that have it.

    Tools are ranked by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
    2009). The lengths of fields are compared with what is usual instead of with the average of
    the catalog, so the entry of a tool depends on that tool alone.

    Attributes:
        entries: by tool; ``known`` ones are taken over.
    """

    def __init__(
        self,
        tools: Iterable[ToolDefinition],
        known: Mapping[ToolDefinition, Entry] = MappingProxyType({}),
    ) -> None:
        self.entries = {tool: known.get(tool) or _entry(tool) for tool in tools}
        self._by_name = {tool.name: entry for tool, entry in self.entries.items()}
        self._impacts: dict[str, dict[str, float]] = {}
        for name, entry in self._by_name.items():
            for word, impact in entry.impacts.items():
                self._impacts.setdefault(word, {})[name] = impact

    def search(self, query: str, *, limit: int | None = MOST_FOUND) -> list[ToolMatch]:
        """Return the tools that have words of the query, the best first, then by name.

        Common English words count only if the query has no others. Where no tool has any of the
        others, words of tools that begin like them are taken, from three letters on.
        """
        asked = self._asked(query)
        scores: dict[str, float] = {}
        whole = 0.0
        for word in asked:
            impacts = self._impacts.get(word, {})
            # how much it tells that a tool has the term: the fewer have it, the more
            rarity = log(1 + (len(self._by_name) - len(impacts) + 0.5) / (len(impacts) + 0.5))
            whole += rarity
            for name, impact in impacts.items():
                scores[name] = scores.get(name, 0.0) + rarity * impact
        best = sorted(scores.items(), key=lambda each: (-each[1], each[0]))[:limit]
        return [ToolMatch(name, score / whole, self._words(name, asked)) for name, score in best]

    def _asked(self, query: str) -> dict[str, str]:
        """Return the terms to search for, each with the part of the query that it is from."""
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
        known = self._by_name[name].fields
        found: dict[str, set[str]] = {}
        for word, part in asked.items():
            if word in known:
                found[part] = found.get(part, set()) | known[word]
        return {
            part: tuple(field for field in FIELDS if field in fields)
            for part, fields in found.items()
        }


def _entry(tool: ToolDefinition) -> Entry:
    weights: dict[str, float] = {}
    fields: dict[str, set[str]] = {}
    for name, said in texts(tool).items():
        found = terms("\n".join(said))
        weight, usual = FIELDS[name]
        share = weight / (1 - _LENGTH + _LENGTH * len(found) / usual)
        for word in found:
            weights[word] = weights.get(word, 0.0) + share
            fields.setdefault(word, set()).add(name)
    impacts = {word: weight / (_SATURATION + weight) for word, weight in weights.items()}
    return Entry(impacts, fields)


def texts(tool: ToolDefinition) -> dict[str, list[str]]:
    """Return the strings in which a tool is found, by field.

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
