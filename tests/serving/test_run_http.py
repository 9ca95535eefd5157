from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from threading import Event
from typing import IO

import httpx
import pytest
from mcp_types import TextContent

from sovl_tools import ToolContext, Tooler
from sovl_tools.serving.run_http import ListeningError, listen
from sovl_tools.serving.security import Security
from tests.conftest import REPOSITORY
from tests.patience import PATIENCE, wait_until
from tests.serving.apps import app_of, registry_of
from tests.serving.servers import connect, running
from tests.serving.test_mcp_http import connected
from tests.tables import check_each

MOST = 1_000_000
OPEN: set[str] = set()
"""The calls of ``hold`` that are running."""


def hold(name: str, context: ToolContext) -> None:
    """Wait until no one waits for this."""
    OPEN.add(name)
    pause = Event()
    while not context.cancelled:
        pause.wait(0.002)
    OPEN.discard(name)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    registry = registry_of(hold)
    with running(app_of(registry, Tooler(registry), max_body_bytes=MOST)) as found:
        yield found


def is_served(url: str) -> bool:
    """Return whether others are served."""
    found: object = httpx.post(f"{url}/tools/add", json={"first": 1}, timeout=PATIENCE).json()
    return found == 3


def test_much_is_refused_without_being_read(url: str) -> None:
    def endless() -> Iterator[bytes]:
        yield from (b"x" * 65_536 for _ in range(1600))

    headers = {"content-type": "application/json"}
    response = httpx.post(f"{url}/tools/add", content=endless(), headers=headers, timeout=PATIENCE)
    assert response.status_code == 413
    assert is_served(url)


def started(*arguments: str) -> subprocess.Popen[str]:
    """Start the server of ``ended_by_signals``."""
    command = [sys.executable, "-m", "tests.serving.ended_by_signals", *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )


def line(process: subprocess.Popen[str]) -> str:
    """Return the next line that a process writes."""
    output: IO[str] | None = process.stdout
    assert output is not None
    return output.readline().strip()


@check_each("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_lets_calls_end_and_the_second_does_not(number: signal.Signals) -> None:
    is_patient = number == signal.SIGTERM
    with started() as process, ThreadPoolExecutor(1) as pool:
        url = line(process)
        call = pool.submit(httpx.post, f"{url}/tools/wait", timeout=PATIENCE)
        assert line(process) == "called"
        process.send_signal(number)
        wait_until(lambda: not is_listening(url))
        if is_patient:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            assert call.result().json() == "done"
        else:
            process.send_signal(number)
            with pytest.raises(httpx.HTTPError):
                call.result()
        assert line(process) == "ended"
        assert process.wait(PATIENCE) == 0


async def test_a_signal_lets_the_calls_of_sessions_end() -> None:
    with started() as process:
        async with connected(line(process), "legacy") as client:
            await client.list_tools()  # which it would ask for after the call
            call = asyncio.ensure_future(client.call_tool("slow"))
            assert await asyncio.to_thread(line, process) == "called"
            process.send_signal(signal.SIGTERM)
            assert (await call).content == [TextContent(type="text", text="done")]
        assert await asyncio.to_thread(line, process) == "ended"
        assert process.wait(PATIENCE) == 0


@check_each(("path", "mode"), [("", "auto"), ("/ai", "legacy")])
async def test_streams_of_news_end_when_uvicorn_does(mode: str, path: str) -> None:
    with started("uvicorn", "mounted" if path else "") as process:
        url = await asyncio.to_thread(line, process)
        async with connected(url + path, mode) as client, AsyncExitStack() as stack:
            await client.list_tools()
            if mode == "auto":
                await stack.enter_async_context(client.listen(tools_list_changed=True))
            process.send_signal(signal.SIGTERM)
            # while the client still listens
            assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGTERM


@check_each("mode", ["legacy", "auto"])
async def test_calls_end_before_uvicorn_does(mode: str) -> None:
    with started("uvicorn") as process:
        async with connected(await asyncio.to_thread(line, process), mode) as client:
            await client.list_tools()  # which it would ask for after the call
            call = asyncio.ensure_future(client.call_tool("slow"))
            assert await asyncio.to_thread(line, process) == "called"
            process.send_signal(signal.SIGTERM)
            assert (await call).content == [TextContent(type="text", text="done")]
            assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGTERM


def is_listening(url: str) -> bool:
    try:
        connect(url).close()
    except OSError:
        return False
    return True


def test_what_takes_too_long_at_the_end_is_cut_off() -> None:
    registry = registry_of(hold)
    with ThreadPoolExecutor(1) as pool:
        with running(app_of(registry, Tooler(registry)), shutdown_timeout=0.01) as url:
            call = pool.submit(
                httpx.post, f"{url}/tools/hold", json={"name": "last"}, timeout=PATIENCE
            )
            wait_until(lambda: "last" in OPEN)
        assert call.result().status_code == 503
    wait_until(lambda: not OPEN)


def test_small_answers_do_not_wait_for_more() -> None:
    # asyncio sets TCP_NODELAY for the connections of a socket that names its protocol
    with listen("localhost", 0, Security()) as listening:
        assert listening.proto == socket.IPPROTO_TCP


def test_everybody_may_not_call_unless_that_is_said() -> None:
    with pytest.raises(ListeningError, match="everyone who reaches it could call the tools"):
        listen("0.0.0.0", 0, Security())
    listen("0.0.0.0", 0, Security(), allow_all=True).close()
    listen("0.0.0.0", 0, Security(tokens=("a",))).close()
    listen("localhost", 0, Security()).close()
