"""Where the values of a JSON text stand, from the first to the last character."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s"{}\[\]:,]+', re.DOTALL)


class Node(NamedTuple):
    """A value: its offsets, and what is in it if it is an object or an array."""

    start: int
    end: int
    children: tuple[Child, ...] = ()

    @property
    def lead(self) -> slice:
        """The space between the opening bracket and the first child."""
        return slice(self.start + 1, self.children[0].start)

    @property
    def tail(self) -> slice:
        """The space between the last child and the closing bracket."""
        return slice(self.children[-1].value.end, self.end - 1)

    def between(self, index: int) -> slice:
        """The comma, and the space around it, before the child of that index, from 1."""
        return slice(self.children[index - 1].value.end, self.children[index].start)


class Child(NamedTuple):
    """A member of an object or an item of an array, which has no key.

    ``start`` and ``key_end`` are the offsets of the key; of an item, both that of its value.
    """

    key: str | None
    start: int
    key_end: int
    value: Node


def parsed(text: str) -> Node:
    """Return the value that is the whole of a text, which is JSON."""
    tokens = _TOKEN.finditer(text)
    return _node(next(tokens), tokens)


def _node(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> Node:
    if token.group() not in _CHILD:
        return Node(token.start(), token.end())
    child = _CHILD[token.group()]
    children: list[Child] = []
    for inner in tokens:
        if inner.group() in _CLOSING:
            return Node(token.start(), inner.end(), tuple(children))
        children.append(child(inner, tokens))
    raise ValueError("an object or an array has no end")


def _member(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> Child:
    key = json.loads(token.group())
    return Child(key, token.start(), token.end(), _node(next(tokens), tokens))


def _item(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> Child:
    return Child(None, token.start(), token.start(), _node(token, tokens))


_CHILD = {"{": _member, "[": _item}
_CLOSING = frozenset("}]")


def containers(node: Node) -> Iterator[Node]:
    """Yield every object and array that is not empty, outer ones first."""
    if node.children:
        yield node
    for child in node.children:
        yield from containers(child.value)
