"""Async tools that do not end when they are cancelled."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from sovl_tools import ToolContext, hook
from sovl_tools.dispatch.scope import CallScope
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


async def pass_on_later(call: Any, following: Any) -> Any:
    return await following(call)


def pass_on_anywhere(call: Any, following: Any) -> Any:
    return (yield following(call))


def again(call: Any, following: Any) -> Any:
    first = yield following(call)
    return first if first.ok else (yield following(call))


@pytest.mark.parametrize(
    "hooks",
    [(), (pass_on,), (pass_on_later,), (pass_on_anywhere,), (pass_on_later, pass_on), (again,)],
)
def test_a_tool_that_blocks_its_loop_is_given_up_at_its_limit(hooks: Any) -> None:
    end = threading.Event()

    async def block() -> str:
        return "too late" if end.wait(PATIENCE) else "never"

    calls = tooler(block, echo, hooks=hooks)
    failure = calls.call_sync("block", timeout=0.05).error
    end.set()
    assert failure is not None
    assert (failure.kind, failure.is_abandoned) == ("timeout", True)
    assert calls.call_sync("echo", timeout=PATIENCE).value == "here"
    assert calls.statistics()["block"].calls == 1


async def echo() -> str:
    return "here"


def test_hooks_take_no_time_of_the_limit() -> None:
    scope = CallScope(limit=30)
    before = scope.deadline
    assert before == scope.started + 30
    scope.attempts = set()
    assert scope.deadline >= before  # a hook is at it: an attempt could begin now
    first = scope.attempt()
    second = scope.attempt()
    assert scope.deadline == first.started + 30
    first.end()
    assert scope.deadline == second.started + 30


async def test_a_tool_whose_own_tasks_swallow_their_cancellation_is_given_up() -> None:
    over = asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()

    async def gather() -> None:
        await asyncio.gather(stubborn(), stubborn())

    failure = (await asyncio.wait_for(tooler(gather).call("gather", timeout=0.05), PATIENCE)).error
    assert failure is not None
    assert (failure.kind, failure.is_abandoned) == ("timeout", True)
    over.set()


async def slow_to_clean() -> str:
    """Take longer to clean up than a call that is over can take."""
    try:
        async with asyncio.timeout(0.01):
            try:
                await asyncio.sleep(60)
            finally:
                await asyncio.sleep(0.8)
    except TimeoutError:
        return "given in"
    return "never"


@pytest.mark.parametrize(("call", "timeout"), [(call_async, None), (call_sync, PATIENCE)])
def test_a_tool_may_clean_up_after_its_own_time_limit(call: Call, timeout: float | None) -> None:
    assert call(tooler(slow_to_clean), "slow_to_clean", timeout=timeout).value == "given in"


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


async def test_a_caller_that_is_cancelled_awaits_a_tool_that_swallows_it_within_its_limit() -> None:
    call = asyncio.create_task(tooler(swallow).call("swallow", timeout=0.1))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError) as raised:
        await asyncio.wait_for(call, PATIENCE)
    assert type(raised.value) is asyncio.CancelledError


async def test_a_tool_may_swallow_its_callers_cancellation_and_answer() -> None:
    async def answer() -> int:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return 1

    call = asyncio.create_task(tooler(answer).call("answer"))
    await asyncio.sleep(0.01)
    call.cancel()
    assert (await call).value == 1


async def test_a_call_of_another_tooler_outlives_the_one_around_it_alone() -> None:
    """What ends it later ends its own task and not that of the first caller."""
    inner = tooler(swallow)

    async def outer() -> Any:
        return (await inner.call("swallow", timeout=0.7)).value

    failure = (await tooler(outer).call("outer", timeout=0.05)).error
    assert failure is not None
    assert (failure.kind, failure.is_abandoned) == ("timeout", True)
    await asyncio.sleep(0.9)


async def test_cancelling_a_call_with_hooks_does_not_wait_either() -> None:
    calls = tooler(swallow, hooks=[pass_on])
    call = asyncio.create_task(calls.call("swallow", call_id="one", timeout=PATIENCE))
    await asyncio.sleep(0.01)
    calls.cancel("one")
    failure = (await asyncio.wait_for(call, PATIENCE)).error
    assert failure is not None
    assert failure.kind == "cancelled"


@pytest.mark.parametrize("below", [None, 0.7])
async def test_a_caller_is_not_cancelled_by_calls_that_end_while_the_loop_stalls(
    below: float | None,
) -> None:
    """Both calls are due at once then: to be abandoned, or one of them to be ended."""
    inner = tooler(swallow)

    async def outer(context: ToolContext) -> Any:
        calls = context.tooler if below is None else inner
        return (await calls.call("swallow", timeout=below)).value

    calls = tooler(outer, swallow)
    asyncio.get_running_loop().call_later(0.3, time.sleep, 0.6)
    failure = (await calls.call("outer", timeout=0.05)).error
    assert failure is not None
    assert (failure.kind, failure.is_abandoned) == ("timeout", True)
    task = asyncio.current_task()
    assert task is not None
    for _ in range(9):
        await asyncio.sleep(0)
    assert not task.cancelling()


SWALLOWING = """
import asyncio
from tests.dispatch.test_giving_up import swallow
from tests.dispatch.toolbox import tooler
print(asyncio.run(tooler(swallow).call("swallow", timeout=0.05)).error.kind)
"""


def test_a_program_ends_although_a_tool_was_given_up() -> None:
    assert run_script(SWALLOWING) == "timeout"
