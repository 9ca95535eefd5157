"""What a client can send over a pipe, right and wrong."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.serving.stdio import MAX_MESSAGE
from tests.conftest import Write
from tests.serving.conftest import served
from tests.serving.lines import lines
from tests.tables import check_each

WAITING = """
import asyncio

async def waiting(text: str) -> str:
    await asyncio.Event().wait()
"""


@pytest.fixture
def server(write: Write) -> Any:
    write("waiting", code=WAITING)
    return served(ToolRegistry.from_directory(write("echo").parent))


def call(request_id: object, tool: str = "echo", text: object = "hi") -> dict[str, object]:
    params = {"name": tool, "arguments": {"text": text}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}


@check_each(
    "line",
    [
        b"hello",
        b"[" * 100_000,
        b"\xff\xfe",
        b"null",
        b'{"id": 7, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 8, "method": 3}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * MAX_MESSAGE + b'"}',
    ],
)
async def test_a_line_that_is_no_message_gets_an_error_and_others_are_served(
    server: Any, line: bytes
) -> None:
    async with lines(server) as client:
        await client.greet()
        await client.write(line + b"\n")
        assert (await client.hear())["error"]["code"] in {-32700, -32600}
        await client.say(call(2))
        answer = await client.hear()
        assert answer["result"]["content"] == [{"type": "text", "text": "hi"}]


async def test_a_line_may_begin_with_a_byte_order_mark(server: Any) -> None:
    async with lines(server) as client:
        await client.greet()
        await client.write(b"\xef\xbb\xbf" + json.dumps(call(2)).encode() + b"\r\n")
        assert (await client.hear())["result"]["content"] == [{"type": "text", "text": "hi"}]


async def test_a_client_that_reads_nothing_stops_only_itself(server: Any) -> None:
    async with lines(server) as client:
        await client.greet()
        text = "x" * 100_000
        for each in range(40):
            await client.say(call(each, text=text))
        # what it has not read is bounded: the rest waits, and comes when it reads
        answers = [await client.hear() for _ in range(40)]
        assert sorted(each["id"] for each in answers) == list(range(40))
        assert all(each["result"]["content"][0]["text"] == text for each in answers)


async def test_a_call_under_way_gets_its_answer_when_the_client_has_closed_its_side(
    write: Write,
) -> None:
    code = "import time\n\n\ndef slow(text: str) -> str:\n    time.sleep(0.2)\n    return text\n"
    server = served(ToolRegistry.from_directory(write("slow", code=code).parent))
    async with lines(server) as client:
        await client.greet()
        await client.say(call(1, "slow"))
        client.leave()
        assert (await client.hear())["result"]["content"] == [{"type": "text", "text": "hi"}]


async def test_a_result_that_is_no_utf8_is_an_error_of_its_call(write: Write) -> None:
    code = "def echo(text: str) -> str:\n    return 'a\\ud800b'\n"
    server = served(ToolRegistry.from_directory(write("echo", code=code).parent))
    async with lines(server) as client:
        await client.greet()
        await client.say(call(1))
        assert (await client.hear())["id"] == 1
        await client.say(call(2))
        assert (await client.hear())["id"] == 2


async def test_a_client_that_is_gone_ends_the_server(server: Any) -> None:
    async with lines(server) as client:
        await client.greet()
        client.close()
        for each in range(3):
            await client.say(call(each))
        await client.say(call("waiting", "waiting"))
    assert client.serving.done()


async def test_a_signal_lets_calls_end_and_a_second_one_ends_them(write: Write) -> None:
    write("waiting", code=WAITING)
    code = "import time\n\n\ndef slow(text: str) -> str:\n    time.sleep(0.2)\n    return text\n"
    server = served(ToolRegistry.from_directory(write("slow", code=code).parent))
    async with lines(server, signals=[signal.SIGUSR1]) as client:
        await client.greet()
        await client.say(call(1, "slow"))
        assert (await client.ask("ping", request_id=2))["id"] == 2
        os.kill(os.getpid(), signal.SIGUSR1)
        assert (await client.hear())["result"]["content"] == [{"type": "text", "text": "hi"}]
        await client.serving
    async with lines(server, signals=[signal.SIGUSR1]) as client:
        await client.greet()
        await client.say(call(1, "waiting"))
        assert (await client.ask("ping", request_id=2))["id"] == 2
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGUSR1)
        await client.serving
