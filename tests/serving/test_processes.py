"""The server as people start it: a command, and several of them behind a balancer."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from sovl_tools.serving.run_http import listen
from sovl_tools.serving.security import Security
from tests.conftest import REPOSITORY, Run, Write, clean_environment
from tests.patience import PATIENCE
from tests.serving.lines import ENVELOPE

TOKEN = "s3cret"
HEADERS = {"authorization": f"Bearer {TOKEN}"}


@contextmanager
def serving(*arguments: str, log: Path, python: str = sys.executable) -> Iterator[tuple[str, int]]:
    """Start a server on a free port, and yield its URL and its process; a signal stops it."""
    command = [python, "-m", "sovl_tools", "serve", "--transport", "http", "--port", "0"]
    environment = {**clean_environment(), "TOOLS_TOKEN": f"{TOKEN}\n"}
    with (
        open(log, "wb") as errors,
        subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=environment,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


class Balancer(httpx2.AsyncHTTPTransport):
    """Sends each request to the next server."""

    def __init__(self, urls: list[str]) -> None:
        super().__init__()
        self._places = itertools.cycle([httpx2.URL(url) for url in urls])
        self.asked: list[int | None] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        place = next(self._places)
        self.asked.append(place.port)
        request.url = request.url.copy_with(port=place.port)
        return await super().handle_async_request(request)


async def test_any_of_several_processes_answers(tmp_path: Path) -> None:
    arguments = [
        *("--tools", str(REPOSITORY / "tools"), "--no-watch"),
        *("--stateless", "--token-env", "TOOLS_TOKEN"),
    ]
    logs = [tmp_path / "first", tmp_path / "second"]
    with ExitStack() as stack:
        started = [serving(*arguments, log=log) for log in logs]
        urls = [stack.enter_context(each)[0] for each in started]
        balancer = Balancer(urls)
        async with httpx2.AsyncClient(
            transport=balancer, headers=HEADERS, timeout=PATIENCE
        ) as http:
            tags = [(await http.get(f"{urls[0]}/tools")).headers["etag"] for _ in urls]
            assert tags[0] == tags[1]
            for _ in urls:
                response = await http.post(
                    f"{urls[0]}/tools/example_tool", json={"number1": 5, "number2": 3}
                )
                assert response.json()["result"] == 8
            for mode in ("legacy", "auto"):
                transport = streamable_http_client(f"{urls[0]}/mcp", http_client=http)
                async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
                    for _ in urls:
                        tools = (await client.list_tools()).tools
                        assert "calculate" in {each.name for each in tools}
                        result = await client.call_tool("calculate", {"expression": "6 * 7"})
                        (content,) = result.content
                        assert isinstance(content, TextContent)
                        assert "42" in content.text
        assert len(set(balancer.asked)) == 2
    for log in logs:
        written = log.read_text()
        assert TOKEN not in written
        assert "Traceback" not in written


def test_an_edit_changes_what_is_served(tmp_path: Path, write: Write) -> None:
    folder = write("echo")
    log = tmp_path / "log"
    with serving("--tools", str(folder.parent), log=log) as (url, _):
        tag = httpx.get(f"{url}/tools", timeout=PATIENCE).headers["etag"]
        write("other", code="def other(text: str) -> str:\n    return text\n")
        while httpx.get(f"{url}/tools", headers={"if-none-match": tag}).status_code == 304:
            pass
        response = httpx.post(f"{url}/tools/other", json={"text": "hello"}, timeout=PATIENCE)
        assert response.json() == "hello"
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "everyone who reaches it could call the tools"),
        (["--token-env", "NONE"], "the environment variable NONE is empty"),
        (["--allow-origin", "example.com"], "an origin is like"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(
    run: Run, write: Write, arguments: list[str], words: str
) -> None:
    write("echo")
    done = run("serve", "--transport", "http", "--port", "0", *arguments, ODD="a b")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_port_that_is_taken_is_misuse(run: Run, write: Write) -> None:
    write("echo")
    with listen("127.0.0.1", 0, Security()) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--transport", "http", "--port", str(port))
    assert done.code == 2
    assert f"can't listen on 127.0.0.1:{port}: address already in use" in done.err


_NOISY = """
import sys

def noisy(text: str) -> int:
    for _ in range(2_000):
        print("x" * 100)
        sys.stderr.write("y" * 100)
    return 1
"""
_QUIET = """
import asyncio

async def noisy(text: str) -> int:
    for _ in range(2_000):
        print("x" * 100)
        await asyncio.sleep(0)
    return 1
"""


@pytest.mark.parametrize("reader", ["sleeps", "is gone"])
@pytest.mark.parametrize("code", [_NOISY, _QUIET], ids=["sync", "async"])
def test_an_error_output_that_no_one_reads_hinders_nothing(
    reader: str, code: str, write: Write
) -> None:
    tools = write("noisy", code=code).parent
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "sovl_tools", "serve", "--tools", str(tools)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writing
    ) as process:
        os.close(writing)
        if reader == "is gone":
            os.close(reading)
        assert process.stdin is not None
        assert process.stdout is not None
        params = {"name": "noisy", "arguments": {"text": "a"}, **ENVELOPE}
        for number in range(3):
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["result"]["content"] == [{"type": "text", "text": "1"}], answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    if reader == "sleeps":
        os.close(reading)
