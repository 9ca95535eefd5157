"""What a procedure does: in few words, as a flowchart (Mermaid), and as an SVG image."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias
from unicodedata import combining, east_asian_width
from xml.sax.saxutils import escape

from sovl_tools.model.document import JSON
from sovl_tools.procedures.procedure import Procedure, Step
from sovl_tools.reporting.text import cut, plain

Shape: TypeAlias = Literal["work", "choice", "group", "procedure", "end", "failure"]
"""What kind of thing a step is, where it is drawn."""

_LONGEST = 60
_ONE_EXPRESSION = re.compile(r"\{\{\s*((?:(?!\}\}).)*?)\s*\}\}", re.DOTALL)


class Outline(NamedTuple):
    """A step in words.

    Attributes:
        title: what it does, or its name, and the variable that keeps what comes of it.
        notes: what else it says, a few words each.
        shape: what kind of thing it is.
        blocks: the steps in it.
    """

    title: str
    notes: tuple[str, ...]
    shape: Shape
    blocks: tuple[Block, ...] = ()


class Block(NamedTuple):
    """Steps in a step; ``caption`` is ``""`` if they are the only ones in it."""

    caption: str
    steps: tuple[Outline, ...]


def outline_steps(procedure: Procedure) -> tuple[Outline, ...]:
    """Return the steps of a procedure in words, in order."""
    return tuple(map(_outline, procedure.steps))


def _outline(step: Step) -> Outline:
    words = WORDS[step.action](step) if step.action in WORDS else step.action
    what = shortened(words, 2 * _LONGEST)
    kept = f" → {step.save_as}" if step.save_as else ""
    notes = tuple(_notes(step))
    if step.name:
        notes = (what, *notes)
    blocks = tuple(
        Block("" if place == ("steps",) else str(place[-1]), tuple(map(_outline, steps)))
        for place, steps in step.blocks.items()
    )
    title = what if step.name is None else shortened(step.name)
    return Outline(f"{title}{kept}", notes, _SHAPES.get(step.action, "work"), blocks)


def _notes(step: Step) -> Iterator[str]:
    if step.when is not None:
        yield f"when {shortened(step.when)}"
    if step.fields.get("at_once", 1) != 1 and step.action == "for_each":
        yield f"{step.fields['at_once']} at once"
    if step.timeout is not None:
        yield f"at most {step.timeout:g} s"
    if step.on_error.retry:
        yield f"{step.on_error.retry} more attempt{'s' * (step.on_error.retry != 1)}"
    if step.on_error.then == "continue":
        yield "goes on after a failure"


def bare(value: JSON) -> str:
    """Return a value in few words: of one ``{{ expression }}`` only that, of others the JSON."""
    found = _ONE_EXPRESSION.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        return shortened(found[1])
    return shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Return a text in one line of bounded length that a terminal can be trusted with."""
    return cut(plain(" ".join(text.split())), longest)


WORDS: Mapping[str, Callable[[Step], str]] = {
    "tool": lambda step: f"tool {step.fields['tool']}",
    "set": lambda step: f"set {', '.join(step.fields['values'])}",
    "if": lambda step: f"if {shortened(step.fields['condition'])}",
    "for_each": lambda step: (
        f"for each {step.fields.get('as', 'item')} in {bare(step.fields['items'])}"
    ),
    "parallel": lambda _: "at the same time",
    "procedure": lambda step: f"procedure {step.fields['procedure']}",
    "wait": lambda step: f"wait {bare(step.fields['seconds'])} s",
    "return": lambda step: f"return {bare(step.fields['value'])}",
    "fail": lambda step: f"fail: {shortened(step.fields['message'])}",
}
_SHAPES: Mapping[str, Shape] = {
    "if": "choice",
    "for_each": "group",
    "parallel": "group",
    "procedure": "procedure",
    "return": "end",
    "fail": "failure",
}


_LETTER, _LINE, _PADDING, _GAP, _MARGIN = 7.4, 17.0, 10.0, 24.0, 16.0
_FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_FRAME = "#64748b"
_INK, _FAINT, _PAPER = "#0f172a", "#475569", "#ffffff"
_FILLS: Mapping[Shape, str] = {
    "work": "#e0f2fe",
    "choice": "#fef3c7",
    "group": "#f8fafc",
    "procedure": "#ede9fe",
    "end": "#dcfce7",
    "failure": "#fee2e2",
}


