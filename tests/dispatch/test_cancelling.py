from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sovl_tools import CallEvent, ToolContext, Tooler, ToolResult
from tests.dispatch.toolbox import run_script, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def kind_of(result: ToolResult) -> Any:
    return result.error and result.error.kind


def cancelled(dispatcher: Tooler, name: str, started: threading.Event) -> ToolResult:
    """Call a tool on another thread, cancel the call once it has started, return its result."""
    results: list[ToolResult] = []

    def work() -> None:
        results.append(dispatcher.call_sync(name, call_id="mine"))

    thread = threading.Thread(target=work)
    thread.start()
    assert started.wait(PATIENCE)
    assert dispatcher.cancel("mine")
    thread.join(PATIENCE)
    (result,) = results
    return result


async def test_an_async_tool_is_cancelled_by_its_call_id() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    dispatcher = tooler(wait)
    task = asyncio.create_task(dispatcher.call("wait", call_id="mine"))
    await started.wait()
    assert dispatcher.cancel("mine")
    result = await task
    assert kind_of(result) == "cancelled"
    assert ended.is_set()
    assert not dispatcher.cancel("mine")
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


async def test_a_sync_tool_on_a_thread_is_given_up_and_told_so(release: threading.Event) -> None:
    started, seen = threading.Event(), threading.Event()

    def wait(context: ToolContext) -> str:
        started.set()
        release.wait()
        if context.cancelled:
            seen.set()
        return "late"

    dispatcher = tooler(wait)
    task = asyncio.create_task(dispatcher.call("wait", call_id="mine"))
    assert await asyncio.to_thread(started.wait, PATIENCE)
    assert dispatcher.cancel("mine")
    result = await task
    assert kind_of(result) == "cancelled"
    assert result.error is not None
    assert result.error.is_abandoned
    assert "can still be at it" in result.error.message
    release.set()
    assert await asyncio.to_thread(seen.wait, PATIENCE)
    assert dispatcher.statistics()["wait"].abandoned == 1


@check_each("mode", ["inline", "thread"])
def test_a_sync_call_is_cancelled_from_another_thread(mode: str) -> None:
    started, never = threading.Event(), threading.Event()

    def wait(context: ToolContext) -> str:
        started.set()
        while not context.cancelled:
            never.wait(0.001)
        return "late"

    dispatcher = tooler(wait, mode=mode)
    assert kind_of(cancelled(dispatcher, "wait", started)) == "cancelled"


async def test_the_callers_own_cancellation_is_his_and_is_told_of() -> None:
    started = asyncio.Event()
    events: list[CallEvent] = []

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    dispatcher = tooler(wait, observers=[events.append])
    task = asyncio.create_task(dispatcher.call("wait"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [event.kind for event in events] == ["cancelled"]


async def test_two_calls_under_way_can_not_have_one_id() -> None:
    started = asyncio.Event()

    async def wait() -> None:
        started.set()
        await asyncio.Event().wait()

    dispatcher = tooler(wait)
    task = asyncio.create_task(dispatcher.call("wait", call_id="mine"))
    await started.wait()
    with pytest.raises(ValueError, match="'mine' is running already"):
        await dispatcher.call("wait", call_id="mine")
    assert dispatcher.cancel("mine")
    await task


def test_a_sync_generator_that_was_given_up_stops_at_its_next_item(
    release: threading.Event,
) -> None:
    started, closed = threading.Event(), threading.Event()

    def count() -> Iterator[int]:
        try:
            started.set()
            yield 1
            release.wait()
            while True:
                yield 2
        finally:
            closed.set()

    dispatcher = tooler(count, mode="thread")
    assert kind_of(cancelled(dispatcher, "count", started)) == "cancelled"
    assert not closed.is_set()
    release.set()
    assert closed.wait(PATIENCE)


STUCK = """
import asyncio, threading, time
from tests.dispatch.toolbox import tool, tooler
def wait():
    threading.Event().wait()
dispatcher = tooler(wait)
async def main():
    return await dispatcher.call("wait", timeout=0.05)
{call}
print(result.error.kind, dispatcher.statistics()["wait"].abandoned)
"""


@check_each(
    "call",
    ["result = asyncio.run(main())", "result = dispatcher.call_sync('wait', timeout=0.05)"],
    ids=["async", "sync"],
)
def test_nothing_waits_for_a_tool_that_was_given_up(call: str) -> None:
    assert run_script(STUCK.replace("{call}", call)) == "timeout 1"


async def test_a_thread_that_was_given_up_gives_its_room_back(release: threading.Event) -> None:
    def wait() -> None:
        release.wait()

    def answer() -> int:
        return 42

    dispatcher = tooler(wait, answer, max_threads=2)
    given_up = await dispatcher.call_many([("wait", None)] * 6, timeout=0.01)
    assert [kind_of(each) for each in given_up] == ["timeout"] * 6
    assert (await dispatcher.call("answer", timeout=PATIENCE)).value == 42


def end_at_once() -> None:
    raise asyncio.CancelledError("its own")


async def end_on_the_loop() -> None:
    raise asyncio.CancelledError("its own")


async def end_later() -> None:
    await asyncio.sleep(0)
    raise asyncio.CancelledError("its own")


@check_each("end", [end_at_once, end_on_the_loop, end_later])
async def test_a_tools_own_cancelled_error_is_its_failure(end: Callable[[], Any]) -> None:
    failure = (await tooler(end).call(end.__name__)).error
    assert failure is not None
    assert (failure.kind, failure.message) == ("tool_error", "CancelledError: its own")
    assert failure.place is not None
