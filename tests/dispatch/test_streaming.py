from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from sovl_tools import ToolError
from sovl_tools.dispatch.tooler import ToolStream
from tests.dispatch.toolbox import properties, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each

COUNT = {**properties(count={"type": "integer"}), "required": ["count"]}


def numbers(count: int) -> Iterator[int]:
    yield from range(count)


async def numbers_later(count: int) -> AsyncIterator[int]:
    for number in range(count):
        await asyncio.sleep(0)
        yield number


def all_of(count: int) -> list[int]:
    return list(range(count))


async def taken(stream: ToolStream) -> list[Any]:
    return [item async for item in stream]


def taken_sync(stream: ToolStream) -> list[Any]:
    return list(stream)


def taken_async(stream: ToolStream) -> list[Any]:
    return asyncio.run(taken(stream))


each_world = pytest.mark.parametrize("take", [taken_sync, taken_async])
each_kind = check_each("function", [numbers, numbers_later])


@each_world
@each_kind
@check_each("count", [0, 3, 100])
@check_each("mode", ["inline", "thread"])
def test_items_come_as_they_are_made(take: Any, function: Any, count: int, mode: str) -> None:
    dispatcher = tooler(tool(function, COUNT, name="numbers"))
    stream = dispatcher.stream("numbers", {"count": count}, mode=mode)
    whole: list[Any] = list(range(count))
    assert take(stream) == whole
    assert stream.result is not None
    assert stream.result.value == whole


@each_world
def test_what_is_no_generator_gives_its_value_as_the_only_item(take: Any) -> None:
    stream = tooler(tool(all_of, COUNT)).stream("all_of", '{"count": 3}')
    assert take(stream) == [[0, 1, 2]]


@each_world
def test_an_error_ends_the_items_and_stands_in_the_result(take: Any) -> None:
    def fail() -> Iterator[str]:
        yield "first"
        raise ToolError("broken")

    stream = tooler(fail).stream("fail")
    assert take(stream) == ["first"]
    assert stream.result is not None
    assert stream.result.error is not None
    assert stream.result.error.message == "broken"


@each_world
def test_a_call_that_can_not_be_has_no_items(take: Any) -> None:
    stream = tooler().stream("absent")
    assert take(stream) == []
    assert stream.result is not None
    assert stream.result.error is not None
    assert stream.result.error.kind == "unknown_tool"


@check_each("kind", ["sync", "async"])
async def test_whoever_stops_early_cancels_the_tool(kind: str) -> None:
    closed = threading.Event()

    def endless() -> Iterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    async def endless_later() -> AsyncIterator[int]:
        try:
            while True:
                yield 1
        finally:
            closed.set()

    function = endless if kind == "sync" else endless_later
    items = aiter(tooler(tool(function, name="endless")).stream("endless"))
    assert await anext(items) == 1
    await items.aclose()
    assert await asyncio.to_thread(closed.wait, PATIENCE)


async def test_a_consumer_that_is_cancelled_leaves_no_task_behind() -> None:
    waiting, complaints = asyncio.Event(), list[Any]()
    # told of a task that is destroyed while it is pending
    asyncio.get_running_loop().set_exception_handler(lambda _, said: complaints.append(said))

    async def wait() -> AsyncIterator[int]:
        yield 1
        waiting.set()
        await asyncio.Event().wait()

    consumer = asyncio.create_task(taken(tooler(wait).stream("wait")))
    await waiting.wait()
    for _ in range(5):  # until the consumer waits for the next item
        await asyncio.sleep(0)
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer
    gc.collect()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert complaints == []
