"""Runs the steps of a call: what both runners do, and the one for sync code.

A call is written once, as coroutines. In sync code they never suspend, so that ``run_without_loop``
runs them without an event loop. The runner for asyncio is in ``async_runner``.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
)
from contextlib import aclosing, closing, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from queue import Empty, SimpleQueue
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from sovl_tools.annotations.jsonvalues import (
    ItemLimit,
    take_limited,
)
from sovl_tools.dispatch.limiter import Limiter, leave_once
from sovl_tools.dispatch.reference import Remote, run_remotely
from sovl_tools.dispatch.scope import CallScope, Sink, stop_call
from sovl_tools.model.call import ToolCall
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import ToolResult
from sovl_tools.threads import start

_T = TypeVar("_T")

Take: TypeAlias = Callable[[Any, CallScope | None], Any]
"""From a value to the next one, with the scope of the call."""


class Step(NamedTuple):
    """One of the steps from a tool's arguments to its value.

    Attributes:
        take: from a value to the next one, waiting for what is async.
        function: calls the author's function alone; None for a step of our own.
        is_async: whether what that returns has to be awaited.
    """

    take: Take
    function: Take | None = None
    is_async: bool = False


class Stepwise(Protocol):
    """What a runner runs: a tool.

    Attributes:
        steps: in their order.
        take: all of them in this thread, one after another.
        awaited: likewise, as the runner of async code takes them; None before it has.
        is_blocking: whether none of them has to be awaited.
        remote: takes them in another process; None for what can't.
        limiter: bounds how many calls of the tool run at a time; None for no bound.
        threads: lets in as many threads as there may be.
    """

    steps: tuple[Step, ...]
    take: Take
    awaited: tuple[Take, ...] | None
    is_blocking: bool
    remote: Remote | None
    limiter: Limiter | None
    threads: Limiter


class Runner(Protocol):
    """Where a call's work runs, and how that is waited for."""

    def run(
        self,
        tool: Stepwise,
        value: Any,
        scope: CallScope | None,
        limit: float | None,
    ) -> Any:
        """Take the tool's steps; return the last value, or a coroutine that does.

        They may take ``limit`` seconds after the call began. What they set in context variables
        ends with them.
        """
        ...

    def whole(self, work: Coroutine[Any, Any, Any], scope: CallScope) -> Any:
        """Run a coroutine until the call is stopped; return its value, or a coroutine for it."""
        ...

    async def pause(self, seconds: float, scope: CallScope) -> None:
        """Wait for some time, or until the call is stopped."""
        ...

    async def hook(
        self,
        function: Callable[[ToolCall, Any], Any],
        call: ToolCall,
        scope: CallScope,
        following: Callable[[ToolCall], Awaitable[ToolResult]],
    ) -> Any:
        """Run a sync hook."""
        ...

    def is_own_end(self, error: BaseException, *, since: int | None = None) -> bool:
        """Tell whether an exception ends the caller and not the tool.

        ``since`` is how often the caller had been cancelled before the work began that raises it;
        None for what a runner has run, which raises no other cancellation than the caller's.
        """
        ...


class SyncRunner:
    """The runner of sync code: a sync tool runs in the caller's thread unless it has a limit."""

    def run(
        self,
        tool: Stepwise,
        value: Any,
        scope: CallScope | None,
        limit: float | None,
    ) -> Any:
        """Take the steps here or on a thread; below a call with a thread, on that very thread."""
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
        """Run a coroutine, which never suspends."""
        return run_without_loop(work)

    async def pause(self, seconds: float, scope: CallScope) -> None:
        """Wait for some time.

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
        """Run a sync hook in the caller's thread."""

        async def follow(call: ToolCall) -> ToolResult:
            return await following(call)

        return function(call, lambda call: run_without_loop(follow(call)))

    def is_own_end(self, error: BaseException, *, since: int | None = None) -> bool:  # noqa: ARG002 - of tasks
        """Tell whether an exception is the user's Ctrl-C."""
        return issubclass(type(error), KeyboardInterrupt)  # whatever it claims to be


