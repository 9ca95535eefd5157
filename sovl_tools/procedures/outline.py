"""Describes a procedure: in words, as a tree of its steps, and as a flowchart (Mermaid)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.procedures.procedure import Procedure, Step
from sovl_tools.reporting.text import cut, plain

_LONGEST = 60
_ONE_EXPRESSION = re.compile(r"\{\{\s*((?:(?!\}\}).)*?)\s*\}\}", re.DOTALL)
_Steps: TypeAlias = Sequence[Step]


def _title(step: Step) -> str:
    """Return a step's name, or its action in words."""
    return _words(step) if step.name is None else shortened(step.name)


def _words(step: Step) -> str:
    words = _WORDS[step.action](step) if step.action in _WORDS else step.action
    return shortened(words, 2 * _LONGEST)


def _line(step: Step) -> str:
    """Return a step's title, and the variable for its value."""
    return f"{_title(step)} → {step.save_as}" if step.save_as else _title(step)


def _notes(step: Step) -> Iterator[str]:
    """Yield what else a step says, a few words each."""
    if step.name:
        yield _words(step)
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


def _blocks(step: Step) -> dict[str, _Steps]:
    """Return the steps in a step by their caption, ``""`` if they are the only ones."""
    return {
        "" if place == ("steps",) else str(place[-1]): steps for place, steps in step.blocks.items()
    }


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
    lines += _drawn(_tree(procedure.steps))
    if procedure.output is not None:
        lines.append(f"output: {bare(procedure.output)}")
    return "\n".join(lines)


def boxes(procedure: Procedure) -> list[JSON]:
    """Return the steps of a procedure as nested JSON objects, for drawing."""
    return _boxes(procedure.steps, step_ids(procedure))


def _boxes(steps: _Steps, ids: Mapping[str, str]) -> list[JSON]:
    return [
        {
            "id": ids[_place(step)],
            "kind": step.action,
            "title": _title(step),
            "result_name": step.save_as,
            "note": "; ".join(_notes(step)) or None,
            "branches": [
                {"label": caption or None, "steps": _boxes(inner, ids)}
                for caption, inner in _blocks(step).items()
            ],
        }
        for step in steps
    ]


def step_ids(procedure: Procedure) -> dict[str, str]:
    """Return short ids of the steps, such as ``2.1.3``, by their keys in a run."""
    return dict(_ids(procedure.steps))


def _ids(steps: _Steps, prefix: str = "") -> Iterator[tuple[str, str]]:
    for number, step in enumerate(steps, 1):
        yield _place(step), f"{prefix}{number}"
        for block, inner in enumerate(step.blocks.values(), 1):
            yield from _ids(inner, f"{prefix}{number}.{block}.")


def _place(step: Step) -> str:
    return ".".join(map(str, step.path))


_Tree: TypeAlias = list[tuple[str, "_Tree"]]
"""Lines, each with the lines below it."""


def _tree(steps: _Steps) -> _Tree:
    found: _Tree = []
    for step in steps:
        notes = "; ".join(_notes(step))
        inner: _Tree = []
        for caption, block in _blocks(step).items():
            inner += [(f"{caption}:", _tree(block))] if caption else _tree(block)
        found.append((f"{_line(step)}  ({notes})" if notes else _line(step), inner))
    return found


def _drawn(tree: _Tree) -> Iterator[str]:
    for number, (line, inner) in enumerate(tree, 1):
        is_last = number == len(tree)
        yield f"{'└' if is_last else '├'} {line}"
        yield from (f"{' ' if is_last else '│'} {each}" for each in _drawn(inner))


_WORDS: Mapping[str, Callable[[Step], str]] = {
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
_FRAMES: Mapping[str, tuple[str, str]] = {
    "if": ("{{", "}}"),
    "procedure": ("[[", "]]"),
    "return": ("([", "])"),
    "fail": ("[/", "/]"),
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
        self._names = (f"n{number}" for number in count(1))
        self._ends: list[Way] = []

    def lines(self, procedure: Procedure) -> list[str]:
        self._lines = ["flowchart TD", f"  start([{_quoted([procedure.name])}])"]
        ways = self._steps(procedure.steps, [Way("start")], 1)
        self._write('finish(["end"])', 1)
        self._arrows([*ways, *self._ends], "finish", 1)
        return self._lines

    def _steps(self, steps: _Steps, ways: list[Way], level: int) -> list[Way]:
        """Write steps after their predecessors; return the last ones."""
        for step in steps:
            is_group = step.action in {"for_each", "parallel"}
            ways = (self._group if is_group else self._single)(step, ways, level)
        return ways

    def _single(self, step: Step, ways: list[Way], level: int) -> list[Way]:
        node = next(self._names)
        opening, closing = _FRAMES.get(step.action, ("[", "]"))
        self._write(f"{node}{opening}{_quoted([_line(step), *_notes(step)])}{closing}", level)
        self._arrows(ways, node, level)
        if step.action == "if":
            # Both ways lead on, the one without steps straight from the node.
            blocks = _blocks(step)
            branches = [
                self._steps(blocks.get(caption, ()), [Way(node, caption)], level)
                for caption in ("then", "else")
            ]
            return [way for ends in branches for way in ends]
        if step.action == "return":
            self._ends.append(Way(node))
        return [] if step.action in {"return", "fail"} else [Way(node)]

    def _group(self, step: Step, ways: list[Way], level: int) -> list[Way]:
        node = next(self._names)
        self._write(f"subgraph {node} [{_quoted([_line(step), *_notes(step)])}]", level)
        for caption, steps in _blocks(step).items():
            if not caption:
                self._steps(steps, [], level + 1)
                continue
            self._write(f"subgraph {next(self._names)} [{_quoted([caption])}]", level + 1)
            self._steps(steps, [], level + 2)
            self._write("end", level + 1)
        self._write("end", level)
        self._arrows(ways, node, level)
        return [Way(node)]

    def _arrows(self, ways: Iterable[Way], node: str, level: int) -> None:
        for way in ways:
            caption = f"|{way.caption}| " if way.caption else ""
            self._write(f"{way.node} --> {caption}{node}", level)

    def _write(self, text: str, level: int) -> None:
        self._lines.append(f"{'  ' * level}{text}")


def _quoted(lines: Iterable[str]) -> str:
    escaped = (line.translate(_ESCAPED) for line in lines)
    return f'"{"<br/>".join(escaped)}"'
