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
        hits = [hit for index in range(len(found)) for hit in self._at(found, index)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.start, hit.tool, hit.phrase))

    def _at(self, found: list[Word], index: int) -> Iterator[PhraseMatch]:
        node = self._root
        for end in range(index, len(found)):
            word = found[end]
            following = node.following.get(word.form)
            if following is None:
                return
            node = following
            for tool, phrase in node.owners:
                score = round((end + 1 - index) / len(found), 4)
                yield PhraseMatch(tool, phrase, found[index].start, word.end, score)
