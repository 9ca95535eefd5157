"""Runs the steps of a call: what both runners do, and the one for sync code.

A call is written once, as coroutines. In sync code they never suspend, so that ``run_without_loop``
runs them without an event loop. The runner for asyncio is in ``async_runner``. Tools in other
processes are begun and waited for here, too.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
import types
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
)
from concurrent.futures import Executor, Future
from contextlib import suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from sovl_tools.dispatch.failure import RemoteError
from sovl_tools.dispatch.reference import (
    Drafts,
    Fields,
    Receive,
    Target,
    Task,
    TaskResult,
    reference_of,
)
from sovl_tools.dispatch.scope import CallScope, Limiter, leave_once, stop_call
from sovl_tools.dispatch.steps import TakeAsync
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.call import ToolCall
from sovl_tools.model.content import Content
from sovl_tools.model.context import Listener
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError, UnavailableError
from sovl_tools.model.result import ToolResult
from sovl_tools.signature.signature import from_function
from sovl_tools.threads import start

_T = TypeVar("_T")
_LOGGER = logging.getLogger("sovl_tools")


class Stepwise(Protocol):
    """What a runner runs: a tool.

    Attributes:
        awaited: takes its steps on an event loop.
        is_blocking: whether none of them has to be awaited.
        remote: takes them in another process; None for what can't.
        limiter: bounds how many calls of the tool run at a time; None for no bound.
        threads: lets in as many threads as there may be.
    """

    awaited: TakeAsync
    is_blocking: bool
    remote: RemoteTool | None
    limiter: Limiter | None
    threads: Limiter

    def take(self, value: Any, scope: CallScope | None, /) -> Any:
        """Take its steps in this thread, one after another."""
        ...


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
                value = run_without_loop(tool.remote.call(value, scope, wait_for_future))
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


def run_without_loop(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends, without any event loop."""
    found: list[_T] = []
    if next(keep(coroutine, found), ENDED) is ENDED:
        return found[0]
    raise RuntimeError("something was awaited where there is no event loop")


ENDED = object()
"""What ``next`` returns for work that has ended: unlike ``send`` it raises nothing then.

That would cost as much as all the rest of a call.
"""


@types.coroutine
def keep(work: Coroutine[Any, Any, _T], found: list[_T]) -> Generator[Any, Any, None]:
    """Await the work, and put its value there."""
    found.append((yield from work))


