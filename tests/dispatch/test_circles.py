"""Tools of which only so many calls run at a time, and which call one another."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from sovl_tools import ToolContext, ToolDefinition, Tooler, ToolResult
from tests.dispatch.toolbox import tool, tooler
from tests.patience import PATIENCE

CIRCLE = "tools can't wait for one another in a circle: "


def pair(barrier: threading.Barrier, *, most: int = 1) -> Tooler:
    """Return two sync tools that call each other once both have begun."""

    def calling(own: str, other: str) -> ToolDefinition:
        def step(context: ToolContext) -> Any:
            if len(barriers) < 2:
                barriers.append(own)
                barrier.wait(PATIENCE)
            result = context.tooler.call_sync(other)
            return result.value if result.error is None else result.error.message

        return tool(step, name=own, max_concurrency=most)

    barriers: list[str] = []
    return tooler(calling("first", "second"), calling("second", "first"))


def messages(results: list[ToolResult]) -> list[str]:
    return sorted(str(each.value) for each in results)


def test_two_tools_that_wait_for_each_other_from_threads_are_refused() -> None:
    calls = pair(threading.Barrier(2))
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(calls.call_sync, ["first", "second"]))
    told = messages(results)
    assert all(each.ok for each in results)
    # one of them is refused; the other one then gets in, and calls back in a chain
    assert any(CIRCLE in each for each in told)
    assert "first → second" in told[-1]
    assert calls.call_sync("first").ok, "the limiters have room again"


async def test_two_tools_that_wait_for_each_other_on_a_loop_are_refused() -> None:
    begun = asyncio.Event()
    seen = []

    def calling(own: str, other: str) -> ToolDefinition:
        async def step(context: ToolContext) -> Any:
            seen.append(own)
            if len(seen) == 2:
                begun.set()
            await begun.wait()
            result = await context.tooler.call(other)
            return result.error.message if result.error else result.value

        return tool(step, name=own, max_concurrency=1)

    calls = tooler(calling("first", "second"), calling("second", "first"))
    work = calls.call_many([("first", None), ("second", None)])
    told = messages(await asyncio.wait_for(work, PATIENCE))
    assert f"{CIRCLE}first → second, second → first" in told
    assert len(told) == 2


async def test_three_tools_in_a_circle_are_refused_and_two_of_a_kind_are_not() -> None:
    begun = asyncio.Event()
    seen: list[str] = []

    def calling(own: str, other: str, most: int) -> ToolDefinition:
        async def step(context: ToolContext) -> Any:
            seen.append(own)
            if len(seen) == 3:
                begun.set()
            await begun.wait()
            return (await context.tooler.call(other)).ok

        return tool(step, name=own, max_concurrency=most)

    for most, expected in ((1, 1), (2, 0)):
        seen.clear()
        begun.clear()
        calls = tooler(calling("a", "b", most), calling("b", "c", most), calling("c", "a", most))
        work = calls.call_many([(name, None) for name in "abc"])
        results = await asyncio.wait_for(work, PATIENCE)
        assert [each.value for each in results].count(False) == expected


async def test_a_tool_that_only_waits_its_turn_is_not_refused() -> None:
    async def shared() -> int:
        await asyncio.sleep(0.001)
        return 1

    async def outer(context: ToolContext) -> Any:
        asked = [context.tooler.call("shared") for _ in range(5)]
        return [each.value for each in await asyncio.gather(*asked)]

    calls = tooler(tool(shared, max_concurrency=1), tool(outer, max_concurrency=2))
    results = await calls.call_many([("outer", None)] * 4)
    assert [each.value for each in results] == [[1] * 5] * 4


@pytest.mark.parametrize("timeout", [None, 5])
def test_a_circle_through_a_tool_without_a_limit_is_refused(timeout: float | None) -> None:
    barrier = threading.Barrier(2)
    begun: list[str] = []

    def calling(own: str, other: str) -> ToolDefinition:
        def step(context: ToolContext) -> Any:
            if own in begun:
                return "once more"
            begun.append(own)
            barrier.wait(PATIENCE)
            return context.tooler.call_sync("between_" + other).value

        return tool(step, name=own, max_concurrency=1)

    def between(other: str) -> ToolDefinition:
        def step(context: ToolContext) -> Any:
            result = context.tooler.call_sync(other)
            return result.error.message if result.error else result.value

        return tool(step, name="between_" + other)

    calls = tooler(calling("a", "b"), calling("b", "a"), between("a"), between("b"))
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lambda name: calls.call_sync(name, timeout=timeout), "ab"))
    told = messages(results)
    assert sum(CIRCLE in each for each in told) == 1
    assert any("a → between_b → b" in each and "b → between_a → a" in each for each in told)
