"""Results as messages for a model, against the types of the providers' SDKs."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from anthropic.types import MessageParam
from google.genai.types import Content as GeminiContent
from openai.types.chat import ChatCompletionToolMessageParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from sovl_tools import (
    Audio,
    EmbeddedResource,
    Image,
    Text,
    Tooler,
    ToolError,
    ToolRegistry,
    ToolResult,
)
from sovl_tools.testing import ScriptedServer, calls, says
from tests.tables import check_each

PNG = Image(b"\x89PNG\r\n\x1a\n")
FORMATS = ("openai", "openai-responses", "anthropic", "gemini")
TYPES: dict[str, Any] = {
    "openai": ChatCompletionToolMessageParam,
    "openai-responses": FunctionCallOutput,
    "anthropic": MessageParam,
    "gemini": GeminiContent,
}


def result_of(returned: Any) -> ToolResult:
    registry = ToolRegistry()

    @registry.tool
    def work() -> Any:
        """Work."""
        if isinstance(returned, Exception):
            raise returned
        return returned

    return Tooler(registry).call_sync("work")


RETURNED = [
    8,
    None,
    "",
    "done",
    {"a": [1.5, None, "ü"]},
    [],
    PNG,
    [Text(""), PNG, "and a string"],
    Image(b"GIF89a"),
    Image(b"any", "image/tiff"),
    Audio(b"OggS"),
    EmbeddedResource("a:b", "content"),
    ToolError("no"),
    ToolError(""),
    ValueError("\ud800"),
]


@pytest.mark.unmeasured
@check_each("returned", RETURNED, ids=repr)
@check_each("form", FORMATS)
def test_a_message_is_what_the_sdk_takes_and_can_be_sent(form: str, returned: Any) -> None:
    message = result_of(returned).to_message(form, call_id="c1")
    json.dumps(message, ensure_ascii=False, allow_nan=False).encode()
    TypeAdapter(TYPES[form], config=None).validate_python(message)
    assert "c1" in json.dumps(message)


def test_a_value_is_told_as_text_or_as_an_object() -> None:
    result = result_of({"sum": 8})
    told = '{"sum": 8}'
    assert result.to_message("openai", call_id="c1") == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": told,
    }
    assert result.to_message("openrouter", call_id="c1") == result.to_message(
        "openai", call_id="c1"
    )
    assert result.to_message("openai-responses", call_id="c1") == {
        "type": "function_call_output",
        "call_id": "c1",
        "output": told,
    }
    block = {"type": "tool_result", "tool_use_id": "c1", "content": told}
    assert result.to_message("anthropic", call_id="c1") == {"role": "user", "content": [block]}
    response = {"id": "c1", "name": "work", "response": {"output": {"sum": 8}}}
    assert result.to_message("gemini", call_id="c1") == {
        "role": "user",
        "parts": [{"functionResponse": response}],
    }


def test_an_error_is_told_as_one() -> None:
    result = result_of(ToolError("no such place"))
    assert result.to_message("openai", call_id="c1")["content"] == "no such place"
    assert result.to_message("openai-responses", call_id="c1")["output"] == "no such place"
    (block,) = result.to_message("anthropic", call_id="c1")["content"]
    assert (block["content"], block["is_error"]) == ("no such place", True)
    (part,) = result.to_message("gemini")["parts"]
    assert part["functionResponse"] == {"name": "work", "response": {"error": "no such place"}}


def test_a_picture_goes_along_where_the_provider_takes_it() -> None:
    result = result_of(["look:", PNG])
    data = PNG.to_json()["data"]
    assert result.to_message("openai", call_id="c")["content"] == "look:\n[image/png, not shown]"
    assert result.to_message("openai-responses", call_id="c")["output"] == [
        {"type": "input_text", "text": "look:"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{data}", "detail": "auto"},
    ]
    (block,) = result.to_message("anthropic", call_id="c")["content"]
    source = {"type": "base64", "media_type": "image/png", "data": data}
    assert block["content"] == [
        {"type": "text", "text": "look:"},
        {"type": "image", "source": source},
    ]
    (part,) = result.to_message("gemini")["parts"]
    assert part["functionResponse"]["response"] == {"output": "look:"}
    assert part["functionResponse"]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": data}}
    ]


def test_what_a_provider_is_not_shown_is_said() -> None:
    for form, shown in {"openai-responses": True, "anthropic": True, "gemini": False}.items():
        message = json.dumps(result_of(Image(b"GIF89a")).to_message(form, call_id="c"))
        assert ("[image/gif, not shown]" in message) != shown
        message = json.dumps(result_of(Audio(b"OggS")).to_message(form, call_id="c"))
        assert "[audio/ogg, not shown]" in message


def test_a_format_that_there_is_not_and_a_missing_id_are_refused() -> None:
    result = result_of(8)
    with pytest.raises(ValueError, match="no message format 'antropic'; did you mean 'anthropic'"):
        result.to_message("antropic", call_id="c")
    with pytest.raises(ValueError, match="there are openai, openai-responses, anthropic, gemini"):
        result.to_message("x", call_id="c")
    with pytest.raises(TypeError, match="a message for openai needs call_id"):
        result.to_message("openai")


def test_a_loop_of_ones_own_needs_no_more() -> None:
    registry = ToolRegistry()

    @registry.tool
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    tooler = Tooler(registry)
    items: list[Any] = [{"role": "user", "content": "Add"}]
    script = [calls(("add", {"a": 1, "b": 2}), ("add", {"a": 1})), says("3")]
    with (
        ScriptedServer(script) as server,
        openai.OpenAI(base_url=server.openai_url, api_key="any") as client,
    ):
        tools = registry.definitions("openai-responses")
        response = client.responses.create(model="m", input=items, tools=tools)
        items += response.output
        for call in response.output:
            if call.type == "function_call":
                result = tooler.call_sync(call.name, call.arguments)
                items.append(result.to_message("openai-responses", call_id=call.call_id))
        assert client.responses.create(model="m", input=items, tools=tools).output_text == "3"
