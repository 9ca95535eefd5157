"""Runs the steps of a call: what both runners do, and the one for sync code.

A call is written once, as coroutines. In sync code they never suspend, so that ``run_without_loop``
runs them without an event loop. The runner for asyncio is in ``async_runner``.
"""

from __future__ import annotations

import threading
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
)
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from sovl_tools.dispatch.scope import CallScope, Limiter, leave_once, stop_call
from sovl_tools.dispatch.steps import Take, TakeAsync
from sovl_tools.dispatch.workers import RemoteTool, run_remotely
from sovl_tools.model.call import ToolCall
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import ToolResult
from sovl_tools.threads import start

_T = TypeVar("_T")


class Stepwise(Protocol):
    """What a runner runs: a tool.

    Attributes:
        take: takes its steps in this thread, one after another.
        awaited: likewise on an event loop.
        is_blocking: whether none of them has to be awaited.
        remote: takes them in another process; None for what can't.
        limiter: bounds how many calls of the tool run at a time; None for no bound.
        threads: lets in as many threads as there may be.
    """

    take: Take
    awaited: TakeAsync
    is_blocking: bool
    remote: RemoteTool | None
    limiter: Limiter | None
    threads: Limiter


class Runner:
    """Where a call's work runs, and how that is waited for: the runner of sync code.

    A sync tool runs in the caller's thread unless it has a limit. ``async_runner`` has the other.
    """

    def run(self, tool: Stepwise, value: Any, scope: CallScope | None, limit: float | None) -> Any:
        """Take the tool's steps; return the last value, or a coroutine that does.

        They may take ``limit`` seconds after the call began. What they set in context variables
        ends with them. Below a call with a thread they are taken on that very thread.
        """
        if scope is None:
            return copy_context().run(tool.take, value, None)
        if tool.limiter is not None:
            enter(tool.limiter, scope, call=scope)
        try:
            # without a limit nobody would give the call up, so it needs no thread
            mode = scope.mode or ("inline" if limit is None else "thread")
            if mode == "process" and tool.remote is not None:
                value = run_remotely(tool.remote, value, scope)
            elif mode == "inline" or (IS_ON_THREAD.get() and limit is None):
                value = copy_context().run(tool.take, value, scope)
            else:
                value = run_on_thread(partial(tool.take, value, scope), scope, tool.threads)
        finally:
            if tool.limiter is not None:
                tool.limiter.leave(scope)
        if scope.is_stopped:
            raise RunCancelledError
        return value

    def whole(self, work: Coroutine[Any, Any, Any], _scope: CallScope) -> Any:
        """Run a coroutine until the call is stopped; return its value, or a coroutine for it."""
        return run_without_loop(work)

    async def pause(self, seconds: float, scope: CallScope) -> None:
        """Wait for some time, or until the call is stopped.

        Raises:
            RunCancelledError: the call was stopped meanwhile.
        """
        stopped = threading.Event()
        scope.on_stop(stopped.set)
        if stopped.wait(seconds):
            raise RunCancelledError

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        _scope: CallScope,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook."""

        async def follow(call: ToolCall) -> ToolResult:
            return await following(call)

        return function(call, lambda call: run_without_loop(follow(call)))

    def is_own_end(self, error: BaseException, *, since: int | None = None) -> bool:  # noqa: ARG002 - of tasks
        """Tell whether an exception ends the caller and not the tool.

        ``since`` is how often the caller had been cancelled before the work began that raises it;
        None for what a runner has run, which raises no other cancellation than the caller's.
        """
        return issubclass(type(error), KeyboardInterrupt)  # whatever it claims to be


SYNC = Runner()


def enter(limiter: Limiter, scope: CallScope, *, call: CallScope | None = None) -> None:
    """Wait until the limiter has room; ``call`` is the scope if it is a tool's limiter.

    Raises:
        TimeLimitError: there was none within the limit.
        RunCancelledError: the call was stopped meanwhile.
    """
    turn = threading.Event()
    ticket = limiter.queue(turn.set, call)
    if ticket is None:
        return
    scope.on_stop(turn.set)
    turn.wait(scope.left)
    # both may have happened while this thread woke up
    if ticket.is_admitted and not scope.is_stopped:
        return
    if not limiter.give_up(ticket):
        limiter.leave(call)
    raise stop_call(scope)


IS_ON_THREAD: ContextVar[bool] = ContextVar("IS_ON_THREAD", default=False)
"""Whether somebody up the chain of calls runs on a thread of a Tooler.

What runs for such a call needs no room of its own: its caller only waits for it.
"""


class ThreadWork(Generic[_T]):
    """A function for a thread, where it doesn't begin if nobody waits for it any more.

    Attributes:
        has_ended: whether it has been run; a thread may be at it otherwise, or about to be.
    """

    __slots__ = ("_function", "_is_tool", "_scope", "has_ended")

    def __init__(
        self, function: Callable[[], _T], scope: CallScope | None, *, is_tool: bool = True
    ) -> None:
        self.has_ended = False
        self._function = function
        self._scope = scope
        self._is_tool = is_tool

    def __call__(self) -> _T:
        """Run the function.

        Raises:
            RunCancelledError: nobody waits for it.
        """
        if self._scope is not None and self._scope.is_stopped:
            raise RunCancelledError
        if self._is_tool:
            IS_ON_THREAD.set(True)
        try:
            return self._function()
        finally:
            self.has_ended = True


def run_on_thread(function: Callable[[], _T], scope: CallScope, threads: Limiter | None) -> _T:
    """Run the function on a thread and wait for it, no longer than the call may take.

    Below a call that has a thread already no room is needed.

    Raises:
        TimeLimitError: the limit is over; the thread goes on, and its result is dropped.
        RunCancelledError: the call was stopped; likewise.
    """
    # a thread that waits for a call below it holds its room for that call too
    limiter = None if IS_ON_THREAD.get() else threads
    if limiter is not None:
        enter(limiter, scope)
    leave = leave_once(limiter)
    outcomes: SimpleQueue[tuple[Any, BaseException | None] | None] = SimpleQueue()

    def done(value: Any, error: BaseException | None) -> None:
        leave()
        outcomes.put((value, error))

    def stop() -> None:
        outcomes.put(None)

    scope.on_stop(stop)
    outcome, work = None, ThreadWork(function, scope)
    try:
        start(work, done)
        with suppress(Empty):
            outcome = outcomes.get(timeout=scope.left)
    finally:
        leave()
    if outcome is None:
        if not work.has_ended:
            scope.abandon()
        raise stop_call(scope)
    value, error = outcome
    if error is not None:
        raise error
    result: _T = value
    return result


def in_background(work: Coroutine[Any, Any, _T], *, limit: float | None = None) -> _T:
    """Run a coroutine on the loop in the background and return its value.

    ``limit`` is the one that the work itself keeps to, in seconds, unless it blocks the loop.
    """
    from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415 - imports asyncio

    return run_in_background(work, limit=limit)


def run_without_loop(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends, without any event loop."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        value: _T = stop.value
        return value
    raise RuntimeError("something was awaited where there is no event loop")
