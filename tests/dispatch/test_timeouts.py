from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sovl_tools import ToolResult
from tests.dispatch.toolbox import Call, each_way, tool, tooler
from tests.tables import check_each


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Return the event that lets stuck sync tools go, when the test is over at the latest."""
    event = threading.Event()
    yield event
    event.set()


def stuck_on(release: threading.Event) -> Any:
    def wait() -> str:
        release.wait()
        return "released"

    return wait


async def wait_forever() -> None:
    await asyncio.Event().wait()


def limit_of(result: ToolResult) -> str:
    """Return the seconds that the message of a timeout names."""
    assert result.error is not None
    assert result.error.kind == "timeout"
    assert not result.ok
    before, _, after = result.error.message.partition(" was not done after ")
    assert before == f"tool {result.tool!r}"
    return after.removesuffix("; its thread was abandoned and can still be at it")


@each_way
def test_a_sync_tool_that_takes_too_long_is_given_up(call: Call, release: threading.Event) -> None:
    result = call(tooler(stuck_on(release)), "wait", timeout=0.01)
    assert limit_of(result) == "0.01 s"
    assert result.duration >= 0.01
    assert not release.is_set()


@each_way
def test_an_async_tool_that_takes_too_long_is_cancelled(call: Call) -> None:
    cancelled: list[bool] = []

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    assert limit_of(call(tooler(wait), "wait", timeout=0.01)) == "0.01 s"
    assert cancelled == [True]


@each_way
@check_each(
    ("own", "general", "given", "holds"),
    [
        (0.02, None, None, "0.02 s"),
        (None, 0.03, None, "0.03 s"),
        (0.02, 30, None, "0.02 s"),
        (30, 40, 0.01, "0.01 s"),
        (0.01, 0.02, 0.03, "0.03 s"),
        (None, 30, 0.01, "0.01 s"),
    ],
)
def test_the_limit_of_the_call_wins_over_the_tools_and_that_over_the_toolers(
    call: Call, own: float | None, general: float | None, given: float | None, holds: str
) -> None:
    definition = tool(wait_forever, timeout=own) if own else tool(wait_forever)
    result = call(tooler(definition, timeout=general), "wait_forever", timeout=given)
    assert limit_of(result) == holds


@each_way
@check_each("timeout", [0, -1, float("nan")])
def test_a_limit_that_makes_no_sense_is_the_callers_mistake(call: Call, timeout: float) -> None:
    dispatcher = tooler(wait_forever)
    with pytest.raises(ValueError, match="more than 0 seconds"):
        call(dispatcher, "wait_forever", timeout=timeout)
    with pytest.raises(ValueError, match="more than 0 seconds"):
        tooler(wait_forever, timeout=timeout)
