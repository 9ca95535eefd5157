"""What clients that are connected hear of folders that come, change and go."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ToolsListChanged
from mcp.shared.exceptions import MCPError

from sovl_tools import ToolRegistry
from sovl_tools.serving import mcp_server
from tests.conftest import Write, manifest_of
from tests.patience import PATIENCE
from tests.serving.conftest import client_of, served

# today's protocol has ``listen`` in its place
OLD = pytest.mark.filterwarnings("ignore:resources/:mcp.shared.exceptions.MCPDeprecationWarning")


class Listener:
    """A client that hears of changes."""

    def __init__(self, client: Client, heard: asyncio.Queue[Any]) -> None:
        self.client = client
        self.heard = heard

    async def hear(self) -> None:
        await asyncio.wait_for(self.heard.get(), PATIENCE)

    async def names(self) -> list[str]:
        return [each.name for each in (await self.client.list_tools()).tools]

    async def hear_until(self, names: list[str]) -> None:
        """Wait for news until the list is this one, as a client does that lists after each."""
        while await self.names() != names:
            await self.hear()

    async def text(self, name: str) -> str:
        [block] = (await self.client.call_tool(name, {"text": "x"})).content
        assert isinstance(block, types.TextContent)
        return block.text


@asynccontextmanager
async def listening(server: Any | str, era: str, **options: Any) -> AsyncIterator[Listener]:
    """Yield a client that hears, of a server in this process, at an address or by a transport."""
    heard: asyncio.Queue[Any] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        if era == "legacy" and isinstance(message, types.ToolListChangedNotification):
            heard.put_nowait(message)

    options["message_handler"] = on_message
    made = (
        client_of(server, era, **options)
        if isinstance(server, mcp_server.McpServer)
        else Client(server, mode=era, cache=None, **options)
    )
    async with made as client:
        if era == "legacy":
            yield Listener(client, heard)
            return
        async with client.listen(tools_list_changed=True) as subscription:

            async def follow() -> None:
                async for event in subscription:
                    assert isinstance(event, ToolsListChanged)
                    heard.put_nowait(event)

            following = asyncio.create_task(follow())
            try:
                yield Listener(client, heard)
            finally:
                following.cancel()


async def test_a_dropped_edited_broken_and_removed_folder_is_heard_of(
    registry: ToolRegistry, write: Write, tmp_path: Path, era: str
) -> None:
    async with listening(served(registry), era) as client:
        assert await client.names() == []
        write("echo")
        await client.hear()
        assert await client.names() == ["echo"]
        assert await client.text("echo") == "x"

        write("echo", manifest_of("echo", description="Say it again."))
        await client.hear()
        [listed] = (await client.client.list_tools()).tools
        assert listed.description == "Say it again."

        shutil.rmtree(tmp_path / "tools" / "echo")
        await client.hear_until([])


async def test_a_server_says_that_its_lists_change(registry: ToolRegistry, era: str) -> None:
    mode = "legacy" if era == "legacy" else "auto"
    async with client_of(served(registry), mode) as client:
        assert client.server_capabilities.tools == types.ToolsCapability(list_changed=True)


async def test_instructions_are_those_of_the_tools(write: Write) -> None:
    tools = write("echo", manifest_of("echo", instructions="Say little.")).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), "auto") as client:
        assert client.instructions == "Say little."


@OLD
async def test_subscribers_hear_of_texts_that_changed(
    registry: ToolRegistry, write: Write, tmp_path: Path, era: str
) -> None:
    manifest, later = "sovl-tools://manifest/echo", "sovl-tools://manifest/later"
    instructions = "sovl-tools://instructions/echo"
    write("echo", manifest_of("echo", instructions="Say little."))
    registry.reload()
    heard: asyncio.Queue[str] = asyncio.Queue()

    async def on_message(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.put_nowait(message.params.uri)

    async def hear(uri: str) -> list[str]:
        """Wait for a URI, and return those that precede it."""
        others = []
        while (each := await asyncio.wait_for(heard.get(), PATIENCE)) != uri:
            others.append(each)
        return others

    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(
            client_of(served(registry), era, message_handler=on_message)
        )
        if era == "legacy":
            for uri in (manifest, instructions, later):
                await client.session.subscribe_resource(uri)
            assert client.server_capabilities.resources is not None
            assert client.server_capabilities.resources.subscribe
        else:
            await stack.enter_async_context(
                client.listen(resource_subscriptions=[manifest, instructions, later])
            )
        # a function is no part of it
        code = "def echo(text: str) -> str:\n    return text * 2\n"
        write("echo", manifest_of("echo", instructions="Say little."), code)
        await asyncio.to_thread(registry.reload)
        write("echo", manifest_of("echo", instructions="Say more."), code)
        await hear(instructions)
        [content] = (await client.read_resource(instructions)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "Say more."
        write("later")
        await hear(later)
        shutil.rmtree(tmp_path / "tools" / "later")
        await hear(later)
        if era == "legacy":
            await client.session.unsubscribe_resource(later)
            while not heard.empty():
                heard.get_nowait()
            write("later")
            write("echo", manifest_of("echo", description="Say it again."))
            assert later not in await hear(manifest)


@OLD
async def test_a_client_may_subscribe_to_so_many_resources(
    registry: ToolRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_server, "MOST_WATCHED", 2)
    async with client_of(served(registry), "legacy") as client:
        for uri in ("a:1", "a:2"):
            await client.session.subscribe_resource(uri)
        with pytest.raises(MCPError, match="a client may subscribe to 2 resources"):
            await client.session.subscribe_resource("a:3")
        await client.session.unsubscribe_resource("a:1")
        await client.session.subscribe_resource("a:3")
