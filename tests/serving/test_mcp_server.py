from __future__ import annotations

import base64
import json
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from sovl_tools import ToolDefinition, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.serving.conftest import client_of, served
from tests.tables import check_each

CONTENT = """
from sovl_tools import Audio, EmbeddedResource, Image


def content(text: str) -> list:
    return [
        text,
        {"a": 1},
        Image(b"\\x89PNG\\r\\n\\x1a\\n"),
        Audio(b"fLaC"),
        EmbeddedResource("memo://1", "a memo", "text/plain"),
        EmbeddedResource("memo://2", b"\\xff", "application/x-memo"),
    ]
"""


def result(call: types.CallToolResult) -> tuple[bool, Any, str]:
    """Return whether a call failed, its structured content, and its text."""
    [block] = call.content
    assert isinstance(block, types.TextContent)
    return call.is_error, call.structured_content, block.text


async def test_tools_are_listed_as_their_manifests_have_them(write: Write, era: str) -> None:
    manifest = manifest_of(
        "echo",
        title="Echo",
        annotations={"read_only": True, "open_world": False},
        output_schema={"type": "object", "properties": {"said": {"type": "string"}}},
        metadata={"icons": [{"src": "https://example.com/echo.png", "mimeType": "image/png"}]},
    )
    tools = write("echo", manifest).parent
    write("add")
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        listed = await client.list_tools()
    assert [each.name for each in listed.tools] == ["add", "echo"]
    echo = listed.tools[1]
    assert (echo.title, echo.description) == ("Echo", "Say something.")
    assert echo.input_schema == manifest["parameters"]
    assert echo.output_schema == manifest["output_schema"]
    assert echo.annotations is not None
    assert (echo.annotations.read_only_hint, echo.annotations.open_world_hint) == (True, False)
    assert echo.icons is not None
    assert echo.icons[0].src == "https://example.com/echo.png"
    assert listed.ttl_ms == 0


async def test_a_list_comes_in_pages_that_skip_nothing(write: Write, era: str) -> None:
    names = ["ant", "bee", "cat", "dog", "eel"]
    tools = [write(name).parent for name in names].pop()
    async with client_of(served(ToolRegistry.from_directory(tools), page_size=2), era) as client:
        found, cursor = [], None
        while True:
            listed = await client.list_tools(cursor=cursor)
            found.append([each.name for each in listed.tools])
            cursor = listed.next_cursor
            if cursor is None:
                break
        assert found == [["ant", "bee"], ["cat", "dog"], ["eel"]]
        with pytest.raises(MCPError, match="'page 2' isn't a cursor of this list"):
            await client.list_tools(cursor="page 2")


async def test_a_value_is_structured_and_a_text_for_models(write: Write, era: str) -> None:
    code = "def echo(text: str) -> dict:\n    return {'said': text}\n"
    registry = ToolRegistry.from_directory(write("echo", code=code).parent)
    write("plain")
    registry.reload()
    async with client_of(served(registry), era) as client:
        said = await client.call_tool("echo", {"text": "hällo"})
        assert result(said) == (False, {"said": "hällo"}, '{"said": "hällo"}')
        plain = await client.call_tool("plain", {"text": "hi"})
        assert result(plain) == (False, None, "hi")


async def test_every_kind_of_content_comes_as_a_block(write: Write, era: str) -> None:
    tools = write("content", code=CONTENT).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        call = await client.call_tool("content", {"text": "hi"})
    text, value, image, audio, memo, blob = call.content
    assert isinstance(text, types.TextContent)
    assert isinstance(value, types.TextContent)
    assert (text.text, value.text) == ("hi", '{"a":1}')
    assert isinstance(image, types.ImageContent)
    assert (base64.b64decode(image.data)[1:4], image.mime_type) == (b"PNG", "image/png")
    assert isinstance(audio, types.AudioContent)
    assert (base64.b64decode(audio.data), audio.mime_type) == (b"fLaC", "audio/flac")
    assert isinstance(memo, types.EmbeddedResource)
    assert isinstance(memo.resource, types.TextResourceContents)
    assert (memo.resource.uri, memo.resource.text) == ("memo://1", "a memo")
    assert isinstance(blob, types.EmbeddedResource)
    assert isinstance(blob.resource, types.BlobResourceContents)
    assert base64.b64decode(blob.resource.blob) == b"\xff"


async def test_what_is_no_object_is_wrapped_where_the_version_needs_it(
    write: Write, era: str
) -> None:
    output = {
        "type": "array",
        "items": {"anyOf": [{"$ref": "#/$defs/word"}, {"$ref": "#"}]},
        "$defs": {"word": {"type": "string"}},
    }
    manifest = manifest_of("words", output_schema=output)
    code = "def words(text: str) -> list:\n    return [text.split(), 'end']\n"
    tools = write("words", manifest, code).parent
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        [listed] = (await client.list_tools()).tools
        # the client itself holds the result to the schema
        call = await client.call_tool("words", {"text": "a b"})
    if era == "legacy":
        assert listed.output_schema == {
            "type": "object",
            "properties": {
                "result": {
                    "type": "array",
                    "items": {"anyOf": [{"$ref": "#/$defs/word"}, {"$ref": "#/properties/result"}]},
                }
            },
            "required": ["result"],
            "$defs": {"word": {"type": "string"}},
        }
        assert call.structured_content == {"result": [["a", "b"], "end"]}
    else:
        assert listed.output_schema == output
        assert call.structured_content == [["a", "b"], "end"]