_OPENING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
    'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{font}" font-size="12" role="img">'
)
_ARROWHEAD = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
    f'markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="{_FRAME}"/></marker></defs>'
)
# https://www.w3.org/TR/xml/#charsets
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Picture(NamedTuple):
    """Something that can be drawn: its size, and its elements given where it is to be."""

    width: float
    height: float
    drawn: Callable[[float, float], Iterator[str]]


def svg(procedure: Procedure) -> str:
    """Return the image as the text of an XML document, without a final newline."""
    start = _box([procedure.name], "end")
    steps = [_picture(each) for each in outline_steps(procedure)]
    picture = _column([start, *steps])
    width, height = picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN
    lines = [
        _OPENING.format(width=width, height=height, font=_FONT),
        f"<title>{_text(procedure.name)}</title>",
        f"<desc>{_text(shortened(procedure.description, 500))}</desc>",
        _ARROWHEAD,
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
        *picture.drawn(_MARGIN, _MARGIN),
        "</svg>",
    ]
    return "\n".join(lines)


def _picture(step: Outline) -> Picture:
    if not step.blocks:
        return _box([step.title, *step.notes], step.shape)
    return _framed([step.title, *step.notes], list(map(_inner, step.blocks)), step.shape)


def _inner(block: Block) -> Picture:
    steps = _column(list(map(_picture, block.steps)))
    if not block.caption:
        return steps
    width = max(steps.width, _width(block.caption))

    def drawn(x: float, y: float) -> Iterator[str]:
        left = x + (width - _width(block.caption)) / 2
        yield from _written([block.caption], left, y, _FAINT)
        yield from steps.drawn(x + (width - steps.width) / 2, y + _LINE + 4)

    return Picture(width, steps.height + _LINE + 4, drawn)


def _box(lines: Sequence[str], shape: Shape) -> Picture:
    width = max(map(_width, lines)) + 2 * _PADDING
    height = len(lines) * _LINE + 2 * _PADDING - 4

    def drawn(x: float, y: float) -> Iterator[str]:
        yield _rectangle(x, y, width, height, shape)
        yield from _written(lines, x + _PADDING, y + _PADDING)

    return Picture(width, height, drawn)


def _column(pictures: Sequence[Picture]) -> Picture:
    """Return pictures one below another, each with an arrow to the next."""
    width = max(each.width for each in pictures)
    height = sum(each.height for each in pictures) + _GAP * (len(pictures) - 1)

    def drawn(x: float, y: float) -> Iterator[str]:
        middle = x + width / 2
        for number, each in enumerate(pictures):
            if number:
                yield _arrow(middle, y - _GAP, y)
            yield from each.drawn(x + (width - each.width) / 2, y)
            y += each.height + _GAP

    return Picture(width, height, drawn)


def _framed(lines: Sequence[str], pictures: Sequence[Picture], shape: Shape) -> Picture:
    """Return pictures side by side in a frame, under some lines."""
    inner = sum(each.width for each in pictures) + _GAP * (len(pictures) - 1)
    width = max(inner, *map(_width, lines)) + 2 * _PADDING
    head = len(lines) * _LINE + _PADDING + 4
    height = head + max(each.height for each in pictures) + _PADDING

    def drawn(x: float, y: float) -> Iterator[str]:
        yield _rectangle(x, y, width, height, shape)
        yield from _written(lines, x + _PADDING, y + _PADDING)
        left = x + (width - inner) / 2
        for each in pictures:
            yield from each.drawn(left, y + head)
            left += each.width + _GAP

    return Picture(width, height, drawn)


def _rectangle(x: float, y: float, width: float, height: float, shape: Shape) -> str:
    corner = 14 if shape == "end" else 4
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{corner}" '
        f'fill="{_FILLS[shape]}" stroke="{_FRAME}"/>'
    )


def _arrow(x: float, top: float, bottom: float) -> str:
    return (
        f'<path d="M{x:.1f} {top:.1f}V{bottom - 1:.1f}" stroke="{_FRAME}" fill="none" '
        'marker-end="url(#tip)"/>'
    )


