"""Ends work that is awaited: time limits, stopped calls, and what becomes of the rest."""

from __future__ import annotations

import asyncio
import threading
import types
from asyncio import current_task
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from time import perf_counter
from types import CoroutineType
from typing import Any, Self, TypeAlias, TypeVar

from sovl_tools.dispatch.runner import ENDED, keep
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.steps import CancelledWork, passable_error
from sovl_tools.model.errors import RunCancelledError, TimeLimitError

_T = TypeVar("_T")
_Steps: TypeAlias = Generator[Any, Any, None]


async def drive(
    work: Coroutine[Any, Any, _T],
    scope: CallScope | None = None,
    limit: float | None = None,
) -> _T:
    """Await the work in a context of its own, until its time is over or the call is stopped.

    What it sets in context variables ends with it. It stays in the caller's task, to which
    timeouts and task groups of its own belong.

    Raises:
        TimeLimitError: ``limit`` seconds after the call began are over. A TimeoutError of the
            work's own passes as it is.
        RunCancelledError: the call was stopped.
        CancelledError: the caller's task was cancelled by somebody else than the work.
        CancelledWork: the work has raised a CancelledError of its own, or cancelled that task.
    """
    found = begin(work, scope, limit)
    value: _T = (await found) if type(found) is CoroutineType else found
    return value


def begin(
    work: Coroutine[Any, Any, Any], scope: CallScope | None = None, limit: float | None = None
) -> Any:
    """Run the work up to its first suspension; return its value, or a coroutine for the rest.

    Most work has ended by then, and needs neither a timer nor a coroutine; see ``drive``.
    """
    task = current_task(_LAST.loop) or _current_task()
    started = 0.0 if limit is None else perf_counter() if scope is None else scope.started
    requests = task.cancelling()
    if scope is not None:
        scope.cancellations = requests and delivered_cancellations(task)
    found: list[Any] = []
    context, steps = copy_context(), keep(work, found)
    try:
        target = context.run(next, steps, ENDED)
    except BaseException as error:
        own = task.cancelling() - requests
        # it has not waited for anything yet, where somebody else might have ended it
        if isinstance(error, asyncio.CancelledError):
            error = passable_error(error)
        if own > 0:
            return _withdraw_and_raise(own, error)
        raise error from None
    own = task.cancelling() - requests
    if target is not ENDED:
        left = None if limit is None else limit - (perf_counter() - started)
        ending = _Ending(_current_task(), scope, time_left=left, limit=limit, own=own)
        return _await_rest(context, steps, target, found, ending)
    if own > 0:
        return _withdraw_and_raise(own, CancelledWork(_OWN_TASK))
    if scope is not None and scope.is_stopped:
        raise RunCancelledError
    return found[0]


class _Last(threading.local):
    """The event loop on which this thread has last awaited a call.

    Before Python 3.12 asking for the running one costs as much as a tool. One that does not run
    any more has no task.
    """

    loop: Any = object()  # none, which has no task


_LAST = _Last()


def _current_task() -> asyncio.Task[Any]:
    """Return the task that runs here.

    Raises:
        RuntimeError: there is none.
    """
    task = current_task()
    if task is None:
        raise RuntimeError("only a task can await a call")
    _LAST.loop = task.get_loop()
    return task


async def _await_rest(
    context: Context, steps: _Steps, target: Any, found: list[Any], ending: _Ending
) -> Any:
    """Await work that has given ``target`` to the event loop, and return its value."""
    try:
        with ending:
            await _resume(context, steps, target, ending)
    finally:
        if ending.own > 0:
            await _withdraw(ending.own)
    if ending.own > 0:
        raise CancelledWork(_OWN_TASK)
    if ending.scope is not None and ending.scope.is_stopped:
        raise RunCancelledError
    return found[0]


async def _withdraw_and_raise(requests: int, error: BaseException) -> Any:
    try:
        await _withdraw(requests)
        raise error
    finally:
        # or the exception and this frame would wait for the collector together
        del error


