"""What happens during a run, and who is told of it."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

from sovl_tools.model.call import LogMessage, Progress

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
    """An attempt failed; there is another after so many seconds."""

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
        listen: told of what happens; None for nobody.
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
        """Tell that an attempt has failed, and that there is another after so many seconds."""
        if self._listen is not None:
            self._listen(StepRetried(*self._about, attempt, delay, message))

    def ended(self, state: State, message: str | None = None) -> None:
        """Tell how the step has ended."""
        if self._listen is not None:
            duration = perf_counter() - self._started
            self._listen(StepEnded(*self._about, state, duration, message))
