"""The async side of a call: threads that are awaited, time limits, a loop in the background.

Nothing imports this module at its top, because asyncio takes 20 ms to import: a caller that
awaits has loaded it already, and others don't need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from sovl_tools.annotations.jsonvalues import is_lazy
from sovl_tools.dispatch.background import is_cancellation
from sovl_tools.dispatch.cancellation import begin, set_outcome
from sovl_tools.dispatch.runner import (
    IS_ON_THREAD,
    Runner,
    Stepwise,
    ThreadWork,
    cancel_future,
)
from sovl_tools.dispatch.scope import CallScope, Limiter, leave_once
from sovl_tools.dispatch.steps import convert_result
from sovl_tools.model.call import ToolCall
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import ToolResult
from sovl_tools.threads import start

_S = TypeVar("_S")
_T = TypeVar("_T")

_IS_SERVING: ContextVar[bool] = ContextVar("_IS_SERVING", default=False)


@contextmanager
def serving() -> Iterator[None]:
    """Make calls for clients: no exception of a tool, not even a Ctrl-C, ends who serves it."""
    token = _IS_SERVING.set(True)
    try:
        yield
    finally:
        _IS_SERVING.reset(token)


class AsyncRunner(Runner):
    """The runner of async code: async tools run on the caller's loop, sync ones on threads."""

    def run(self, tool: Stepwise, value: Any, scope: CallScope | None, limit: float | None) -> Any:
        """Take the steps: on a thread, or on this loop if one has to be awaited."""
        work: Coroutine[Any, Any, Any]
        if scope is None:
            return begin(tool.awaited(value, None, await_thread), None, limit)
        if scope.mode == "process" and tool.remote is not None:
            work = tool.remote.call(value, scope, _await_future)
        elif scope.mode != "inline" and tool.is_blocking:
            # all steps of a sync tool on one thread, not on one for each
            work = await_thread(partial(tool.take, value, scope), scope, threads=tool.threads)
        else:
            work = tool.awaited(value, scope, await_thread)
        if tool.limiter is not None:
            work = _await_admitted(work, tool.limiter, scope)
        return begin(work, scope, limit)

    def whole(self, work: Coroutine[Any, Any, Any], scope: CallScope) -> Any:
        """Run a coroutine on this loop until the call is stopped."""
        return begin(work, scope)

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
        return await await_thread(partial(function, call, blocking(following)), scope)

    def is_own_end(self, error: BaseException, *, since: int | None = None) -> bool:
        """Tell whether an exception is the user's Ctrl-C, or cancels the task that awaits."""
        # by its type, because an exception of a tool's own may claim to be of any class
        kind = type(error)
        if issubclass(kind, KeyboardInterrupt):
            return not _IS_SERVING.get()  # a server hears of the user's by a signal
        if since is None:
            return issubclass(kind, asyncio.CancelledError)
        return is_cancellation(error, since=since)


ASYNC = AsyncRunner()


async def _await_admitted(work: Coroutine[Any, Any, _T], limiter: Limiter, scope: CallScope) -> _T:
    """Await the work when the limiter has room."""
    with closing(work):  # it may never begin
        await enter(limiter, scope)
        try:
            return await work
        finally:
            limiter.leave(scope)


async def _await_future(future: Future[_T], scope: CallScope) -> _T:
    """Await a future's result; the future is cancelled when the waiting ends early."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def done(_: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(set_outcome, ended, None, None)

    future.add_done_callback(done)
    try:
        await ended
    finally:
        if not future.done():
            cancel_future(future, scope)
    if future.cancelled():
        raise RunCancelledError
    return future.result()


async def enter(limiter: Limiter, scope: CallScope | None = None) -> None:
    """Await room at the limiter."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    notify = partial(loop.call_soon_threadsafe, set_outcome, turn, None, None)
    ticket = limiter.queue(notify, scope)
    if ticket is None:
        return
    try:
        await turn
    except BaseException:
        # the turn may have come in the same moment; then the room is ours to give back
        if not limiter.give_up(ticket):
            limiter.leave(scope)
        raise


async def await_thread(
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
    leave = leave_once(limiter)

    def done(value: _T | None, error: BaseException | None) -> None:
        leave()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(set_outcome, future, value, error)

    work = ThreadWork(function, scope, is_tool=threads is not None)
    try:
        start(work, done)
        result: _T = await future
    except BaseException:
        if scope is not None and not work.has_ended:
            scope.stop()
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

    def wait(argument: _S) -> _T:
        work = run(argument)
        try:
            future = asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:  # the loop is closed: nobody waits any more
            work.close()
            raise RunCancelledError from None
        return future.result()

    return wait


async def gather_calls(
    call: Callable[..., Awaitable[_T]],
    calls: Iterable[tuple[Any, ...]],
    *,
    limit: int | None,
    options: dict[str, Any],
) -> list[_T]:
    """Make the calls, a bounded number at a time, and return their results in order."""
    pending = list(enumerate(calls))
    # taken from the end, which a list does fastest
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


_AHEAD = 16
"""How many items a generator may be ahead of its consumer."""


class _Items:
    """Items on their way from the tool to the consumer, as JSON."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[JSON] = asyncio.Queue(_AHEAD)
        self.is_used = False
        self._is_closed = False
        self._put = blocking(self.items.put)

    def close(self) -> None:
        """End a tool on a thread that waits for room, or makes another item."""
        self._is_closed = True
        while not self.items.empty():
            self.items.get_nowait()

    def put(self, item: Any) -> Any:
        if self._is_closed:
            raise RunCancelledError
        value, content = convert_result(item)
        self._put(value)
        return item if content else value

    async def put_later(self, item: Any) -> Any:
        # on a thread, because a tool's own iterator blocks the loop while it makes its items
        lazy = await_thread(partial(convert_result, item)) if is_lazy(item) else None
        value, content = convert_result(item) if lazy is None else await lazy
        await self.items.put(value)
        return item if content else value


async def stream_items(
    make: Callable[[_Items], Awaitable[ToolResult]], done: Callable[[ToolResult], None]
) -> AsyncGenerator[JSON, None]:
    """Make a call and yield its items; tell of its result. Closing it early cancels the call."""
    queue = _Items()
    # a task of its own, so that items come while the tool makes more of them
    call = asyncio.ensure_future(make(queue))
    try:
        while not call.done() or not queue.items.empty():
            item = asyncio.ensure_future(queue.items.get())
            await asyncio.wait({item, call}, return_when=asyncio.FIRST_COMPLETED)
            if item.done():
                yield item.result()
            else:
                item.cancel()
        result = await call
        done(result)
        if result.ok and not queue.is_used:
            yield result.value
    finally:
        queue.close()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
