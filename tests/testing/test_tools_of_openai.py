"""The tools that both of OpenAI's APIs reject."""

from __future__ import annotations

from typing import Any

from tests.tables import check_each
from tests.testing.openai_bodies import chat_tool, refused_chat, refused_response, tool

BAD_TOOLS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str, str, str]] = {
    "an odd name": ([("a.b", {})], "{}.name", "invalid_value", "does not match pattern"),
    "no name": ([("", {})], "{}.name", "invalid_value", "does not match pattern"),
    "a long name": ([("a" * 65, {})], "{}.name", "string_above_max_length", "length 65"),
    "two of a name": ([("a", {}), ("a", {})], "tools", "invalid_value", "Duplicate function name"),
    "too many": (
        [(f"tool_{number}", {}) for number in range(129)],
        "tools",
        "array_above_max_length",
        "Expected an array with maximum length 128, but got an array with length 129",
    ),
    "a number for a description": (
        [("a", {"description": 1})],
        "{}.description",
        "invalid_type",
        "expected",
    ),
    "an unknown key": ([("a", {"input_schema": {}})], "{}.input_schema", "unknown_parameter", "Un"),
}


@check_each("name", BAD_TOOLS)
def test_both_refuse_tools(name: str) -> None:
    tools, param, code, message = BAD_TOOLS[name]
    in_chat = refused_chat({"tools": [chat_tool(each, **more) for each, more in tools]})
    in_response = refused_response({"tools": [tool(each, **more) for each, more in tools]})
    assert message in in_chat.message
    assert message in in_response.message
    assert (in_chat.param, in_chat.code) == (param.format("tools[0].function"), code)
    assert (in_response.param, in_response.code) == (param.format("tools[0]"), code)
