"""The async side of a call: threads that are awaited, time limits, a loop in the background.

Other modules don't import this one at their top, because asyncio takes 20 ms to import: a caller
that awaits has loaded it already, and others don't need it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import Any, TypeAlias, TypeVar

from sovl_tools.dispatch.arguments import Arguments, takes_long
from sovl_tools.dispatch.asking import find_client
from sovl_tools.dispatch.background import is_cancellation, outcome_of
from sovl_tools.dispatch.call import (
    Attempts,
    check_arguments,
    end_call,
    end_in_error,
    failure_of_call,
)
from sovl_tools.dispatch.failure import secrets_of
from sovl_tools.dispatch.hooks import (
    Hook,
    Pause,
    advance,
    as_asked,
    check_result,
    failed_hook,
)
from sovl_tools.dispatch.limiter import Limiter, leave_once
from sovl_tools.dispatch.prepared import DynamicTool, PreparedTool
from sovl_tools.dispatch.remote import RemoteTool
from sovl_tools.dispatch.runner import IS_ON_THREAD, ThreadWork, cancel_future
from sovl_tools.dispatch.scope import CallScope, new_call_id, stop_call
from sovl_tools.model.call import ToolCall
from sovl_tools.model.client_requests import awaited_answer
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.threads import start

_S = TypeVar("_S")
_T = TypeVar("_T")

Following: TypeAlias = Callable[[ToolCall], Awaitable[ToolResult]]
_IS_SERVING: ContextVar[bool] = ContextVar("_IS_SERVING", default=False)


@contextmanager
def serving() -> Iterator[None]:
    """Make calls for clients: no exception of a tool, not even a Ctrl-C, ends who serves it."""
    token = _IS_SERVING.set(True)
    try:
        yield
    finally:
        _IS_SERVING.reset(token)


async def make_call(
    tool: PreparedTool | DynamicTool, given: Arguments, scope: CallScope | None, limit: float | None
) -> ToolResult:
    """Make a call on an event loop and return its result; see ``call.make_call``."""
    started = perf_counter() if scope is None else scope.started
    try:
        if isinstance(tool, PreparedTool) and scope is None:
            outcome: Any = await _checked(tool, given, scope)
            if not isinstance(outcome, Failure):
                outcome = await tool.awaited(outcome, None, await_thread)
        else:
            scope = scope or CallScope(new_call_id(), (tool.name,))
            scope.loop = asyncio.get_running_loop()
            with Stopping(scope):
                outcome = await _attempted(tool, given, scope, limit)
    except BaseException as error:  # becomes the result, or is raised again
        is_own = is_own_end(error)
        result = end_in_error(tool, given, error, scope, started, is_own_end=is_own)
        if is_own:
            raise
        return result
    return end_call(tool, given, outcome, scope, started)


async def _attempted(
    tool: PreparedTool | DynamicTool,
    given: Arguments,
    scope: CallScope,
    limit: float | None,
) -> Any:
    """Take a call through its hooks, if there are any; return its outcome."""
    ready: PreparedTool = (
        await run(tool, None, scope, limit) if isinstance(tool, DynamicTool) else tool
    )
    found = await _checked(ready, given, scope)
    if isinstance(found, Failure):
        return found
    if not ready.hooks:
        return await run(ready, found, scope, limit)
    attempts = Attempts(ready, found, scope)

    async def attempt(again: ToolCall) -> ToolResult:
        inner, keywords = attempts.begin(again)
        try:
            if not isinstance(keywords, Failure):
                keywords = await run(ready, keywords, inner, limit)
        except BaseException as error:
            if is_own_end(error):
                inner.end()
                raise
            keywords = failure_of_call(ready, error, inner)
        return attempts.end(inner, keywords)

    return await run_hooks(ready.hooks, attempts.call, scope, attempt)


async def _checked(
    tool: PreparedTool, given: Arguments, scope: CallScope | None
) -> dict[str, Any] | Failure:
    """Check arguments, large ones on a thread, so that other calls continue meanwhile."""
    if takes_long(given):
        return await await_thread(partial(check_arguments, tool, given, scope))
    return check_arguments(tool, given, scope)


async def run(
    tool: PreparedTool | DynamicTool, value: Any, scope: CallScope | None, limit: float | None
) -> Any:
    """Take a tool's steps: on a thread, in another process, or on this loop.

    They can take ``limit`` seconds after the call began.

    Raises:
        TimeLimitError: the limit is over.
    """
    if scope is None:
        return await tool.awaited(value, None, await_thread)
    work: Coroutine[Any, Any, Any]
    if scope.mode == "process" and tool.remote is not None:
        work = _await_remote(tool.remote, value, scope)
    elif scope.mode != "inline" and tool.is_blocking:
        # all steps of a sync tool on one thread, not each on its own
        work = await_thread(partial(tool.take, value, scope), scope, threads=tool.threads)
    else:
        work = tool.awaited(value, scope, await_thread)
    if tool.limiter is not None:
        work = _await_admitted(work, tool.limiter)
    return await (work if limit is None else limited(work, scope))


async def limited(work: Coroutine[Any, Any, _T], scope: CallScope) -> _T:
    """Await work in a separate task, until the time of the call is over.

    Work that ignores its cancellation is left behind after a grace, and reported.

    Raises:
        TimeLimitError: the time is over.
    """
    task = asyncio.create_task(outcome_of(work))
    try:
        await _settled(task, scope.left)
        while not task.done() and scope.left:  # the user answered a question meanwhile
            await _settled(task, scope.left)
        if not task.done():
            reason = stop_call(scope)
            await _end(task, scope)
            raise reason
    except asyncio.CancelledError:
        # a caller waits until the work has cleaned up, as for any coroutine
        await _end(task, scope, is_ours=scope.is_stopped)
        raise
    value, error = task.result()
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # without an error there is a value


async def _settled(task: asyncio.Task[Any], seconds: float | None) -> None:
    """Wait until a task is done, or the time is over: ``asyncio.wait`` takes twice as long."""
    loop = task.get_loop()
    waiter: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    timer = None if seconds is None else loop.call_later(seconds, wake)
    task.add_done_callback(wake)
    try:
        await waiter
    finally:
        task.remove_done_callback(wake)
        if timer is not None:
            timer.cancel()


async def _end(task: asyncio.Task[Any], scope: CallScope, *, is_ours: bool = True) -> None:
    """Cancel a task; leave it behind if it doesn't end within a grace, or in the time left."""
    task.cancel()
    await _settled(task, _GRACE if is_ours else scope.left)
    if not task.done():
        scope.abandon()
        # so that a program ends without it, which would wait for all its tasks
        asyncio.tasks._unregister_task(task)  # noqa: SLF001 - documented for makers of tasks
        _LEFT_BEHIND.add(task)
        task.add_done_callback(_LEFT_BEHIND.discard)


