"""What a function returned may not be a value yet: coroutines are awaited, generators collected."""

from __future__ import annotations

import inspect
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from contextlib import aclosing, closing
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, TypeAlias, TypeVar

from sovl_tools.annotations.jsonvalues import (
    MAX_BYTES,
    MAX_ITEMS,
    item_size,
    limited,
    too_much,
)
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import RunCancelledError

_T = TypeVar("_T")

FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are what they are."""


Driver: TypeAlias = Generator[Any, Any, None]


def completed(coroutine: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine that never suspends, without any event loop."""
    driver = idle_driver()
    found = driver.send(coroutine)
    if type(found) is not list:
        raise RuntimeError("something was awaited where there is no event loop")
    DRIVERS.append(driver)
    value: _T = found[0]
    return value


DRIVERS: list[Driver] = []
"""Those that have nothing to do; a call within a call takes another."""


def idle_driver() -> Driver:
    """Return what runs one coroutine after another; it belongs into ``DRIVERS`` afterwards.

    A coroutine is sent to it. What comes back is its value in a list, or what it waits for. So
    the value costs a third of what it costs in a StopIteration.
    """
    try:
        return DRIVERS.pop()
    except IndexError:
        driver: Driver = _driving()
        next(driver)
        return driver


@types.coroutine
def _driving() -> Driver:
    found: list[Any] = []
    while True:
        work = yield found
        found = [(yield from work)]


def is_async(function: Any) -> bool:
    """Tell whether calling a function gives something to await or to iterate with ``async for``."""
    for each in (function, getattr(function, "__call__", None)):  # noqa: B004 - its code
        if inspect.iscoroutinefunction(each) or inspect.isasyncgenfunction(each):
            return True
    return False


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


def waiting(
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
            return value if type(value) in FINAL else _waited(value, scope)
        except (StopIteration, GeneratorExit) as error:
            raise standing_for(error) from error

    return wait


def _waited(value: Any, scope: CallScope | None) -> Any:
    if isinstance(value, GeneratorType):
        is_stream = scope is not None and scope.sink is not None
        items = _items(value, scope)
        return list(items if is_stream else limited(items))
    if isinstance(value, AsyncGeneratorType) or inspect.isawaitable(value):
        return in_background(settled(value, scope))
    return value


async def called_async(
    function: Callable[[Any], Any], argument: Any, scope: CallScope | None = None
) -> Any:
    """Call a function and return its value, awaiting what is async or a generator."""
    try:
        value = function(argument)
    except (StopIteration, GeneratorExit) as error:
        raise standing_for(error) from error
    if type(value) is CoroutineType:
        value = await value
    return value if type(value) in FINAL else await settled(value, scope)


async def settled(value: Any, scope: CallScope | None) -> Any:
    """Return the value that a call stands for, awaiting it as often as it takes."""
    if isinstance(value, GeneratorType):
        return await _gathered(value, scope)
    if isinstance(value, AsyncGeneratorType):
        return await _collected(value, scope)
    return await settled(await value, scope) if inspect.isawaitable(value) else value


def in_background(work: Coroutine[Any, Any, _T], *, limit: float | None = None) -> _T:
    """Run a coroutine on the loop in the background and return its value.

    ``limit`` is the one that the work itself keeps to, in seconds, unless it blocks the loop.
    """
    from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415 - imports asyncio

    return run_in_background(work, limit=limit)


def _items(items: Generator[Any, None, Any], scope: CallScope | None) -> Iterator[Any]:
    sink = _begun(scope)
    with closing(items):
        for item in items:
            if scope is not None and scope.is_stopped:
                raise RunCancelledError
            if sink is not None:
                sink.put(item)
            yield item


async def _gathered(items: Generator[Any, None, Any], scope: CallScope | None) -> list[Any]:
    found: list[Any] = []
    size, sink = 0, _begun(scope)
    with closing(items):
        for item in items:
            if sink is not None:
                await sink.put_later(item)
            else:
                size += item_size(item)
                if len(found) >= MAX_ITEMS or size > MAX_BYTES:
                    raise too_much(len(found) + 1)
            found.append(item)
    return found


async def _collected(items: AsyncGenerator[Any, None], scope: CallScope | None) -> list[Any]:
    found: list[Any] = []
    size, sink = 0, _begun(scope)
    async with aclosing(items):
        async for item in items:
            if sink is not None:
                await sink.put_later(item)
            else:
                size += item_size(item)
                if len(found) >= MAX_ITEMS or size > MAX_BYTES:
                    raise too_much(len(found) + 1)
            found.append(item)
    return found


def _begun(scope: CallScope | None) -> Any:
    """Return where the items of a generator that begins go to."""
    sink = None if scope is None else scope.sink
    if sink is not None:
        sink.is_used = True
    return sink
