"""Event loops in the background, for sync code that calls async tools.

Other modules don't import this one at their top, because asyncio takes 20 ms to import.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from functools import partial
from math import inf
from time import perf_counter
from typing import Any, TypeVar

from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.threads import LOOP, after_fork, give_up_loop

_LOGGER = logging.getLogger("sovl_tools")
_T = TypeVar("_T")


class BackgroundLoop:
    """An event loop on a daemon thread, for as long as the process lives.

    An abandoned loop ends with its tools.
    """

    def __init__(self) -> None:
        self._is_given_up = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=LOOP, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        while not self._is_given_up:  # a tool may stop the loop that it runs on
            self._run(self._loop.run_forever)
        while tasks := asyncio.all_tasks(self._loop):
            self._run(partial(self._loop.run_until_complete, asyncio.wait(tasks)))
        self._loop.close()

    @staticmethod
    def _run(run: Callable[[], object]) -> None:
        """Run the loop, which an exit in a task that a tool has left must not end for all."""
        try:
            run()
        except BaseException:
            _LOGGER.exception("a task that a tool has left behind would have ended its event loop")

    def run(self, work: Coroutine[Any, Any, _T], scope: CallScope | None) -> _T:
        """Run the coroutine on the loop and return its value or raise its exception.

        Context variables of the caller are carried over. Works under a running loop as well,
        which is blocked meanwhile, as by any sync call.

        Raises:
            TimeLimitError: the call blocks the loop beyond its limit; the loop is abandoned.
        """
        # this copies the context of the caller, whose variables the work shall see
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            if scope is None or scope.limit is None:
                return future.result()
            while (left := scope.deadline + _GRACE - perf_counter()) > 0:
                with suppress(FutureTimeoutError):
                    return future.result(None if left == inf else left)
        finally:
            future.cancel()  # without effect if it has ended
        self._give_up()
        raise TimeLimitError(scope.limit)

    def submit(self, work: Awaitable[_T]) -> Future[_T]:
        """Run the coroutine on the loop; return the future of its value."""
        return asyncio.run_coroutine_threadsafe(_awaited(work), self._loop)

    def _give_up(self) -> None:
        with _LOCK:
            if self in _LOOPS:
                _LOOPS.remove(self)
        give_up_loop(self._thread)
        self._is_given_up = True
        self._loop.call_soon_threadsafe(self._loop.stop)

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this loop."""
        return threading.current_thread() is self._thread


_LOCK = threading.Lock()
_LOOPS: list[BackgroundLoop] = []
_GRACE = 1.0
"""The time a loop can continue after a limit, in seconds; work that cleans up has half of it."""


@after_fork
def _start_anew() -> None:
    """Forget the loops of the parent in a forked child: their threads are not there."""
    global _LOCK  # noqa: PLW0603 - another thread may have held it when the process was forked
    _LOCK = threading.Lock()
    _LOOPS.clear()


def run_in_background(work: Coroutine[Any, Any, _T], *, scope: CallScope | None = None) -> _T:
    """Run a coroutine on a loop in the background and return its value.

    ``scope`` is the call's, whose limit applies also if the call blocks the loop.
    """
    return run_on(free_loop(), work, scope=scope)


def submit(work: Awaitable[_T], loop: asyncio.AbstractEventLoop | None) -> Future[_T]:
    """Run a coroutine on a loop, by default in the background; return the future of its value."""
    if loop is None or loop.is_closed():
        return free_loop().submit(work)
    return asyncio.run_coroutine_threadsafe(_awaited(work), loop)


async def _awaited(work: Awaitable[_T]) -> _T:
    return await work


def free_loop() -> BackgroundLoop:
    """Return a loop for a caller: the first one, or the next one if the caller is on a loop.

    The caller waits for the work and blocks its own loop meanwhile.
    """
    with _LOCK:
        place = next((index + 1 for index, each in enumerate(_LOOPS) if each.is_current), 0)
        if place == len(_LOOPS):
            _LOOPS.append(BackgroundLoop())
        return _LOOPS[place]


def run_on(
    loop: BackgroundLoop, work: Coroutine[Any, Any, _T], *, scope: CallScope | None = None
) -> _T:
    """Run a coroutine on that loop and return its value."""
    value, error = loop.run(outcome_of(work), scope)
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # without an error there is a value


def iterate_in_background(items: AsyncGenerator[_T, None]) -> Generator[_T, None, None]:
    """Yield the items of an async generator; it runs on one loop and is closed there at the end."""
    loop, end = free_loop(), object()
    turn = asyncio.Lock()
    task: asyncio.Task[Any] | None = None

    async def following() -> _T | object:
        nonlocal task
        task = asyncio.current_task()
        async with turn:
            return await anext(items, end)

    async def close() -> None:
        # Ctrl-C may end the waiting for an item at any place, and leave its task behind
        if task is not None and not task.cancelling():
            task.cancel()
        async with turn:
            await items.aclose()

    try:
        while (item := run_on(loop, following())) is not end:
            yield item  # type: ignore[misc]  # it is not the end
    finally:
        run_on(loop, close())


async def outcome_of(work: Coroutine[Any, Any, _T]) -> tuple[_T | None, BaseException | None]:
    """Return the work's value and its exception.

    As a value, because an exception that ends programs would end the loop, and a future would
    lose the message of a cancellation that is the work's own.
    """
    try:
        return await work, None
    except BaseException as error:
        if is_cancellation(error):
            raise
        return None, error


def is_cancellation(error: BaseException) -> bool:
    """Return whether an exception is the cancellation of the current task.

    If the task wasn't cancelled, a CancelledError is the work's own.
    """
    task = asyncio.current_task()
    is_cancelled = task is not None and task.cancelling() > 0
    return is_cancelled and isinstance(error, asyncio.CancelledError)
