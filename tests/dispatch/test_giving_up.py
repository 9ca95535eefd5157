"""Async tools that do not end when they are cancelled, and those that cancel themselves."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from sovl_tools import ToolContext, hook
from tests.dispatch.toolbox import Call, each_way, run_script, tooler


async def swallow() -> str:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)


async def spin() -> str:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0)


@hook
def pass_on(call: Any, following: Any) -> Any:
    return (yield following(call))


@pytest.mark.parametrize("function", [swallow, spin])
@pytest.mark.parametrize("hooks", [(), (pass_on,)], ids=["bare", "hooked"])
@each_way
def test_a_tool_that_swallows_its_cancellation_is_given_up(
    call: Call, function: Any, hooks: Any
) -> None:
    calls = tooler(function, hooks=hooks)
    failure = call(calls, function.__name__, timeout=0.05).error
    assert failure is not None
    assert failure.kind == "timeout"
    assert failure.is_abandoned
    assert failure.message.endswith("; its task was given up and may still be at it")
    assert calls.statistics()[function.__name__].abandoned == 1


async def test_cancelling_the_caller_does_not_wait_for_a_tool_that_swallows_it() -> None:
    call = asyncio.create_task(tooler(swallow).call("swallow"))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(call, 5)


async def test_cancelling_a_call_with_hooks_does_not_wait_either() -> None:
    calls = tooler(swallow, hooks=[pass_on])
    call = asyncio.create_task(calls.call("swallow", call_id="one"))
    await asyncio.sleep(0.01)
    calls.cancel("one")
    failure = (await asyncio.wait_for(call, 5)).error
    assert failure is not None
    assert failure.kind == "cancelled"


async def test_a_tool_below_another_is_given_up_with_it() -> None:
    async def outer(context: ToolContext) -> Any:
        return (await context.tooler.call("swallow")).value

    calls = tooler(outer, swallow)
    failure = (await asyncio.wait_for(calls.call("outer", timeout=0.05), 5)).error
    assert failure is not None
    assert failure.kind == "timeout"


@each_way
def test_a_tool_may_clean_up_when_its_time_is_over(call: Call) -> None:
    done = []

    async def careful() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)
            done.append(asyncio.current_task() is not None)

    failure = call(tooler(careful), "careful", timeout=0.05).error
    assert failure is not None
    assert failure.message == "tool 'careful' was not done after 0.05 s"
    assert done == [True]


async def test_the_task_of_the_caller_goes_on_unharmed() -> None:
    calls = tooler(swallow)
    await calls.call("swallow", timeout=0.01)
    task = asyncio.current_task()
    assert task is not None
    assert not task.cancelling()
    await asyncio.sleep(0.01)


@each_way
def test_a_tool_that_cancels_its_own_task_fails(call: Call) -> None:
    async def itself() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(60)

    failure = call(tooler(itself), "itself").error
    assert failure is not None
    assert (failure.kind, failure.error_type) == ("tool_error", "CancelledError")


def test_a_tool_that_cancels_its_own_task_and_returns_has_its_value() -> None:
    async def itself() -> int:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return 1

    assert tooler(itself).call_sync("itself").value == 1


SWALLOWING = """
import asyncio
from tests.dispatch.test_giving_up import swallow
from tests.dispatch.toolbox import tooler
print(asyncio.run(tooler(swallow).call("swallow", timeout=0.05)).error.kind)
"""


def test_a_program_ends_although_a_tool_was_given_up() -> None:
    assert run_script(SWALLOWING) == "timeout"
