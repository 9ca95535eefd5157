"""What Anthropic's Messages rejects, as the ``anthropic`` client hears of it."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from sovl_tools.testing import ScriptedServer, calls, says
from tests.tables import check_each
from tests.testing.provider_clients import client_of

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}
USER = {"role": "user", "content": "Hello"}
CACHED: dict[str, Any] = {"cache_control": {"type": "ephemeral"}}


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": content, **more}


def use(identity: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "add", "input": {}, **more}


def result(identity: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": "3", **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


def tool(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": SCHEMA, **more}


def tools(**more: Any) -> dict[str, Any]:
    return {"tools": [tool(**more)]}


def closed(**properties: Any) -> dict[str, Any]:
    required = [*properties]
    return {
        "type": "object", "properties": properties, "required": required,
        "additionalProperties": False,
    }  # fmt: skip


GOOD: dict[str, dict[str, Any]] = {
    "a string": {},
    "every block": {
        "messages": [
            user(text("Hi", **CACHED), {"type": "image", "source": {}}),
            assistant(text("Well", citations=None), use("a"), use("b")),
            user(
                result("b", is_error=True),
                result("a", content=[text("3"), {"type": "document", "source": {}}]),
                text("And now?"),
            ),
        ],
        "system": [text("Be brief")],
    },
    "results in two messages": {
        "messages": [USER, assistant(use("a"), use("b")), user(result("a")), user(result("b"))]
    },
    "a result without content": {
        "messages": [USER, assistant(use("a")), user({"type": "tool_result", "tool_use_id": "a"})]
    },
    "a beginning of the answer": {
        "messages": [USER, {"role": "assistant", "content": "It is"}],
        "system": "Be brief",
    },
    "an empty beginning": {"messages": [USER, {"role": "assistant", "content": ""}]},
    "a tool use at the beginning": {
        "messages": [USER, assistant({"type": "server_tool_use", "id": "srvtoolu_1"})]
    },
    "a word of the system after the user's": {
        "messages": [USER, {"role": "system", "content": "Be brief"}]
    },
    "tools": {
        "tools": [
            tool(strict=True, input_schema=closed(a={"type": "integer"}), **CACHED),
            tool("sub", type="custom", input_examples=[{"a": 1}]),
            {"type": "web_search_20250305", "name": "web_search"},
        ],
        "tool_choice": {"type": "tool", "name": "sub", "disable_parallel_tool_use": True},
    },
    "no tool to choose": {"tool_choice": {"type": "none"}},
    "thinking": {
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "max_tokens": 2048,
        **tools(),
        "tool_choice": {"type": "auto"},
    },
    "settings": {"stop_sequences": ["x"], "temperature": 0, "metadata": {"user_id": "u"}},
}

BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no limit": ({"max_tokens": None}, "max_tokens: Input should be a valid integer"),
    "a limit that is true": ({"max_tokens": True}, "max_tokens: Input should be a valid integer"),
    "a limit of none": ({"max_tokens": -1}, "max_tokens: Input should be greater than or equal"),
    "a limit of none in a stream": ({"max_tokens": 0, "stream": True}, "max_tokens: Input should"),
    "no messages": ({"messages": []}, "messages: at least one message is required"),
    "messages that aren't any": ({"messages": "Hi"}, "messages: Input should be a valid list"),
    "an unknown key": ({"odd": 1}, "odd: Extra inputs are not permitted"),
    "an unknown key in a block": (
        {"messages": [user(text("Hi", parsed_output=None))]},
        "messages.0.content.0.text.parsed_output: Extra inputs are not permitted",
    ),
    "a block without its key": (
        {"messages": [USER, assistant({"type": "tool_use", "id": "a", "name": "add"})]},
        "messages.1.content.0.tool_use.input: Field required",
    ),
    "input that is a string": (
        {"messages": [USER, assistant(use("a", input="{}")), user(result("a"))]},
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "a block of no type": (
        {"messages": [user({"text": "Hi"})]},
        "messages.0.content.0.type: Field required",
    ),
    "a block of OpenAI": (
        {"messages": [user({"type": "input_text", "text": "Hi"})]},
        "messages.0.content.0.type: Input should be 'text',",
    ),
    "a role of OpenAI": (
        {"messages": [{"role": "tool", "content": "3"}]},
        "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ),
    "the system first": (
        {"messages": [{"role": "system", "content": "Be brief"}, USER]},
        'messages.0: Unexpected role "system"',
    ),
    "the system after the assistant": (
        {
            "messages": [
                USER,
                assistant(text("Hi")),
                {"role": "system", "content": "Be brief"},
                USER,
            ]
        },
        'messages.2: Unexpected role "system"',
    ),
    "the assistant first": (
        {"messages": [assistant(text("Hi")), USER]},
        'messages: first message must use the "user" role',
    ),
    "an empty text": (
        {"messages": [user(text(""))]},
        "messages: text content blocks must be non-empty",
    ),
    "an empty text of the system": (
        {"system": [text("")]},
        "system: text content blocks must be non-empty",
    ),
    "a blank text": (
        {"messages": [{"role": "user", "content": " \n"}]},
        "messages: text content blocks must contain non-whitespace text",
    ),
    "an empty message": (
        {"messages": [{"role": "user", "content": ""}]},
        "messages.0: all messages must have non-empty content except for the optional final",
    ),
    "an empty message of the assistant": (
        {"messages": [USER, assistant(), USER]},
        "messages.1: all messages must have non-empty content except for the optional final",
    ),
    "an empty text in a result": (
        {"messages": [USER, assistant(use("a")), user(result("a", content=[text("")]))]},
        "text content blocks must be non-empty",
    ),
    "an image in an error": (
        {
            "messages": [
                USER,
                assistant(use("a")),
                user(result("a", is_error=True, content=[{"type": "image", "source": {}}])),
            ]
        },
        "all content must be type `text` if `is_error` is true",
    ),
    "a beginning that ends with a blank": (
        {"messages": [USER, {"role": "assistant", "content": "It is "}]},
        "messages: final assistant content cannot end with trailing whitespace",
    ),
    "a tool use of the user": (
        {"messages": [user(use("a")), assistant(text("Hi"))]},
        "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
    ),
    "a result of the assistant": (
        {"messages": [USER, assistant(result("a")), USER]},
        "messages.1.content.0: `tool_result` blocks can only be in `user` messages",
    ),
    "an odd id": (
        {"messages": [USER, assistant(use("a.b")), user(result("a.b"))]},
        "messages.1.content.0.tool_use.id: String should match pattern",
    ),
    "a use without a result": (
        {"messages": [USER, assistant(use("a"), use("b")), user(result("b"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ),
    "a use at the end": (
        {"messages": [USER, assistant(use("a"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ),
    "a string before the result": (
        {"messages": [USER, assistant(use("a")), user(text("Well"), result("a"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ),
    "a result that comes late": (
        {"messages": [USER, assistant(use("a")), USER, assistant(text("x")), user(result("a"))]},
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ),
    "a result of nothing": (
        {"messages": [user(result("a"))]},
        "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.",
    ),
    "two results of a use": (
        {"messages": [USER, assistant(use("a")), user(result("a"), result("a"))]},
        "messages.2.content.1: each tool_use must have a single result.",
    ),
    "two uses of an id": (
        {"messages": [USER, assistant(use("a"), use("a")), user(result("a"))]},
        "messages.1: `tool_use` ids must be unique",
    ),
    "thinking that was made up": (
        {
            "messages": [
                USER,
                assistant({"type": "thinking", "thinking": "hm", "signature": "x"}, text("Hi")),
                USER,
            ]
        },
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "an odd mark for the cache": (
        {"system": [text("x", cache_control={"type": "forever"})]},
        "system.0.text.cache_control.type: Input should be 'ephemeral'",
    ),
    "too many marks for the cache": (
        {"system": [text("x", **CACHED)] * 4, **tools(**CACHED)},
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
    "a small budget": (
        {"thinking": {"type": "enabled", "budget_tokens": 9}},
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
    ),
    "a budget beyond the limit": (
        {"thinking": {"type": "enabled", "budget_tokens": 1024}},
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    ),
    "a tool as OpenAI spells it": (
        {"tools": [{"type": "function", "function": {"name": "add"}}]},
        "tools.0.name: Field required",
    ),
    "a tool without a schema": (
        {"tools": [{"name": "add"}]},
        "tools.0.custom.input_schema: Field required",
    ),
    "an odd name": (tools(name="a.b"), "tools.0.custom.name: String should match pattern"),
    "two of a name": ({"tools": [tool(), tool()]}, "tools: Tool names must be unique."),
    "only deferred tools": (tools(defer_loading=True), "All tools have defer_loading set."),
    "a deferred tool in the cache": (
        {"tools": [tool(), tool("sub", defer_loading=True, **CACHED)]},
        "cannot have both defer_loading=true and cache_control set",
    ),
    "an array for a schema": (
        tools(input_schema={"type": "array", "items": {}}),
        "tools.0.custom.input_schema.type: Input should be 'object'",
    ),
    "a union for a schema": (
        tools(input_schema={"type": "object", "anyOf": [{}]}),
        "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf",
    ),
    "no schema": (
        tools(input_schema={"type": "object", "required": "a"}),
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft",
    ),
    "an odd property": (
        tools(input_schema={"type": "object", "properties": {"a b": {}}}),
        "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
    ),
    "an example that does not match": (
        tools(input_examples=[{"a": 1}, {"a": "x"}]),
        "tools.0.custom.input_examples.1: the example does not match",
    ),
    "an open schema in a strict tool": (
        tools(strict=True),
        "For 'object' type, 'additionalProperties' must be explicitly set to false",
    ),
    "too many strict tools": (
        {"tools": [tool(f"t{each}", strict=True, input_schema=closed()) for each in range(21)]},
        "Schemas contain too many strict tools (21). The limit is 20.",
    ),
    "a choice of no tool": (
        {**tools(), "tool_choice": {"type": "tool", "name": "sub"}},
        "tool_choice: Tool 'sub' not found in provided tools",
    ),
    "a choice without tools": (
        {"tool_choice": {"type": "auto"}},
        "tool_choice: tool_choice may only be specified while providing tools.",
    ),
    "a choice as OpenAI spells it": (
        {**tools(), "tool_choice": "auto"},
        "tool_choice: Input should be a valid dictionary",
    ),
    "a choice that thinking forbids": (
        {
            **tools(),
            "tool_choice": {"type": "any"},
            "max_tokens": 2048,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
        },
        "Thinking may not be enabled when tool_choice forces tool use.",
    ),
}


def ask(client: Any, **body: Any) -> Any:
    return client.messages.create(
        **{"model": "m", "max_tokens": 9, "messages": [USER], **body.pop("given", {})},
        extra_body=body,
    )


@check_each("name", GOOD)
def test_messages_accepts(name: str) -> None:
    with ScriptedServer([says("Hi")]) as server, client_of("anthropic", server) as client:
        ask(client, **GOOD[name])
    assert server.requests[0].errors == ()


@check_each("name", BAD)
def test_messages_refuses(name: str) -> None:
    body, message = BAD[name]
    with (
        ScriptedServer([], strict=False) as server,
        client_of("anthropic", server) as client,
        pytest.raises(anthropic.BadRequestError) as caught,
    ):
        ask(client, **body)
    error: Any = caught.value.body
    assert error["error"]["type"] == "invalid_request_error"
    assert message in error["error"]["message"]
    assert server.requests[0].errors[0] == error["error"]["message"]


THOUGHTFUL = calls(("add", {"a": 1}, "a"), text="Let me see", reasoning="Add them")


def test_an_answer_can_be_sent_back_as_it_is() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4", reasoning="hm"), says("Bye")]) as server,
        client_of("anthropic", server) as client,
    ):
        told: list[Any] = [USER]
        told += [{"role": "assistant", "content": ask(client).content}, user(result("a"))]
        second = ask(client, given={"messages": told})
        told += [{"role": "assistant", "content": second.content}, USER]
        ask(client, given={"messages": told})


def test_thinking_must_come_back_unchanged_before_the_tool_use() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4")], strict=False) as server,
        client_of("anthropic", server) as client,
    ):
        thought, said, made = (block.to_dict() for block in ask(client).content)
        changed = {**thought, "thinking": ""}
        for blocks, message in (
            ([said, made], "Expected `thinking` or `redacted_thinking`, but found `text`"),
            ([made], "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
            ([changed, said, made], "Invalid `signature` in `thinking` block"),
            (
                [said, thought, made],
                "blocks in the latest assistant message cannot be modified",
            ),
        ):
            with pytest.raises(anthropic.BadRequestError, match=message):
                ask(client, messages=[USER, assistant(*blocks), user(result("a"))])
        disabled = {"thinking": {"type": "disabled"}}
        ask(client, messages=[USER, assistant(said, made), user(result("a"))], **disabled)


def test_thinking_of_earlier_turns_may_be_left_out() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4")]) as server,
        client_of("anthropic", server) as client,
    ):
        _, said, made = (block.to_dict() for block in ask(client).content)
        past = [USER, assistant(said, made), user(result("a")), assistant(text("4")), USER]
        ask(client, messages=past)