SYNC = SyncRunner()


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


def is_async(function: Any) -> bool:
    """Tell whether calling a function gives something to await or to iterate with ``async for``."""
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 - its code
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
            return True
    return False


FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are what they are."""


class StoppedIteration(Exception):  # noqa: N818 - it replaces StopIteration
    """A StopIteration that left a tool, which no coroutine can raise; shown by its own name."""


class ClosedGenerator(Exception):  # noqa: N818 - it replaces GeneratorExit
    """A GeneratorExit that left a tool, which would close the coroutines that it passes."""


class CancelledWork(Exception):  # noqa: N818 - it replaces CancelledError
    """A CancelledError of a tool's own, which nobody is to take for the caller's cancellation."""


StoppedIteration.__name__ = "StopIteration"
ClosedGenerator.__name__ = "GeneratorExit"
CancelledWork.__name__ = "CancelledError"


def passable_error(error: BaseException) -> Exception:
    """Return what can pass through coroutines in the place of what can't."""
    if isinstance(error, StopIteration):
        kind: type[Exception] = StoppedIteration
    else:
        kind = ClosedGenerator if isinstance(error, GeneratorExit) else CancelledWork
    return kind(*error.args).with_traceback(error.__traceback__)


def blocking_call(
    function: Callable[..., Any], *, takes_keywords: bool = False
) -> Callable[[Any, CallScope | None], Any]:
    """Return a function that waits for what is async or a generator in the function's value.

    It takes the one argument, or all keywords in a dictionary; and the scope of the call.

    Raises:
        RunCancelledError: the call was stopped amid a generator's items.
    """

    def wait(argument: Any, scope: CallScope | None = None) -> Any:
        try:
            value = function(**argument) if takes_keywords else function(argument)
            return value if type(value) in FINAL else _wait_for(value, scope)
        except (StopIteration, GeneratorExit) as error:
            raise passable_error(error) from None

    return wait


def _wait_for(value: Any, scope: CallScope | None) -> Any:
    if isinstance(value, GeneratorType):
        # who streams takes the items as they come, and may stop at any of them
        is_stream = scope is not None and scope.sink is not None
        items = _items(value, scope)
        return list(items if is_stream else take_limited(items))
    if isinstance(value, AsyncGeneratorType) or inspect.isawaitable(value):
        return in_background(await_value(value, scope))
    return value


def _items(items: Generator[Any, None, Any], scope: CallScope | None) -> Iterator[Any]:
    sink = open_sink(scope)
    with closing(items):
        for item in items:
            if scope is not None and scope.is_stopped:
                raise RunCancelledError
            yield item if sink is None else sink.put(item)


async def call_and_await(function: Take, argument: Any, scope: CallScope | None) -> Any:
    """Call a function and return its value, awaiting what is async or a generator."""
    try:
        value = function(argument, scope)
    except (StopIteration, GeneratorExit) as error:
        raise passable_error(error) from None
    return await await_value(value, scope)


async def await_value(value: Any, scope: CallScope | None) -> Any:
    """Return the value of a call, awaiting it as often as it takes."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        value = _asynchronous(value)
    if not isinstance(value, AsyncGeneratorType):
        return await await_value(await value, scope) if inspect.isawaitable(value) else value
    found: list[Any] = []
    limit, sink = ItemLimit(), open_sink(scope)
    # closed at once when the call ends early, and not when the garbage collector comes by
    async with aclosing(value):
        async for item in value:
            if sink is None:
                limit.count(item)
                found.append(item)
            else:
                found.append(await sink.put_later(item))
    return found


async def _asynchronous(items: Generator[Any, None, Any]) -> AsyncGenerator[Any, None]:
    with closing(items):
        for item in items:
            yield item


def open_sink(scope: CallScope | None) -> Sink | None:
    """Return where the items of a generator that begins go to."""
    sink = None if scope is None else scope.sink
    if sink is not None:
        sink.is_used = True
    return sink


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
