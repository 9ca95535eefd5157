"""The bits of SVG that charts are made of."""

import re
import unicodedata
from itertools import accumulate

_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
# The usual width of a character, in parts of the font's size.
_NARROW, _WIDE = 0.56, 1.0


def document(width: int, height: int, title: str, body: list[str]) -> str:
    """Return a whole SVG document on a white ground."""
    ground = element("rect", width=width, height=height, fill="#ffffff")
    return element(
        "svg",
        element("title", escape(title)) if title else "",
        ground,
        *body,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="img",
        font_family=_FONT,
    )


def element(name: str, *children: str, **attributes: str | float) -> str:
    """Return an element; children are markup, attributes plain values with _ for the hyphen."""
    written = "".join(
        f' {attribute.replace("_", "-")}="{_value(value)}"'
        for attribute, value in attributes.items()
    )
    content = "".join(children)
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def text(content: str, x: float, y: float, **attributes: str | float) -> str:
    """Return a string element, escaped; `text_anchor` and the like are attributes."""
    defaults: dict[str, str | float] = {"font_size": 12, "fill": "#444444"}
    return element("text", escape(content), x=x, y=y, **(defaults | attributes))


def tooltip(content: str) -> str:
    """Return the child element that shows a string when the pointer rests on its parent."""
    return element("title", escape(content))


def escape(content: str) -> str:
    """Return a string as markup, without the characters that XML has no place for."""
    return _NOT_IN_XML.sub("\ufffd", content).translate(_ENTITIES)


def text_width(content: str, size: float = 12) -> float:
    """Estimate how wide a string is drawn."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in content)
    return size * (wide * _WIDE + (len(content) - wide) * _NARROW)


def shorten(content: str, width: float, size: float = 12) -> str:
    """Return the text on one line, cut with an ellipsis so that it fits the width."""
    line = " ".join(content.split())
    if text_width(line, size) <= width:
        return line
    room = width - text_width("…", size)
    ends = accumulate(text_width(character, size) for character in line)
    fitting = sum(end <= room for end in ends)
    return f"{line[:fitting].rstrip()}…"


def _value(value: str | float) -> str:
    if isinstance(value, str):
        return escape(value)
    # Adding 0 turns the -0.0 that rounding may leave into 0.0.
    return f"{round(value, 2) + 0:.2f}".rstrip("0").rstrip(".")
