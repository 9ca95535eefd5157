"""Activation phrases: which tools does a text mention?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.words import Word, spans, words


class PhraseMatch(NamedTuple):
    """A phrase of a tool that stands in the text at ``text[start:end]``.

    ``score`` is the share of the text's words that the phrase covers, above 0 and up to 1.
    """

    tool: str
    phrase: str
    start: int
    end: int
    score: float


class _Node:
    """A word's place in the tree of phrases."""

    __slots__ = ("following", "owners")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.owners: list[tuple[str, str]] = []


class PhraseIndex:
    """All phrases of a catalog, as a tree of words: matching costs the text, not the phrases."""

    def __init__(self, tools: Iterable[ToolDefinition]) -> None:
        self._root = _Node()
        for tool in tools:
            for phrase in tool.activation_phrases:
                self._add(tool.name, phrase)

    def _add(self, tool: str, phrase: str) -> None:
        node = self._root
        for form in words(phrase):
            node = node.following.setdefault(form, _Node())
        owner = tool, phrase
        if node is not self._root and owner not in node.owners:
            node.owners.append(owner)

    def match(self, text: str) -> list[PhraseMatch]:
        """Return every phrase that stands in the text, the longest first, then by place."""
        found = spans(text)
        hits = [hit for start in range(len(found)) for hit in self._at(found, start)]
        hits.sort(key=lambda hit: (-hit[0], hit[1].start, hit[1].tool, hit[1].phrase))
        return [match for _, match in hits]

    def _at(self, found: list[Word], start: int) -> Iterator[tuple[int, PhraseMatch]]:
        """Yield the phrases that begin at a word, each with the number of its words."""
        node: _Node | None = self._root
        for end in range(start, len(found)):
            node = node.following.get(found[end].form) if node else None
            if node is None:
                return
            length = end + 1 - start
            score = length / len(found)
            for tool, phrase in node.owners:
                place = found[start].start, found[end].end
                yield length, PhraseMatch(tool, phrase, *place, score)
