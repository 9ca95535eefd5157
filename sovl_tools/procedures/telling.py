"""What is told of one step while it is taken."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from sovl_tools.procedures.events import Event, State, StepEnded, StepRetried, StepStarted


class Telling:
    """Tells of a step, if anybody listens.

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
