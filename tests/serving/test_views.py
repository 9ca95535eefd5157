"""Live views of a registry, for the clients of a server."""

from __future__ import annotations

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sovl_tools import Tooler, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.serving.apps import app_of
from tests.serving.apps import client_of as http_client
from tests.serving.conftest import client_of
from tests.serving.test_changes import listening
from tests.test_views import SECRET, desk


async def test_clients_of_a_server_see_nothing_else(era: str) -> None:
    registry = desk()
    view = registry.select(tags="read")
    for server in (view.mcp_server(), view.mcp_server(Tooler(registry))):
        assert server.server.instructions is None
        async with client_of(server, era) as client:
            assert [each.name for each in (await client.list_tools()).tools] == ["look", "tidy"]
            assert [each.name for each in (await client.list_prompts()).prompts] == ["tidy"]
            assert SECRET not in str(await client.list_resources())
            for ask in (
                client.call_tool(SECRET),
                client.get_prompt(SECRET, {}),
                client.read_resource(f"sovl-tools://tools/{SECRET}"),
            ):
                with pytest.raises(MCPError):
                    await ask
            [block] = (await client.call_tool("tidy", {})).content
            assert isinstance(block, types.TextContent)
            assert block.text == SECRET


async def test_a_server_that_searches_finds_and_calls_its_own(era: str) -> None:
    server = desk().select(tags="read").mcp_server(search_tools=True)
    async with client_of(server, era) as client:
        found = await client.call_tool("search_tools", {"query": "wipe disk tidy"})
        assert SECRET not in str(found)
        assert "tidy" in str(found)
        called = await client.call_tool("call_tool", {"name": SECRET, "arguments": {}})
        assert called.is_error


async def test_clients_hear_of_the_changes_of_the_view(
    registry: ToolRegistry, write: Write, era: str
) -> None:
    async with listening(registry.select(tags="read").mcp_server(), era) as client:
        write("bee", manifest_of("bee", tags=["write"]))
        write("ant", manifest_of("ant", tags=["read"]))
        await client.hear_until(["ant"])
        write("bee", manifest_of("bee", tags=["read", "write"]))
        await client.hear_until(["ant", "bee"])
        write("ant", manifest_of("ant", tags=["write"]))
        await client.hear_until(["bee"])


async def test_the_json_api_has_nothing_else() -> None:
    registry = desk()
    view = registry.select(tags="read")
    for tooler in (None, Tooler(registry)):
        async with http_client(app_of(view, tooler)) as client:
            for path in ("/tools", "/search?q=wipe+disk", "/openapi.json"):
                answer = await client.get(path)
                assert answer.status_code == 200
                assert "wipe" not in answer.text
            for path in (f"/tools/{SECRET}", f"/tools/{SECRET}/stream"):
                answer = await client.post(path, json={})
                assert (answer.status_code, answer.json()["title"]) == (404, "Unknown tool")
            assert (await client.get(f"/tools/{SECRET}")).status_code == 404
            assert (await client.post("/tools/tidy", json={})).json() == SECRET
