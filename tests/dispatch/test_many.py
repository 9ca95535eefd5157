from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tests.dispatch.toolbox import properties, tool, tooler
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


@check_each("calls", [["add"], ["ab"], [5], [("work",)], [("work", {}, 1)]])
async def test_a_call_is_a_pair(calls: list[Any]) -> None:
    def work() -> None: ...

    with pytest.raises(ValueError, match="a call must be a pair of a name and arguments, not"):
        await tooler(work).call_many(calls)


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
