from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.catalog import Catalog
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import Shelf, properties, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each

NUMBER = {**properties(number={"type": "integer"}), "required": ["number"]}


class Counter:
    """Counts how many calls are running at a time, and the most that there were."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1


async def test_results_come_in_the_order_of_the_calls() -> None:
    async def double(number: int) -> int:
        for _ in range(10 - number):
            await asyncio.sleep(0)
        return 2 * number

    calls = [("double", {"number": number}) for number in range(10)]
    results = await tooler(tool(double, NUMBER)).call_many(calls)
    assert [result.value for result in results] == list(range(0, 20, 2))


@check_each("limit", [1, 3, None])
async def test_so_many_calls_are_under_way_at_a_time(limit: int | None) -> None:
    counter = Counter()

    async def work() -> None:
        with counter:
            for _ in range(5):
                await asyncio.sleep(0)

    results = await tooler(work).call_many([("work", None)] * 9, limit=limit)
    assert all(result.ok for result in results)
    assert counter.most == (limit or 9)


@check_each(
    ("options", "error", "words"),
    [
        ({"limit": 0}, ValueError, "limit must be at least 1"),
        ({"timeout": -1}, ValueError, "more than 0 seconds"),
        ({"tiemout": 1}, TypeError, "a call has no option 'tiemout', but timeout, mode"),
        ({"parent": 1}, TypeError, "a call has no option 'parent'"),
        ({"call_id": "a"}, TypeError, "can't have one call_id"),
        ({"mode": "porcess"}, ValueError, "mode must be None, 'inline', 'thread' or"),
    ],
    ids=str,
)
async def test_a_mistake_of_the_caller_is_raised_at_once(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        await tooler(print).call_many([("print", None)], **options)


@check_each("kind", ["sync", "async"])
async def test_a_tool_may_limit_how_many_of_its_calls_run_at_a_time(kind: str) -> None:
    counter, turn = Counter(), threading.Event()

    def work() -> None:
        with counter:
            turn.wait(0.001)

    async def work_later() -> None:
        with counter:
            for _ in range(5):
                await asyncio.sleep(0)

    definition = tool(work if kind == "sync" else work_later, name="work", max_concurrency=2)
    results = await tooler(definition).call_many([("work", None)] * 12)
    assert all(result.ok for result in results)
    assert counter.most <= 2
    assert counter.now == 0


def test_waiting_for_a_turn_is_part_of_the_limit() -> None:
    release, started = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        release.wait(PATIENCE)

    dispatcher = tooler(tool(work, max_concurrency=1))
    thread = threading.Thread(target=dispatcher.call_sync, args=("work",))
    thread.start()
    assert started.wait(PATIENCE)
    result = dispatcher.call_sync("work", timeout=0.01)
    release.set()
    thread.join()
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert dispatcher.call_sync("work").ok


FOLDER = """
import asyncio

NUMBER = {number}


async def tell() -> list[int]:
    before = NUMBER
    for _ in range(7):
        await asyncio.sleep(0)
    from . import late
    return [before, NUMBER, late.NUMBER]
"""


@pytest.mark.unmeasured
async def test_calls_end_with_the_folder_with_which_they_began(write: Write) -> None:
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    manifest = manifest_of("tell", parameters=parameters)

    def load(number: int) -> Catalog:
        code = FOLDER.replace("{number}", str(number))
        folder = write("tell", manifest, code, late=f"NUMBER = {number}\n")
        return ToolRegistry.from_directory(folder.parent).catalog

    shelf = Shelf(load(0))
    dispatcher = Tooler(shelf)

    async def replace_often() -> None:
        for number in range(1, 51):
            shelf.catalog = load(number)
            for _ in range(3):
                await asyncio.sleep(0)

    calls = dispatcher.call_many([("tell", None)] * 1000, limit=100)
    results, _ = await asyncio.gather(calls, replace_often())
    assert len(results) == 1000
    assert all(result.ok and len(set(result.value)) == 1 for result in results)
    assert len({result.value[0] for result in results}) > 5
