"""What a run works with, what of it step handlers get, and who listens to its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.model.call import Level, LogMessage, Progress
from sovl_tools.model.context import ToolCaller, ToolLookup
from sovl_tools.model.document import JSON
from sovl_tools.procedures.procedure import Procedure


class PastAttempt(NamedTuple):
    """What came of an attempt in an earlier process: a value, or else why it failed."""

    value: JSON = None
    error: str | None = None


class StepLog:
    """Where the steps of a run are written down; this one writes nothing.

    Attributes:
        run_id: of the run; ``""`` for one that is not written down.
    """

    run_id = ""

    def known(self, key: str, action: str, tool: str | None, arguments: JSON) -> PastAttempt | None:
        """Return what came of an attempt in an earlier process; None if it did not end."""

    def begin(
        self, key: str, action: str, tool: str | None, arguments: JSON, *, is_durable: bool
    ) -> None:
        """Write down that an attempt begins; if it is durable, so that no crash loses it."""

    def succeed(self, key: str, result: JSON, *, is_durable: bool) -> None:
        """Write down what came of an attempt."""

    def fail(self, key: str, error: str, *, is_durable: bool) -> None:
        """Write down why an attempt failed."""

    def skip(self, key: str, action: str) -> None:
        """Write down that a step was not to be taken."""


class RunEnvironment(NamedTuple):
    """What a run works with.

    Attributes:
        registry: where tools and step handlers are.
        tooler: calls tools.
        procedure: returns another procedure by its name, given the one that asks for it.
        log: where steps are written down.
        listen: called with each event, also from the threads of tools; None for nobody.
    """

    registry: ToolLookup
    tooler: ToolCaller
    procedure: Callable[[Procedure, str], Procedure]
    log: StepLog
    listen: Callable[[Event], object] | None


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


class StepEvents:
    """Sends the events of one step, if anybody listens.

    Args:
        listen: called with each event; None for nobody.
        key: of the step.
        label: what it is called.
        depth: how many steps lie around it.
    """

    __slots__ = ("_about", "_listen", "_started")

    def __init__(
        self, listen: Callable[[Event], object] | None, key: str, label: str, depth: int
    ) -> None:
        self._listen = listen
        self._about = key, label, depth
        self._started = perf_counter()

    def started(self) -> None:
        """Tell that the step begins."""
        if self._listen is not None:
            self._listen(StepStarted(*self._about))

    def retried(self, attempt: int, delay: float, message: str) -> None:
        """Report that an attempt has failed, and that there is another after ``delay`` seconds."""
        if self._listen is not None:
            self._listen(StepRetried(*self._about, attempt, delay, message))

    def ended(self, state: State, message: str | None = None) -> None:
        """Tell how the step has ended."""
        if self._listen is not None:
            duration = perf_counter() - self._started
            self._listen(StepEnded(*self._about, state, duration, message))