class _Ending:
    """Ends work from outside: cancels the task that awaits it, and after a grace leaves it alone.

    Only an end of ours has that grace. A cancellation that the caller or the work itself has
    caused goes into the work as into any coroutine, which may take its time.

    Attributes:
        scope: the call, if it is one.
        task: drives the work; None while a call above has been left alone and goes on in another.
        is_late: whether the grace is over.
        is_running: whether the work runs right now, and does not wait.
        own: cancellations by the work of its own task that have not been delivered yet.
    """

    __slots__ = (
        "_cancels", "_is_over", "_limit", "_loop", "_reason", "_requests", "_timer", "is_late",
        "is_running", "own", "scope", "task",
    )  # fmt: skip

    def __init__(
        self,
        task: asyncio.Task[Any],
        scope: CallScope | None = None,
        *,
        time_left: float | None = None,
        limit: float | None = None,
        own: int = 0,
    ) -> None:
        self.task: asyncio.Task[Any] | None = task
        self.is_late = self.is_running = False
        self.own = own
        self.scope = scope
        self._limit = limit
        self._loop = task.get_loop()
        self._requests = task.cancelling() if own else delivered_cancellations(task)
        self._requests -= own
        self._reason: TimeLimitError | RunCancelledError | None = None
        self._cancels = 0
        self._is_over = False
        self._timer = None if time_left is None else self._loop.call_later(time_left, self._end)
        if scope is not None:
            scope.on_stop(partial(_call_soon, self._loop, self._stop))

    def __enter__(self) -> Self:
        if self.task is not None:
            _UNDER_WAY.setdefault(self.task, []).append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        """Raise why the work was ended, if it was, unless somebody else cancels the task too."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
        task = self.task
        self.leave_task()
        is_other = kind is KeyboardInterrupt or (
            task is not None and task.cancelling() - self.own > self._requests
        )
        if is_other:
            return
        if self._reason is not None:
            self._reason.is_abandoned = self.is_late
            raise self._reason from None
        if isinstance(error, asyncio.CancelledError):
            raise passable_error(error) from None

    def _stop(self) -> None:
        self._end(RunCancelledError())

    def _end(self, reason: RunCancelledError | None = None) -> None:
        """End it; without a reason because its time is over."""
        if self._is_over or self._reason is not None:
            return
        self._reason = reason or TimeLimitError(self._limit or 0.0)
        depth = 0
        if self.scope is not None:
            depth = len(self.scope.above)
            # calls below end now too, so that all that cancels the task comes as one exception
            self.scope.stop()
        self._loop.call_soon(self._cancel)
        # a call below is left alone first, and this one may then end as usual
        self._timer = self._loop.call_later(_GRACE * 0.9**depth, self._give_up)

    def _cancel(self) -> None:
        # the work may have ended in the turn of the loop before
        if not self._is_over and self.task is not None:
            self._cancels += 1
            self.task.cancel()

    def _give_up(self) -> None:
        self.is_late = True
        self._cancel()

    def leave_task(self) -> None:
        """Take back each cancellation of ours, or a TaskGroup above would end too."""
        task, self.task = self.task, None
        if task is None:
            return
        for _ in range(self._cancels):
            task.uncancel()
        self._cancels = 0
        beside = _UNDER_WAY[task]
        beside.remove(self)
        if not beside:
            del _UNDER_WAY[task]

    def join_task(self) -> asyncio.Task[Any]:
        """Go on in the current task, which is another one than that in which the work began."""
        task = _current_task()
        self.task, self._requests = task, 0
        _UNDER_WAY.setdefault(task, []).append(self)
        return task

    def leave_alone(self, context: Context, steps: _Steps) -> None:
        """Let a task of its own go on with the work, because this one is somebody else's."""
        if self.scope is not None:
            self.scope.abandon()
        # Calls below may have cancelled the task of this one in the same turn of the loop, or be
        # about to: that would look as if the caller had been cancelled by somebody. Those above
        # run: they have called this one.
        for each in [*_UNDER_WAY.get(self.task, ())] if self.task is not None else ():
            if each is not self and not each.is_running:
                each.leave_task()

        async def go_on() -> None:
            # once more; and calls that the work makes see whose end it is
            task.cancel()
            with suppress(BaseException):
                await _resume(context, steps, None, _Ending(task))

        task = asyncio.create_task(go_on())
        asyncio._unregister_task(task)  # noqa: SLF001 - so that programs end without it
        _LEFT_ALONE.add(task)
        task.add_done_callback(_LEFT_ALONE.discard)


