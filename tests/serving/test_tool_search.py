"""Two tools that find and call all others, over the registry as it is now."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import mcp_types as types
import pytest

from sovl_tools import ToolRegistry
from sovl_tools.serving import advertised
from tests.conftest import Write, manifest_of
from tests.serving.conftest import client_of, served
from tests.serving.test_changes import listening
from tests.serving.test_mcp_server import result


async def test_a_client_that_never_lists_again_calls_a_new_tool(
    registry: ToolRegistry, write: Write, era: str
) -> None:
    write("echo")
    registry.reload()
    async with listening(served(registry, search_tools=True), era) as client:
        assert await client.names() == ["call_tool", "search_tools"]
        write("weather", manifest_of("weather", description="Say what the weather is."))
        while True:
            found = await client.client.call_tool("search_tools", {"query": "weather"})
            assert isinstance(found.structured_content, dict)
            if found.structured_content["tools"]:
                break
            await asyncio.sleep(0.01)
        [definition] = found.structured_content["tools"]
        assert definition["name"] == "weather"
        assert definition["inputSchema"]["required"] == ["text"]
        call = {"name": "weather", "arguments": {"text": "sunny"}}
        assert result(await client.client.call_tool("call_tool", call)) == (False, None, "sunny")
        # what clients are told has not changed
        assert client.heard.empty()


async def test_what_is_wrong_with_such_a_call_is_said(write: Write, era: str) -> None:
    tools = write("echo").parent
    server = served(ToolRegistry.from_directory(tools), search_tools=True)
    async with client_of(server, era) as client:

        async def words(name: str, arguments: dict[str, Any]) -> str:
            is_error, _, text = result(await client.call_tool(name, arguments))
            assert is_error
            return text

        assert "query: is required" in await words("search_tools", {})
        nought = {"query": "x", "limit": 0}
        assert "limit: must be at least 1" in await words("search_tools", nought)
        assert await words("call_tool", {"name": "ecko"}) == (
            "there's no tool 'ecko'; did you mean 'echo'?"
        )
        assert "there's no tool" in await words("call_tool", {})
        assert "text: is required" in await words("call_tool", {"name": "echo"})
        assert "text: is required" in await words("call_tool", {"name": "echo", "arguments": {}})
        for wrong in ([1], 3, "text"):
            await words("call_tool", {"name": "echo", "arguments": wrong})
        # a hidden tool can be called by a client that knows it
        assert not (await client.call_tool("echo", {"text": "x"})).is_error
        little = await client.call_tool("search_tools", {"query": "echo of kangaroos at dawn"})
        assert little.structured_content == {
            "tools": [],
            "message": "no tool fits well; nearest: echo",
        }
        nothing = await client.call_tool("search_tools", {"query": "xyzzy"})
        assert nothing.structured_content == {
            "tools": [],
            "message": "no tool has words of the query",
            "some_names": ["echo"],
        }


async def test_it_begins_by_itself_above_a_budget(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("ant")
    registry = ToolRegistry.from_directory(write("bee").parent)
    assert not served(registry).advertised.is_searching
    monkeypatch.setattr(advertised, "MOST_TOOLS", 1)
    assert served(registry).advertised.is_searching
    assert not served(registry, search_tools=False).advertised.is_searching
    monkeypatch.setattr(advertised, "MOST_TOOLS", 2)
    assert not served(registry).advertised.is_searching
    monkeypatch.setattr(advertised, "MOST_TOKENS", 10)
    assert served(registry).advertised.is_searching


async def test_a_prompt_fills_the_slots_of_its_phrase(write: Write, era: str) -> None:
    tools = write("echo", manifest_of("echo", activation_phrases=["say {text} again"])).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        for arguments, said in (({"text": "hällo"}, "say hällo again"), ({}, "say text again")):
            [message] = (await client.get_prompt("echo", arguments)).messages
            assert isinstance(message.content, types.TextContent)
            assert message.content.text.splitlines()[0] == said


async def test_phrases_are_prompts(write: Write, era: str) -> None:
    phrases = ["say it again", "repeat"]
    write("plain")
    tools = write("echo", manifest_of("echo", activation_phrases=phrases)).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        [prompt] = (await client.list_prompts()).prompts
        assert (prompt.name, prompt.title) == ("echo", "say it again")
        assert prompt.arguments == [
            types.PromptArgument(name="text", description="What to say.", required=False)
        ]
        made = await client.get_prompt("echo", {"text": "hällo"})
        [message] = made.messages
        assert isinstance(message.content, types.TextContent)
        assert message.content.text == 'say it again\n\nUse the tool echo with {"text": "hällo"}.'
        made = await client.get_prompt("echo")
        assert isinstance(made.messages[0].content, types.TextContent)
        assert made.messages[0].content.text == "say it again\n\nUse the tool echo."
        for name in ("ecko", "plain"):
            with pytest.raises(Exception, match=f"there's no prompt '{name}'"):
                await client.get_prompt(name)


async def test_manifests_and_instructions_are_resources(write: Write, era: str) -> None:
    manifest = manifest_of("echo", instructions="Say little.", tags=["talk"])
    tools = write("echo", manifest).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        listed = [(each.uri, each.mime_type) for each in (await client.list_resources()).resources]
        assert listed == [
            ("sovl-tools://instructions/echo", "text/markdown"),
            ("sovl-tools://manifest/echo", "application/json"),
        ]
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "sovl-tools://instructions/{name}",
            "sovl-tools://manifest/{name}",
        ]
        [content] = (await client.read_resource(listed[0][0])).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == "Say little."
        [content] = (await client.read_resource(listed[1][0])).contents
        assert isinstance(content, types.TextResourceContents)
        assert json.loads(content.text) == manifest
        for uri in (
            "sovl-tools://manifest/ecko",
            "file:///etc/passwd",
            "sovl-tools://manifest/../x",
        ):
            with pytest.raises(Exception, match="there's no resource"):
                await client.read_resource(uri)