class Workers:
    """Where the calls of a Tooler run that run in other processes.

    Attributes:
        executor: somebody's, in the place of processes of our own.
        limit: how many processes of our own there may be.
    """

    def __init__(self, executor: Executor | None = None, limit: int | None = None) -> None:
        """Start nothing yet; there will be at most ``limit`` processes, by default one a core."""
        self.executor = executor
        self.limit = limit or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._pool: Any = None  # of the extra; see there
        self._is_closed = False

    def __del__(self) -> None:
        """End the processes of a Tooler that nobody has closed."""
        pool = getattr(self, "_pool", None)
        # at the end of the program the pool does it, and a thread would never begin
        if pool is not None and not sys.is_finalizing():
            # on a thread, because the collector runs anywhere
            threading.Thread(target=pool.close, daemon=True).start()

    def submit(self, target: Target, task: Task, receive: Receive) -> Future[Fields]:
        """Begin a call.

        Raises:
            UnavailableError: there are no processes.
        """
        if self.executor is not None:
            from sovl_tools.dispatch import cluster, worker  # noqa: PLC0415 - multiprocessing

            # as bytes, because Dask looks into the arguments for what it knows
            data = pickle.dumps(tuple(task))
            if type(self.executor).__module__ == cluster.EXECUTORS:
                is_idempotent = target.is_idempotent
                return cluster.submit(self.executor, data, receive, is_idempotent=is_idempotent)
            return self.executor.submit(worker.run_pickled, data)
        with self._lock:
            reason = "its Tooler is closed" if self._is_closed else processes_missing()
            if reason is not None:
                raise UnavailableError(target.reference.name, reason)
            if self._pool is None:
                from sovl_tools.dispatch.processes import ProcessPool  # noqa: PLC0415 - the extra

                self._pool = ProcessPool(self.limit)
        begun: Future[Fields] = self._pool.submit(target, task, receive)
        return begun

    def close(self) -> None:
        """End the processes of our own, and the calls in them; start no others."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


class RemoteTool:
    """A tool as other processes can call it.

    Args:
        definition: the tool.
        workers: where it runs.
        listener: returns what is called with the progress and messages of a call.
        finish: from JSON, and the content of which it consists, to the value that the model reads.
    """

    __slots__ = ("_definition", "_drafts", "_finish", "_listener", "_target", "_workers")

    def __init__(
        self,
        definition: ToolDefinition,
        workers: Workers,
        listener: Callable[[CallScope], Listener],
        finish: Callable[[Any, CallScope], Any],
    ) -> None:
        self._definition = definition
        self._workers = workers
        self._listener = listener
        self._finish = finish
        self._target: tuple[Target, bytes] | None = None
        self._drafts: Drafts = ()

    async def call(
        self, keywords: Any, scope: CallScope, wait: Callable[..., Awaitable[Fields]]
    ) -> tuple[JSON, tuple[Content, ...]]:
        """Make a call with checked arguments and return its value.

        ``wait`` waits for a future, no longer than the call may take.

        Raises:
            TimeLimitError: the limit is over.
            RunCancelledError: the call was stopped.
            RemoteError: the tool has failed.
            InvalidResult: its result is none that the model may read.
            UnavailableError: the tool can't be called in another process.
        """
        result = TaskResult(*await wait(self._begin(keywords, scope), scope))
        if result.needs_sources:
            again = self._begin(keywords, scope, with_sources=True)
            result = TaskResult(*await wait(again, scope))
        for event in result.events:
            self._listener(scope)(event)
        if result.needs_sources:
            raise UnavailableError(self._definition.name, "a worker has made other sources of it")
        if result.failure is not None:
            raise RemoteError(result.failure, result.trace)
        found: tuple[JSON, tuple[Content, ...]] = self._finish(
            (result.value, result.content), scope
        )
        return found

    def _begin(
        self, keywords: dict[str, Any], scope: CallScope, *, with_sources: bool = False
    ) -> Future[Fields]:
        """Begin a call; with the sources any worker can make it."""
        found = self._target
        if found is None or found[0].process != os.getpid():
            found = self._target = self._make_target()
        target, pickled = found
        task = Task(
            pickled,
            keywords,
            scope.call_id,
            scope.sink is not None,
            _LOGGER.isEnabledFor(logging.DEBUG),
            self._drafts if with_sources else (),
        )

        # not of self, or the thread that reads from a worker would keep the Tooler
        listener = self._listener

        def receive(kind: str, content: Any) -> None:
            if kind == "event":
                listener(scope)(content)
            elif scope.sink is None or scope.is_stopped:
                raise RunCancelledError
            elif kind == "stream":
                scope.sink.is_used = True
            else:
                scope.sink.put(content)

        return self._workers.submit(target, task, receive)

    def _make_target(self) -> tuple[Target, bytes]:
        """Return what names the tool in another process, also pickled.

        Raises:
            UnavailableError: nothing does.
        """
        tool = self._definition
        reference, self._drafts = reference_of(tool)
        execution = tool.execution
        names = tuple(tool.requires.get("env", ()))
        target = Target(
            reference,
            os.getpid(),
            execution.get("memory_mb"),
            names if execution.get("isolated_env") else None,
            bool(from_function(tool.function).contexts),
            tool.annotations.get("idempotent") is True,
        )
        return target, pickle.dumps(target)


async def wait_for_future(future: Future[_T], scope: CallScope) -> _T:
    """Return a future's result; the future is cancelled when the waiting ends early."""
    ended: SimpleQueue[Future[_T] | None] = SimpleQueue()
    scope.on_stop(partial(ended.put, None))
    future.add_done_callback(ended.put)
    found = None
    try:
        with suppress(Empty):
            found = ended.get(timeout=scope.left)
    finally:
        if found is None:
            cancel_future(future, scope)
    if found is None:
        raise stop_call(scope)
    if future.cancelled():
        raise RunCancelledError
    return future.result()


def cancel_future(future: Future[Any], scope: CallScope) -> None:
    """Cancel a future; note if that ends nothing, because it runs on somebody's executor."""
    if not future.cancel() and not future.done():
        scope.abandon()
