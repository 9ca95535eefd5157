"""Edits JSON text with minimal changes: what stays the same keeps its formatting.

The text can have comments and trailing commas (JSONC), like the settings of editors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, canonical, encodes

MARK = "\ufeff"
"""The byte order mark, which some editors write at the beginning of a file."""

WIDTH = 100
"""The longest line for a whole object or array, in characters."""

# string, bracket or scalar; json.loads rejects anything else
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s"{}\[\]:,]+', re.DOTALL)
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LINE = re.compile(r"(?:/\*.*?\*/|//[^\r\n]*|[^\r\n])*", re.DOTALL)
"""The rest of a line in a gap, including comments that continue on other lines."""
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


class Node(NamedTuple):
    """A value in a string: its offsets, and its children if it is an object or an array."""

    start: int
    end: int
    children: tuple[Child, ...] = ()

    def gap(self, index: int) -> slice:
        """The text before the child of an index, with the comma, or after the last one."""
        start = self.children[index - 1].value.end if index else self.start + 1
        is_last = index == len(self.children)
        return slice(start, self.end - 1 if is_last else self.children[index].start)

    def containers(self) -> Iterator[Node]:
        """Yield every object and array that is not empty, outer ones first."""
        if self.children:
            yield self
        for child in self.children:
            yield from child.value.containers()


class Child(NamedTuple):
    """A member of an object or an item of an array, which has no key.

    ``start`` and ``key_end`` are the offsets of the key; for an item, both are its value's.
    """

    key: str | None
    start: int
    key_end: int
    value: Node


def without_comments(text: str) -> str:
    """Replace comments and trailing commas with blanks, so that all offsets stay the same."""
    return _LAST_COMMA.sub(_blank, _COMMENT.sub(_blank, text))


def _blank(found: re.Match[str]) -> str:
    return found[1] or re.sub(r"[^\r\n]", " ", found[0])


def parse_nodes(text: str) -> Node:
    """Return the tree of the values in a JSON text, with their offsets."""
    tokens = _TOKEN.finditer(text)
    return _node(next(tokens), tokens)


def _node(token: re.Match[str], tokens: Iterator[re.Match[str]]) -> Node:
    start, mark = token.start(), token.group()
    if mark not in ("{", "["):
        return Node(start, token.end())
    children: list[Child] = []
    for inner in tokens:
        if inner.group() in ("}", "]"):
            return Node(start, inner.end(), tuple(children))
        if mark == "{":
            key = json.loads(inner.group())
            children.append(Child(key, *inner.span(), _node(next(tokens), tokens)))
        else:
            children.append(Child(None, inner.start(), inner.start(), _node(inner, tokens)))
    raise ValueError("an object or an array has no end")


class Layout(NamedTuple):
    """The formatting style of a string; the defaults are the style of new manifests.

    Attributes:
        newline: the line ending.
        unit: the indentation of one level.
        space: the space after a colon, or after a comma on one line.
        is_mixed: whether short objects and arrays are written on one line.
    """

    newline: str = "\n"
    unit: str = "  "
    space: str = " "
    is_mixed: bool = True


HOUSE = Layout()


def _layout_of(text: str, tree: Node) -> Layout:
    """Infer the style of a string; ``HOUSE`` where the text doesn't show it."""
    every = list(tree.containers())
    lead = text[tree.gap(0)] if tree.children else ""
    return Layout(
        newline="\r\n" if "\r\n" in text else "\n",
        unit=_indentation(lead) if "\n" in lead else HOUSE.unit,
        space="" if every and not re.search(r"[:,]\s", text) else HOUSE.space,
        is_mixed=not every or any("\n" not in text[each.start : each.end] for each in every),
    )


def _indentation(gap: str) -> str:
    """Return the space at the beginning of the last of several lines."""
    line = gap.rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip())]


