"""What a call needs of the world that it is made in: of threads that wait, or of an event loop.

The road of a call is written once, as coroutines. In a world that waits they never suspend, so
that ``completed`` can run them without any event loop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from time import perf_counter
from typing import Any, NamedTuple, Protocol, TypeVar

from sovl_tools.model.call import Mode, ToolCall
from sovl_tools.model.result import ToolResult
from sovl_tools.running.gate import Gate
from sovl_tools.running.run import Run
from sovl_tools.running.settling import Sink

_T = TypeVar("_T")


class Work(NamedTuple):
    """A function of a tool's author that a call has to run, wherever that is to be."""

    function: Callable[[], Any]
    is_async: bool


class Attempt(NamedTuple):
    """One attempt of a call: how long it may take, and where.

    Attributes:
        run: whether anybody still waits for it.
        limit: in seconds; None for as long as it takes.
        started: when it began, by ``perf_counter``.
        mode: where sync functions run; None where the world prefers.
        room: lets in as many threads as there may be.
        sink: takes the items of a generator as they come.
    """

    run: Run
    limit: float | None
    started: float
    mode: Mode | None
    room: Gate
    sink: Sink | None = None

    @property
    def left(self) -> float | None:
        """How many seconds are left, 0 if none are."""
        if self.limit is None:
            return None
        return max(0.0, self.limit - (perf_counter() - self.started))


class World(Protocol):
    """How things are waited for."""

    async def work(self, work: Work, attempt: Attempt) -> Any:
        """Run an author's function and return its value."""
        ...

    async def limited(self, coroutine: Coroutine[Any, Any, _T], attempt: Attempt) -> _T:
        """Run a coroutine, no longer than the attempt may take."""
        ...

    async def enter(self, gate: Gate, attempt: Attempt) -> None:
        """Wait until the gate has room."""
        ...

    async def pause(self, seconds: float, run: Run) -> None:
        """Wait for some time, or until the run is stopped."""
        ...

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        run: Run,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook."""
        ...

    def is_own_end(self, error: BaseException) -> bool:
        """Tell whether an exception ends the caller and not the tool."""
        ...


def completed(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: _T = stop.value
        return value
    raise RuntimeError("something was awaited where there is no event loop")
