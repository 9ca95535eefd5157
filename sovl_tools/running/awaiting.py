"""The async side of a call: threads that are awaited, time limits, a loop in the background.

Nothing imports this module at its top, because asyncio takes 20 ms to import: whoever awaits a
call has loaded it already, and whoever does not need not.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from sovl_tools.model.call import ToolCall
from sovl_tools.model.result import ToolResult
from sovl_tools.running.gate import Gate
from sovl_tools.running.run import Run, RunCancelledError, TimeLimitError
from sovl_tools.running.settling import called, called_async
from sovl_tools.running.threads import IS_ON_THREAD, on_thread, start
from sovl_tools.running.waiting import leaving, unless_stopped
from sovl_tools.running.world import Attempt, Work

_S = TypeVar("_S")
_T = TypeVar("_T")


class Awaiting:
    """The world of an event loop: async tools run on it, sync ones on threads."""

    async def work(self, work: Work, attempt: Attempt) -> Any:
        """Run a function on this loop if it is async or to run inline, on a thread otherwise."""
        if work.is_async or attempt.mode == "inline":
            return await called_async(work.function, attempt.sink)
        function = partial(called, work.function, attempt.run, attempt.sink)
        return await in_thread(function, attempt.run, room=attempt.room)

    async def limited(self, coroutine: Coroutine[Any, Any, _T], attempt: Attempt) -> _T:
        """Await a coroutine, no longer than the attempt may take."""
        return await limited(coroutine, attempt.limit, started=attempt.started, run=attempt.run)

    async def enter(self, gate: Gate, _attempt: Attempt) -> None:
        """Await room at the gate."""
        await enter(gate)

    async def pause(self, seconds: float, _run: Run) -> None:
        """Await some time."""
        await asyncio.sleep(seconds)

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        run: Run,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook on a thread, so that the loop stays free."""
        return await in_thread(partial(function, call, blocking(following)), run, room=None)

    def is_own_end(self, error: BaseException) -> bool:
        """Tell whether an exception is the cancellation of the task that awaits the call."""
        return is_cancellation(error)


async def enter(gate: Gate) -> None:
    """Await room at the gate."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    ticket = gate.queue(partial(loop.call_soon_threadsafe, _settle, turn, None, None))
    if ticket is None:
        return
    try:
        await turn
    except BaseException:
        if not gate.give_up(ticket):
            gate.leave()
        raise


async def in_thread(function: Callable[[], _T], run: Run, *, room: Gate | None) -> _T:
    """Await the function on a thread; when the waiting ends early its result is dropped.

    Below a run that has a thread already no room is needed. ``room`` is None for what is no tool.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    gate = None if IS_ON_THREAD.get() else room
    if gate is not None:
        await enter(gate)
    leave = leaving(gate)

    def done(value: _T | None, error: BaseException | None) -> None:
        leave()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, future, value, error)

    work = unless_stopped(function, run)
    try:
        start(work if room is None else on_thread(work), done)
        result: _T = await future
    except BaseException:
        if not future.done() or future.cancelled():
            run.abandon()
        raise
    finally:
        leave()
    return result


def blocking(function: Callable[[_S], Awaitable[_T]]) -> Callable[[_S], _T]:
    """Return a function for other threads, which runs on this loop and is waited for there."""
    loop = asyncio.get_running_loop()

    async def run(argument: _S) -> _T:
        return await function(argument)

    return lambda argument: asyncio.run_coroutine_threadsafe(run(argument), loop).result()


def _settle(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


async def limited(
    work: Coroutine[Any, Any, _T], limit: float | None, *, started: float, run: Run | None = None
) -> _T:
    """Await the work until ``limit`` seconds after ``started``, or until the run is stopped.

    The timer is only armed when the work suspends for the first time: that costs six
    microseconds, which most calls need not pay.

    Raises:
        TimeLimitError: the limit is over. A TimeoutError of the work's own passes as it is.
        RunCancelledError: the run was stopped.
    """
    try:
        pending = work.send(None)
    except StopIteration as stop:
        value: _T = stop.value
        return value
    rest = None if limit is None else max(0.0, limit - (perf_counter() - started))
    scope = asyncio.timeout(rest)
    try:
        async with scope:
            if run is not None:
                loop = asyncio.get_running_loop()
                run.on_stop(partial(loop.call_soon_threadsafe, _expire, scope))
            value = await _resumed(work, pending)
    except TimeoutError:
        if scope.expired():
            raise _ending(run, limit) from None
        raise
    if scope.expired():
        raise _ending(run, limit)
    return value


def _expire(scope: asyncio.Timeout) -> None:
    with suppress(RuntimeError):  # it is over
        scope.reschedule(0)


def _ending(run: Run | None, limit: float | None) -> Exception:
    if run is None:
        return TimeLimitError(limit or 0.0)
    if run.is_stopped:
        return RunCancelledError()
    run.stop()
    return TimeLimitError(limit or 0.0)


@types.coroutine
def _resumed(work: Coroutine[Any, Any, _T], pending: Any) -> Generator[Any, Any, _T]:
    """Await the rest of a coroutine that has been driven to its first suspension."""
    while True:
        send: Callable[[Any], Any] = work.send
        reply: Any = None
        try:
            reply = yield pending
        except BaseException as error:  # noqa: BLE001 - the work decides what becomes of it
            send, reply = work.throw, error
        try:
            pending = send(reply)
        except StopIteration as stop:
            value: _T = stop.value
            return value


async def gathered(
    call: Callable[..., Awaitable[_T]],
    calls: Iterable[tuple[Any, ...]],
    *,
    limit: int | None,
    options: dict[str, Any],
) -> list[_T]:
    """Make the calls, so many at a time, and return their results in order.

    Raises:
        ValueError: the limit is less than 1.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit!r}")
    pending = list(enumerate(calls))
    pending.reverse()
    results: dict[int, _T] = {}

    async def work() -> None:
        while pending:
            index, given = pending.pop()
            results[index] = await call(*given, **options)

    count = len(pending)
    async with asyncio.TaskGroup() as group:
        for _ in range(count if limit is None else min(limit, count)):
            group.create_task(work())
    return [results[index] for index in range(count)]


def is_cancellation(error: BaseException) -> bool:
    """Tell whether an exception is the cancellation of the task that awaits the call."""
    if not isinstance(error, asyncio.CancelledError):
        return False
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