async def test_what_a_model_got_wrong_is_a_result_that_it_can_act_on(
    write: Write, era: str
) -> None:
    code = "from sovl_tools import ToolError\n\n\ndef echo(text: str) -> str:\n"
    tools = write("echo", code=f"{code}    raise ToolError(f'there is no {{text}}')\n").parent
    write("broken", code="def broken(text: str) -> str\n")
    async with client_of(served(ToolRegistry.from_directory(tools)), era) as client:
        wrong = "invalid arguments for echo:\n- text: must be a string, not the integer 3"
        assert result(await client.call_tool("echo", {"text": 3})) == (True, None, wrong)
        assert result(await client.call_tool("echo"))[0]
        failed = await client.call_tool("echo", {"text": "file"})
        assert result(failed) == (True, None, "there is no file")
        is_error, _, words = result(await client.call_tool("broken", {"text": "x"}))
        assert is_error
        assert "is not available: broken/" in words
        assert str(tools) not in words
        with pytest.raises(MCPError, match="there's no tool 'ecko'; did you mean 'echo'") as caught:
            await client.call_tool("ecko", {})
        assert caught.value.error.code == types.INVALID_PARAMS


async def test_what_the_protocol_refuses_of_one_tool_leaves_out_that_tool(
    write: Write, era: str, caplog: pytest.LogCaptureFixture
) -> None:
    tools = write("echo").parent
    headed = manifest_of("headed")
    headed["parameters"]["properties"]["text"]["x-mcp-header"] = "no token"
    write("headed", headed)
    write("iconic", manifest_of("iconic", metadata={"icons": [{"src": 1}]}))
    with caplog.at_level("WARNING", "sovl_tools"):
        server = served(ToolRegistry.from_directory(tools))
    async with client_of(server, era) as client:
        assert [each.name for each in (await client.list_tools()).tools] == ["echo"]
    reasons = {each.tool: each.reason for each in server.advertised.left_out}
    assert reasons["headed"].startswith("property 'text': x-mcp-header 'no token'")
    assert reasons["iconic"] == "the protocol rejects icons.0.src: Input should be a valid string"
    assert [each for each in caplog.messages if "is not offered" in each] == [
        str(each) for each in server.advertised.left_out
    ]


EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


@check_each(
    ("name", "is_offered"),
    [
        ("filter[x]", False),
        ("a" * 65, False),
        ("x-request-id", True),
        ("a" * 64, True),
    ],
)
async def test_a_tool_that_a_provider_would_reject_is_not_offered(
    name: str, era: str, *, is_offered: bool
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "integer", "description": "It."}}}
    registry = ToolRegistry()
    registry.register(ToolDefinition("odd", "Take it.", schema, lambda **given: len(given)))
    registry.register(ToolDefinition("fine", "Take it.", EMPTY, lambda: 1))
    server = served(registry)
    async with client_of(server, era) as client:
        offered = {each.name for each in (await client.list_tools()).tools}
    assert offered == ({"fine", "odd"} if is_offered else {"fine"})
    assert [each.tool for each in server.advertised.left_out] == ["odd"] * (not is_offered)


@check_each(
    "keywords",
    [
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"required": ["a"]}, {"anyOf": [{"required": ["b"]}, {}]}]},
        {"$ref": "#/$defs/c", "$defs": {"c": {"anyOf": [{"required": ["a"]}, {}]}}},
    ],
)
async def test_clients_get_a_plain_object_and_the_server_checks_all(
    keywords: dict[str, Any], era: str
) -> None:
    integer = {"type": "integer", "description": "It."}
    schema = {"type": "object", "properties": {"a": integer, "b": integer}, **keywords}
    registry = ToolRegistry()
    registry.register(ToolDefinition("odd", "Take it.", schema, lambda **given: len(given)))
    async with client_of(served(registry), era) as client:
        (tool,) = (await client.list_tools()).tools
        assert not {"anyOf", "oneOf", "allOf", "not", "$ref"} & tool.input_schema.keys()
        assert {"a", "b"} <= tool.input_schema["properties"].keys()
        assert result(await client.call_tool("odd", {"a": 1}))[0] is False


async def test_a_schema_that_functions_make_is_made_for_each_list(era: str) -> None:
    names = ["a"]
    made: list[str] = []
    registry = ToolRegistry()

    def choices() -> list[str]:
        made.append(names[0])
        return [*names]

    @registry.tool(
        params={"name": {"type": "string", "enum": choices}}, activation_phrases=["pick a name"]
    )
    def pick(name: str) -> str:
        """Pick a name."""
        return name

    async with client_of(served(registry), era) as client:
        for each in ("a", "b"):
            names[:] = [each]
            [listed] = (await client.list_tools()).tools
            assert listed.input_schema["properties"]["name"]["enum"] == [each]
        made.clear()
        assert not (await client.call_tool("pick", {"name": "b"})).is_error
        assert [each.name for each in (await client.list_prompts()).prompts] == ["pick"]
        # by the call, and by nothing else
        assert len(made) == 1
        [content] = (await client.read_resource("sovl-tools://manifest/pick")).contents
        assert isinstance(content, types.TextResourceContents)
        properties = json.loads(content.text)["parameters"]["properties"]
        assert properties["name"]["enum"] == ["b"]
        names[:] = []
        with pytest.raises(MCPError, match="list index out of range"):
            await client.read_resource("sovl-tools://manifest/pick")
