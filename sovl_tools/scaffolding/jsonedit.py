"""A JSON text that says something else: what stays the same stays as it is written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.scaffolding.jsonlayout import (
    Layout,
    indentation,
    is_simple,
    layout_of,
    rendered,
)
from sovl_tools.scaffolding.jsontree import Child, Node, parsed


def edited(text: str, document: JSON) -> str:
    """Return a JSON text with as few changes as make it the text of the document.

    What is new is written in the manner of what stands beside it. Members that stay keep their
    order. Text that says the same already comes back as it is.

    Raises:
        ValueError: the text is no JSON.
    """
    before = json.loads(text)
    tree = parsed(text)
    page = _Page(text, layout_of(text, tree))
    return text[: tree.start] + page.value(tree, before, document) + text[tree.end :]


def _is_same(one: JSON, other: JSON) -> bool:
    """Compare as JSON does: 1 is not true, and not 1.0 either."""
    return _canonical(one) == _canonical(other)


def _canonical(value: JSON) -> str:
    return json.dumps(value, sort_keys=True)


class _Piece(NamedTuple):
    """A child of the new text; ``old`` is its index among the old ones, None if it is new."""

    old: int | None
    text: str


class _Page(NamedTuple):
    """The old text and its habits."""

    text: str
    layout: Layout

    def value(self, node: Node, before: JSON, after: JSON, *, is_free: bool = True) -> str:
        """Return the text of a value; ``is_free`` tells whether it may take several lines."""
        if _is_same(before, after):
            return self.source(node)
        if node.children and after and type(before) is type(after):
            pieces = self._members if isinstance(after, dict) else self._items
            return self._joined(node, list(pieces(node, before, after)))
        begin = self.text.rfind("\n", 0, node.start) + 1
        line = self.text[begin : node.start]
        indent = indentation(line)
        lead, spread = len(line) - len(indent), None if is_free else False
        return rendered(after, self.layout, indent=indent, lead=lead, spread=spread)

    def source(self, node: Node) -> str:
        """Return the text of a value as it is."""
        return self.text[node.start : node.end]

    def _members(
        self, node: Node, before: dict[str, JSON], after: dict[str, JSON]
    ) -> Iterator[_Piece]:
        known = {child.key: index for index, child in enumerate(node.children)}
        is_free = "\n" in self.source(node)
        for key in _merged(before, after):
            if key in known:
                child = node.children[known[key]]
                start = self.text[child.start : child.value.start]
                inner = self.value(child.value, before[key], after[key], is_free=is_free)
                yield _Piece(known[key], start + inner)
            else:
                yield _Piece(None, self._new(node, key, after[key]))

    def _items(self, node: Node, before: list[JSON], after: list[JSON]) -> Iterator[_Piece]:
        old, new = [*map(_canonical, before)], [*map(_canonical, after)]
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for step, start, end, first, last in steps:
            if step == "equal":
                for index in range(start, end):
                    yield _Piece(index, self.source(node.children[index].value))
            else:
                for value in after[first:last]:
                    yield _Piece(None, self._new(node, None, value))

    def _new(self, node: Node, key: str | None, value: JSON) -> str:
        """Return the text of a new child."""
        gap = self._gap(node)
        start = "" if key is None else rendered(key, self.layout) + self._colon(node.children[0])
        spread = self._manner(node, value) if "\n" in gap else False
        indent = indentation(gap)
        inner = rendered(value, self.layout, indent=indent, lead=len(start), spread=spread)
        return start + inner

    def _gap(self, node: Node) -> str:
        """Return the space before a child on a line of its own; "" if all are on one line."""
        gaps = [node.lead, *map(node.between, range(1, len(node.children)))]
        return next((self.text[each] for each in gaps if "\n" in self.text[each]), "")

    def _colon(self, sibling: Child) -> str:
        colon = self.text[sibling.key_end : sibling.value.start]
        return self.layout.colon if "\n" in colon else colon

    def _manner(self, node: Node, value: JSON) -> bool | None:
        """Return how the siblings of a new object stand: spread, on one line, or None: both.

        The members of an object are siblings only if all are objects, as properties are.
        """
        children = [child.value for child in node.children]
        if any(self.text[each.start] != "{" for each in children) or not isinstance(value, dict):
            return None
        manners = {"\n" in self.source(each) for each in children if each.children}
        if manners == {False}:
            return False if is_simple(value) else None
        return True if manners == {True} else None

    def _joined(self, node: Node, pieces: Sequence[_Piece]) -> str:
        parts = [self.text[node.start], self.text[node.lead], pieces[0].text]
        for before, after in pairwise(pieces):
            parts += [self._separator(node, before.old, after.old), after.text]
        return "".join([*parts, self.text[node.tail], self.text[node.end - 1]])

    def _separator(self, node: Node, before: int | None, after: int | None) -> str:
        """Return what stands between two children: what stood there, or what is like it."""
        count = len(node.children)
        if count == 1:
            lead = self.text[node.lead]
            return f",{lead}" if "\n" in lead else self.layout.comma
        if before is not None and after is None:
            after = before + 1
        return self.text[node.between(min(max(after or 0, 1), count - 1))]


def _merged(before: Iterable[str], after: dict[str, JSON]) -> list[str]:
    """Return the keys of the new object, those that stay in their old order."""
    order = [key for key in before if key in after]
    known = set(order)
    previous: str | None = None
    for key in after:
        if key not in known:
            order.insert(0 if previous is None else order.index(previous) + 1, key)
        previous = key
    return order
