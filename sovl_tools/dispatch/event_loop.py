"""The async side of a call: threads that are awaited, time limits, a loop in the background.

Nothing imports this module at its top, because asyncio takes 20 ms to import: whoever awaits a
call has loaded it already, and whoever does not need not.
"""

from __future__ import annotations

import asyncio
import types
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from time import perf_counter
from types import CoroutineType
from typing import Any, TypeVar

from sovl_tools.annotations.jsonvalues import is_lazy, is_plain
from sovl_tools.dispatch.awaitables import (
    DRIVERS,
    FINAL,
    Driver,
    called_async,
    idle_driver,
    settled,
)
from sovl_tools.dispatch.limiter import Limiter
from sovl_tools.dispatch.results import converted
from sovl_tools.dispatch.runner import Stepwise, leaving, unless_stopped
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.threads import IS_ON_THREAD, on_thread, start
from sovl_tools.model.call import ToolCall
from sovl_tools.model.errors import RunCancelledError, TimeLimitError
from sovl_tools.model.result import ToolResult

_S = TypeVar("_S")
_T = TypeVar("_T")


class AsyncRunner:
    """The runner of async code: async tools run on the caller's loop, sync ones on threads."""

    is_async = True

    def run(
        self,
        tool: Stepwise,
        value: Any,
        scope: CallScope | None,
        *,
        started: float,
        limit: float | None,
    ) -> Coroutine[Any, Any, Any]:
        """Return what takes the steps: on a thread, or on this loop if one has to be awaited."""
        work: Coroutine[Any, Any, Any]
        if tool.is_blocking and scope is not None and scope.mode != "inline":
            steps = partial(tool.take, value, scope)
            work = in_thread(steps, scope, threads=tool.threads)
        else:
            work = _taken(tool, value, scope)
        if tool.limiter is not None:
            work = _admitted(work, tool.limiter)
        return drive(work, scope, limit=limit, started=started)

    def whole(self, work: Coroutine[Any, Any, _T], scope: CallScope) -> Coroutine[Any, Any, _T]:
        """Return what awaits a coroutine until the call is stopped."""
        return drive(work, scope)

    async def pause(self, seconds: float, _scope: CallScope) -> None:
        """Await some time."""
        await asyncio.sleep(seconds)

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        scope: CallScope,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook on a thread, so that the loop stays free."""
        return await in_thread(partial(function, call, blocking(following)), scope)

    def is_own_end(self, error: BaseException) -> bool:
        """Tell whether an exception is the user's Ctrl-C, or cancels the task that awaits."""
        return isinstance(error, KeyboardInterrupt) or is_cancellation(error)


ASYNC = AsyncRunner()


async def _taken(tool: Stepwise, value: Any, scope: CallScope | None) -> Any:
    """Take the steps of a tool; sync functions of an author run on a thread, unless inline."""
    mode = None if scope is None else scope.mode
    is_inline = scope is None or mode == "inline"
    for step, function, is_async in tool.steps:
        if function is None:
            if step is converted and is_plain(value):
                value = value, ()
            elif step is converted and mode != "inline" and is_lazy(value):
                value = await in_thread(partial(step, value, scope), scope, threads=tool.threads)
            else:
                value = step(value, scope)
        elif is_async:
            value = function(value)
            if type(value) is CoroutineType:
                value = await value
            if type(value) not in FINAL:
                value = await settled(value, scope)
        elif is_inline:
            value = await called_async(function, value, scope)
        else:
            work = partial(step, value, scope)
            value = await in_thread(work, scope, threads=tool.threads)
    return value


async def _admitted(work: Coroutine[Any, Any, _T], limiter: Limiter) -> _T:
    """Await the work when the limiter has room."""
    try:
        await enter(limiter)
    except BaseException:
        work.close()
        raise
    try:
        return await work
    finally:
        limiter.leave()


async def enter(limiter: Limiter) -> None:
    """Await room at the limiter."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    ticket = limiter.queue(partial(loop.call_soon_threadsafe, _settle, turn, None, None))
    if ticket is None:
        return
    try:
        await turn
    except BaseException:
        if not limiter.give_up(ticket):
            limiter.leave()
        raise


async def in_thread(
    function: Callable[[], _T], scope: CallScope | None = None, *, threads: Limiter | None = None
) -> _T:
    """Await the function on a thread; when the waiting ends early its result is dropped.

    Below a call that has a thread already no room is needed. ``threads`` is None for what is no
    tool.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    limiter = None if IS_ON_THREAD.get() else threads
    if limiter is not None:
        await enter(limiter)
    leave = leaving(limiter)

    def done(value: _T | None, error: BaseException | None) -> None:
        leave()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, future, value, error)

    work = unless_stopped(function, scope)
    try:
        start(work if threads is None else on_thread(work), done)
        result: _T = await future
    except BaseException:
        if scope is not None and (not future.done() or future.cancelled()):
            scope.abandon()
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