_GRACE = 0.5
"""The time that cancelled work has to clean up, in seconds."""
_LEFT_BEHIND: set[asyncio.Task[Any]] = set()


class Stopping:
    """Cancels the current task while a call is awaited in it, if the call is stopped.

    As ``asyncio.timeout`` does: the cancellation ends with the call.
    """

    def __init__(self, scope: CallScope) -> None:
        self._scope = scope
        self._task: Any = asyncio.current_task()
        self._is_over = self._has_cancelled = False

    def __enter__(self) -> None:
        self._scope.on_stop(self._stop)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Raise RunCancelledError, if the call was stopped and no caller cancels the task, too."""
        self._is_over = True
        self._scope.forget(self._stop)
        left = self._task.uncancel() if self._has_cancelled else self._task.cancelling()
        is_own = kind is None or (kind is asyncio.CancelledError and not left)
        if is_own and self._scope.is_stopped:
            raise RunCancelledError from None

    def _stop(self) -> None:
        """Cancel the task, from any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._task.get_loop().call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        # work whose time is over is cancelled by ``limited``
        if not (self._is_over or self._scope.is_late):
            self._has_cancelled = True
            self._task.cancel()


async def run_hooks(
    hooks: tuple[Hook, ...], call: ToolCall, scope: CallScope, attempt: Following
) -> ToolResult:
    """Take a call through hooks, the first one outermost, and through ``attempt``.

    A sync hook runs on a thread, so that the loop stays free.
    """
    if not hooks:
        return await attempt(call)
    following = partial(run_hooks, hooks[1:], scope=scope, attempt=attempt)
    try:
        if hooks[0].form == "async":
            return check_result(await hooks[0](call, following))
        if hooks[0].form == "sync":
            work = partial(hooks[0].function, call, blocking(following))
            return check_result(await await_thread(work, scope))
        with closing(hooks[0](call, as_asked)) as steps:
            reply: Any = None
            while not isinstance(asked := advance(steps, reply), ToolResult):
                if isinstance(asked, Pause):
                    await asyncio.sleep(asked.seconds)
                    reply = None
                elif isinstance(asked, ToolCall):
                    reply = await following(asked)
                else:
                    begin = find_client(scope, secrets_of(call.tool), type(asked))
                    reply = await awaited_answer(asked, begin(asked))
            return asked
    except RunCancelledError:
        raise
    except BaseException as error:
        if is_own_end(error):
            raise
        return failed_hook(hooks[0], call, error)


