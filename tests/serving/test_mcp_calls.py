"""What a client hears of a call that runs, and what it can do about it."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
import pytest

from sovl_tools import ToolContext, Tooler, ToolRegistry
from sovl_tools.serving import reports
from tests.patience import PATIENCE, wait_until
from tests.serving.conftest import client_of

pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")


class Heard:
    """The client's callbacks."""

    def __init__(self) -> None:
        self.logs: list[tuple[str, str | None, Any]] = []
        self.progress: list[tuple[float, float | None, str | None]] = []

    async def on_log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logs.append((params.level, params.logger, params.data))

    async def on_progress(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))


def server_of(*functions: Any) -> Any:
    registry = ToolRegistry()
    for each in functions:
        registry.register(each)
    return registry.mcp_server(Tooler(registry))


async def report(context: ToolContext) -> str:
    """Report from the loop."""
    for done in range(1, 4):
        context.report_progress(done, 3, f"step {done}")
        context.log("warning", f"at {done}")
        context.log("debug", "unseen")
        await asyncio.sleep(0.01)
    return "done"


def report_from_thread(context: ToolContext) -> str:
    """Report from a thread, more often than anyone reads."""
    for done in range(5_000):
        context.report_progress(done % 4_000)
        context.log("info", f"at {done}")
    return "done"


def interrupt() -> None:
    """Raise what a Ctrl-C raises."""
    raise KeyboardInterrupt


async def interrupt_later() -> None:
    """Raise it between two steps of the loop."""
    await asyncio.sleep(0)
    raise KeyboardInterrupt


@pytest.mark.parametrize("tool", [interrupt, interrupt_later])
async def test_an_interrupt_of_a_tools_own_ends_its_call_alone(era: str, tool: Any) -> None:
    async with client_of(server_of(tool), era) as client:
        result = await client.call_tool(tool.__name__, {})
    assert result.is_error
    assert result.content == [types.TextContent(type="text", text="KeyboardInterrupt")]


@pytest.mark.parametrize("tool", [report, report_from_thread])
async def test_progress_and_messages_come_before_the_result(
    era: str, tool: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "MOST_REPORTS", 100)
    heard = Heard()
    options = {"logging_callback": heard.on_log, "log_level": "info"}
    async with client_of(server_of(tool), era, **options) as client:
        await client.call_tool(tool.__name__, {}, progress_callback=heard.on_progress)
    assert {level for level, _, _ in heard.logs} == {"warning" if tool is report else "info"}
    assert {logger for _, logger, _ in heard.logs} == {tool.__name__}
    steps = [done for done, _, _ in heard.progress]
    assert steps == sorted(set(steps))
    if tool is report:
        # a step that the client had not read yet gave way to the next one
        assert {*heard.progress} <= {(each, 3.0, f"step {each}") for each in (1, 2, 3)}
        assert steps[-1] == 3
        assert [data for _, _, data in heard.logs] == ["at 1", "at 2", "at 3"]
    else:
        # what nobody could read in time was left out, the oldest first
        assert heard.logs[-1][2] == "at 4999"
        assert steps[-1] <= 3_999


async def test_a_client_sets_the_level_of_messages() -> None:
    heard = Heard()
    async with client_of(server_of(report), "legacy", logging_callback=heard.on_log) as client:
        with pytest.warns(match="deprecated"):
            await client.set_logging_level("error")
        await client.call_tool("report", {})
        assert heard.logs == []
        with pytest.warns(match="deprecated"):
            await client.set_logging_level("debug")
        await client.call_tool("report", {})
    assert {level for level, _, _ in heard.logs} == {"debug", "warning"}


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_cancelled_call_reaches_the_tool(era: str, kind: str) -> None:
    ended: list[str] = []
    started = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def wait_async() -> None:
        """Wait on the loop."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(kind)

    def wait_sync(context: ToolContext) -> None:
        """Wait on a thread."""
        loop.call_soon_threadsafe(started.set)
        wait_until(lambda: context.cancelled)
        ended.append(kind)

    tool = wait_async if kind == "async" else wait_sync
    async with client_of(server_of(tool), era) as client:
        call = asyncio.create_task(client.call_tool(tool.__name__, {}))
        await asyncio.wait_for(started.wait(), PATIENCE)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(wait_until, lambda: bool(ended))
        # the connection goes on
        assert len((await client.list_tools()).tools) == 1
