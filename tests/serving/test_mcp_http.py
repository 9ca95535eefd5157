"""The protocol at ``/mcp``, over a server of the SDK's with two tools of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from starlette.applications import Starlette
from starlette.routing import Mount

from sovl_tools.serving.mcp_http import McpEndpoint
from tests.patience import PATIENCE
from tests.serving.apps import app_of, client_of, registry_of
from tests.serving.servers import running
from tests.tables import check_each

LIMIT = 1_000_000


def server() -> Server[Any]:
    """Return a server with a tool that adds and one that waits for ever."""

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        schema = {"type": "object"}
        tools = [types.Tool(name=name, input_schema=schema) for name in ("add", "wait")]
        return types.ListToolsResult(tools=tools)

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name == "wait":
            await asyncio.Event().wait()
        text = str(sum((params.arguments or {}).values()))
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return Server("test", on_list_tools=list_tools, on_call_tool=call_tool)


def mcp_app(options: dict[str, bool] | None = None, **limits: Any) -> Starlette:
    endpoint = McpEndpoint(server(), max_request_body_size=LIMIT, **(options or {}))
    return app_of(registry_of(), mcp=endpoint, **limits)


@asynccontextmanager
async def connected(url: str, mode: str, token: str | None = None) -> AsyncIterator[Client]:
    """Yield a client of an era of the protocol."""
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=PATIENCE) as client:
            yield client


@check_each("options", [{}, {"stateless": True}, {"json_response": True}])
async def test_both_eras_are_served(options: dict[str, bool]) -> None:
    with running(mcp_app(options, tokens=("secret",))) as url:
        for mode in ("legacy", "auto"):
            async with connected(url, mode, "secret") as client:
                tools = (await client.list_tools()).tools
                assert [each.name for each in tools] == ["add", "wait"]
                result = await client.call_tool("add", {"a": 1, "b": 2})
                assert result.content == [types.TextContent(type="text", text="3")]


async def test_what_guards_the_rest_guards_the_protocol() -> None:
    headers = {"authorization": "Bearer secret"}
    async with client_of(
        mcp_app(tokens=("secret",), max_body_bytes=100), headers=headers
    ) as client:
        response = await client.post("/mcp", headers={"authorization": "Bearer other"})
        assert response.status_code == 401
        response = await client.post("/mcp", headers={"origin": "http://evil.example"})
        assert response.status_code == 403
        assert (await client.post("/mcp", content=b"x" * 101)).status_code == 413
        assert (await client.get("/tools")).status_code == 200


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def test_it_runs_where_no_lifespan_does() -> None:
    app = Starlette(routes=[Mount("/ai", mcp_app({"stateless": True, "json_response": True}))])
    async with client_of(app) as client:
        first, second = await asyncio.gather(
            *(client.post("/ai/mcp", json=PING, headers=ACCEPT) for _ in range(2))
        )
    assert first.json() == second.json() == {"jsonrpc": "2.0", "id": 1, "result": {}}
