"""Runs the steps of a call for sync code: in the caller's thread, on a thread, or elsewhere.

The counterpart for asyncio is ``async_runner``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from sovl_tools.dispatch.limiter import Limiter, leave_once
from sovl_tools.dispatch.prepared import DynamicTool, PreparedTool
from sovl_tools.dispatch.remote import RemoteTool
from sovl_tools.dispatch.scope import CallScope, stop_call
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.threads import start

_T = TypeVar("_T")


def run(
    tool: PreparedTool | DynamicTool, value: Any, scope: CallScope | None, limit: float | None
) -> Any:
    """Take a tool's steps and return the last value.

    They can take ``limit`` seconds after the call began. The context variables they set end
    with them. Below a call with a thread they are taken on that thread.

    Raises:
        TimeLimitError: the limit is over.
        RunCancelledError: the call was stopped.
    """
    if scope is None:
        return copy_context().run(tool.take, value, None)
    if tool.limiter is not None:
        enter(tool.limiter, scope)
    try:
        # without a limit no caller would give the call up, so it needs no thread
        mode = scope.mode or ("inline" if limit is None else "thread")
        if mode == "process" and tool.remote is not None:
            value = _run_remote(tool.remote, value, scope)
        elif mode == "inline" or (IS_ON_THREAD.get() and limit is None):
            value = copy_context().run(tool.take, value, scope)
        else:
            value = run_on_thread(partial(tool.take, value, scope), scope, tool.threads)
    finally:
        if tool.limiter is not None:
            tool.limiter.leave()
    if scope.is_stopped:
        raise RunCancelledError
    return value


def _run_remote(tool: RemoteTool, value: Any, scope: CallScope) -> Any:
    steps = tool.call(value, scope)
    future = next(steps)
    while True:
        found = wait_for_future(future, scope)
        try:
            future = steps.send(found)
        except StopIteration as end:
            return end.value


def pause(seconds: float, scope: CallScope) -> None:
    """Wait for some time, or until the call is stopped.

    Raises:
        RunCancelledError: the call was stopped meanwhile.
    """
    stopped = threading.Event()
    with scope.when_stopped(stopped.set):
        if stopped.wait(seconds):
            raise RunCancelledError


def enter(limiter: Limiter, scope: CallScope) -> None:
    """Wait until the limiter has room.

    Raises:
        TimeLimitError: there wasn't one within the limit.
        RunCancelledError: the call was stopped meanwhile.
    """
    turn = threading.Event()
    ticket = limiter.queue(turn.set)
    if ticket is None:
        return
    is_in = False
    try:
        with scope.when_stopped(turn.set):
            turn.wait(scope.left)
        # both can have happened while this thread woke up
        is_in = ticket.is_admitted and not scope.is_stopped
    finally:  # Ctrl-C ends the waiting, too
        if not is_in and not limiter.give_up(ticket):
            limiter.leave()
    if not is_in:
        raise stop_call(scope)


IS_ON_THREAD: ContextVar[bool] = ContextVar("IS_ON_THREAD", default=False)
"""Whether a call up the chain runs on a thread of a Tooler.

A call below it needs no other room: its caller only waits for it.
"""


class ThreadWork(Generic[_T]):
    """A function for a thread, where it doesn't begin if the caller no longer waits for it.

    Attributes:
        has_ended: whether it has been run; a thread can be at it otherwise, or about to be.
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
            RunCancelledError: the caller no longer waits for it.
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
    """Run the function on a thread and wait for it, no longer than the call can take.

    Below a call that has a thread already no room is needed.

    Raises:
        TimeLimitError: the limit is over; the thread continues, and its result is dropped.
        RunCancelledError: the call was stopped; the thread continues, too.
    """
    # a thread that waits for a call below it keeps its room for that call too
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

    outcome, work = None, ThreadWork(function, scope)
    try:
        with scope.when_stopped(stop):
            start(work, done)
            outcome = get_within(outcomes, scope)
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


def get_within(queue: SimpleQueue[_T | None], scope: CallScope) -> _T | None:
    """Return the next of a queue; None if the time of the call ends before."""
    while (left := scope.left) is None or left > 0:
        with suppress(Empty):
            return queue.get(timeout=left)
    with suppress(Empty):
        return queue.get_nowait()
    return None


def wait_for_future(future: Future[_T], scope: CallScope) -> _T:
    """Return a future's result; the future is cancelled when the waiting ends early."""
    ended: SimpleQueue[Future[_T] | None] = SimpleQueue()
    found = None
    try:
        with scope.when_stopped(partial(ended.put, None)):
            future.add_done_callback(ended.put)
            found = get_within(ended, scope)
    finally:
        if found is None:
            cancel_future(future, scope)
    if found is None:
        raise stop_call(scope)
    if future.cancelled():
        raise RunCancelledError
    return future.result()


def cancel_future(future: Future[Any], scope: CallScope) -> None:
    """Cancel a future; note if that has no effect, because it runs on the user's executor."""
    if not future.cancel() and not future.done():
        scope.abandon()
