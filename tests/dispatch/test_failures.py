from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest

from sovl_tools import ToolError, ToolResult
from tests.dispatch.toolbox import Call, each_way, run_script, tooler
from tests.tables import check_each


class MuteError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Final(BaseException):
    """An exception that a careless handler misses."""


def raising(error: BaseException) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def raising_later(error: BaseException) -> Callable[[], Any]:
    async def fail() -> Any:
        await asyncio.sleep(0)
        raise error

    return fail


MUTE = "its message can't be read (RuntimeError)"
FAILURES = [
    (ValueError("five isn't a number"), "ValueError: five isn't a number"),
    (ValueError(), "ValueError"),
    (KeyError("a"), "KeyError: 'a'"),
    (ToolError("Say it: "), "Say it: "),
    (MuteError(), f"MuteError: {MUTE}"),
    (Final("over"), "Final: over"),
    (asyncio.CancelledError(), "CancelledError"),
    (SystemExit(3), "SystemExit: 3"),
]


def said(result: ToolResult) -> tuple[str, str]:
    assert result.error is not None
    assert not result.ok
    assert result.value is None
    return result.error.kind, result.error.message


@each_way
@check_each("timeout", [None, 30])
@check_each(
    ("error", "message"),
    FAILURES,
)
def test_what_a_sync_tool_raises_becomes_a_result(
    call: Call, error: BaseException, message: str, timeout: float | None
) -> None:
    result = call(tooler(raising(error)), "fail", timeout=timeout)
    assert said(result) == ("tool_error", message)


@each_way
@check_each("timeout", [None, 30])
@check_each(("error", "message"), FAILURES)
def test_what_an_async_tool_raises_becomes_a_result(
    call: Call, error: BaseException, message: str, timeout: float | None
) -> None:
    result = call(tooler(raising_later(error)), "fail", timeout=timeout)
    assert said(result) == ("tool_error", message)


ENDING = """
from tests.dispatch.toolbox import tooler
async def leave():
    raise {error}
def leave_later():
    return leave()
async def leave_midway():
    yield 1
    raise {error}
async def stay():
    return "stay"
dispatcher = tooler(leave, leave_later, leave_midway, stay)
for name in ("leave", "leave_later", "leave_midway", "stay"):
    try:
        result = dispatcher.call_sync(name)
        print(result.error or result.value)
    except KeyboardInterrupt:
        print("passed")
"""


@check_each(
    ("error", "said"), [("SystemExit(3)", "SystemExit: 3"), ("KeyboardInterrupt", "passed")]
)
def test_an_async_tool_that_ends_programs_leaves_the_others_running(error: str, said: str) -> None:
    assert run_script(ENDING.format(error=error)).split("\n") == [said] * 3 + ["stay"]


@check_each("timeout", [None, 30])
def test_a_keyboard_interrupt_passes_from_sync_code(timeout: float | None) -> None:
    with pytest.raises(KeyboardInterrupt):
        tooler(raising(KeyboardInterrupt())).call_sync("fail", timeout=timeout)


@check_each("make", [raising, raising_later])
async def test_a_keyboard_interrupt_passes_from_async_code(
    make: Callable[[BaseException], Callable[[], Any]],
) -> None:
    with pytest.raises(KeyboardInterrupt):
        await tooler(make(KeyboardInterrupt())).call("fail")


async def test_the_callers_cancellation_does_not_wait_for_a_sync_tool() -> None:
    loop, started, release = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def wait() -> None:
        loop.call_soon_threadsafe(started.set)
        release.wait()

    task = asyncio.create_task(tooler(wait).call("wait", timeout=30))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not release.is_set()
    release.set()


async def test_a_time_limit_of_the_callers_own_passes() -> None:
    async def wait() -> None:
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await tooler(wait).call("wait")


@each_way
def test_the_traceback_goes_to_the_log_at_debug(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "sovl_tools")
    call(tooler(raising(ValueError("bad"))), "fail")
    (record,) = [each for each in caplog.records if each.name == "sovl_tools"]
    assert record.levelno == logging.DEBUG
    assert "ValueError: bad" in caplog.text


@each_way
def test_a_model_reads_the_beginning_of_a_long_message(call: Call) -> None:
    def fail() -> None:
        raise ToolError("x" * 1_000_000)

    failure = call(tooler(fail), "fail").error
    assert failure is not None
    assert failure.message == "x" * 4000 + "… [996,000 characters omitted]"


@each_way
def test_a_failure_names_the_authors_line_and_its_message_does_not(call: Call) -> None:
    def divide() -> float:
        return 1 / 0

    def decode() -> object:
        return json.loads("{")

    for function, ahead in ((divide, 1), (decode, 1)):
        failure = call(tooler(function), function.__name__).error
        assert failure is not None
        line = function.__code__.co_firstlineno + ahead
        assert failure.place == f"{os.path.relpath(__file__)}:{line}"
        assert "test_failures" not in failure.message
