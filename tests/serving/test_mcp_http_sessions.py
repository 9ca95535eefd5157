"""Sessions over HTTP: what the calls of a client hold up, and what ends them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from sovl_tools.serving.mcp_server import BUSY
from sovl_tools.serving.security import Security
from tests.patience import PATIENCE
from tests.serving.apps import Exchange, Slow, client_of, registry_of, tooler_of

VERSION = "2025-11-25"


class Conversation:
    """A client's session, by hand."""

    def __init__(self, app: Starlette, client: httpx.AsyncClient) -> None:
        self.app = app
        self.client = client
        self.headers = {
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": VERSION,
        }

    async def post(self, message: Any) -> httpx.Response:
        body = json.dumps({"jsonrpc": "2.0", **message})
        return await self.client.post("/mcp", content=body, headers=self.headers)

    async def call(self, name: str, **arguments: Any) -> Any:
        answer = await self.post(called(name, name, **arguments))
        assert answer.status_code == 200
        return message_in(answer.text)

    def exchange(self, name: str) -> Exchange:
        """Call a tool and leave the rest to the test."""
        body = json.dumps({"jsonrpc": "2.0", **called(name, name)}).encode()
        return Exchange(self.app, "POST", "/mcp", body, self.headers)

    async def open(self) -> None:
        about = {"capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        params = {"protocolVersion": VERSION, **about}
        answer = await self.post({"id": 0, "method": "initialize", "params": params})
        assert message_in(answer.text)["result"]["protocolVersion"] == VERSION
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        assert (await self.post({"method": "notifications/initialized"})).status_code == 202


def called(request_id: Any, name: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"id": request_id, "method": "tools/call", "params": params}


def message_in(text: str) -> Any:
    """Return the message of an answer, JSON or a stream."""
    return json.loads(text.partition("data: ")[2] or text)


@pytest.fixture
def slow() -> Slow:
    return Slow()


@asynccontextmanager
async def conversation(slow: Slow, **options: Any) -> AsyncIterator[Conversation]:
    registry = registry_of(slow.wait)
    limits = {"max_concurrency": options.pop("max_concurrency", 10)}
    app = registry.mcp_server(tooler_of(registry)).app(security=Security(**limits), **options)
    async with app.router.lifespan_context(app), client_of(app, timeout=PATIENCE) as client:
        made = Conversation(app, client)
        await made.open()
        yield made


@pytest.mark.parametrize("json_response", [False, True])
async def test_a_client_that_leaves_cancels_its_call(slow: Slow, *, json_response: bool) -> None:
    async with conversation(slow, json_response=json_response) as client:
        exchange = client.exchange("wait")
        await asyncio.wait_for(slow.started.wait(), PATIENCE)
        exchange.leave()
        await asyncio.wait_for(slow.cancelled.wait(), PATIENCE)
        await asyncio.wait_for(exchange.task, PATIENCE)
        assert (await client.call("add", first=1))["result"]["content"][0]["text"] == "3"


async def test_a_busy_server_says_so_and_takes_all_that_is_no_call(slow: Slow) -> None:
    async with conversation(slow, max_concurrency=1) as client:
        exchange = client.exchange("wait")
        await asyncio.wait_for(slow.started.wait(), PATIENCE)
        refused = await client.call("add", first=1)
        assert refused["error"] == {
            "code": BUSY,
            "message": "1 calls are running; try again later",
        }
        assert (await client.client.post("/tools/add", json={"first": 1})).status_code == 503
        other = Conversation(client.app, client.client)
        await other.open()
        assert (await other.client.delete("/mcp", headers=other.headers)).status_code == 200
        params = {"requestId": "wait"}
        cancel = {"method": "notifications/cancelled", "params": params}
        assert (await client.post(cancel)).status_code == 202
        await asyncio.wait_for(slow.cancelled.wait(), PATIENCE)
        await asyncio.wait_for(exchange.task, PATIENCE)
        assert (await client.call("add", first=1))["result"]["content"][0]["text"] == "3"


async def test_a_session_that_is_ended_ends_its_calls(slow: Slow) -> None:
    async with conversation(slow) as client:
        exchange = client.exchange("wait")
        await asyncio.wait_for(slow.started.wait(), PATIENCE)
        assert (await client.client.delete("/mcp", headers=client.headers)).status_code == 200
        await asyncio.wait_for(slow.cancelled.wait(), PATIENCE)
        await asyncio.wait_for(exchange.task, PATIENCE)
        assert (await client.post(called(1, "add"))).status_code == 404
