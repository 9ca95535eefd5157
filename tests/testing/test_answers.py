"""What the providers' own clients understand of the replies, plain and streaming."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.testing import Call, Reply, ScriptedServer, Usage, calls, refuses, says
from tests.schema.strategies import moderate
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, Heard, ask, ask_async, client_of, create

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streaming"])
PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)

ODD = 'Žluťoučký 😀 "kůň"\\\n'

# What each provider calls the end of an answer.
STOPPED = {"openai": "stop", "openai-responses": "completed", "anthropic": "end_turn"}
CALLED = {"openai": "tool_calls", "openai-responses": "completed", "anthropic": "tool_use"}
CUT = {"openai": "length", "openai-responses": "max_output_tokens", "anthropic": "max_tokens"}
REFUSED = {**STOPPED, "anthropic": "refusal"}


def heard(reply: Reply, provider: str, stop: str) -> Heard:
    """Return what must be heard of a reply; its calls have ids."""
    is_object = provider == "anthropic"
    made = tuple(
        (str(call.id), call.name, json.loads(call.arguments) if is_object else call.arguments)
        for call in reply.calls
    )
    reasoning = "" if provider == "openai" else reply.reasoning or ""
    return Heard(reply.text, made, reply.refusal, reasoning, stop, reply.usage)


REPLIES = {
    "text": (says("Hello there"), STOPPED),
    "odd text": (says(ODD), STOPPED),
    "no string": (says(), STOPPED),
    "text after reasoning": (says("Four", reasoning=f"2 + 2 {ODD}"), STOPPED),
    "text that is cut": (says("Once upon a ti", cut=True), CUT),
    "refusal": (refuses("I cannot help with that"), REFUSED),
    "rejection after text": (refuses("No further", text="Well"), REFUSED),
    "call": (calls(("add", {"a": 1}, "id_1")), CALLED),
    "call without arguments": (calls(("now", {}, "id_1")), CALLED),
    "call after text and reasoning": (
        calls(("add", {"a": ODD}, "id_1"), text="Let me see", reasoning="Add them"),
        CALLED,
    ),
    "calls": (calls(("add", {"a": [1]}, "id_1"), ("add", {"a": {}}, "id_2")), CALLED),
    "usage": (says("Hi", usage=Usage(100, 50, 30, 20)), STOPPED),
}


@PROVIDER
@STREAM
@check_each("name", REPLIES)
def test_a_client_hears_what_the_script_says(provider: str, *, stream: bool, name: str) -> None:
    reply, stops = REPLIES[name]
    with ScriptedServer([reply]) as server:
        assert ask(provider, server, stream=stream) == heard(reply, provider, stops[provider])


@PROVIDER
@STREAM
async def test_an_async_client_hears_it_too(provider: str, *, stream: bool) -> None:
    reply, stops = REPLIES["call after text and reasoning"]
    with ScriptedServer([reply]) as server:
        answer = await ask_async(provider, server, stream=stream)
    assert answer == heard(reply, provider, stops[provider])


@PROVIDER
@given(text=st.text(st.characters(exclude_categories=["Cs"])), piece=st.integers(1, 9))
@moderate
def test_any_text_arrives_in_pieces_of_any_size(provider: str, text: str, piece: int) -> None:
    reply = calls(("add", {"a": text}, "id_1"), text=text)
    with ScriptedServer([reply, reply], piece=piece) as server:
        expected = heard(reply, provider, CALLED[provider])
        assert ask(provider, server, stream=True) == expected
        assert ask(provider, server) == expected


@check_each("provider", ["openai", "openai-responses"])
@STREAM
@check_each("text", ['{"a": ', "[1]", "", "{'a': 1}"])
def test_malformed_arguments_arrive_as_they_stand(
    provider: str, *, stream: bool, text: str
) -> None:
    with ScriptedServer([calls(("add", text, "id_1"))]) as server:
        assert ask(provider, server, stream=stream).calls == (("id_1", "add", text),)


def test_malformed_arguments_stream_from_anthropic_and_are_empty_in_a_plain_answer() -> None:
    script = [calls(("add", '{"a": [1, ')), calls(("add", "[1]"))]
    with ScriptedServer(script) as server, client_of("anthropic", server) as client:
        with create("anthropic", client, stream=True) as events:
            deltas = [event.delta for event in events if event.type == "content_block_delta"]
        answer = create("anthropic", client)
    pieces = [delta.partial_json for delta in deltas]
    assert pieces == ["", '{"a":', " [1, "]
    assert answer.content[0].input == {}


@PROVIDER
@STREAM
def test_a_call_may_be_cut_in_the_midst_of_its_arguments(provider: str, *, stream: bool) -> None:
    with ScriptedServer([calls(("add", '{"a": 1', "id_1"), cut=True)]) as server:
        answer = ask(provider, server, stream=stream)
    assert answer.stop == CUT[provider]
    assert answer.calls == (("id_1", "add", {} if provider == "anthropic" else '{"a": 1'),)


@check_each("reply", [says("Hi", cut=True), calls(("add", "{", "id_1"), cut=True)])
def test_the_item_of_responses_that_was_cut_says_so(reply: Reply) -> None:
    with ScriptedServer([reply]) as server, client_of("openai-responses", server) as client:
        answer = create("openai-responses", client)
    assert [item.status for item in answer.output] == ["incomplete"]


@PROVIDER
def test_calls_without_an_id_get_different_ones(provider: str) -> None:
    reply = calls(("add", {}), ("add", {}))
    with ScriptedServer([reply, reply]) as server:
        answers = [ask(provider, server), ask(provider, server)]
    ids = [call[0] for answer in answers for call in answer.calls]
    assert len({*ids}) == 4


@PROVIDER
def test_ids_are_those_of_the_provider(provider: str) -> None:
    with ScriptedServer([calls(("add", {}))]) as server:
        ((identity, _, _),) = ask(provider, server).calls
    assert identity == ("toolu_1_0" if provider == "anthropic" else "call_1_0")


def test_a_call_can_be_given_as_such() -> None:
    assert calls(Call("add", "{}", "id_1")) == calls(("add", {}, "id_1"))


def test_chat_completions_tells_of_usage_in_a_stream_only_if_asked() -> None:
    with (
        ScriptedServer([says("Hi")]) as server,
        client_of("openai", server) as client,
        create("openai", client, stream=True) as chunks,
    ):
        told = list(chunks)
    assert all(chunk.choices and chunk.usage is None for chunk in told)


def test_responses_seals_reasoning_if_asked() -> None:
    reply = says("Hi", reasoning="hm")
    with ScriptedServer([reply, reply]) as server, client_of("openai-responses", server) as client:
        sealed = create(
            "openai-responses", client, store=False, include=["reasoning.encrypted_content"]
        )
        plain = create("openai-responses", client)
    assert sealed.output[0].encrypted_content
    assert plain.output[0].encrypted_content is None


def test_the_streaming_helpers_of_the_clients_work() -> None:
    reply = calls(("add", {"a": ODD}, "id_1"), text="Well")
    with ScriptedServer([reply] * 3) as server:
        finals: list[Any] = []
        with client_of("openai", server) as client:
            with client.chat.completions.stream(
                model="m", messages=[{"role": "user", "content": "Hi"}]
            ) as stream:
                finals.append(stream.get_final_completion().choices[0].message)
            with client.responses.stream(model="m", input="Hi") as stream:
                finals.append(stream.get_final_response())
        with (
            client_of("anthropic", server) as client,
            client.messages.stream(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "Hi"}]
            ) as stream,
        ):
            finals.append(stream.get_final_message())
    chat, response, message = finals
    assert json.loads(chat.tool_calls[0].function.arguments) == {"a": ODD}
    assert json.loads(response.output[1].arguments) == {"a": ODD}
    assert message.content[1].input == {"a": ODD}


def test_anthropic_sends_a_ping_and_multi_byte_characters_are_cut_apart() -> None:
    import httpx2

    with ScriptedServer([says("😀" * 9)], piece=1) as server:
        body = {"model": "m", "max_tokens": 9, "stream": True}
        with (
            httpx2.Client() as client,
            client.stream(
                "POST",
                f"{server.anthropic_url}/v1/messages",
                json={**body, "messages": [{"role": "user", "content": "Hi"}]},
                headers={"x-api-key": "any", "anthropic-version": "2023-06-01"},
            ) as response,
        ):
            parts = list(response.iter_raw())
    whole = b"".join(parts).decode()
    assert "event: ping\n" in whole
    assert whole.count("😀") == 9
