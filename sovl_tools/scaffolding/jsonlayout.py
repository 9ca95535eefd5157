"""How a JSON text is laid out, and how more is written in the same manner."""

from __future__ import annotations

import json
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.scaffolding.jsontree import Node, containers

WIDTH = 100
"""How long a line may become that holds a whole object or array, in characters."""


class Layout(NamedTuple):
    """The habits of a text.

    Attributes:
        newline: how lines end.
        unit: what each level is indented by.
        colon: what stands between a key and its value.
        comma: what stands between two values on one line.
        brace: what stands inside of the braces of an object on one line.
        bracket: likewise of an array.
        is_mixed: whether short objects and arrays stand on one line.
        is_ascii: whether other letters are written as escapes.
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
"""The layout of a manifest that is made here."""


def layout_of(text: str, tree: Node) -> Layout:
    """Return the habits of a text, the house's where it shows none."""
    found = [each for each in containers(tree) if "\n" not in text[each.start : each.end]]
    objects = [each for each in found if text[each.start] == "{"]
    arrays = [each for each in found if text[each.start] == "["]
    lists = [text[each.between(1)] for each in found if len(each.children) > 1]
    colon = _colon(text, tree)
    return Layout(
        newline="\r\n" if "\r\n" in text else "\n",
        unit=_unit(text, tree),
        colon=colon,
        comma=lists[0] if lists else ", " if colon != ":" else ",",
        brace=text[objects[0].lead] if objects else "",
        bracket=text[arrays[0].lead] if arrays else "",
        is_mixed=bool(found) or not tree.children,
        is_ascii="\\u" in text and text.isascii(),
    )


def _colon(text: str, tree: Node) -> str:
    colons = [
        text[child.key_end : child.value.start]
        for node in containers(tree)
        for child in node.children[:1]
        if child.key is not None
    ]
    return next((each for each in colons if "\n" not in each), HOUSE.colon)


def _unit(text: str, tree: Node) -> str:
    lead = text[tree.lead] if tree.children else ""
    return indentation(lead) if "\n" in lead else HOUSE.unit


def indentation(gap: str) -> str:
    """Return the space at the beginning of the last of several lines."""
    line = gap.rpartition("\n")[2]
    return line[: len(line) - len(line.lstrip())]


def rendered(
    value: JSON,
    layout: Layout = HOUSE,
    *,
    indent: str = "",
    lead: int = 0,
    spread: bool | None = None,
) -> str:
    """Return a value as JSON text.

    Args:
        value: what to write.
        layout: how.
        indent: the indentation of the line on which it begins.
        lead: how many characters stand before it on that line, beside the indentation.
        spread: True puts each member on a line of its own, False all on one line; None lets the
            length decide.
    """
    if not isinstance(value, dict | list) or not value:
        return _scalar(value, layout)
    if spread is None:
        length = len(indent) + lead + len(_on_one_line(value, layout))
        spread = not (layout.is_mixed and is_simple(value) and length <= WIDTH)
    return _spread(value, layout, indent) if spread else _on_one_line(value, layout)


def is_simple(value: JSON) -> bool:
    """Tell whether a value may stand on one line: it holds no object of objects alone."""
    if isinstance(value, dict):
        is_map = bool(value) and all(isinstance(each, dict) for each in value.values())
        return not is_map and all(map(is_simple, value.values()))
    return not isinstance(value, list) or all(map(is_simple, value))


def _scalar(value: JSON, layout: Layout) -> str:
    text = json.dumps(value, ensure_ascii=layout.is_ascii)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
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


def _spread(value: JSON, layout: Layout, indent: str) -> str:
    inner = f"{indent}{layout.unit}"
    keyed = value.items() if isinstance(value, dict) else ((None, each) for each in value)
    lines = []
    for key, each in keyed:
        start = "" if key is None else f"{_scalar(key, layout)}{layout.colon}"
        lines.append(start + rendered(each, layout, indent=inner, lead=len(start)))
    first, last = "{}" if isinstance(value, dict) else "[]"
    between = f",{layout.newline}{inner}"
    return f"{first}{layout.newline}{inner}{between.join(lines)}{layout.newline}{indent}{last}"
