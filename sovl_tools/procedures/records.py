"""The runs and steps of a journal, as values and as rows of its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

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
        TypeError, ValueError: a column isn't the JSON that a journal writes.
    """
    pairs = zip(kind._fields, row, strict=True)
    return kind._make(
        json.loads(value) if field in _WRITTEN and value is not None else value
        for field, value in pairs
    )


_RUN_WRITTEN = {"procedure", "path", "text", "inputs", "tools", "result", "error", "host"}
_STEP_WRITTEN = {"key", "action", "tool", "arguments", "result", "error"}
_WRITTEN = frozenset(_RUN_WRITTEN | _STEP_WRITTEN)
"""The columns with data from outside, stored as JSON."""
