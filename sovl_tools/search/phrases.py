"""Activation phrases in a string, and the results of a search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.search.slots import Pattern, Run, Spoken, pattern_of


class PhraseMatch(NamedTuple):
    """A phrase of a tool that was found in the text at ``text[start:end]``.

    Attributes:
        tool: the tool's name.
        phrase: the phrase as its author wrote it.
        start: where it begins in the text.
        end: where it ends.
        score: the share of the text's words that it covers, above 0 and up to 1.
        arguments: the values of its slots, of the types in the tool's schema.
    """

    tool: str
    phrase: str
    start: int
    end: int
    score: float
    arguments: Mapping[str, JSON] = MappingProxyType({})


MOST_FOUND = 10
"""The default maximum number of tools that a search returns."""


class ToolMatch(NamedTuple):
    """A tool that a search finds.

    Attributes:
        tool: its name.
        score: the share of the query that it has, below 1. Rare words and words in the name count
            for more.
        words: the words of the query that it has, each with its fields that have the word. Empty
            for a tool that only means something similar.
        evidence: the strength of the match, comparable between queries and catalogs.
    """

    tool: str
    score: float
    words: Mapping[str, tuple[str, ...]]
    evidence: float


class Suggestion(NamedTuple):
    """A tool that matches a string well, and why.

    Attributes:
        tool: its name.
        reason: ``phrase`` if the text has one of its phrases, ``words`` if it has words of the
            text, ``meaning`` if it only means something similar.
        said: the part of the text that is the phrase, or the words.
        evidence: the evidence of the search; None for a phrase.
        arguments: the values of the phrase's slots.
    """

    tool: str
    reason: str
    said: tuple[str, ...]
    evidence: float | None
    arguments: Mapping[str, JSON] = MappingProxyType({})


class PhraseIndex:
    """All activation phrases of a catalog, each by the run of its words that the fewest have."""

    def __init__(self, tools: Iterable[ToolDefinition]) -> None:
        patterns = [
            pattern_of(phrase, tool) for tool in tools for phrase in tool.activation_phrases
        ]
        having = Counter(run for each in patterns for run in each.runs)
        self._by_run: dict[Run, list[Pattern]] = {}
        for each in patterns:
            if each.runs:
                run = min(each.runs, key=lambda run: (having[run], -len(run)))
                self._by_run.setdefault(run, []).append(each)
        self._lengths = {len(run) for run in self._by_run}

    def match(self, text: str) -> list[PhraseMatch]:
        """Return every phrase that is in the text: the most words first, then by place.

        Words in slots don't count here.
        """
        spoken = Spoken(text)
        forms, places = spoken.forms, spoken.spans
        found: dict[tuple[int, int, int, str, str], PhraseMatch] = {}
        for length in self._lengths:
            for at in range(len(forms) - length + 1):
                run = forms[at : at + length]
                for each in self._by_run.get(run, ()):
                    place = spoken.find(each, run, at)
                    if place is None:
                        continue
                    start, end, arguments = place
                    size = sum(map(len, each.runs))
                    key = (-size, -len(arguments), start, each.tool, each.phrase)
                    score = (end - start) / len(forms)
                    first, last = places[start].start, places[end - 1].end
                    found[key] = PhraseMatch(each.tool, each.phrase, first, last, score, arguments)
        return [found[key] for key in sorted(found)]
