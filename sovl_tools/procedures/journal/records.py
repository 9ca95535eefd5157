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
"""Where a run is; ``interrupted`` if its process has gone without an ending."""

StepState = Literal["started", "succeeded", "failed", "skipped"]
"""Where a step is."""

ENDED = frozenset({"failed", "succeeded"})
"""The states of steps of which something has come."""


class RunRecord(NamedTuple):
    """A run.

    Attributes:
        id: its name, such as ``20261122-101530-7f3a``: when it began (UTC), and four digits.
        procedure: the procedure's name.
        path: of the procedure's file; ``""`` if it had none.
        text: of the procedure, as it was.
        digest: the SHA-256 of the text in UTF-8, in hexadecimal.
        inputs: that it was given.
        tools: the hash of each tool that the procedure uses, by name.
        state: where it is.
        result: what came of it; None unless it succeeded.
        error: why it ended otherwise; None if nobody said.
        started: when, in seconds since 1970.
        ended: when, in the same way; None if it has not.
        pid: the number of the process that ran it last.
        host: the machine on which that was.
        resumed: how often it was taken up again.
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
    """A step of a run, as its last attempt left it.

    Attributes:
        key: its path with the iterations, such as ``steps.2[3].steps.0``.
        action: what it does.
        tool: that it calls; None if it calls none.
        state: where it is.
        arguments: with templates filled in.
        result: what came of it; None unless it succeeded.
        error: why it failed; None unless it did.
        attempt: how often it was begun.
        started: when the last time, in seconds since 1970.
        ended: when, in the same way; None if it has not.
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
    """Return a value as a journal keeps it: JSON in ASCII, which no text is too odd for."""
    return None if value is None else json.dumps(value, separators=(",", ":"))


def row_of(record: RunRecord | StepRecord) -> tuple[Any, ...]:
    """Return the columns of a record, in the order of its fields."""
    pairs = zip(record._fields, record, strict=True)
    return tuple(written(value) if field in _WRITTEN else value for field, value in pairs)


Record = TypeVar("Record", RunRecord, StepRecord)


def record_of(kind: type[Record], row: Sequence[Any]) -> Record:
    """Return the run or the step whose columns are given.

    Raises:
        ValueError: a column holds what no journal of ours has there.
    """
    return kind._make(_read(kind._fields, row))


def _read(fields: Sequence[str], row: Sequence[Any]) -> Iterator[Any]:
    # "interrupted" is never written: it is a running run whose lock no process holds.
    states = get_args(StepState) if "key" in fields else (*get_args(Ending), "running")
    for field, value in zip(fields, row, strict=True):
        found = value
        try:
            if field in _WRITTEN and value is not None:
                found = json.loads(value)  # a result may be infinite
            is_sound = found in states if field == "state" else _CHECKS[field](found)
        except (ValueError, TypeError, RecursionError):
            is_sound = False
        if not is_sound:
            raise ValueError(f"nobody wrote {value!r:.60} as {field!r}")
        yield found


def _is_moment(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < _LAST_MOMENT


_LAST_MOMENT = 253_370_764_800
"""The year 9999 in seconds since 1970, beyond which no calendar goes."""

_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
"""What a run's ID looks like; nothing else may become part of the path of a lock."""

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
"""What a column may hold, once it is read; a file may hold anything."""

_RUN_WRITTEN = {"procedure", "path", "text", "inputs", "tools", "result", "error", "host"}
_STEP_WRITTEN = {"key", "action", "tool", "arguments", "result", "error"}
_WRITTEN = frozenset(_RUN_WRITTEN | _STEP_WRITTEN)
"""What comes from outside, and so is kept as JSON."""
