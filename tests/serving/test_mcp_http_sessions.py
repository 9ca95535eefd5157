"""How the requests of a session are answered: with JSON, or with a stream where there is news."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from starlette.applications import Starlette

from sovl_tools.serving.mcp_http import McpEndpoint
from tests.patience import PATIENCE
from tests.serving.apps import Exchange, app_of, client_of, registry_of
from tests.serving.test_install import ODD, paths_in, replaced
from tests.tables import check_each

VERSION = "2025-11-25"


class Conversation:
    """A client's session, by hand; the tool ``wait`` sets ``started`` and waits for ``gate``."""

    def __init__(self, app: Starlette, client: httpx.AsyncClient) -> None:
        self.app = app
        self.client, self.started, self.gate = client, asyncio.Event(), asyncio.Event()
        self.headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": VERSION,
        }

    async def post(self, message: Any) -> httpx.Response:
        body = {"jsonrpc": "2.0", **message}
        return await self.client.post("/mcp", json=body, headers=self.headers)

    async def call(self, name: str, **keys: Any) -> httpx.Response:
        params = {"name": name, "arguments": {}, **keys}
        return await self.post({"id": name, "method": "tools/call", "params": params})

    def exchange(self, name: str) -> Exchange:
        """Call a tool and leave the rest to the test."""
        params = {"name": name, "arguments": {}}
        message = {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params}
        return Exchange(self.app, "POST", "/mcp", json.dumps(message).encode(), self.headers)

    async def open(self) -> None:
        about = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        params = {"protocolVersion": VERSION, **about}
        answer = await self.post({"id": 0, "method": "initialize", "params": params})
        assert answer.json()["result"]["protocolVersion"] == VERSION
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        assert (await self.post({"method": "notifications/initialized"})).status_code == 202


@asynccontextmanager
async def conversation(**options: Any) -> AsyncIterator[Conversation]:
    async def call_tool(ctx: ServerRequestContext[Any], params: Any) -> types.CallToolResult:
        if params.name == "report":
            await ctx.session.report_progress(1, 2, "half")
        elif params.name == "wait":
            made.started.set()
            await made.gate.wait()
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    registry = registry_of()
    endpoint = McpEndpoint(Server("test", on_call_tool=call_tool), max_body_bytes=1_000, **options)
    app = app_of(registry, mcp=endpoint)
    async with endpoint.run(), client_of(app, timeout=PATIENCE) as client:
        made = Conversation(app, client)
        await made.open()
        yield made


def data_of(response: httpx.Response) -> list[Any]:
    return [json.loads(each) for each in re.findall(r"^data: (.*)\r$", response.text, re.MULTILINE)]


async def test_a_call_that_says_nothing_is_answered_with_json() -> None:
    async with conversation() as client:
        answer = await client.call("add")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["result"]["content"][0]["text"] == "done"


async def test_what_a_call_reports_opens_a_stream() -> None:
    async with conversation() as client:
        answer = await client.call("report", _meta={"progressToken": "token"})
        assert answer.headers["content-type"] == "text/event-stream"
        assert answer.headers["mcp-session-id"] == client.headers["mcp-session-id"]
        report, result = data_of(answer)
        assert report["params"] == {**report["params"], "progressToken": "token", "progress": 1}
        assert result["result"]["content"][0]["text"] == "done"


async def test_a_call_that_takes_long_says_that_it_is_alive() -> None:
    async with conversation() as client:
        slow = client.exchange("wait")
        start, sign = await slow.next(), await slow.next()
        assert (start["status"], sign["body"]) == (200, b": still here\r\n\r\n")
        client.gate.set()
        last = await slow.next()
        assert b"data: {" in last["body"]
        assert not last["more_body"]


async def test_a_stream_ends_with_its_session() -> None:
    async with conversation() as client:
        slow = client.exchange("wait")
        assert (await slow.next())["type"] == "http.response.start"
        assert (await slow.next())["more_body"]
        assert (await client.client.delete("/mcp", headers=client.headers)).status_code == 200
        assert await slow.next() == {"type": "http.response.body", "body": b"", "more_body": False}


