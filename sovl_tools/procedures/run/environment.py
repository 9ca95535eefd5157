"""What step handlers and listeners get to see of a run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.model.call import Level, LogMessage, Progress
from sovl_tools.model.context import ToolCaller, ToolLookup
from sovl_tools.model.document import JSON


class StepContext(NamedTuple):
    """The second argument of ``handler(step, context)``; the step's templates are rendered.

    Attributes:
        variables: a copy of the run's variables.
        inputs: of the procedure.
        tooler: calls tools.
        registry: has the tools.
        run_id: of the run; ``""`` for a run without a journal.
        log: reports something: ``context.log("warning", "no answer yet")``.
    """

    variables: Mapping[str, JSON]
    inputs: JSON
    tooler: ToolCaller
    registry: ToolLookup
    run_id: str
    log: Callable[[Level, str], None]


State: TypeAlias = Literal["succeeded", "failed", "skipped", "continued", "known"]
"""How a step ended.

``continued`` is a failure after which the run continues, ``known`` a success of an earlier process.
"""


class RunStarted(NamedTuple):
    """A run begins or is resumed.

    Attributes:
        procedure: the procedure's name.
        run_id: to resume it by; ``""`` for a run without a journal.
    """

    procedure: str
    run_id: str


class StepStarted(NamedTuple):
    """A step begins.

    Attributes:
        key: of the step in this run; see ``Scope``.
        label: its name, or its action.
        depth: the number of enclosing steps.
    """

    key: str
    label: str
    depth: int


class StepRetried(NamedTuple):
    """An attempt failed; there is another after ``delay`` seconds."""

    key: str
    label: str
    depth: int
    attempt: int
    delay: float
    message: str


class StepEnded(NamedTuple):
    """A step has ended.

    Attributes:
        key: of the step in this run.
        label: its name, or its action.
        depth: the number of enclosing steps.
        state: how it ended.
        duration: in seconds; of a step that contains others, with their waits at a gate.
        message: why it failed; None if it didn't.
        value: its value; None if it failed or was skipped.
    """

    key: str
    label: str
    depth: int
    state: State
    duration: float
    message: str | None = None
    value: JSON = None


Gate: TypeAlias = Callable[[StepStarted], Awaitable[object]]
"""Awaited before each step that isn't skipped, for example until the user continues."""


Event: TypeAlias = RunStarted | StepStarted | StepRetried | StepEnded | Progress | LogMessage
