"""What happens during a run."""

from __future__ import annotations

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