def render_json(
    value: JSON,
    layout: Layout = HOUSE,
    *,
    indent: str = "",
    lead: int = 0,
    spread: bool | None = None,
) -> str:
    """Return a value as JSON text.

    Args:
        value: the value.
        layout: the style.
        indent: the indentation of the value's first line.
        lead: the number of characters before the value on that line, without the indentation.
        spread: True puts each member on a separate line, False all on one line; None decides by
            the length.
    """
    if not isinstance(value, dict | list) or not value:
        return _scalar(value)
    if spread is None:
        length = len(indent) + lead + len(_on_one_line(value, layout))
        spread = not (layout.is_mixed and _is_simple(value) and length <= WIDTH)
    if not spread:
        return _on_one_line(value, layout)
    inner = f"{indent}{layout.unit}"
    keyed = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    lines = []
    for key, each in keyed:
        start = "" if key is None else f"{_scalar(key)}:{layout.space}"
        lines.append(start + render_json(each, layout, indent=inner, lead=len(start)))
    first, last = "{}" if isinstance(value, dict) else "[]"
    between = f",{layout.newline}{inner}"
    return f"{first}{layout.newline}{inner}{between.join(lines)}{layout.newline}{indent}{last}"


def _is_simple(value: JSON) -> bool:
    """Return whether a value can be on one line: no object in it contains only objects."""
    if isinstance(value, dict):
        # such as "properties", whose members are easier to read on separate lines
        is_map = bool(value) and all(isinstance(each, dict) for each in value.values())
        return not is_map and all(map(_is_simple, value.values()))
    return not isinstance(value, list) or all(map(_is_simple, value))


def _scalar(value: JSON) -> str:
    # half of a surrogate pair can only be written as an escape
    return json.dumps(value, ensure_ascii=not encodes(value) if isinstance(value, str) else False)


def _on_one_line(value: JSON, layout: Layout) -> str:
    if not isinstance(value, dict | list) or not value:
        return _scalar(value)
    if isinstance(value, list):
        return f"[{f',{layout.space}'.join(_on_one_line(each, layout) for each in value)}]"
    members = [
        f"{_scalar(key)}:{layout.space}{_on_one_line(each, layout)}" for key, each in value.items()
    ]
    return f"{{{f',{layout.space}'.join(members)}}}"


def edit_json(text: str, document: JSON) -> str:
    """Return a JSON text with as few changes as possible to represent a document.

    New values are formatted as the text is. Remaining members keep their order, and comments
    stay unless they are inside a removed value. A renamed member keeps its value's text, and a
    string its byte order mark. An equal document returns the text unchanged.

    Raises:
        ValueError: the text isn't JSON.
    """
    if text.startswith(MARK):
        return MARK + edit_json(text.removeprefix(MARK), document)
    plain = without_comments(text)
    before = json.loads(plain)
    tree = parse_nodes(plain)
    editor = _Editor(text, plain, _layout_of(plain, tree))
    return text[: tree.start] + editor.value(tree, before, document) + text[tree.end :]


def _split(gap: str) -> tuple[str, str, str, str]:
    """Return the parts of a gap: before its comma, the comma, the rest of the line, and the rest.

    The rest of the line is its comment, if it has one.
    """
    at = _plain(gap).find(",")
    before, comma, after = ("", "", gap) if at < 0 else (gap[:at], ",", gap[at + 1 :])
    line = _commented(_LINE.match(after)[0])  # type: ignore[index]
    return before, comma, line, after[len(line) :]


def _plain(gap: str) -> str:
    return _COMMENT.sub(_blank, gap)


def _commented(gap: str) -> str:
    """Return a gap as far as the end of its last comment; empty if it has none."""
    return gap[: max((found.end() for found in _COMMENT.finditer(gap)), default=0)]


def _joined(parts: Iterable[str], newline: str) -> str:
    """Join parts of a text; a comment that ends with its line gets a line break."""
    text = ""
    for part in parts:
        line = text.rpartition("\n")[2]
        is_open = any(found[0].startswith("//") for found in _COMMENT.finditer(line))
        text += newline + part if is_open and part and part[0] not in "\r\n" else part
    return text


def _renamed(before: dict[str, JSON], after: dict[str, JSON]) -> dict[str, str]:
    """Return the new keys of members that only have another key, by the old ones."""
    pairs = zip(before, after, strict=True) if len(before) == len(after) else ()
    return {
        old: new
        for old, new in pairs
        if not (old in after or new in before) and canonical(before[old]) == canonical(after[new])
    }


_Entries: TypeAlias = list[tuple[int | None, str | None]]
"""The children of an object or array, old and new: the index of an old one, and the new source.

The source is None if the child is removed.
"""


