"""What Responses rejects, as the ``openai`` client hears of it."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from sovl_tools.testing import ScriptedServer, calls, says
from tests.tables import check_each
from tests.testing.openai_bodies import USER, refused_response, tool
from tests.testing.provider_clients import client_of


def call(identity: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": identity, "name": "add", "arguments": "{}", **more}


def output(identity: str = "call_1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": identity, "output": "3", **more}


GOOD_RESPONSES: dict[str, dict[str, Any]] = {
    "a string": {},
    "a stored prompt": {"model": None, "input": None, "prompt": {"id": "pmpt_1"}},
    "a stored conversation": {"conversation": "conv_1", "input": [output()]},
    "every item": {
        "input": [
            {"type": "message", **USER},
            {"role": "developer", "content": [{"type": "input_text", "text": "Be brief"}]},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Well", "annotations": []}],
            },
            call("a", id="fc_1", status="completed"),
            call("b"),
            {"type": "web_search_call", "id": "ws_1", "status": "completed"},
            output("b"),
            output("a", output=[{"type": "input_text", "text": "3"}]),
        ]
    },
    "tools": {
        "tools": [tool(), tool("now", parameters=None, strict=None), {"type": "web_search"}],
        "tool_choice": {"type": "function", "name": "now"},
    },
    "no tools in a list": {"tools": [], "parallel_tool_calls": True, "tool_choice": "auto"},
    "a choice among tools": {
        "tools": [tool()],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []},
    },
    "settings": {
        "instructions": "Be brief",
        "max_output_tokens": 9,
        "reasoning": {"effort": "low"},
        "include": ["reasoning.encrypted_content"],
        "text": {"format": {"type": "text"}},
    },
}

BAD_RESPONSES: dict[str, tuple[dict[str, Any], str | None, str | None, str]] = {
    "no model": ({"model": None}, "model", "missing_required_parameter", "parameter: 'model'"),
    "no input": ({"input": None}, "input", "missing_required_parameter", "parameter: 'input'"),
    "a key of Chat Completions": (
        {"messages": []},
        "messages",
        "unknown_parameter",
        "Unknown parameter: 'messages'",
    ),
    "an item of no type": (
        {"input": [{"type": "tool_use", "id": "a"}]},
        "input[0].type",
        "invalid_value",
        "Invalid value: 'tool_use'",
    ),
    "a part of the other side": (
        {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
        "input[0].content[0].type",
        "invalid_value",
        "Supported values are: 'output_text' and 'refusal'",
    ),
    "an output that is an object": (
        {"input": [call(), output(output={"a": 1})]},
        "input[1].output",
        "invalid_type",
        "got an object",
    ),
    "what the client adds to a call": (
        {"input": [call(parsed_arguments=None), output()]},
        "input[0].parsed_arguments",
        "unknown_parameter",
        "Unknown parameter: 'input[0].parsed_arguments'",
    ),
    "a status of reasoning": (
        {"input": [{"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed"}]},
        "input[0].status",
        "unknown_parameter",
        "Unknown parameter: 'input[0].status'",
    ),
    "an id of another kind": (
        {"input": [call(id="call_1"), output()]},
        "input[0].id",
        "invalid_value",
        "Expected an ID that begins with 'fc'",
    ),
    "a long call id": (
        {"input": [call("a" * 65), output("a" * 65)]},
        "input[0].call_id",
        "string_above_max_length",
        "maximum length 64",
    ),
    "a call with an odd name": (
        {"input": [call(name="a b"), output()]},
        "input[0].name",
        "invalid_value",
        "does not match pattern",
    ),
    "a call without an output": (
        {"input": [call("a"), USER]},
        "input",
        None,
        "No tool output found for function call a.",
    ),
    "an output without a call": (
        {"input": [USER, output("a")]},
        "input",
        None,
        "No tool call found for function call output with call_id a.",
    ),
    "an output before its call": (
        {"input": [output("a"), call("a")]},
        "input",
        None,
        "No tool call found for function call output with call_id a.",
    ),
    "two outputs of a call": (
        {"input": [call("a"), output("a"), output("a")]},
        "input",
        None,
        "No tool call found for function call output with call_id a.",
    ),
    "an item that comes twice": (
        {"input": [call("a", id="fc_1"), output("a"), call("b", id="fc_1"), output("b")]},
        "input",
        None,
        "Duplicate item found with id fc_1",
    ),
    "a response that is not there": (
        {"previous_response_id": "resp_1"},
        "previous_response_id",
        "previous_response_not_found",
        "Previous response with id 'resp_1' not found.",
    ),
    "a choice of no tool": (
        {"tools": [tool()], "tool_choice": {"type": "function", "name": "sub"}},
        "tool_choice",
        None,
        "'sub' not found in 'tools' parameter",
    ),
    "a choice without tools": ({"tool_choice": "required"}, "tool_choice", None, "with 'tools'"),
    "an open object in a strict tool": (
        {"tools": [tool(parameters={"type": "object", "properties": {}})]},
        "tools[0].parameters",
        "invalid_function_parameters",
        "Invalid schema for function 'add': In context=(), 'additionalProperties' is required",
    ),
}


@check_each("name", GOOD_RESPONSES)
def test_responses_accepts(name: str) -> None:
    with ScriptedServer([says("Hi")]) as server, client_of("openai-responses", server) as client:
        client.responses.create(model="m", input="Hello", extra_body=GOOD_RESPONSES[name])
    assert server.requests[0].errors == ()


@check_each("name", BAD_RESPONSES)
def test_responses_refuses(name: str) -> None:
    body, param, code, message = BAD_RESPONSES[name]
    error = refused_response(body)
    assert message in error.message
    assert (error.param, error.code) == (param, code)


THOUGHTFUL = calls(("add", {"a": 1}), reasoning="Add them")


def test_an_answer_can_be_sent_back_as_it_is() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4", reasoning="hm"), says("Bye")]) as server,
        client_of("openai-responses", server) as client,
    ):
        told: list[Any] = [USER]
        first = client.responses.create(model="m", input=told)
        told += [*first.output, output(first.output[1].call_id)]
        second = client.responses.create(model="m", input=told)
        client.responses.create(model="m", input=[*told, *second.output, USER])


def test_reasoning_must_come_back_with_the_call_after_it() -> None:
    with (
        ScriptedServer([THOUGHTFUL], strict=False) as server,
        client_of("openai-responses", server) as client,
    ):
        thought, made = client.responses.create(model="m", input="Hi").output
        done = output(made.call_id)
        with pytest.raises(openai.BadRequestError, match="without its required 'reasoning'"):
            client.responses.create(model="m", input=[made, done])
        with pytest.raises(openai.BadRequestError, match="without its required following item"):
            client.responses.create(model="m", input=[thought, USER])
        with pytest.raises(openai.BadRequestError, match="without its required following item"):
            client.responses.create(model="m", input=[thought])


def test_a_call_without_its_own_id_needs_no_reasoning() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4")]) as server,
        client_of("openai-responses", server) as client,
    ):
        made = client.responses.create(model="m", input="Hi").output[1]
        client.responses.create(model="m", input=[call(made.call_id), output(made.call_id)])


def test_an_answer_can_be_referred_to() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4"), THOUGHTFUL, says("4")]) as server,
        client_of("openai-responses", server) as client,
    ):
        first = client.responses.create(model="m", input="Hi")
        done = output(first.output[1].call_id)
        client.responses.create(model="m", input=[done], previous_response_id=first.id)
        first = client.responses.create(model="m", input="Hi")
        items = [{"type": "item_reference", "id": item.id} for item in first.output]
        client.responses.create(model="m", input=[*items, output(first.output[1].call_id)])


def test_what_a_response_called_before_has_to_be_answered() -> None:
    with (
        ScriptedServer([THOUGHTFUL], strict=False) as server,
        client_of("openai-responses", server) as client,
    ):
        first = client.responses.create(model="m", input="Hi")
        with pytest.raises(openai.BadRequestError, match="No tool output found"):
            client.responses.create(model="m", input="Well?", previous_response_id=first.id)


def test_what_was_not_stored_cannot_be_referred_to() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4")], strict=False) as server,
        client_of("openai-responses", server) as client,
    ):
        first = client.responses.create(model="m", input="Hi", store=False)
        thought, made = first.output
        done = output(made.call_id)
        with pytest.raises(openai.BadRequestError, match="Previous response"):
            client.responses.create(model="m", input=[done], previous_response_id=first.id)
        with pytest.raises(openai.NotFoundError, match="Items are not persisted"):
            client.responses.create(model="m", input=[thought, made, done])
        with pytest.raises(openai.NotFoundError, match="Items are not persisted"):
            client.responses.create(model="m", input=[{"type": "item_reference", "id": thought.id}])


def test_sealed_reasoning_needs_no_storing_and_must_not_be_changed() -> None:
    with (
        ScriptedServer([THOUGHTFUL, says("4")], strict=False) as server,
        client_of("openai-responses", server) as client,
    ):
        first = client.responses.create(
            model="m", input="Hi", store=False, include=["reasoning.encrypted_content"]
        )
        thought, made = first.output
        done = output(made.call_id)
        client.responses.create(model="m", input=[thought, made, done], store=False)
        changed = {"type": "reasoning", "id": thought.id, "summary": []}
        with pytest.raises(openai.BadRequestError, match="could not be verified") as caught:
            client.responses.create(
                model="m", input=[{**changed, "encrypted_content": "x"}, made, done]
            )
    assert caught.value.code == "invalid_encrypted_content"
