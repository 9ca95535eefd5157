"""A run of a tool: whether anybody still waits for it, and what ends it early."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from typing import TypeAlias

from sovl_tools.model.call import LogMessage, Progress

Listen: TypeAlias = Callable[[Progress | LogMessage], object]


class TimeLimitError(Exception):
    """A run that took longer than its limit, in seconds."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


class RunCancelledError(Exception):
    """A run that was ended by ``Tooler.cancel``."""


class Run:
    """One call, or one attempt of it; what it calls itself are further runs below it.

    Attributes:
        call_id: names the call; its attempts have the same.
        chain: the names of the tools that called one another to get here, this one included.
        listen: told of progress and messages; None for the Tooler's own listener.
        is_abandoned: whether a thread was given up that may still be at it.
    """

    __slots__ = ("_is_stopped", "_parent", "_stops", "call_id", "chain", "is_abandoned", "listen")

    def __init__(
        self,
        call_id: str,
        chain: tuple[str, ...] = (),
        *,
        parent: Run | None = None,
        listen: Listen | None = None,
    ) -> None:
        self.call_id = call_id
        self.chain = chain
        self.listen: Listen | None = listen or (None if parent is None else parent.listen)
        self.is_abandoned = False
        self._parent = parent
        self._is_stopped = False
        self._stops: list[Callable[[], object]] = []
        if parent is not None:
            parent.on_stop(self.stop)

    @property
    def is_stopped(self) -> bool:
        """Whether nobody waits for the result any more."""
        return self._is_stopped or (self._parent is not None and self._parent.is_stopped)

    def stop(self) -> None:
        """End the run, and those below it, as far as they can be ended."""
        self._is_stopped = True
        while self._stops:
            self._stops.pop()()

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Have something called when the run is stopped; at once if it has been already."""
        self._stops.append(stop)
        if self._is_stopped:
            self.stop()

    def close(self) -> None:
        """Let nothing be stopped by this run any more, because it has ended."""
        self._stops.clear()
        if self._parent is not None:
            self._parent.forget(self.stop)

    def forget(self, stop: Callable[[], object]) -> None:
        """Call something no more when the run is stopped."""
        if stop in self._stops:
            self._stops.remove(stop)

    def abandon(self) -> None:
        """Note that a thread was given up that may still be at it."""
        self.is_abandoned = True
        if self._parent is not None:
            self._parent.is_abandoned = True


_PROCESS = os.urandom(4).hex()
_NUMBERS = count(1)


def new_call_id() -> str:
    """Return a name for a call that no other call has."""
    return f"call_{_PROCESS}_{next(_NUMBERS)}"


def _start_anew() -> None:
    """Give the calls of a forked child other names than those of its parent."""
    global _PROCESS  # noqa: PLW0603 - there is one for each process
    _PROCESS = os.urandom(4).hex()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
