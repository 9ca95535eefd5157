"""A procedure as a flowchart in the language of Mermaid.

https://mermaid.js.org/syntax/flowchart.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.outline import Block, Outline, Shape, outlined

_FRAMES: Mapping[Shape, tuple[str, str]] = {
    "work": ("[", "]"),
    "choice": ("{{", "}}"),
    "procedure": ("[[", "]]"),
    "end": ("([", "])"),
    "failure": ("[/", "/]"),
}
_ESCAPED = {ord(letter): f"#{ord(letter)};" for letter in '#"<>&`\\'}


class Way(NamedTuple):
    """A way from a node to the next one; ``caption`` stands beside the arrow."""

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
        ways = self._steps(outlined(procedure), [Way("start")], 1)
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
            return self._choice(step, node, level)
        if step.shape == "end":
            self._ends.append(Way(node))
        return [] if step.shape in {"end", "failure"} else [Way(node)]

    def _choice(self, step: Outline, node: str, level: int) -> list[Way]:
        found = {block.caption: block.steps for block in step.blocks}
        ends = []
        for caption in ("then", "else"):
            ends += self._steps(found.get(caption, ()), [Way(node, caption)], level)
        return ends

    def _group(self, step: Outline, node: str, ways: list[Way], level: int) -> list[Way]:
        self._line(f"subgraph {node} [{_quoted([step.title, *step.notes])}]", level)
        for block in step.blocks:
            self._block(block, level + 1)
        self._line("end", level)
        for way in ways:
            self._arrow(way, node, level)
        return [Way(node)]

    def _block(self, block: Block, level: int) -> None:
        if not block.caption:
            self._steps(block.steps, [], level)
            return
        self._count += 1
        self._line(f"subgraph n{self._count} [{_quoted([block.caption])}]", level)
        self._steps(block.steps, [], level + 1)
        self._line("end", level)

    def _arrow(self, way: Way, node: str, level: int) -> None:
        caption = f"|{way.caption}| " if way.caption else ""
        self._line(f"{way.node} --> {caption}{node}", level)

    def _line(self, text: str, level: int) -> None:
        self._lines.append(f"{'  ' * level}{text}")


def _quoted(lines: Iterable[str]) -> str:
    escaped = (line.translate(_ESCAPED) for line in lines)
    return f'"{"<br/>".join(escaped)}"'
