"""The actions that a step of a procedure can have without any tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Action(NamedTuple):
    """A built-in action of steps.

    Attributes:
        keys: the keys of its step next to every step's.
        blocks: the keys with steps: a list of them, or lists by name.
        has_value: whether it has a value that a variable can keep.
        ends: whether it ends the procedure.
        has_effects: whether the journal must be checked before it is repeated.
        is_concurrent: whether its steps can run at once, so that none of them may return.
    """

    keys: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    has_value: bool = True
    ends: bool = False
    has_effects: bool = False
    is_concurrent: bool = False


ACTIONS: Mapping[str, Action] = {
    "tool": Action(("tool", "arguments"), has_effects=True),
    "set": Action(("values",), has_value=False),
    "if": Action(("condition", "then", "else"), ("then", "else"), has_value=False),
    "for_each": Action(
        ("items", "as", "at_once", "steps", "result"), ("steps",), is_concurrent=True
    ),
    "parallel": Action(("branches",), ("branches",), has_value=False, is_concurrent=True),
    "procedure": Action(("procedure", "inputs")),
    "wait": Action(("seconds",), has_value=False),
    "return": Action(("value",), has_value=False, ends=True),
    "fail": Action(("message",), has_value=False, ends=True),
}
"""The actions that belong to the language of procedures; no tool may claim one."""
