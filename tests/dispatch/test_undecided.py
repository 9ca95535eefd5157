"""Functions in a schema run where sync tools run, and within the time of the call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry, ToolResult, tool
from tests.dispatch.toolbox import Call, each_way
from tests.patience import PATIENCE
from tests.tables import check_each


def registry_of(
    names: Callable[[], list[str]], *, execution: dict[str, Any] | None = None, is_async: bool
) -> ToolRegistry:
    """Return a registry of one tool that takes one of the names."""

    def choose(one: str) -> str:
        """Choose one."""
        return one

    async def choose_later(one: str) -> str:
        """Choose one."""
        return one

    registry = ToolRegistry()
    decorate = tool(name="choose", params={"one": {"enum": names}}, execution=execution or {})
    registry.register(decorate(choose_later if is_async else choose))
    return registry


class Slow:
    """Names that are there only when someone says so, and who asked for them."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.may_go = threading.Event()
        self.threads: list[threading.Thread] = []

    def __call__(self) -> list[str]:
        self.threads.append(threading.current_thread())
        self.is_asked.set()
        assert self.may_go.wait(PATIENCE)
        return ["a"]


def kind_of(result: ToolResult) -> str | None:
    return result.error and result.error.kind


@each_way
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_the_time_limit_is_that_of_the_functions_in_the_schema_too(
    call: Call, *, is_async: bool
) -> None:
    slow = Slow()
    tooler = Tooler(registry_of(slow, is_async=is_async))
    try:
        result = call(tooler, "choose", {"one": "a"}, timeout=0.05)
        assert kind_of(result) == "timeout"
        assert result.error is not None
        assert result.error.is_abandoned
        assert "0.05 s" in result.error.message
        assert tooler.statistics()["choose"].failures == 1
    finally:
        slow.may_go.set()
    assert call(tooler, "choose", {"one": "a"}, timeout=PATIENCE).value == "a"


@check_each("is_async", [False, True], ids=["sync", "async"])
async def test_the_loop_goes_on_while_a_schema_is_made(*, is_async: bool) -> None:
    slow = Slow()
    tooler = Tooler(registry_of(slow, is_async=is_async))
    task = asyncio.create_task(tooler.call("choose", {"one": "a"}))
    assert await asyncio.to_thread(slow.is_asked.wait, PATIENCE)
    assert not task.done()
    slow.may_go.set()
    assert (await task).value == "a"
    assert slow.threads[0] is not threading.current_thread()


async def test_as_many_calls_at_a_time_are_let_in_whatever_the_schemas() -> None:
    under_way, most = 0, 0
    values = iter(range(100))

    async def choose(one: str) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1
        return one

    registry = ToolRegistry()
    decorate = tool(
        name="choose",
        description="Choose one.",
        params={"one": {"enum": lambda: ["a", str(next(values))]}},
        execution={"max_concurrency": 1},
    )
    registry.register(decorate(choose))
    results = await Tooler(registry).call_many([("choose", {"one": "a"})] * 8)
    assert [each.value for each in results] == ["a"] * 8
    assert most == 1
