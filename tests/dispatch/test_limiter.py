from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sovl_tools import ToolResult
from tests.dispatch.toolbox import Call, call_async, call_sync, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


@pytest.fixture
def release() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def waiting() -> tuple[Any, threading.Event, threading.Event]:
    """Return a tool that one call at a time may use; what says that it runs, and what ends it."""
    started, end = threading.Event(), threading.Event()

    def wait() -> bool:
        started.set()
        return end.wait(PATIENCE)

    return tool(wait, max_concurrency=1), started, end


@check_each("call", [call_sync, call_async])
def test_a_call_that_is_cancelled_or_too_late_before_its_turn_leaves_the_queue(call: Call) -> None:
    definition, started, end = waiting()
    dispatcher = tooler(definition)
    first = threading.Thread(target=dispatcher.call_sync, args=("wait",))
    first.start()
    assert started.wait(PATIENCE)
    late = call(dispatcher, "wait", timeout=0.01).error
    assert late is not None
    assert (late.kind, late.is_abandoned) == ("timeout", False)
    results: list[ToolResult] = []
    second = threading.Thread(
        target=lambda: results.append(call(dispatcher, "wait", timeout=PATIENCE, call_id="mine"))
    )
    second.start()
    while not dispatcher.cancel("mine"):
        threading.Event().wait(0.001)
    second.join(PATIENCE)
    (cancelled,) = results
    assert cancelled.error is not None
    # it never got in: the call that was too late has left no room behind
    assert (cancelled.error.kind, cancelled.error.is_abandoned) == ("cancelled", False)
    end.set()
    first.join(PATIENCE)
    assert call(dispatcher, "wait", timeout=PATIENCE).value is True


def test_callers_from_threads_and_loops_share_one_limit(release: threading.Event) -> None:
    most, now, lock = [0], [0], threading.Lock()

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        release.wait(0.002)
        with lock:
            now[0] -= 1

    dispatcher = tooler(tool(work, max_concurrency=3), max_threads=8)
    results: list[ToolResult] = []

    async def many() -> None:
        results.extend(await dispatcher.call_many([("work", None)] * 20))

    def call_sync() -> None:
        results.extend(dispatcher.call_sync("work") for _ in range(10))

    threads = [threading.Thread(target=asyncio.run, args=(many(),)) for _ in range(2)]
    threads += [threading.Thread(target=call_sync) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 70
    assert all(result.ok for result in results)
    assert 1 <= most[0] <= 3