_GRACE = 0.5
"""How long work that was ended may clean up, in seconds."""
_LEFT_ALONE: set[asyncio.Task[None]] = set()
_UNDER_WAY: dict[asyncio.Task[Any], list[_Ending]] = {}
"""The work that each task drives and that waits for something: calls, and those below them."""


_OWN_TASK = "it cancelled its own task"


def _call_soon(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop is closed: it has ended
        loop.call_soon_threadsafe(end)


@types.coroutine
def _resume(
    context: Context, steps: _Steps, target: Any, ending: _Ending
) -> Generator[Any, Any, None]:
    """Await the rest of the work; hand it over if it is late."""
    while True:
        error: BaseException | None = None
        try:
            # what asyncio.sleep(0) and futures yield goes to the loop as it is
            if target is None or type(target) is asyncio.Future:
                yield target
            else:
                yield from _await_future(target, ending)
        except GeneratorExit:
            context.run(steps.close)
            raise
        except BaseException as raised:  # noqa: BLE001 - the work decides what becomes of it
            error = raised
        if ending.is_late and error is not None:
            ending.leave_alone(context, steps)
            raise asyncio.CancelledError
        task = ending.task or ending.join_task()
        requests = task.cancelling()
        ending.is_running = True
        try:
            if error is None:
                target = context.run(steps.send, None)
            else:
                target = context.run(steps.throw, error)
        except StopIteration:
            return
        finally:
            ending.is_running = False
            ending.own = max(0, ending.own + task.cancelling() - requests)
            if isinstance(error, asyncio.CancelledError):
                while ending.own:
                    ending.own -= 1
                    task.uncancel()


@types.coroutine
def _await_future(found: asyncio.Future[Any], ending: _Ending) -> Generator[Any, Any, None]:
    """Await a task or the like, which may go on although it was cancelled, but not when late.

    Raises:
        RuntimeError: the work awaits the task that it runs in, as asyncio has it.
    """
    if found is ending.task:
        raise RuntimeError("a task can't await itself")
    while not found.done():
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake(_: object, turn: asyncio.Future[None] = turn) -> None:
            set_outcome(turn, None, None)

        found.add_done_callback(wake)
        try:
            yield from turn
        except asyncio.CancelledError:
            if ending.is_late or not found.cancel():
                raise
        finally:
            found.remove_done_callback(wake)


async def _withdraw(requests: int) -> None:
    """Take back cancellations that work has asked of its own task before it ended."""
    task = current_task()
    if task is None:
        return
    for _ in range(requests):
        task.uncancel()
    others = task.cancelling()
    try:
        await asyncio.sleep(0)  # before Python 3.13 it comes nevertheless
    except asyncio.CancelledError:
        if task.cancelling() > others:
            raise


def set_outcome(future: asyncio.Future[Any], value: object, error: BaseException | None) -> None:
    """Set a future's result, unless nobody waits for it any more."""
    if future.done():
        return
    if error is None:
        future.set_result(value)
    else:
        future.set_exception(error)


def cancellations() -> int:
    """Return how many cancellations have been delivered to the current task.

    That need not be 0: before Python 3.13 a TaskGroup that fails may leave one behind.
    """
    task = current_task()
    return 0 if task is None else delivered_cancellations(task)


def delivered_cancellations(task: asyncio.Task[Any]) -> int:
    """Return how often a task was cancelled, without a request that it has not received yet."""
    return task.cancelling() - bool(getattr(task, "_must_cancel", False))
