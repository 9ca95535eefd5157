"""The steps of a call, and what a function returned that is no value yet."""

from __future__ import annotations

import inspect
import types
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import aclosing, closing
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from sovl_tools.annotations.jsonvalues import (
    MAX_BYTES,
    MAX_ITEMS,
    item_size,
    too_much,
)
from sovl_tools.dispatch.limiter import Limiter
from sovl_tools.dispatch.scope import CallScope, Sink

_T = TypeVar("_T")

Take: TypeAlias = Callable[[Any, CallScope | None], Any]
"""From a value to the next one, with the scope of the call."""


class Step(NamedTuple):
    """One of the steps from a tool's arguments to its value.

    Attributes:
        take: from a value to the next one, waiting for what is async.
        function: the author's function that it calls; None for a step of our own.
        is_async: whether what that returns has to be awaited.
    """

    take: Take
    function: Callable[[Any], Any] | None = None
    is_async: bool = False


class Stepwise(Protocol):
    """What a runner runs: a tool.

    Attributes:
        steps: in their order, for a loop on which some have to be awaited.
        take: all of them in this thread, one after another.
        is_blocking: whether none of them has to be awaited.
        limiter: lets in only so many calls of the tool at a time; None for any number.
        threads: lets in as many threads as there may be.
    """

    steps: tuple[Step, ...]
    take: Take
    is_blocking: bool
    limiter: Limiter | None
    threads: Limiter


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
        value = _asynchronous(value)
    if isinstance(value, AsyncGeneratorType):
        return await _collected(value, scope)
    return await settled(await value, scope) if inspect.isawaitable(value) else value


async def _asynchronous(items: Generator[Any, None, Any]) -> AsyncGenerator[Any, None]:
    with closing(items):
        for item in items:
            yield item


async def _collected(items: AsyncGenerator[Any, None], scope: CallScope | None) -> list[Any]:
    found: list[Any] = []
    size, sink = 0, begun(scope)
    async with aclosing(items):
        async for item in items:
            if sink is not None:
                found.append(await sink.put_later(item))
                continue
            size += item_size(item)
            if len(found) >= MAX_ITEMS or size > MAX_BYTES:
                raise too_much(len(found) + 1)
            found.append(item)
    return found


def begun(scope: CallScope | None) -> Sink | None:
    """Return where the items of a generator that begins go to."""
    sink = None if scope is None else scope.sink
    if sink is not None:
        sink.is_used = True
    return sink