async def drive(
    work: Coroutine[Any, Any, _T],
    scope: CallScope | None = None,
    *,
    limit: float | None = None,
    started: float = 0.0,
) -> _T:
    """Await the work in a context of its own, until its time is over or the call is stopped.

    What it sets in context variables ends with it. It is driven to its first suspension by hand:
    most work has finished by then, and needs no timer.

    Raises:
        TimeLimitError: ``limit`` seconds after ``started`` are over. A TimeoutError of the
            work's own passes as it is.
        RunCancelledError: the call was stopped.
    """
    driver, context = idle_driver(), copy_context()
    found = context.run(driver.send, work)
    if type(found) is list:
        DRIVERS.append(driver)
        if scope is not None and scope.is_stopped:
            raise RunCancelledError
        value: _T = found[0]
        return value
    if limit is None and scope is None:
        rest: _T = await _resumed(driver, context, found)
        return rest
    ender = _Ender(limit)
    loop = asyncio.get_running_loop()
    timer = None
    if limit is not None:
        timer = loop.call_later(limit - (perf_counter() - started), ender.end)
    if scope is not None:
        scope.on_stop(partial(_soon, loop, ender.end, RunCancelledError()))
    try:
        value = await _resumed(driver, context, found)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        ender.close(scope, error)
        raise
    finally:
        ender.is_over = True
        if timer is not None:
            timer.cancel()
    ender.close(scope)
    if scope is not None and scope.is_stopped:
        raise RunCancelledError
    return value


class _Ender:
    """Ends what a task awaits, by cancelling the task, unless it is over."""

    def __init__(self, limit: float | None) -> None:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("only a task can wait within a time limit")
        self.is_over = False
        self._task = task
        self._cancelling = task.cancelling()
        self._limit = limit
        self._reason: TimeLimitError | RunCancelledError | None = None

    def end(self, reason: RunCancelledError | None = None) -> None:
        """End it; without a reason because its time is over."""
        if not self.is_over and self._reason is None:
            self._reason = reason or TimeLimitError(self._limit or 0.0)
            self._task.cancel()

    def close(self, scope: CallScope | None, error: BaseException | None = None) -> None:
        """Raise why it was ended, if it was, unless somebody else cancels the task as well."""
        is_abandoned = isinstance(error, _GivenUp)
        if scope is not None and is_abandoned:
            scope.abandon()
        if self._reason is None or self._task.uncancel() > self._cancelling:
            return
        if scope is not None:
            scope.stop()
        self._reason.is_abandoned = is_abandoned
        raise self._reason from None


def _soon(loop: asyncio.AbstractEventLoop, end: Callable[[Any], None], reason: Exception) -> None:
    with suppress(RuntimeError):  # the loop is closed: it has ended
        loop.call_soon_threadsafe(end, reason)


@types.coroutine
def _resumed(driver: Driver, context: Context, found: Any) -> Generator[Any, Any, Any]:
    """Await the rest of a coroutine that has been driven to its first suspension."""
    task = asyncio.current_task()
    while type(found) is not list:
        resume: Callable[[Any], Any] = driver.send
        # only what runs in the task itself can have asked for its end by now
        is_own_doing = getattr(task, "_must_cancel", False)
        try:
            reply = yield found
        except asyncio.CancelledError as error:
            if is_own_doing and task is not None:
                task.uncancel()
            found = yield from _cleaned_up(driver, context, error)
            continue
        except BaseException as error:  # noqa: BLE001 - the work decides what becomes of it
            resume, reply = driver.throw, error
        found = context.run(resume, reply)
    DRIVERS.append(driver)
    return found[0]


_GRACE = 0.5
"""How long cancelled work may clean up, in seconds."""
_GIVEN_UP: set[asyncio.Task[None]] = set()


class _GivenUp(asyncio.CancelledError):
    """The end of waiting for work that goes on although it was cancelled."""


@types.coroutine
def _cleaned_up(
    driver: Driver, context: Context, cancellation: asyncio.CancelledError
) -> Generator[Any, Any, Any]:
    """Cancel work and await its end, in a list; leave it alone if that takes too long.

    Raises:
        _GivenUp: it goes on, in a task of its own, because this one is somebody else's.
    """
    loop = asyncio.get_running_loop()
    found = context.run(driver.throw, cancellation)
    until = loop.time() + _GRACE  # a call within this one gives up first
    while type(found) is not list:
        resume: Callable[[Any], Any] = driver.send
        reply: Any = None
        try:
            yield from _until(until, found)
        except BaseException as error:  # noqa: BLE001 - the work decides what becomes of it
            resume, reply = driver.throw, error
        is_late = loop.time() >= until
        if not is_late or found is None or found.done():
            was_turn = found is None
            found = context.run(resume, reply)
            if not (is_late and was_turn and found is None):
                continue
        task = loop.create_task(_left_alone(driver, context))
        asyncio._unregister_task(task)  # noqa: SLF001 - so that programs end without it
        _GIVEN_UP.add(task)
        task.add_done_callback(_GIVEN_UP.discard)
        raise _GivenUp
    return found


@types.coroutine
def _until(until: float, found: Any) -> Generator[Any, Any, None]:
    """Await a future that a coroutine has yielded, or that time; None for one loop's turn."""
    if found is None:
        yield
        return
    found._asyncio_future_blocking = False  # noqa: SLF001 - the task waits for another one
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    wake = partial(_settle, turn, None, None)
    timer = loop.call_at(until, wake)
    found.add_done_callback(lambda _: wake())
    try:
        yield from turn
    except asyncio.CancelledError:
        found.cancel()
        raise
    finally:
        timer.cancel()


async def _left_alone(driver: Driver, context: Context) -> None:
    """Await the end of work that nobody waits for, cancelling it once more."""
    with suppress(BaseException):
        await _cancelled_once_more(driver, context)


@types.coroutine
def _cancelled_once_more(driver: Driver, context: Context) -> Generator[Any, Any, None]:
    task = asyncio.current_task()
    if task is not None:
        task.cancel()  # calls that the work makes see whose end it is
    found = None
    while type(found) is not list:
        resume: Callable[[Any], Any] = driver.send
        try:
            reply = yield found
        except BaseException as error:  # noqa: BLE001 - the work decides what becomes of it
            resume, reply = driver.throw, error
        found = context.run(resume, reply)


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