class _Editor(NamedTuple):
    """Rewrites values in the style of an old text; ``plain`` is that text without comments."""

    text: str
    plain: str
    layout: Layout

    def value(self, node: Node, before: JSON, after: JSON, *, is_free: bool = True) -> str:
        """Return the text of a value; ``is_free`` allows several lines."""
        # 1 is not true, and not 1.0 either.
        if canonical(before) == canonical(after):
            return self._text_of(node)
        is_commented = self._text_of(node) != self.plain[node.start : node.end]
        is_like = isinstance(before, dict | list) and type(before) is type(after)
        if is_like and (is_commented or (node.children and after)):
            entries = self._members if isinstance(after, dict) else self._items
            return self._joined(node, entries(node, before, after))
        line = self._line_before(node)
        indent = _indentation(line)
        lead, spread = len(line) - len(indent), None if is_free else False
        return render_json(after, self.layout, indent=indent, lead=lead, spread=spread)

    def _text_of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def _line_before(self, node: Node) -> str:
        """Return the text before a node on its line."""
        return self.text[self.text.rfind("\n", 0, node.start) + 1 : node.start]

    def _members(self, node: Node, before: dict[str, JSON], after: dict[str, JSON]) -> _Entries:
        """Return members in their old order; a new one follows its predecessor."""
        keys, is_free = [*before], "\n" in self._text_of(node)
        renamed = _renamed(before, after)
        entries: _Entries = []
        for index, child in enumerate(node.children):
            key = keys[index]
            source = None
            if key in renamed:
                keys[index] = renamed[key]
                source = _scalar(renamed[key]) + self.text[child.key_end : child.value.end]
            elif key in after:
                inner = self.value(child.value, before[key], after[key], is_free=is_free)
                source = self.text[child.start : child.value.start] + inner
            entries.append((index, source))
        place = 0
        for key, value in after.items():
            if key not in keys:
                keys.insert(place, key)
                entries.insert(place, (None, self._new(node, key, value)))
            place = keys.index(key) + 1
        return entries

    def _items(self, node: Node, before: list[JSON], after: list[JSON]) -> _Entries:
        old, new = [*map(canonical, before)], [*map(canonical, after)]
        entries: _Entries = []
        # autojunk would ignore items that are frequent in long arrays
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for step, start, end, first, last in steps:
            made = [self._new(node, None, each) for each in after[first:last]]
            if step == "equal":
                made = [self._text_of(child.value) for child in node.children[start:end]]
            entries += zip_longest(range(start, end), made)
        return entries

    def _new(self, node: Node, key: str | None, value: JSON) -> str:
        """Format a new child."""
        start = "" if key is None else f"{_scalar(key)}:{self.layout.space}"
        gap = self._between(node)
        spread = None if "\n" in gap else False
        indent = _indentation(gap)
        inner = render_json(value, self.layout, indent=indent, lead=len(start), spread=spread)
        return start + inner

    def _between(self, node: Node) -> str:
        """Return the space between two children of an object or array."""
        gaps = [_plain(self.text[node.gap(index)]) for index in range(len(node.children) + 1)]
        broken = next((each for each in gaps if "\n" in each), None)
        if broken is None:
            return self.layout.space
        indent = _indentation(broken)
        return self.layout.newline + (indent if node.children else indent + self.layout.unit)

    def _joined(self, node: Node, entries: _Entries) -> str:
        """Return an object or array of other children; comments between the old ones stay."""
        between = self._between(node)
        gaps = [self.text[node.gap(index)] for index in range(len(node.children) + 1)]
        leads, ends, comma = [gaps[0]], [], ""
        for gap in gaps[1:]:
            head, comma, comment, lead = _split(gap)
            leads.append(lead)
            ends.append((head, comment))
        *leads, tail = leads
        parts, count = [], sum(source is not None for _, source in entries)
        if not leads:  # it contains only comments, which stay before the children
            parts, tail = [_commented(tail)], tail[len(_commented(tail)) :]
        for index, source in entries:
            lead, (head, comment) = (
                (between, ("", "")) if index is None else (leads[index], ends[index])
            )
            if source is None:
                parts += [_commented(lead), comment]
                continue
            count -= 1
            if not any(parts) and leads and not _commented(leads[0]):
                lead = leads[0]
            elif index == 0 and any(parts) and not _commented(lead):
                lead = between
            parts += [
                lead,
                source,
                head if count or comma else "",
                "," if count or comma else "",
                comment,
            ]
        inner = _joined([*parts, tail, self.text[node.end - 1]], self.layout.newline)
        return self.text[node.start] + inner
