"""The runs and steps of a journal, as values and as rows of its tables."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from sovl_tools.model.document import JSON

Ending = Literal["succeeded", "failed", "cancelled"]
"""How a run ends."""

RunState: TypeAlias = Literal["running", "interrupted"] | Ending
"""The state of a run; ``interrupted`` if its process died before the run ended."""

StepState = Literal["started", "succeeded", "failed", "skipped"]
"""The state of a step."""

ENDED = frozenset({"failed", "succeeded"})
"""The states of steps that have a result or an error."""


class RunRecord(NamedTuple):
    """A run.

    Attributes:
        id: such as ``20261122-101530-7f3a``: when it began (UTC), and four random digits.
        procedure: the procedure's name.
        path: the procedure's file; ``""`` if it had none.
        text: the procedure's text when the run began.
        digest: the SHA-256 of the text in UTF-8, in hexadecimal.
        inputs: the run's inputs.
        tools: the hash of each tool that the procedure uses, by name.
        state: running, interrupted, or how it ended.
        result: None unless it succeeded.
        error: why it failed or was cancelled; None if there's no reason.
        started: when, in seconds since 1970.
        ended: when, in the same unit; None if it hasn't.
        pid: the last process that ran it.
        host: the machine of that process.
        resumed: the number of times it was resumed.
    """

    id: str
    procedure: str
    path: str
    text: str
    digest: str
    inputs: JSON
    tools: Mapping[str, str]
    state: RunState
    result: JSON
    error: str | None
    started: float
    ended: float | None
    pid: int
    host: str
    resumed: int


class StepRecord(NamedTuple):
    """The last attempt of a step in a run.

    Attributes:
        key: its path with the iterations, such as ``steps.2[3].steps.0``.
        action: such as ``tool`` or ``set``.
        tool: the tool that it calls, or None.
        state: started, skipped, or how it ended.
        arguments: with templates rendered.
        result: None unless it succeeded.
        error: why it failed; None unless it did.
        attempt: the number of attempts so far.
        started: when the last attempt began, in seconds since 1970.
        ended: when it ended, in the same unit; None if it hasn't.
    """

    key: str
    action: str
    tool: str | None
    state: StepState
    arguments: JSON
    result: JSON
    error: str | None
    attempt: int
    started: float
    ended: float | None


def written(value: JSON) -> str | None:
    """Return a value as a journal stores it: JSON in ASCII, which can store any string."""
    return None if value is None else json.dumps(value, separators=(",", ":"))


def row_of(record: RunRecord | StepRecord) -> tuple[Any, ...]:
    """Return the columns of a record, in the order of its fields."""
    pairs = zip(record._fields, record, strict=True)
    return tuple(written(value) if field in _WRITTEN else value for field, value in pairs)


Record = TypeVar("Record", RunRecord, StepRecord)


def record_of(kind: type[Record], row: Sequence[Any]) -> Record:
    """Return the run or step in a row.

    Raises:
        ValueError: a column has a value that a journal never writes.
    """
    return kind._make(_read(kind._fields, row))


def _read(fields: Sequence[str], row: Sequence[Any]) -> Iterator[Any]:
    # "interrupted" is never written: it is a running run without a locking process.
    states = get_args(StepState) if "key" in fields else (*get_args(Ending), "running")
    for field, value in zip(fields, row, strict=True):
        found = value
        try:
            if field in _WRITTEN and value is not None:
                found = json.loads(value)  # a result can be infinite
            is_sound = found in states if field == "state" else _CHECKS[field](found)
        except (ValueError, TypeError, RecursionError):
            is_sound = False
        if not is_sound:
            raise ValueError(f"{value!r:.60} isn't a value of {field!r}")
        yield found


def _is_moment(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < _LAST_MOMENT


_LAST_MOMENT = 253_370_764_800
"""The year 9999 in seconds since 1970, the last that datetime can show."""

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
"""The form of a run's ID; other strings must not become part of a lock's path."""

_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "id": lambda value: _ID.fullmatch(value) is not None,
    **dict.fromkeys(
        ("procedure", "path", "text", "digest", "host", "key", "action"),
        lambda value: isinstance(value, str),
    ),
    **dict.fromkeys(("error", "tool"), lambda value: value is None or isinstance(value, str)),
    **dict.fromkeys(("inputs", "result", "arguments"), lambda _: True),
    **dict.fromkeys(("pid", "resumed", "attempt"), lambda value: isinstance(value, int)),
    "tools": lambda value: (
        isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    ),
    "started": _is_moment,
    "ended": lambda value: value is None or _is_moment(value),
}
"""Checks of each column's value, since a file may contain anything."""

_RUN_WRITTEN = {"procedure", "path", "text", "inputs", "tools", "result", "error", "host"}
_STEP_WRITTEN = {"key", "action", "tool", "arguments", "result", "error"}
_WRITTEN = frozenset(_RUN_WRITTEN | _STEP_WRITTEN)
"""The columns with data from outside, stored as JSON."""
