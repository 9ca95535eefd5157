"""Activation phrases in a text, and what a search finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.search.words import Word, spans, words


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
"""How many tools a search returns unless somebody says otherwise."""


class ToolMatch(NamedTuple):
    """A tool that has words of a query.

    Attributes:
        tool: its name.
        score: the share of the query that it has, above 0 and below 1. Rare words and words in
            the name count for more.
        words: the words of the query that it has, each with the fields in which it has them.
    """

    tool: str
    score: float
    words: Mapping[str, tuple[str, ...]]


_Owner: TypeAlias = tuple[str, str]
_Forms: TypeAlias = tuple[str, ...]


class _Node:
    """A word's place in the tree of phrases; only the change that made it may write to it."""

    __slots__ = ("change", "following", "owners")

    def __init__(self, change: object) -> None:
        self.change = change
        self.following: dict[str, _Node] = {}
        self.owners: tuple[_Owner, ...] = ()

    def writable(self, change: object) -> _Node:
        """Return the node if it is the change's own, else a copy; what follows is shared."""
        if self.change is change:
            return self
        copy = _Node(change)
        copy.following, copy.owners = self.following.copy(), self.owners
        return copy


class PhraseIndex:
    """All phrases of a catalog, as a tree of words: matching costs the text, not the phrases.

    An index never changes: one that differs is another, which shares with it what is alike.
    """

    def __init__(self, tools: Iterable[ToolDefinition]) -> None:
        self._root = _Node(object())
        for owner, forms in _phrases(tools).items():
            _add(self._root, owner, forms)

    def changed(
        self, removed: Iterable[ToolDefinition], added: Iterable[ToolDefinition]
    ) -> PhraseIndex:
        """Return the index without the phrases of some tools and with those of others.

        A tool that was updated is in both, as it was and as it is now. Phrases to remove that
        are not here, and phrases to add that are, make no difference.
        """
        before, after = _phrases(removed), _phrases(added)
        # only what differs is written: the tree is shared with indexes that are in use
        gone = [each for each in before.items() if each[0] not in after and self._has(*each)]
        new = [each for each in after.items() if not self._has(*each)]
        if not gone and not new:
            return self
        index = PhraseIndex(())
        index._root = self._root.writable(object())
        for owner, forms in new:
            _add(index._root, owner, forms)
        for owner, forms in gone:
            _remove(index._root, owner, forms)
        return index

    def _has(self, owner: _Owner, forms: _Forms) -> bool:
        node: _Node | None = self._root
        for form in forms:
            node = node.following.get(form) if node else None
        return node is not None and owner in node.owners

    def match(self, text: str) -> list[PhraseMatch]:
        """Return every phrase that is in the text, the longest first, then by place."""
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


def _phrases(tools: Iterable[ToolDefinition]) -> dict[_Owner, _Forms]:
    """Return the words of each tool's phrases; a phrase without words is none."""
    return {
        (tool.name, phrase): forms
        for tool in tools
        for phrase in tool.activation_phrases
        if (forms := words(phrase))
    }


def _add(root: _Node, owner: _Owner, forms: _Forms) -> None:
    node, change = root, root.change
    for form in forms:
        known = node.following.get(form)
        child = _Node(change) if known is None else known.writable(change)
        node.following[form] = child
        node = child
    node.owners += (owner,)


def _remove(root: _Node, owner: _Owner, forms: _Forms) -> None:
    """Take an owner away, and the words that lead to none any more."""
    path = [root]
    for form in forms:
        child = path[-1].following[form].writable(root.change)
        path[-1].following[form] = child
        path.append(child)
    path[-1].owners = tuple(each for each in path[-1].owners if each != owner)
    for node, form in zip(reversed(path[:-1]), reversed(forms), strict=True):
        if node.following[form].owners or node.following[form].following:
            return
        del node.following[form]
