"""Async tools that do not end when they are cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from sovl_tools import hook
from tests.dispatch.toolbox import Call, call_async, call_sync, run_script, tooler
from tests.patience import PATIENCE


async def swallow() -> str:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


is_over = threading.Event()


async def spin() -> str:
    over = is_over
    while not over.is_set():
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
    return "over"


@pytest.fixture(autouse=True)
def _end_spinning(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let no tool that was abandoned take the time of the tests that follow."""
    over = threading.Event()
    monkeypatch.setitem(globals(), "is_over", over)
    yield
    over.set()


@hook
def pass_on(call: Any, following: Any) -> Any:
    return (yield following(call))


@pytest.mark.parametrize(
    ("call", "function", "hooks"),
    [
        (call_async, spin, ()),
        (call_async, swallow, (pass_on,)),
        (call_sync, spin, (pass_on,)),
        (call_sync, swallow, ()),
    ],
)
def test_a_tool_that_swallows_its_cancellation_is_given_up(
    call: Call, function: Any, hooks: Any
) -> None:
    calls = tooler(function, hooks=hooks)
    failure = call(calls, function.__name__, timeout=0.05).error
    assert failure is not None
    assert failure.kind == "timeout"
    assert failure.is_abandoned
    assert failure.message.endswith("; its task was abandoned and can still be at it")
    assert calls.statistics()[function.__name__].abandoned == 1


def test_a_tool_that_blocks_its_loop_is_given_up_at_its_limit() -> None:
    end = threading.Event()

    async def block() -> str:
        return "too late" if end.wait(PATIENCE) else "never"

    calls = tooler(block, echo)
    failure = calls.call_sync("block", timeout=0.05).error
    end.set()
    assert failure is not None
    assert (failure.kind, failure.is_abandoned) == ("timeout", True)
    assert calls.call_sync("echo", timeout=PATIENCE).value == "here"
    assert calls.statistics()["block"].calls == 1


async def echo() -> str:
    return "here"


async def test_a_caller_that_is_cancelled_awaits_the_cleaning_up() -> None:
    done = []

    async def careful() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.7)
            done.append(True)

    call = asyncio.create_task(tooler(careful).call("careful", timeout=30))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await call
    assert done == [True]
    assert type(raised.value) is asyncio.CancelledError


SWALLOWING = """
import asyncio
from tests.dispatch.test_giving_up import swallow
from tests.dispatch.toolbox import tooler
print(asyncio.run(tooler(swallow).call("swallow", timeout=0.05)).error.kind)
"""


def test_a_program_ends_although_a_tool_was_given_up() -> None:
    assert run_script(SWALLOWING) == "timeout"
