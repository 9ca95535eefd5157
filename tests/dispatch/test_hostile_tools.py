"""Tools that bite when they are called."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from tests.dispatch.toolbox import Call, each_way, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


class BitingError(BaseException):
    pass


def bite(*_: object) -> Any:
    raise BitingError


@check_each("name", [None, 5, ["x"], {}])
@each_way
def test_a_name_that_is_no_string_is_an_unknown_tool(call: Call, name: Any) -> None:
    failure = call(tooler(), name).error
    assert failure is not None
    assert failure.kind == "unknown_tool"


@check_each("error", [SystemExit, KeyboardInterrupt])
def test_an_exit_that_a_tool_leaves_behind_ends_no_loop(error: type[BaseException]) -> None:
    async def exit_later() -> None:
        raise error

    async def leave() -> int:
        task = asyncio.create_task(exit_later())
        # keeps it until then, and asyncio need not say that nobody has looked at it
        task.add_done_callback(lambda _: task.exception())
        return 1

    async def wait() -> int:
        await asyncio.sleep(0)
        return 2

    calls = tooler(leave, wait)
    for _ in range(2):
        assert calls.call_sync("leave", timeout=PATIENCE).value == 1
        assert calls.call_sync("wait", timeout=PATIENCE).value == 2


def test_a_loop_that_was_given_up_ends_when_its_tool_does() -> None:
    release, threads = threading.Event(), []

    async def block() -> None:
        threads.append(threading.current_thread())
        release.wait(60)

    failure = tooler(block).call_sync("block", timeout=0.1).error
    assert failure is not None
    release.set()
    threads[0].join(PATIENCE)
    assert not threads[0].is_alive()
