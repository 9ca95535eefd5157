"""What of a run its step handlers and its listeners get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.model.call import Level, LogMessage, Progress
from sovl_tools.model.context import ToolCaller, ToolLookup
from sovl_tools.model.document import JSON


class StepContext(NamedTuple):
    """Given to ``handler(step, context)`` beside the step, whose templates are filled in.

    Attributes:
        variables: those that are there, a copy.
        inputs: of the procedure.
        tooler: calls tools.
        registry: where the tools are.
        run_id: of the run; ``""`` for one that is not written down.
        log: says something about the run: ``context.log("warning", "no answer yet")``.
    """

    variables: Mapping[str, JSON]
    inputs: JSON
    tooler: ToolCaller
    registry: ToolLookup
    run_id: str
    log: Callable[[Level, str], None]

    def __repr__(self) -> str:
        run = f" of run {self.run_id}" if self.run_id else ""
        return f"<StepContext{run} with {len(self.variables)} variables>"


State: TypeAlias = Literal["succeeded", "failed", "skipped", "continued", "known"]
"""How a step ended.

``continued`` is a failure after which the run goes on, ``known`` a success of an earlier process.
"""


class RunStarted(NamedTuple):
    """A run begins, or goes on.

    Attributes:
        procedure: the procedure's name.
        run_id: by which it can be resumed; ``""`` for a run that is not written down.
    """

    procedure: str
    run_id: str


class StepStarted(NamedTuple):
    """A step begins.

    Attributes:
        key: of the step in this run; see ``Scope``.
        label: what it is called.
        depth: how many steps lie around it.
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
        label: what it is called.
        depth: how many steps lie around it.
        state: how it ended.
        duration: in seconds.
        message: why it failed; None if it did not.
    """

    key: str
    label: str
    depth: int
    state: State
    duration: float
    message: str | None = None


Event: TypeAlias = RunStarted | StepStarted | StepRetried | StepEnded | Progress | LogMessage
