"""The sync side of a call: threads that are waited for, no longer than their limit."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from sovl_tools.model.call import ToolCall
from sovl_tools.model.result import ToolResult
from sovl_tools.running.gate import Gate
from sovl_tools.running.run import Run, RunCancelledError, TimeLimitError
from sovl_tools.running.settling import called
from sovl_tools.running.threads import IS_ON_THREAD, on_thread, start
from sovl_tools.running.world import Attempt, Work, completed

_T = TypeVar("_T")


class Waiting:
    """The world of sync code: a sync tool runs in the caller's thread unless it has a limit."""

    async def work(self, work: Work, attempt: Attempt) -> Any:
        """Run a function here or on a thread; below a run with a thread, on that very thread."""
        function = partial(called, work.function, attempt.run, attempt.sink)
        is_limited = attempt.limit is not None
        mode = attempt.mode or ("thread" if is_limited else "inline")
        if mode == "inline" or (IS_ON_THREAD.get() and not is_limited):
            return function()
        return within(function, attempt)

    async def limited(self, coroutine: Coroutine[Any, Any, _T], _attempt: Attempt) -> _T:
        """Run a coroutine; each thread that it waits for has what is left of the limit."""
        return await coroutine

    async def enter(self, gate: Gate, attempt: Attempt) -> None:
        """Wait until the gate has room."""
        enter(gate, attempt)

    async def pause(self, seconds: float, run: Run) -> None:
        """Wait for some time.

        Raises:
            RunCancelledError: the run was stopped meanwhile.
        """
        stopped = threading.Event()
        run.on_stop(stopped.set)
        if stopped.wait(seconds):
            raise RunCancelledError

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        _run: Run,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook in the caller's thread."""

        async def follow(call: ToolCall) -> ToolResult:
            return await following(call)

        return function(call, lambda call: completed(follow(call)))

    def is_own_end(self, _error: BaseException) -> bool:
        """Tell that no exception ends the caller but KeyboardInterrupt."""
        return False


def enter(gate: Gate, attempt: Attempt) -> None:
    """Wait until the gate has room.

    Raises:
        TimeLimitError: there was none within the limit.
        RunCancelledError: the run was stopped meanwhile.
    """
    turn = threading.Event()
    ticket = gate.queue(turn.set)
    if ticket is None:
        return
    run = attempt.run
    run.on_stop(turn.set)
    turn.wait(attempt.left)
    if ticket.is_admitted and not run.is_stopped:
        return
    if not gate.give_up(ticket):
        gate.leave()
    raise _ending(attempt)


def _ending(attempt: Attempt) -> Exception:
    if attempt.run.is_stopped:
        return RunCancelledError()
    attempt.run.stop()
    return TimeLimitError(attempt.limit or 0.0)


def leaving(gate: Gate | None) -> Callable[[], None]:
    """Return what leaves the gate, once however often it is called and from whichever thread."""
    left = [] if gate is None else [gate]

    def leave() -> None:
        try:
            entered = left.pop()
        except IndexError:
            return
        entered.leave()

    return leave


def within(function: Callable[[], _T], attempt: Attempt) -> _T:
    """Run the function on a thread and wait for it, no longer than the attempt may take.

    Below a run that has a thread already no room is needed.

    Raises:
        TimeLimitError: the limit is over; the thread goes on, and its result is dropped.
        RunCancelledError: the run was stopped meanwhile; likewise.
    """
    run, gate = attempt.run, None if IS_ON_THREAD.get() else attempt.room
    if gate is not None:
        enter(gate, attempt)
    leave = leaving(gate)
    outcome: list[tuple[Any, BaseException | None]] = []
    finished = threading.Event()

    def done(value: Any, error: BaseException | None) -> None:
        leave()
        outcome.append((value, error))
        finished.set()

    run.on_stop(finished.set)
    try:
        start(on_thread(unless_stopped(function, run)), done)
        finished.wait(attempt.left)
    finally:
        leave()
    if not outcome:
        run.abandon()
        raise _ending(attempt)
    value, error = outcome[0]
    if error is not None:
        raise error
    result: _T = value
    return result


def unless_stopped(function: Callable[[], _T], run: Run) -> Callable[[], _T]:
    """Return a function that does not begin what nobody waits for any more."""

    def begin() -> _T:
        if run.is_stopped:
            raise RunCancelledError
        return function()

    return begin
