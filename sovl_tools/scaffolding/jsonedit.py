"""Edits JSON text with minimal changes: what stays the same keeps its formatting.

The text can have comments and trailing commas (JSONC), like the settings of editors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

from sovl_tools.model.document import JSON, canonical

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
        colon: the separator between a key and its value.
        comma: the separator between two values on one line.
        is_mixed: whether short objects and arrays are written on one line.
        is_ascii: whether other characters are escaped.
    """

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "
    is_mixed: bool = True
    is_ascii: bool = False


HOUSE = Layout()


def _layout_of(text: str, tree: Node) -> Layout:
    """Infer the style of a string; ``HOUSE`` where the text doesn't show it."""
    every = list(tree.containers())
    on_one_line = [each for each in every if "\n" not in text[each.start : each.end]]
    commas = [text[each.gap(1)] for each in on_one_line if len(each.children) > 1]
    first = [each.children[0] for each in every if each.children[0].key is not None]
    colons = [text[child.key_end : child.value.start] for child in first]
    colon = next((each for each in colons if "\n" not in each), HOUSE.colon)
    lead = text[tree.gap(0)] if tree.children else ""
    return Layout(
        newline="\r\n" if "\r\n" in text else "\n",
        unit=_indentation(lead) if "\n" in lead else HOUSE.unit,
        colon=colon,
        comma=commas[0] if commas else ", " if colon != ":" else ",",
        is_mixed=bool(on_one_line) or not tree.children,
        # only an escape shows it: a string can be ASCII by chance
        is_ascii="\\u" in text and text.isascii(),
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
        return _scalar(value, layout)
    if spread is None:
        length = len(indent) + lead + len(_on_one_line(value, layout))
        spread = not (layout.is_mixed and _is_simple(value) and length <= WIDTH)
    if not spread:
        return _on_one_line(value, layout)
    inner = f"{indent}{layout.unit}"
    keyed = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    lines = []
    for key, each in keyed:
        start = "" if key is None else f"{_scalar(key, layout)}{layout.colon}"
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


def _scalar(value: JSON, layout: Layout) -> str:
    text = json.dumps(value, ensure_ascii=layout.is_ascii)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)  # half of a surrogate pair can only be written as an escape
    return text


def _on_one_line(value: JSON, layout: Layout) -> str:
    if not isinstance(value, dict | list) or not value:
        return _scalar(value, layout)
    if isinstance(value, list):
        inner = layout.comma.join(_on_one_line(each, layout) for each in value)
        return f"[{inner}]"
    members = [
        f"{_scalar(key, layout)}{layout.colon}{_on_one_line(each, layout)}"
        for key, each in value.items()
    ]
    return f"{{{layout.comma.join(members)}}}"


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


class _Parts:
    """The content of an object or array: children, and the gaps around them with their commas.

    Args:
        children: the source of the members or items, at least one.
        gaps: the source before each child and after the last one.
        comma: the separator of two children on one line.
    """

    def __init__(self, children: list[str], gaps: list[str], *, comma: str) -> None:
        self.children = children
        self.gaps = gaps
        broken = next((each for each in map(_plain, gaps[:-1]) if "\n" in each), "")
        newline = "\r\n" if "\r\n" in broken else "\n"
        self.line_break = f"{newline}{_indentation(broken)}" if broken else ""
        self._separator = f",{self.line_break}" if broken else comma

    def remove(self, index: int) -> None:
        """Remove a child, and a comma; comments around it stay."""
        before, after = self.gaps[index : index + 2]
        gap = after if index else before
        if _plain(before) != before or _plain(after) != after:
            keeps_comma = index > 0 and "," in _plain(after)
            before = (before if keeps_comma else _without_comma(before)).rstrip(" \t")
            after = _without_comma(after)
            is_blank = before.endswith("\n")  # the line that the child was on
            gap = before + (re.sub(r"^[ \t]*\r?\n", "", after) if is_blank else after)
        elif len(self.children) == 1:
            gap = ""
        self.gaps[index : index + 2] = [gap]
        del self.children[index]

    def insert(self, index: int, child: str) -> None:
        """Insert a child; comments on the line of the one before it stay there."""
        gap, count = self.gaps[index], len(self.children)
        # children are separated as the last two are, unless a comment separates those
        between = self.gaps[-2] if count > 1 else self._separator
        between = between if _plain(between) == between else self._separator
        if index == 0:
            before, after = gap, between
        elif _plain(gap) != gap:
            end = len(_LINE.match(gap)[0])  # type: ignore[index]
            behind, rest = _without_comma(gap[:end]).rstrip(), gap[end:]
            start = self.line_break or ("\n" if "//" in behind else " ")
            before = f",{behind}{start}"
            after = "," * ("," in _plain(gap)) + (_without_comma(rest) or " " * (index < count))
        else:
            before, after = (gap, gap) if index < count else (between, gap)
        self.gaps[index : index + 1] = [before, after]
        self.children.insert(index, child)

    def __str__(self) -> str:
        pairs = zip(self.gaps, [*self.children, ""], strict=True)
        return "".join(f"{gap}{child}" for gap, child in pairs)