def is_own_end(error: BaseException) -> bool:
    """Return whether an exception is the user's Ctrl-C, or cancels the task that awaits."""
    if isinstance(error, KeyboardInterrupt):
        return not _IS_SERVING.get()  # a server hears of the user's by a signal
    return is_cancellation(error)


async def _await_admitted(work: Coroutine[Any, Any, _T], limiter: Limiter) -> _T:
    """Await the work when the limiter has room."""
    with closing(work):  # it may never begin
        await enter(limiter)
        try:
            return await work
        finally:
            limiter.leave()


async def _await_remote(tool: RemoteTool, value: Any, scope: CallScope) -> Any:
    steps = tool.call(value, scope)
    future = next(steps)
    while True:
        found = await _await_future(future, scope)
        try:
            future = steps.send(found)
        except StopIteration as end:
            return end.value


async def _await_future(future: Future[_T], scope: CallScope) -> _T:
    """Await a future's result; the future is cancelled when the waiting ends early."""
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError as error:
        if is_cancellation(error):
            raise
        raise RunCancelledError from None
    finally:
        if not future.done():
            cancel_future(future, scope)


async def enter(limiter: Limiter) -> None:
    """Await room at the limiter."""
    loop = asyncio.get_running_loop()
    turn: asyncio.Future[None] = loop.create_future()
    notify = partial(loop.call_soon_threadsafe, set_outcome, turn, None, None)
    ticket = limiter.queue(notify)
    if ticket is None:
        return
    try:
        await turn
    except BaseException:
        # the turn can have come in the same moment; then the room is ours to give back
        if not limiter.give_up(ticket):
            limiter.leave()
        raise


async def await_thread(
    function: Callable[[], _T], scope: CallScope | None = None, *, threads: Limiter | None = None
) -> _T:
    """Await the function on a thread; when the waiting ends early its result is dropped.

    Below a call that has a thread already it needs no room. ``threads`` is None for work that isn't
    a tool.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    limiter = None if IS_ON_THREAD.get() else threads
    if limiter is not None:
        await enter(limiter)
    leave = leave_once(limiter)

    def done(value: _T | None, error: BaseException | None) -> None:
        leave()
        with suppress(RuntimeError):  # the loop is closed: no caller waits
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


def set_outcome(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    """Set a future's result, unless no caller waits for it anymore."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):  # which a future can't have
        future.set_exception(RuntimeError(f"StopIteration was raised: {error}"))
    else:
        future.set_exception(error)


def blocking(function: Callable[[_S], Awaitable[_T]]) -> Callable[[_S], _T]:
    """Return a function for other threads, which runs on this loop and is waited for there."""
    loop = asyncio.get_running_loop()

    async def run(argument: _S) -> _T:
        return await function(argument)

    def wait(argument: _S) -> _T:
        work = run(argument)
        try:
            future = asyncio.run_coroutine_threadsafe(work, loop)
        except RuntimeError:  # the loop is closed: no caller waits
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
    pairs = [*calls]
    room = asyncio.Semaphore(limit or len(pairs) or 1)

    async def work(given: tuple[Any, ...]) -> _T:
        async with room:
            return await call(*given, **options)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work(each)) for each in pairs]
    return [each.result() for each in tasks]
