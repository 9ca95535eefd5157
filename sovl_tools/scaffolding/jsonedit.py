"""Edits JSON text with minimal changes: what stays the same keeps its formatting.

The text may have comments and trailing commas (JSONC), as the settings of editors do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from sovl_tools.model.document import JSON, canonical

MARK = "\ufeff"
"""The byte order mark, which editors of Windows put before a text."""

WIDTH = 100
"""The longest line on which a whole object or array is written, in characters."""

# string, bracket or scalar; json.loads has refused anything else
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|[^\s"{}\[\]:,]+', re.DOTALL)
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


class Node(NamedTuple):
    """A value in a text: its offsets, and its children if it is an object or an array."""

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

    ``start`` and ``key_end`` are the offsets of the key; of an item, both that of its value.
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
    """The formatting style of a text; the defaults are the style of new manifests.

    Attributes:
        newline: the line ending.
        unit: the indentation of one level.
        colon: the separator between a key and its value.
        comma: the separator between two values on one line.
        brace: the space inside the braces of an object on one line.
        bracket: the space inside the brackets of an array on one line.
        is_mixed: whether short objects and arrays are written on one line.
        is_ascii: whether other characters are escaped.
    """

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "
    brace: str = ""
    bracket: str = ""
    is_mixed: bool = True
    is_ascii: bool = False


HOUSE = Layout()


def _layout_of(text: str, tree: Node) -> Layout:
    """Infer the style of a text; ``HOUSE`` where the text doesn't show it."""
    every = list(tree.containers())
    on_one_line = [each for each in every if "\n" not in text[each.start : each.end]]
    objects = [each for each in on_one_line if text[each.start] == "{"]
    arrays = [each for each in on_one_line if text[each.start] == "["]
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
        brace=text[objects[0].gap(0)] if objects else "",
        bracket=text[arrays[0].gap(0)] if arrays else "",
        is_mixed=bool(on_one_line) or not tree.children,
        # only an escape shows it: a text may be ASCII by chance
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
        indent: the indentation of the line on which the value begins.
        lead: the number of characters before the value on that line, without the indentation.
        spread: True puts each member on a line of its own, False all on one line; None decides by
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
    """Tell whether a value may be written on one line: it has no object of objects alone."""
    if isinstance(value, dict):
        # Such as "properties", whose members are easier to read on lines of their own.
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
        return f"[{layout.bracket}{inner}{layout.bracket}]"
    members = [
        f"{_scalar(key, layout)}{layout.colon}{_on_one_line(each, layout)}"
        for key, each in value.items()
    ]
    return f"{{{layout.brace}{layout.comma.join(members)}{layout.brace}}}"


def edit_json(text: str, document: JSON) -> str:
    """Return a JSON text, changed as little as possible so that it says what the document says.

    New values are formatted like their siblings. Members that stay keep their order, and comments
    stay unless they are inside of a removed value. A member that only has another key keeps its
    value's text, and a text its byte order mark. An equal document returns the text unchanged.

    Raises:
        ValueError: the text is no JSON.
    """
    if text.startswith(MARK):
        return MARK + edit_json(text.removeprefix(MARK), document)
    plain = without_comments(text)
    before = json.loads(plain)
    tree = parse_nodes(plain)
    editor = _Editor(text, plain, _layout_of(plain, tree))
    return text[: tree.start] + editor.value(tree, before, document) + text[tree.end :]


class _Piece(NamedTuple):
    """A child of the new text; ``old`` is its index in the old text, None if it is new."""

    old: int | None
    text: str


def _renamed(before: dict[str, JSON], after: dict[str, JSON]) -> dict[str, str]:
    """Return the old keys of members that only have another key, by the new ones."""
    if len(before) != len(after):
        return {}
    return {
        new: old
        for old, new in zip(before, after, strict=True)
        if old not in after
        and new not in before
        and canonical(before[old]) == canonical(after[new])
    }