def _written(lines: Iterable[str], x: float, y: float, first_color: str = _INK) -> Iterator[str]:
    for number, line in enumerate(lines):
        color = _FAINT if number else first_color
        baseline = y + number * _LINE + 11
        yield (
            f'<text x="{x:.1f}" y="{baseline:.1f}" fill="{color}" xml:space="preserve">'
            f"{_text(line)}</text>"
        )


def _text(line: str) -> str:
    """Return a text as XML can hold it."""
    return escape(_NO_XML.sub("\ufffd", line))


def _width(line: str) -> float:
    """Return how wide a line is; ideographs take two places and accents none."""
    # Nobody measures the font here: in a monospaced one each letter takes one place.
    places = (0 if combining(each) else 2 if east_asian_width(each) in "WF" else 1 for each in line)
    return sum(places) * _LETTER


_FRAMES: Mapping[Shape, tuple[str, str]] = {
    "work": ("[", "]"),
    "choice": ("{{", "}}"),
    "procedure": ("[[", "]]"),
    "end": ("([", "])"),
    "failure": ("[/", "/]"),
}
# Mermaid reads Markdown and its own syntax in quotes, too; the form is an entity without "&".
_ESCAPED = {ord(letter): f"#{ord(letter)};" for letter in '#"<>&`\\'}


class Way(NamedTuple):
    """A way from a node to the next one; ``caption`` is beside the arrow."""

    node: str
    caption: str = ""


def mermaid(procedure: Procedure) -> str:
    """Return the flowchart, without a final newline."""
    return "\n".join(_Chart().lines(procedure))


class _Chart:
    """Writes one chart; nodes are called ``n1``, ``n2`` and so on, in order."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0
        self._ends: list[Way] = []

    def lines(self, procedure: Procedure) -> list[str]:
        self._lines = ["flowchart TD", f"  start([{_quoted([procedure.name])}])"]
        ways = self._steps(outline_steps(procedure), [Way("start")], 1)
        self._lines.append('  finish(["end"])')
        for way in (*ways, *self._ends):
            self._arrow(way, "finish", 1)
        return self._lines

    def _steps(self, steps: Iterable[Outline], ways: list[Way], level: int) -> list[Way]:
        """Write steps to which ways lead; return the ways that lead on."""
        for step in steps:
            self._count += 1
            node = f"n{self._count}"
            ways = (
                self._group(step, node, ways, level)
                if step.shape == "group"
                else (self._single(step, node, ways, level))
            )
        return ways

    def _single(self, step: Outline, node: str, ways: list[Way], level: int) -> list[Way]:
        opening, closing = _FRAMES[step.shape]
        self._line(f"{node}{opening}{_quoted([step.title, *step.notes])}{closing}", level)
        for way in ways:
            self._arrow(way, node, level)
        if step.shape == "choice":
            # Both ways lead on, the one without steps straight from the node.
            found = {block.caption: block.steps for block in step.blocks}
            ends = []
            for caption in ("then", "else"):
                ends += self._steps(found.get(caption, ()), [Way(node, caption)], level)
            return ends
        if step.shape == "end":
            self._ends.append(Way(node))
        return [] if step.shape in {"end", "failure"} else [Way(node)]

    def _group(self, step: Outline, node: str, ways: list[Way], level: int) -> list[Way]:
        self._line(f"subgraph {node} [{_quoted([step.title, *step.notes])}]", level)
        for block in step.blocks:
            if not block.caption:
                self._steps(block.steps, [], level + 1)
                continue
            self._count += 1
            self._line(f"subgraph n{self._count} [{_quoted([block.caption])}]", level + 1)
            self._steps(block.steps, [], level + 2)
            self._line("end", level + 1)
        self._line("end", level)
        for way in ways:
            self._arrow(way, node, level)
        return [Way(node)]

    def _arrow(self, way: Way, node: str, level: int) -> None:
        caption = f"|{way.caption}| " if way.caption else ""
        self._line(f"{way.node} --> {caption}{node}", level)

    def _line(self, text: str, level: int) -> None:
        self._lines.append(f"{'  ' * level}{text}")


def _quoted(lines: Iterable[str]) -> str:
    escaped = (line.translate(_ESCAPED) for line in lines)
    return f'"{"<br/>".join(escaped)}"'
