"""Activation phrases in a string, and what a search finds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.words import spans, words


class PhraseMatch(NamedTuple):
    """A phrase of a tool that was found in the text at ``text[start:end]``.

    ``score`` is the share of the text's words that the phrase covers, above 0 and up to 1.
    """

    tool: str
    phrase: str
    start: int
    end: int
    score: float


MOST_FOUND = 10
"""The default maximum number of tools that a search returns."""


class ToolMatch(NamedTuple):
    """A tool that a search finds.

    Attributes:
        tool: its name.
        score: the share of the query that it has, below 1. Rare words and words in the name count
            for more.
        words: the words of the query that it has, each with the fields in which it has them. Empty
            for a tool that only means something similar.
        evidence: how much speaks for the tool, comparable between queries and catalogs.
    """

    tool: str
    score: float
    words: Mapping[str, tuple[str, ...]]
    evidence: float


class Suggestion(NamedTuple):
    """A tool that fits a text well, and why.

    Attributes:
        tool: its name.
        reason: ``phrase`` if the text has one of its phrases, ``words`` if it has words of the
            text, ``meaning`` if it only means something similar.
        said: the part of the text that is the phrase, or the words.
        evidence: that of the search; None for a phrase, which needs none.
    """

    tool: str
    reason: str
    said: tuple[str, ...]
    evidence: float | None


class PhraseIndex:
    """All activation phrases of a catalog, by their words."""

    def __init__(self, tools: Iterable[ToolDefinition]) -> None:
        self._owners: dict[tuple[str, ...], list[tuple[str, str]]] = {}
        for tool in tools:
            for phrase in dict.fromkeys(tool.activation_phrases):
                forms = words(phrase)
                if forms:
                    self._owners.setdefault(forms, []).append((tool.name, phrase))
        self._lengths = sorted({len(forms) for forms in self._owners}, reverse=True)

    def match(self, text: str) -> list[PhraseMatch]:
        """Return every phrase that is in the text, the longest first, then by place."""
        found = spans(text)
        forms = tuple(word.form for word in found)
        return [
            PhraseMatch(
                tool, phrase, found[start].start, found[start + length - 1].end, length / len(found)
            )
            for length in self._lengths
            for start in range(len(found) - length + 1)
            for tool, phrase in sorted(self._owners.get(forms[start : start + length], ()))
        ]
