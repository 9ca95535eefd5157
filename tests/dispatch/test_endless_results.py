"""Results that take long to be made, or never end."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.dispatch.toolbox import Call, each_way, tooler


def slow(number: int) -> int:
    time.sleep(0.02)
    return number


def ones() -> Iterator[int]:
    while True:
        yield 1


RESULTS = {
    "iterator": lambda: itertools.repeat(1),
    "generator": ones,
    "long": lambda: itertools.repeat(bytes(10_000_000)),
}


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
@each_way
def test_a_result_without_an_end_is_refused(call: Call, make: Any) -> None:
    def endless() -> Any:
        return make()

    failure = call(tooler(endless), "endless").error
    assert failure is not None
    assert failure.kind == "invalid_result"
    assert "has more than" in failure.message


async def test_the_loop_stays_free_while_the_result_of_an_async_tool_is_made() -> None:
    async def lazy() -> Any:
        return {"numbers": map(slow, range(50))}

    call = asyncio.create_task(tooler(lazy).call("lazy", timeout=0.2))
    turns = 0
    while not call.done():
        await asyncio.sleep(0.01)
        turns += 1
    failure = call.result().error
    assert turns > 5
    assert failure is not None
    assert failure.kind == "timeout"
