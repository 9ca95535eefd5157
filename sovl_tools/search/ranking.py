"""Search: the tools for a string, the best first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import log
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.subschemas import nodes
from sovl_tools.search.phrases import MOST_FOUND, ToolMatch
from sovl_tools.search.slots import SLOT
from sovl_tools.search.vectors import Vector, Vectors
from sovl_tools.search.words import COMMON, parts, term, terms


class Field(NamedTuple):
    """The weight of a field.

    Attributes:
        weight: of a term that occurs in it once.
        usual: the usual number of its terms; in a longer field each counts for less.
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

# k1 and b of BM25: the saturation of repeated terms, and the weight of length
_SATURATION = 2.0
_LENGTH = 0.5
_SHORTEST = 3
_NUMBERS = 0.2  # the factor for the rarity of a number
_MEANING = 2.0  # the factor for a cosine
_NEAR = 0.3  # the least cosine of a tool that has no word of the query
_ENOUGH_WORDS, _ENOUGH = 0.55, 1.1


class Entry(NamedTuple):
    """One tool, by its terms.

    Attributes:
        impacts: the weight of each term for the tool, from 0 to 1.
        fields: the fields that have the term.
        vector: its meaning; None without vectors.
    """

    impacts: Mapping[str, float]
    fields: Mapping[str, set[str]]
    vector: Vector


class SearchIndex:
    """The terms of all tools of a catalog, each with the tools that have it.

    Tools are ranked by BM25F (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
    2009). The lengths of fields are compared with usual ones instead of with the average of the
    catalog, so the entry of a tool depends on this tool only. With vectors, the cosine of the
    tool's and the query's is added.

    Attributes:
        enough: the least evidence of a good match.
        deprecated: the names of tools that come last.
    """

    def __init__(self, tools: Collection[ToolDefinition], vectors: Vectors | None = None) -> None:
        self._by_name = {tool.name: _entry(tool, vectors) for tool in tools}
        self._scale = log(2 + len(self._by_name))
        self.deprecated = {tool.name for tool in tools if tool.deprecation}
        self._impacts: dict[str, dict[str, float]] = {}
        for name, entry in self._by_name.items():
            for word, impact in entry.impacts.items():
                self._impacts.setdefault(word, {})[name] = impact
        self.enough = _ENOUGH_WORDS if vectors is None else _ENOUGH
        self._vectors = vectors if self._by_name else None
        if self._vectors is not None:
            self._table = self._vectors.table([each.vector for each in self._by_name.values()])

    def search(
        self, query: str, *, limit: int | None = MOST_FOUND, least: float | None = None
    ) -> list[ToolMatch]:
        """Return the tools that have words of the query, the best first, then by name.

        Deprecated tools come after all others. Common English words count only if the query has no
        others. Where no tool has any of the others, words of tools that begin like them are taken,
        from three letters on. With vectors, tools that mean something similar are found as well.

        ``least`` omits tools with less evidence, unless they have half of the query.
        """
        asked = self._asked(query)
        rarities = {word: self._rarity(word) for word in asked}
        shares: dict[str, float] = {}
        for word, rarity in rarities.items():
            for name, impact in self._impacts.get(word, {}).items():
                shares[name] = shares.get(name, 0.0) + rarity * impact
        evidence = {name: share / self._scale for name, share in shares.items()}
        if self._vectors is not None:
            near = self._table @ self._vectors.of(query)
            for name, cosine in zip(self._by_name, near.tolist(), strict=True):
                if name in evidence or cosine >= _NEAR:
                    evidence[name] = evidence.get(name, 0.0) + _MEANING * cosine
        whole = sum(rarities.values()) or 1
        late = self.deprecated
        best = sorted(evidence, key=lambda name: (name in late, -evidence[name], name))
        if least is not None:
            best = [
                name
                for name in best
                if evidence[name] >= least or self._covered(name, rarities) >= whole / 2
            ]
        return [
            ToolMatch(name, shares.get(name, 0.0) / whole, self._words(name, asked), evidence[name])
            for name in best[:limit]
        ]

    def _rarity(self, word: str) -> float:
        """Return the weight of a term: the fewer tools have it, the greater.

        Numbers are rare, but tools are hardly ever about a number.
        """
        having = len(self._impacts.get(word, ()))
        rarity = log(1 + (len(self._by_name) - having + 0.5) / (having + 0.5))
        return rarity * _NUMBERS if word.isdecimal() else rarity

    def _covered(self, name: str, rarities: Mapping[str, float]) -> float:
        """Return the weight of the query's words that a tool has."""
        known = self._by_name[name].impacts
        return sum(rarity for word, rarity in rarities.items() if word in known)

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
        unknown = {word: part for word, part in telling.items() if part not in begun.values()}
        return {**unknown, **begun} or asked

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


def _entry(tool: ToolDefinition, vectors: Vectors | None) -> Entry:
    weights: dict[str, float] = {}
    fields: dict[str, set[str]] = {}
    found = texts(tool)
    for name, said in found.items():
        each_term = terms("\n".join(said))
        weight, usual = FIELDS[name]
        share = weight / (1 - _LENGTH + _LENGTH * len(each_term) / usual)
        for word in each_term:
            weights[word] = weights.get(word, 0.0) + share
            fields.setdefault(word, set()).add(name)
    impacts = {word: weight / (_SATURATION + weight) for word, weight in weights.items()}
    if vectors is None:
        return Entry(impacts, fields, None)
    names = tool.parameters.get("properties", ())
    return Entry(impacts, fields, vectors.of("\n".join([tool.name, tool.description, *names])))


def texts(tool: ToolDefinition) -> dict[str, list[str]]:
    """Return the strings to find a tool by, by field.

    ``parameters`` has names and descriptions at any depth, ``choices`` the values of enums.
    Functions in the schema are not called.
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
        "phrases": [SLOT.sub(" ", each) for each in tool.activation_phrases],
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