def _plain(gap: str) -> str:
    return _COMMENT.sub(_blank, gap)


def _without_comma(gap: str) -> str:
    at = _plain(gap).find(",")
    return gap if at < 0 else gap[:at] + gap[at + 1 :]


def _renamed(before: dict[str, JSON], after: dict[str, JSON]) -> dict[str, str]:
    """Return the new keys of members that only have another key, by the old ones."""
    pairs = zip(before, after, strict=True) if len(before) == len(after) else ()
    return {
        old: new
        for old, new in pairs
        if not (old in after or new in before) and canonical(before[old]) == canonical(after[new])
    }


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
        inside = slice(node.start, node.end)
        is_commented = self.text[inside] != self.plain[inside]
        is_like = isinstance(before, dict | list) and type(before) is type(after)
        if is_like and node.children and (after or is_commented):
            children = [self.text[each.start : each.value.end] for each in node.children]
            gaps = [self.text[node.gap(index)] for index in range(len(children) + 1)]
            parts = _Parts(children, gaps, comma=self.layout.comma)
            if isinstance(after, dict):
                self._members(node, parts, before, after)
            else:
                self._items(parts, before, after)
            return f"{self.text[node.start]}{parts}{self.text[node.end - 1]}"
        line = self._line_before(node)
        indent = _indentation(line)
        lead, spread = len(line) - len(indent), None if is_free else False
        if is_like and is_commented:  # it contains only comments
            new = render_json(after, self.layout, indent=indent, lead=lead, spread=True)
            last = max(found.end() for found in _COMMENT.finditer(self._text_of(node)))
            return self._text_of(node)[:last] + new[1:]
        return render_json(after, self.layout, indent=indent, lead=lead, spread=spread)

    def _text_of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def _line_before(self, node: Node) -> str:
        """Return the text before a node on its line."""
        return self.text[self.text.rfind("\n", 0, node.start) + 1 : node.start]

    def _members(
        self, node: Node, parts: _Parts, before: dict[str, JSON], after: dict[str, JSON]
    ) -> None:
        keys, is_free = [*before], "\n" in self._text_of(node)
        renamed = _renamed(before, after)
        for index, child in enumerate(node.children):
            key = str(child.key)
            if key in renamed:
                keys[index] = renamed[key]
                name = _scalar(renamed[key], self.layout)
                parts.children[index] = name + self.text[child.key_end : child.value.end]
            elif key in after:
                start = self.text[child.start : child.value.start]
                inner = self.value(child.value, before[key], after[key], is_free=is_free)
                parts.children[index] = start + inner
        # remaining keys keep their order, and a new key follows its predecessor
        previous = ""
        for index, key in enumerate(after):
            if key not in keys:
                at = keys.index(previous) + 1 if index else 0
                keys.insert(at, key)
                parts.insert(at, self._new(parts, key, after[key]))
            previous = key
        for index in reversed(range(len(keys))):
            if keys[index] not in after:
                parts.remove(index)

    def _items(self, parts: _Parts, before: list[JSON], after: list[JSON]) -> None:
        old, new = [*map(canonical, before)], [*map(canonical, after)]
        # autojunk would ignore items that are frequent in long arrays
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for step, start, end, first, last in reversed(steps):
            if step == "equal":
                continue
            made = [self._new(parts, None, each) for each in after[first:last]]
            shared = min(end - start, len(made))
            parts.children[start : start + shared] = made[:shared]
            for index in reversed(range(start + shared, end)):
                parts.remove(index)
            for index in range(shared, len(made)):
                parts.insert(start + index, made[index])

    def _new(self, parts: _Parts, key: str | None, value: JSON) -> str:
        """Format a new child."""
        gap = parts.line_break
        start = "" if key is None else _scalar(key, self.layout) + self.layout.colon
        spread = None if gap else False
        indent = _indentation(gap)
        inner = render_json(value, self.layout, indent=indent, lead=len(start), spread=spread)
        return start + inner
