"""Describes a procedure: in words, as a tree of its steps, and as a flowchart (Mermaid)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

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
        title: its action, or its name, and the variable for its value.
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
        yield "continues after a failure"


def bare(value: JSON) -> str:
    """Return a value in few words: of one ``{{ expression }}`` only that, of others the JSON."""
    found = _ONE_EXPRESSION.fullmatch(value) if isinstance(value, str) else None
    if found is not None:
        return shortened(found[1])
    return shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def shortened(text: str, longest: int = _LONGEST) -> str:
    """Return a string in one line of bounded length that a terminal can be trusted with."""
    return cut(plain(" ".join(text.split())), longest)


def plan(procedure: Procedure) -> str:
    """Return the name, the inputs, the tree of steps and the output of a procedure."""
    lines = [f"{procedure.name}: {shortened(procedure.description, 90)}"]
    required: Sequence[str] = procedure.inputs.get("required", ())
    inputs = []
    for name, schema in procedure.inputs.get("properties", {}).items():
        known = schema if isinstance(schema, dict) else {}
        said = known.get("type", "any")
        words = said if isinstance(said, str) else " or ".join(said)
        if "default" in known:
            words += f", default {shortened(json.dumps(known['default'], ensure_ascii=False))}"
        elif name not in required:
            words += ", optional"
        inputs.append(f"{name} ({words})")
    if inputs:
        lines.append(f"inputs: {', '.join(inputs)}")
    lines += _tree(outline_steps(procedure))
    if procedure.output is not None:
        lines.append(f"output: {bare(procedure.output)}")
    return "\n".join(lines)


def boxes(procedure: Procedure) -> list[JSON]:
    """Return the steps of a procedure as nested JSON objects, for drawing."""
    ids = step_ids(procedure)
    return [*_boxes(procedure.steps, outline_steps(procedure), ids)]


def _boxes(
    steps: Iterable[Step], outlines: Iterable[Outline], ids: Mapping[str, str]
) -> Iterator[JSON]:
    for step, outline in zip(steps, outlines, strict=True):
        pairs = zip(step.blocks.values(), outline.blocks, strict=True)
        yield {
            "id": ids[_place(step)],
            "kind": step.action,
            "title": outline.title.removesuffix(f" → {step.save_as}"),
            "result_name": step.save_as,
            "note": "; ".join(outline.notes) or None,
            "branches": [
                {"label": block.caption or None, "steps": [*_boxes(inner, block.steps, ids)]}
                for inner, block in pairs
            ],
        }


def step_ids(procedure: Procedure) -> dict[str, str]:
    """Return short ids of the steps, such as ``2.1.3``, by their keys in a run."""
    return dict(_ids(procedure.steps))


def _ids(steps: Iterable[Step], prefix: str = "") -> Iterator[tuple[str, str]]:
    for number, step in enumerate(steps, 1):
        yield _place(step), f"{prefix}{number}"
        for block, inner in enumerate(step.blocks.values(), 1):
            yield from _ids(inner, f"{prefix}{number}.{block}.")


def _place(step: Step) -> str:
    return ".".join(map(str, step.path))


def _tree(steps: Sequence[Outline]) -> Iterator[str]:
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        notes = f"  ({'; '.join(step.notes)})" if step.notes else ""
        yield f"{'└' if is_last else '├'} {step.title}{notes}"
        for line in _blocks(step):
            yield f"{' ' if is_last else '│'} {line}"


def _blocks(step: Outline) -> Iterator[str]:
    for number, block in enumerate(step.blocks):
        if not block.caption:
            yield from _tree(block.steps)
            continue
        is_last = number == len(step.blocks) - 1
        yield f"{'└' if is_last else '├'} {block.caption}:"
        for line in _tree(block.steps):
            yield f"{' ' if is_last else '│'} {line}"


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
    """A way from a node to the next one; ``caption`` is next to the arrow."""

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
        """Write steps after their predecessors; return the last ones."""
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
