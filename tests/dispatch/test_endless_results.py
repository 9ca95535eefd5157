"""Results that take long to be made, or never end."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from sovl_tools.dispatch.tooler import ToolStream
from tests.dispatch.toolbox import Call, each_way, tooler
from tests.tables import check_each


def slow(number: int) -> int:
    time.sleep(0.02)
    return number


def ones() -> Iterator[int]:
    while True:
        yield 1


async def ones_later() -> AsyncIterator[int]:
    for each in itertools.repeat(1, 2_000_000):
        yield each


RESULTS = {
    "iterator": lambda: itertools.repeat(1),
    "generator": ones,
    "async generator": ones_later,
    "long": lambda: itertools.repeat(bytes(10_000_000)),
}


@pytest.mark.unmeasured
@check_each("make", RESULTS.values(), ids=RESULTS)
@each_way
def test_a_result_without_an_end_is_refused(call: Call, make: Any) -> None:
    def endless() -> Any:
        return make()

    failure = call(tooler(endless), "endless").error
    assert failure is not None
    assert failure.kind == "invalid_result"
    assert "has more than" in failure.message


async def taken(stream: ToolStream) -> tuple[list[Any], int]:
    """Return the items, and how often the loop has turned meanwhile."""
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.01)
            turns += 1

    turning = asyncio.create_task(turn())
    items = [item async for item in stream]
    turning.cancel()
    return items, turns


def lazy_items() -> Iterator[Any]:
    yield map(slow, range(10))
    yield {"numbers": map(slow, range(3))}


async def lazy_items_later() -> AsyncIterator[Any]:
    for each in lazy_items():
        yield each


@check_each("function", [lazy_items, lazy_items_later])
async def test_the_items_of_a_stream_are_made_beside_the_loop(function: Any) -> None:
    stream = tooler(function).stream(function.__name__)
    items, turns = await taken(stream)
    assert items == [list(range(10)), {"numbers": [0, 1, 2]}]
    assert stream.result is not None
    assert stream.result.value == items
    assert turns > 5
