"""Requests as they come in: what the server writes down, and what it rejects as the APIs do."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from sovl_tools.testing import ScriptedServer, calls, says
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, ask, client_of, create

PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)
PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
HEADERS = {
    "openai": {"authorization": "Bearer any"},
    "openai-responses": {"authorization": "Bearer any"},
    "anthropic": {"x-api-key": "any", "anthropic-version": "2023-06-01"},
}
USER = {"role": "user", "content": "Hi"}
BODIES: dict[str, dict[str, Any]] = {
    "openai": {"model": "m", "messages": [USER]},
    "openai-responses": {"model": "m", "input": [USER]},
    "anthropic": {"model": "m", "max_tokens": 9, "messages": [USER]},
}


def post(server: ScriptedServer, path: str, **more: Any) -> httpx2.Response:
    with httpx2.Client(verify=False) as client:
        return client.post(f"{server.url}{path}", **more)


def errors(provider: str, body: dict[str, Any]) -> tuple[str, ...]:
    """Return the errors that an API has about a request."""
    with ScriptedServer([says("Hi")], strict=False) as server:
        told = {**BODIES[provider], **body}
        post(server, PATHS[provider], content=json.dumps(told), headers=HEADERS[provider])
    return server.requests[0].errors


@PROVIDER
def test_requests_are_written_down(provider: str) -> None:
    with ScriptedServer([says("Hi"), says("Hi")]) as server:
        ask(provider, server)
        ask(provider, server, stream=True)
    plain, streaming = server.requests
    assert (plain.provider, plain.path) == (provider, PATHS[provider])
    assert plain.body["model"] == "m"
    assert b'"model":"m"' in plain.content
    assert plain.headers["content-type"] == "application/json"
    assert plain.errors == ()
    assert [plain.is_streaming, streaming.is_streaming] == [False, True]


MESSAGES_BODY, KEY = BODIES["anthropic"], HEADERS["anthropic"]


@check_each(
    ("path", "body", "headers", "status", "words"),
    [
        ("/v1/responses", {}, {"authorization": "Bearer"}, 401, "API key"),
        ("/v1/messages", MESSAGES_BODY, {"anthropic-version": "1"}, 401, "authentication_error"),
        ("/v1/messages", MESSAGES_BODY, {"authorization": "Bearer any"}, 400, "anthropic-version"),
        ("/v1/messages?beta=true", MESSAGES_BODY, KEY, 200, '"text": "Hi"'),
        ("/v1/messages", [], KEY, 400, "is required"),
        ("/v1/completions", {}, {}, 404, "/v1/completions"),
    ],
)
def test_paths_headers_and_the_form_of_a_body_decide_first(
    path: str, body: Any, headers: dict[str, str], status: int, words: str
) -> None:
    with ScriptedServer([says("Hi")], strict=False) as server:
        answer = post(server, path, json=body, headers=headers)
    assert answer.status_code == status
    assert words in answer.text
    assert (server.requests[0].provider == "") == (status == 404)


@PROVIDER
def test_the_first_error_is_answered_and_all_are_written_down(provider: str) -> None:
    body = {**BODIES[provider], "one": 1, "two": 2}
    with ScriptedServer([], strict=False) as server:
        answer = post(server, PATHS[provider], json=body, headers=HEADERS[provider])
    (request,) = server.requests
    assert answer.json()["error"]["message"] == request.errors[0]
    assert ["one" in request.errors[0], "two" in request.errors[1]] == [True, True]


OPEN = {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}}
CLOSED = {**OPEN, "required": ["a"], "additionalProperties": False}
CACHED = {"cache_control": {"type": "ephemeral"}}


def chat_tool(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": CLOSED, **more}}


def chat_call(identity: str = "a", name: str = "add", arguments: Any = "{}") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": identity, "type": "function", "function": function}


def called(*made: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [*made]}


def answered(identity: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": "3"}


def tool(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": CLOSED, "strict": True, **more}


def call(identity: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": "add", "arguments": "{}", **more}


def output(identity: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": "3", **more}


def text(content: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": content, **more}


def use(identity: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identity, "name": "add", "input": {}, **more}


def result(identity: str = "a", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identity, "content": "3", **more}


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks]}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": [*blocks]}


def custom(name: str = "add", **more: Any) -> dict[str, Any]:
    return {"name": name, "input_schema": OPEN, **more}


ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    ("openai", {"messages": [
        {"role": "developer", "content": [text("Be brief")]}, {"role": "system", "content": "x"},
        {"role": "user", "content": [text("Hi")], "name": "Ann"},
        {"role": "assistant", "content": None, "refusal": "No", "annotations": []},
    ]}),
    ("openai", {"messages": [
        USER, called(chat_call("a"), chat_call("b")), answered("b"), answered("a"),
        called(chat_call("a")), answered("a"),
    ]}),
    ("openai", {"tools": [chat_tool(strict=True), chat_tool("sub"), {"type": "custom"}],
                "tool_choice": {"type": "function", "function": {"name": "sub"}}}),
    ("openai", {"tools": [{"type": "function", "function": {"name": "now"}}],
                "tool_choice": "required", "parallel_tool_calls": False}),
    ("openai", {"tool_choice": "none", "temperature": 0, "max_tokens": None, "stop": ["x"]}),
    ("openai-responses", {"model": None, "input": None, "prompt": {"id": "pmpt_1"}}),
    ("openai-responses", {"conversation": "conv_1", "input": [output()]}),
    ("openai-responses", {"previous_response_id": "resp_1", "input": [output()]}),
    ("openai-responses", {"input": [
        {"type": "message", **USER},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Well"}], "id": "msg_1"},
        call("a", id="fc_1", status="completed"), call("b"),
        {"type": "web_search_call", "id": "ws_1", "status": "completed"},
        output("b"), output("a", output=[{"type": "input_text", "text": "3"}]),
    ]}),
    ("openai-responses", {"tools": [tool(), tool("now", parameters=None), {"type": "web_search"}],
                          "tool_choice": {"type": "function", "name": "now"}}),
    ("anthropic", {"messages": [
        user(text("Hi", **CACHED), {"type": "image", "source": {}}),
        assistant(text("Well", citations=None), use("a"), use("b")),
        user(result("b", is_error=True), result("a", content=[text("3")]), text("And now?")),
    ], "system": [text("Be brief")]}),
    ("anthropic", {"messages": [
        USER, assistant(use("a"), use("b")), user(result("a")), user(result("b")),
        {"role": "assistant", "content": ""},
    ]}),
    ("anthropic", {"tools": [
        custom(strict=True, input_schema={**CLOSED, "properties": {"a": {"type": "integer"}}}),
        custom("sub", type="custom", input_examples=[{"a": 1}], **CACHED),
        {"type": "web_search_20250305", "name": "web_search"},
    ], "tool_choice": {"type": "tool", "name": "sub", "disable_parallel_tool_use": True}}),
]  # fmt: skip


@check_each(("provider", "body"), ACCEPTED)
def test_what_an_api_takes_is_accepted(provider: str, body: dict[str, Any]) -> None:
    assert errors(provider, body) == ()


# parts of the messages
REJECTED: list[tuple[str, dict[str, Any], str]] = [
    ("openai", {"model": ""}, "model: must match"),
    ("openai", {"stream": 1}, "stream: must be a boolean or null, not the integer 1"),
    ("openai", {"messages": []}, "messages: must have at least 1 item"),
    ("openai", {"system": "x"}, "system: is not a known key"),
    ("openai", {"messages": [{"role": "model"}]}, "messages[0].role: must be one of"),
    ("openai", {"messages": [{**USER, "odd": 1}]}, "messages[0].odd: is not a known key"),
    ("openai", {"messages": [USER, {"role": "assistant"}]}, "messages[1]"),
    ("openai", {"messages": [USER, called()]}, "messages[1].tool_calls: must have at least 1"),
    ("openai", {"messages": [USER, called(chat_call(arguments={})), answered("a")]},
     "messages[1].tool_calls[0].function.arguments: must be a string, not an object"),
    ("openai", {"messages": [USER, called(chat_call("a" * 41)), answered("a" * 41)]},
     "must have at most 40 characters"),
    ("openai", {"messages": [USER, called(chat_call("a"), chat_call("b")), answered("b")]},
     "messages[1]: there's no output for the call 'a'"),
    ("openai", {"messages": [USER, called(chat_call("a")), USER, answered("a")]},
     "messages[1]: there's no output for the call 'a'"),
    ("openai", {"messages": [USER, answered("a")]}, "there's no call for the output 'a'"),
    ("openai", {"tools": [tool()]}, "tools[0].function: is required"),
    ("openai", {"tools": [chat_tool("a b")]}, "tools[0].function.name: must match the pattern"),
    ("openai", {"tools": [chat_tool(), chat_tool()]}, "tools: 2 have the name 'add'"),
    ("openai", {"tools": [chat_tool(parameters={"type": "array", "items": {}})]},
     "invalid schema for function 'add': it must have the type 'object'"),
    ("openai", {"tools": [chat_tool()],
                "tool_choice": {"type": "function", "function": {"name": "sub"}}},
     "tool_choice: there's no tool 'sub'"),
    ("openai", {"tool_choice": "auto"}, "tool_choice: it's only allowed with tools"),
    ("openai", {"stream_options": {"include_usage": True}}, "only allowed with 'stream'"),
    ("openai-responses", {"model": None}, "model: must be a string, not null"),
    ("openai-responses", {"messages": []}, "messages: is not a known key"),
    ("openai-responses", {"input": [{"type": "tool_use", "id": "a"}]}, "input[0].type: must be"),
    ("openai-responses", {"input": [assistant({"type": "input_text", "text": "x"})]},
     'must be one of "output_text", "refusal"'),
    ("openai-responses", {"input": [call(parsed=None), output()]}, "input[0].parsed: is not a"),
    ("openai-responses", {"input": [call(), USER]}, "there's no output for the call 'a'"),
    ("openai-responses", {"input": [call(), output(), output()]}, "no call for the output 'a'"),
    ("openai-responses", {"tools": [tool()], "tool_choice": {"type": "function", "name": "sub"}},
     "tool_choice: there's no tool 'sub'"),
    ("openai-responses", {"tool_choice": "required"}, "tool_choice: it's only allowed with tools"),
    ("openai-responses", {"tools": [tool(parameters=OPEN)]}, "'additionalProperties' must be fa"),
    ("anthropic", {"max_tokens": True}, "max_tokens: must be an integer, not the boolean true"),
    ("anthropic", {"messages": [user({"text": "Hi"})]}, "messages[0].content[0].type: is required"),
    ("anthropic", {"messages": [USER, assistant(use(input="{}")), user(result())]},
     "messages[1].content[0].input: must be an object"),
    ("anthropic", {"messages": [{"role": "tool", "content": "3"}]}, "messages[0].role: must be"),
    ("anthropic", {"messages": [assistant(text("Hi"))]}, "the first must have the role 'user'"),
    ("anthropic", {"messages": [user(text(""))]}, "messages[0].content[0].text: must match"),
    ("anthropic", {"messages": [USER, assistant(), USER]}, "can be empty"),
    ("anthropic", {"messages": [USER, assistant(use()), user(
        result(is_error=True, content=[{"type": "image", "source": {}}]))]},
     "messages[2].content[0].content[0]"),
    ("anthropic", {"messages": [user(use()), assistant(text("Hi"))]}, "messages[0].content[0].typ"),
    ("anthropic", {"messages": [USER, assistant(use("a.b")), user(result("a.b"))]}, "must match"),
    ("anthropic", {"messages": [USER, assistant(use("a"), use("b")), user(result("b"))]},
     "there's no output for the call 'a'"),
    ("anthropic", {"messages": [USER, assistant(use()), user(text("Well"), result())]},
     "messages[2]: results must be before anything else"),
    ("anthropic", {"messages": [user(result())]}, "there's no call for the output 'a'"),
    ("anthropic", {"messages": [
        USER, assistant({"type": "thinking", "thinking": "hm", "signature": "x"}, text("Hi")), USER,
    ]}, "a block of type 'thinking' doesn't fit its signature"),
    ("anthropic", {"tools": [chat_tool()]}, "tools[0].name: is required"),
    ("anthropic", {"tools": [{"name": "add"}]}, "tools[0].input_schema: is required"),
    ("anthropic", {"tools": [custom(), custom()]}, "tools: 2 have the name 'add'"),
    ("anthropic", {"tools": [custom(input_schema={"type": "object", "required": "a"})]},
     "it isn't a valid JSON Schema"),
    ("anthropic", {"tools": [custom(input_examples=[{"a": 1}, {"a": "x"}])]},
     "an example that its input_schema rejects"),
    ("anthropic", {"tools": [custom()], "tool_choice": {"type": "tool", "name": "sub"}},
     "tool_choice: there's no tool 'sub'"),
    ("anthropic", {"tool_choice": {"type": "auto"}}, "tool_choice: it's only allowed with tools"),
]  # fmt: skip


@check_each(("provider", "body", "words"), REJECTED)
def test_what_an_api_rejects_is_rejected(provider: str, body: dict[str, Any], words: str) -> None:
    assert words in errors(provider, body)[0]


THOUGHTFUL = calls(("add", {"a": 1}, "a"), text="Let me see", reasoning="Add them")


def test_reasoning_of_responses_comes_back_with_what_followed_it() -> None:
    script = [THOUGHTFUL, says("4")]
    with ScriptedServer(script) as server, client_of("openai-responses", server) as client:
        thought, said, made = create("openai-responses", client).output
        create("openai-responses", client, messages=[thought, said, made, output()])
    with ScriptedServer([THOUGHTFUL] * 2, strict=False) as server:
        first = ask("openai-responses", server).items
        hidden = ask("openai-responses", server, store=False).items[0]
        changed = {**first[0], "encrypted_content": "x"}
        for items, words in (
            ([first[2], output()], "lacks the reasoning before it"),
            ([first[0], USER], "lacks the item that followed it"),
            ([hidden, call(), output()], "isn't stored"),
            ([changed, *first[1:], output()], "isn't the original one"),
        ):
            with pytest.raises(Exception, match=words):
                ask("openai-responses", server, messages=items)


def test_thinking_of_messages_comes_back_unchanged_before_the_tool_use() -> None:
    with ScriptedServer([THOUGHTFUL, *[says("4")] * 3], strict=False) as server:
        thought, said, made = ask("anthropic", server).items
        for blocks, words in (
            ([said, made], "must begin with its thinking"),
            ([said, thought, made], "must begin with its thinking"),
            ([{**thought, "thinking": ""}, said, made], "doesn't fit its signature"),
        ):
            with pytest.raises(Exception, match=words):
                ask("anthropic", server, messages=[USER, assistant(*blocks), user(result())])
        told = [USER, assistant(said, made), user(result())]
        ask("anthropic", server, messages=[USER, assistant(thought, said, made), user(result())])
        ask("anthropic", server, messages=told, thinking={"type": "disabled"})
        ask("anthropic", server, messages=[*told, assistant(text("4")), USER])
