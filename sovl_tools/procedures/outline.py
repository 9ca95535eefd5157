"""What a procedure does, in few words: for plans and drawings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
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
    """Return a text in one line of about so many characters that a terminal can be trusted with."""
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
