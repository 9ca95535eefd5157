"""Calls, reports, questions, cancellation and changes over a socket, in both eras."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from sovl_tools import ToolContext, Tooler, ToolRegistry, tool
from tests.conftest import code_of, manifest_of
from tests.patience import wait_until
from tests.serving.servers import running
from tests.serving.test_changes import listening
from tests.serving.test_elicitation import greet
from tests.serving.test_mcp_calls import report
from tests.serving.test_mcp_server import result

pytestmark = pytest.mark.filterwarnings("ignore:The logging capability is deprecated")

STARTED, ENDED = threading.Event(), threading.Event()


@tool
def wait_on_thread(context: ToolContext) -> None:
    """Wait until no one waits."""
    STARTED.set()
    wait_until(lambda: context.cancelled)
    ENDED.set()


@tool
async def echo_soon(text: str) -> str:
    """Say it."""
    return text


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tools")


@pytest.fixture(scope="module")
def url(tools: Path) -> Iterator[str]:
    """The address of a server that all tests here share."""
    registry = ToolRegistry.from_directory(tools)
    for each in (report, greet, wait_on_thread, echo_soon):
        registry.register(each)
    with registry.watch(), running(registry.mcp_server(Tooler(registry)).app()) as address:
        yield f"{address}/mcp"


def client_at(url: str, era: str, **options: Any) -> Client:
    return Client(url, mode=era, cache=None, **options)


async def test_a_cancelled_call_reaches_the_tool(url: str, era: str) -> None:
    STARTED.clear()
    ENDED.clear()
    async with client_at(url, era) as client:
        call = asyncio.create_task(client.call_tool("wait_on_thread", {}))
        await asyncio.to_thread(wait_until, STARTED.is_set)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(wait_until, ENDED.is_set)
        # the others are served
        assert result(await client.call_tool("echo_soon", {"text": "x"})) == (False, None, "x")


async def test_every_client_hears_of_a_folder(url: str, tools: Path, era: str) -> None:
    name = f"dropped_{era.replace('-', '_')}"
    async with listening(url, era) as first, listening(url, era) as second:
        before = await first.names()
        place = tools / name
        place.mkdir()
        (place / f"{name}.py").write_text(code_of(name))
        (place / f"{name}.json").write_text(json.dumps(manifest_of(name)))
        for each in (first, second):
            await each.hear_until(sorted([*before, name]))
            assert await each.text(name) == "x"
