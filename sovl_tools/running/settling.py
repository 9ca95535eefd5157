"""What a function returned may not be a value yet: coroutines are awaited, generators collected."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing, closing
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Protocol

from sovl_tools.running.run import Run, RunCancelledError

FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are what they are."""


class Sink(Protocol):
    """Takes the items of a generator as they come; each call waits until there is room.

    Attributes:
        is_used: set when a generator has begun, even if it has no items.
    """

    is_used: bool

    def put(self, item: Any) -> None:
        """Take an item from a thread."""
        ...

    async def put_later(self, item: Any) -> None:
        """Take an item on the event loop."""
        ...


class StoppedIteration(Exception):  # noqa: N818 - it stands for StopIteration
    """A StopIteration that left a tool, which no coroutine can raise; shown by its own name."""


class ClosedGenerator(Exception):  # noqa: N818 - it stands for GeneratorExit
    """A GeneratorExit that left a tool, which would close the coroutines that it passes."""


StoppedIteration.__name__ = "StopIteration"
ClosedGenerator.__name__ = "GeneratorExit"


def standing_for(error: BaseException) -> Exception:
    """Return what can pass through coroutines in the place of what can't."""
    kind = StoppedIteration if isinstance(error, StopIteration) else ClosedGenerator
    return kind(*error.args)


def called(function: Callable[[], Any], run: Run | None = None, sink: Sink | None = None) -> Any:
    """Call a function and return its settled value; what it raises can pass through coroutines."""
    try:
        return settled_sync(function(), run, sink)
    except (StopIteration, GeneratorExit) as error:
        raise standing_for(error) from error


async def called_async(function: Callable[[], Any], sink: Sink | None = None) -> Any:
    """Call a function and return its settled value; what it raises can pass through coroutines."""
    try:
        value = function()
    except (StopIteration, GeneratorExit) as error:
        raise standing_for(error) from error
    return await settled(value, sink)


def settled_sync(value: Any, run: Run | None = None, sink: Sink | None = None) -> Any:
    """Return the value that a call stands for, waiting for it.

    Raises:
        RunCancelledError: the run was stopped amid a generator's items.
    """
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return list(_items(value, run, sink))
    if isinstance(value, AsyncGeneratorType):
        return in_background(_collected(value, sink))
    return in_background(_awaited(value)) if inspect.isawaitable(value) else value


def _items(items: Generator[Any, None, Any], run: Run | None, sink: Sink | None) -> Iterator[Any]:
    _begin(sink)
    with closing(items):
        for item in items:
            if run is not None and run.is_stopped:
                raise RunCancelledError
            if sink is not None:
                sink.put(item)
            yield item


def _begin(sink: Sink | None) -> None:
    if sink is not None:
        sink.is_used = True


def in_background(work: Coroutine[Any, Any, Any], *, limit: float | None = None) -> Any:
    """Run a coroutine on the loop in the background and return its value.

    ``limit`` is the one that the work itself keeps to, in seconds, unless it blocks the loop.
    """
    from sovl_tools.running.background import run_in_background  # noqa: PLC0415 - imports asyncio

    return run_in_background(work, limit=limit)


async def settled(value: Any, sink: Sink | None = None) -> Any:
    """Return the value that a call stands for, awaiting it."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return await _gathered(value, sink)
    if isinstance(value, AsyncGeneratorType):
        return await _collected(value, sink)
    return await settled(await value, sink) if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await settled(await value)


async def _gathered(items: Generator[Any, None, Any], sink: Sink | None) -> list[Any]:
    found = []
    _begin(sink)
    with closing(items):
        for item in items:
            if sink is not None:
                await sink.put_later(item)
            found.append(item)
    return found


async def _collected(items: AsyncGenerator[Any, None], sink: Sink | None) -> list[Any]:
    found = []
    _begin(sink)
    async with aclosing(items):
        async for item in items:
            if sink is not None:
                await sink.put_later(item)
            found.append(item)
    return found