class _Editor(NamedTuple):
    """Rewrites values in the style of an old text; ``plain`` is that text without comments."""

    text: str
    plain: str
    layout: Layout

    def value(self, node: Node, before: JSON, after: JSON, *, is_free: bool = True) -> str:
        """Return the text of a value; ``is_free`` tells whether it may take several lines."""
        # 1 is not true, and not 1.0 either.
        if canonical(before) == canonical(after):
            return self._text_of(node)
        inside = slice(node.start, node.end)
        is_commented = self.text[inside] != self.plain[inside]
        is_like = isinstance(before, dict | list) and type(before) is type(after)
        if is_like and node.children and (after or is_commented):
            pieces = self._members if isinstance(after, dict) else self._items
            return self._joined(node, list(pieces(node, before, after)))
        line = self._line_before(node)
        indent = _indentation(line)
        lead, spread = len(line) - len(indent), None if is_free else False
        if is_like and is_commented:  # nothing but comments stood there
            new = render_json(after, self.layout, indent=indent, lead=lead, spread=True)
            last = max(found.end() for found in _COMMENT.finditer(self._text_of(node)))
            return self._text_of(node)[:last] + new[1:]
        return render_json(after, self.layout, indent=indent, lead=lead, spread=spread)

    def _text_of(self, node: Node) -> str:
        return self.text[node.start : node.end]

    def _line_before(self, node: Node) -> str:
        """Return what is before a node on its line."""
        return self.text[self.text.rfind("\n", 0, node.start) + 1 : node.start]

    def _line_break(self, node: Node) -> str:
        """Return the first gap before a child with a line break in it, or ""."""
        gaps = (self.plain[node.gap(index)] for index in range(len(node.children)))
        return next((each for each in gaps if "\n" in each), "")

    def _members(
        self, node: Node, before: dict[str, JSON], after: dict[str, JSON]
    ) -> Iterator[_Piece]:
        known = {child.key: index for index, child in enumerate(node.children)}
        is_free = "\n" in self._text_of(node)
        renamed = _renamed(before, after)
        # those that stay keep their old order, new ones follow those before them
        order = [key for key in before if key in after]
        previous: str | None = None
        for key in after:
            if key not in before:
                order.insert(0 if previous is None else order.index(previous) + 1, key)
            previous = key
        for key in order:
            if key in renamed:
                child = node.children[known[renamed[key]]]
                text = _scalar(key, self.layout) + self.text[child.key_end : child.value.end]
                yield _Piece(known[renamed[key]], text)
            elif key in known:
                child = node.children[known[key]]
                start = self.text[child.start : child.value.start]
                inner = self.value(child.value, before[key], after[key], is_free=is_free)
                yield _Piece(known[key], start + inner)
            else:
                yield _Piece(None, self._new(node, key, after[key]))

    def _items(self, node: Node, before: list[JSON], after: list[JSON]) -> Iterator[_Piece]:
        old, new = [*map(canonical, before)], [*map(canonical, after)]
        # autojunk would ignore items that are frequent in long arrays
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        for step, start, end, first, last in steps:
            if step == "equal":
                for index in range(start, end):
                    yield _Piece(index, self._text_of(node.children[index].value))
            else:
                for value in after[first:last]:
                    yield _Piece(None, self._new(node, None, value))

    def _new(self, node: Node, key: str | None, value: JSON) -> str:
        """Format a new child like its siblings."""
        gap, start = self._line_break(node), ""
        if key is not None:
            sibling = node.children[0]
            colon = self.text[sibling.key_end : sibling.value.start]
            colon = self.layout.colon if "\n" in colon or "/" in colon else colon
            start = render_json(key, self.layout) + colon
        spread: bool | None = None if gap else False
        # the members of an object are siblings only if all are objects, as properties are
        children = [child.value for child in node.children]
        are_objects = isinstance(value, dict) and all(self.text[e.start] == "{" for e in children)
        if gap and are_objects:
            manners = {"\n" in self._text_of(each) for each in children if each.children}
            if manners == {True}:
                spread = True
            elif manners == {False} and _is_simple(value):
                spread = False
        indent = _indentation(gap)
        inner = render_json(value, self.layout, indent=indent, lead=len(start), spread=spread)
        return start + inner

    def _joined(self, node: Node, pieces: Sequence[_Piece]) -> str:
        parts, last, count = [self.text[node.start]], -1, len(node.children)
        before = _Piece(last, "")  # the opening bracket
        for after in (*pieces, _Piece(count, "")):
            if before.old is not None and after.old == before.old + 1:
                parts.append(self.text[node.gap(after.old)])
            else:
                behind = self._comments(node, last, last + 1)[0] if before.old is not None else []
                above: list[str] = []
                if after.old is not None:
                    above = self._comments(node, last, after.old)[1]
                parts.append(self._gap(node, before, after, behind=behind, above=above))
            parts.append(after.text)
            last = last if after.old is None else after.old
            before = after
        return "".join([*parts, self.text[node.end - 1]])

    def _comments(self, node: Node, first: int, end: int) -> tuple[list[str], list[str]]:
        """Return the comments between two children: on the first one's line, and all others."""
        behind: list[str] = []
        above: list[str] = []
        for index in range(first + 1, end + 1):
            gap = self.text[node.gap(index)]
            for found in _COMMENT.finditer(gap):
                is_behind = index == first + 1 and "\n" not in gap[: found.start()]
                (behind if is_behind else above).append(found[0])
        return behind, above

    def _gap(
        self,
        node: Node,
        before: _Piece,
        after: _Piece,
        *,
        behind: Sequence[str],
        above: Sequence[str],
    ) -> str:
        """Return the text between two pieces that were not neighbours; brackets count as pieces."""
        count = len(node.children)
        is_last = after.old == count
        if is_last and before.old == -1 and not behind and not above:
            return ""
        gap = self._separator(node, before, after)
        if is_last and before.old != -1 and "," in _COMMENT.sub("", self.text[node.gap(count)]):
            gap = f",{gap}"
        if not behind and not above:
            return gap
        space, comma, rest = gap.partition(",")
        rest = rest if comma else space
        found = self._line_break(node)
        indent = _indentation(found or self._line_before(node))
        inner = f"{self.layout.newline}{indent}{'' if found else self.layout.unit}"
        if "\n" not in rest and all(each.startswith("/*") for each in (*behind, *above)):
            inner = " "
        elif "\n" not in rest:
            line = inner.rpartition("\n")[2].removesuffix(self.layout.unit)
            rest = f"{self.layout.newline}{line}" if is_last else inner
        # a new member follows the comments on the line of the one before it
        lines = "".join(f"{inner}{each}" for each in above)
        return "".join([comma, *(f" {each}" for each in behind), lines, rest])

    def _separator(self, node: Node, before: _Piece, after: _Piece) -> str:
        """Return the separator between two pieces, as in the old text, without comments."""
        count = len(node.children)
        if before.old == -1 or after.old == count:
            return self._tidy(node.gap(count if after.old == count else 0))
        if count == 1:
            lead = self._tidy(node.gap(0))
            return f",{lead}" if "\n" in lead else self.layout.comma
        # as in the old text; a new child gets the separator of the old one that followed here
        is_new = before.old is not None and after.old is None
        index = (before.old or 0) + 1 if is_new else after.old or 0
        return self._tidy(node.gap(min(max(index, 1), count - 1)))

    def _tidy(self, gap: slice) -> str:
        """Return a gap without its comments and the blanks around them."""
        plain = self.plain[gap]
        if plain == self.text[gap]:
            return plain
        comma = "," if "," in plain else ""
        if "\n" in plain:
            return f"{comma}{self.layout.newline}{_indentation(plain)}"
        return self.layout.comma if comma else ""
