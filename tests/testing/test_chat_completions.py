"""What Chat Completions rejects, as the ``openai`` client hears of it."""

from __future__ import annotations

from typing import Any

from sovl_tools.testing import ScriptedServer, says
from tests.tables import check_each
from tests.testing.openai_bodies import USER, chat_tool, refused_chat, tool
from tests.testing.provider_clients import client_of


def chat_call(identity: str = "call_1", name: str = "add") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": "{}"}}


def called(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [chat_call(each) for each in ids]}


def answered(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "3"}


GOOD_CHATS: dict[str, dict[str, Any]] = {
    "a string": {},
    "every role": {
        "messages": [
            {"role": "developer", "content": [{"type": "text", "text": "Be brief"}]},
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "name": "Ann"},
            {"role": "assistant", "content": None, "refusal": "No", "annotations": []},
        ]
    },
    "calls that are answered": {
        "messages": [
            USER,
            called("a", "b"),
            answered("b"),
            answered("a"),
            called("a"),
            answered("a"),
        ]
    },
    "a call of a custom tool": {
        "messages": [
            USER,
            {
                "role": "assistant",
                "tool_calls": [
                    {"id": "a", "type": "custom", "custom": {"name": "x", "input": "y"}}
                ],
            },
            answered("a"),
        ]
    },
    "tools": {
        "tools": [chat_tool(strict=True), chat_tool("sub"), {"type": "custom", "custom": {}}],
        "tool_choice": {"type": "function", "function": {"name": "sub"}},
        "parallel_tool_calls": False,
    },
    "a choice among tools": {
        "tools": [chat_tool()],
        "tool_choice": {"type": "allowed_tools", "allowed_tools": {}},
    },
    "a tool without parameters": {
        "tools": [{"type": "function", "function": {"name": "now"}}],
        "tool_choice": "required",
    },
    "no tool to choose": {"tool_choice": "none"},
    "settings": {"temperature": 0, "top_p": 0.5, "max_tokens": None, "stop": ["x"], "seed": 1},
}