async def test_an_id_stands_for_one_request_at_a_time() -> None:
    async with conversation() as client:
        answering = asyncio.create_task(client.call("wait"))
        await client.started.wait()
        answer = await client.call("wait")
        assert answer.status_code == 400
        assert answer.json()["error"]["message"] == "the request wait is still being answered"
        client.gate.set()
        assert (await answering).json()["result"]["content"][0]["text"] == "done"
        assert (await client.call("wait")).status_code == 200


async def test_a_session_that_is_ended_ends_its_answers() -> None:
    async with conversation() as client:
        answering = asyncio.create_task(client.call("wait"))
        await client.started.wait()
        assert (await client.client.delete("/mcp", headers=client.headers)).status_code == 200
        assert (await answering).json()["error"]["message"] == "the session has ended"
        assert (await client.call("add")).status_code == 404


async def test_a_request_that_asks_wrongly_is_refused() -> None:
    async with conversation() as client:
        for name, value, status in (
            ("accept", "application/json", 406),
            ("content-type", "text/plain", 400),
            ("mcp-session-id", "other", 404),
        ):
            headers = {**client.headers, "content-type": "application/json", name: value}
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            answer = await client.client.post("/mcp", content=json.dumps(body), headers=headers)
            assert answer.status_code == status, answer.text
        for content in (b"{", b"[]", b'{"jsonrpc": "2.0"}'):
            headers = {**client.headers, "content-type": "application/json"}
            answer = await client.client.post("/mcp", content=content, headers=headers)
            assert answer.status_code == 400
            assert answer.json()["error"]["message"]


@pytest.mark.parametrize("options", [{}, {"is_json": True}])
async def test_a_new_session_ends_the_one_that_is_idle_longest(options: dict[str, bool]) -> None:
    async with conversation(max_sessions=2, **options) as first:
        others = [Conversation(first.app, first.client) for _ in range(2)]
        answering = asyncio.create_task(first.call("wait"))
        await first.started.wait()
        for each in others:
            await each.open()
        # the first one is busy, so that the second had to go
        assert (await others[0].call("add")).status_code == 404
        assert (await others[1].call("add")).status_code == 200
        first.gate.set()
        assert (await answering).status_code == 200


async def test_where_all_sessions_are_busy_there_is_no_other() -> None:
    async with conversation(max_sessions=1) as client:
        answering = asyncio.create_task(client.call("wait"))
        await client.started.wait()
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
        headers = {**client.headers}
        del headers["mcp-session-id"]
        refused = await client.client.post("/mcp", json=body, headers=headers)
        assert refused.status_code == 503
        client.gate.set()
        assert (await answering).status_code == 200


async def test_whatever_stands_anywhere_in_a_request_it_is_answered() -> None:
    params = {"name": "add", "arguments": {"a": 1}, "_meta": {"progressToken": 1}}
    sound = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    async with conversation() as client:
        headers = {**client.headers, "content-type": "application/json"}
        for place in paths_in(sound):
            for value in ODD:
                body = json.dumps(replaced(sound, place, value))
                answer = await client.client.post("/mcp", content=body, headers=headers)
                assert answer.status_code in {200, 202, 400}, (body, answer.text)
        assert (await client.call("add")).json()["result"]


@check_each(
    ("body", "code", "request_id"),
    [
        (b"x", -32700, None),
        (b"\xff", -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc": "2.0"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600, None),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": []}', -32600, 7),
    ],
)
async def test_what_is_no_message_gets_an_answer_in_plain_words(
    body: bytes, code: int, request_id: object
) -> None:
    async with conversation() as client:
        answer = await client.client.post(
            "/mcp", content=body, headers={**client.headers, "content-type": "application/json"}
        )
        found = answer.json()
        assert (answer.status_code, found["id"]) == (400, request_id)
        assert found["error"]["code"] == code
        assert "\n" not in found["error"]["message"]
        assert "pydantic" not in found["error"]["message"]