# What the body has, and what the error says: its param, its code and a part of its message.
BAD_CHATS: dict[str, tuple[dict[str, Any], str | None, str | None, str]] = {
    "no model": ({"model": ""}, None, None, "you must provide a model parameter"),
    "a number for a model": ({"model": 1}, "model", "invalid_type", "expected a string"),
    "no messages": (
        {"messages": None},
        "messages",
        "invalid_type",
        "expected an array, but got null instead",
    ),
    "empty messages": ({"messages": []}, "messages", "empty_array", "Invalid 'messages': empty"),
    "an unknown key": ({"tool": []}, "tool", "unknown_parameter", "Unknown parameter: 'tool'"),
    "a key of Messages": ({"system": "x"}, "system", "unknown_parameter", "'system'"),
    "true for a number": ({"seed": True}, "seed", "invalid_type", "but got a boolean"),
    "an unknown role": (
        {"messages": [{"role": "model", "content": "x"}]},
        "messages[0].role",
        "invalid_value",
        "Supported values are: 'developer', 'system'",
    ),
    "no role": (
        {"messages": [{"content": "x"}]},
        "messages[0].role",
        "missing_required_parameter",
        "Missing required parameter: 'messages[0].role'",
    ),
    "a number for content": (
        {"messages": [{"role": "user", "content": 1}]},
        "messages[0].content",
        "invalid_type",
        "expected one of a string or an array, but got an integer instead",
    ),
    "an unknown key in a message": (
        {"messages": [{**USER, "reasoning_content": "x"}]},
        "messages[0].reasoning_content",
        "unknown_parameter",
        "Unknown parameter",
    ),
    "an assistant that says nothing": (
        {"messages": [USER, {"role": "assistant", "content": None}]},
        "messages.[1].content",
        None,
        "expected a string, got null",
    ),
    "an empty list of calls": (
        {"messages": [USER, {"role": "assistant", "content": "x", "tool_calls": []}]},
        "messages[1].tool_calls",
        "empty_array",
        "empty array",
    ),
    "arguments that are an object": (
        {
            "messages": [
                USER,
                {
                    "role": "assistant",
                    "tool_calls": [
                        {"id": "a", "type": "function", "function": {"name": "f", "arguments": {}}}
                    ],
                },
                answered("a"),
            ]
        },
        "messages[1].tool_calls[0].function.arguments",
        "invalid_type",
        "expected a string, but got an object",
    ),
    "a call with an odd name": (
        {
            "messages": [
                USER,
                {"role": "assistant", "tool_calls": [chat_call("a", "a.b")]},
                answered("a"),
            ]
        },
        "messages[1].tool_calls[0].function.name",
        "invalid_value",
        "does not match pattern",
    ),
    "a long id": (
        {"messages": [USER, called("a" * 41), answered("a" * 41)]},
        "messages[1].tool_calls[0].id",
        "string_above_max_length",
        "maximum length 40",
    ),
    "a call that is not answered": (
        {"messages": [USER, called("a", "b"), answered("b")]},
        "messages.[3].role",
        None,
        "did not have response messages: a",
    ),
    "a call that is answered too late": (
        {"messages": [USER, called("a"), USER, answered("a")]},
        "messages.[2].role",
        None,
        "must be followed by tool messages",
    ),
    "a call that is answered twice": (
        {"messages": [USER, called("a"), answered("a"), answered("a")]},
        "messages.[3].tool_call_id",
        None,
        "Duplicate value for 'tool_call_id' of 'a'",
    ),
    "two calls with one id": (
        {"messages": [USER, called("a", "a"), answered("a"), answered("a")]},
        "messages.[1].tool_calls",
        None,
        "Duplicate value for 'tool_call_id' of 'a'",
    ),
    "an answer to nothing": (
        {"messages": [USER, answered("a")]},
        "messages.[1].role",
        None,
        "must be a response to a preceeding message",
    ),
    "no tools in a list": ({"tools": []}, "tools", "empty_array", "Invalid 'tools': empty array"),
    "a tool as Responses spells it": (
        {"tools": [tool()]},
        "tools[0].function",
        "missing_required_parameter",
        "Missing required parameter: 'tools[0].function'",
    ),
    "a schema that is wrong": (
        {
            "tools": [
                chat_tool(parameters={"type": "object", "properties": {"a": {"type": "array"}}})
            ]
        },
        "tools[0].function.parameters",
        "invalid_function_parameters",
        "Invalid schema for function 'add': In context=('properties', 'a'), array schema missing",
    ),
    "a choice of no tool": (
        {"tools": [chat_tool()], "tool_choice": {"type": "function", "function": {"name": "sub"}}},
        "tool_choice",
        None,
        "no function named 'sub' was specified",
    ),
    "a choice without tools": (
        {"tool_choice": "auto"},
        "tool_choice",
        None,
        "'tool_choice' is only allowed when 'tools' are specified",
    ),
    "parallel calls without tools": (
        {"parallel_tool_calls": True},
        "parallel_tool_calls",
        None,
        "only allowed when 'tools' are specified",
    ),
    "options of a stream that isn't one": (
        {"stream_options": {"include_usage": True}},
        "stream_options",
        None,
        "only allowed when 'stream' is enabled",
    ),
}


@check_each("name", GOOD_CHATS)
def test_chat_completions_accepts(name: str) -> None:
    with ScriptedServer([says("Hi")]) as server, client_of("openai", server) as client:
        client.chat.completions.create(model="m", messages=[USER], extra_body=GOOD_CHATS[name])
    assert server.requests[0].errors == ()


@check_each("name", BAD_CHATS)
def test_chat_completions_refuses(name: str) -> None:
    body, param, code, message = BAD_CHATS[name]
    error = refused_chat(body)
    assert message in error.message
    assert (error.param, error.code) == (param, code)
