"""What the providers' own clients understand of the replies, plain and streaming."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.agent import answer
from sovl_tools.testing import Reply, ScriptedServer, Usage, calls, refuses, says
from tests.schema.strategies import moderate
from tests.tables import check_each
from tests.testing.provider_clients import PROVIDERS, ask, client_of, create

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["plain", "streaming"])
PROVIDER = pytest.mark.parametrize("provider", PROVIDERS)
ODD = 'Žluťoučký 😀 "kůň"\\\n'


@PROVIDER
@STREAM
@check_each(
    ("reply", "stop"),
    [
        (says(ODD), "end"),
        (says(), "end"),
        (says("Four", reasoning=f"2 + 2 {ODD}"), "end"),
        (says("Once upon a ti", cut=True), "length"),
        (refuses("I cannot help with that"), "refusal"),
        (calls(("now", {}, "id_1")), "calls"),
        (calls(("add", {"a": ODD}, "id_1"), text="Let me see", reasoning="Add them"), "calls"),
        (calls(("add", {"a": [1]}, "id_1"), ("add", {"a": {}}, "id_2")), "calls"),
        (says("Hi", usage=Usage(100, 50, 30, 20)), "end"),
    ],
)
def test_a_client_hears_what_the_script_says(
    provider: str, reply: Reply, stop: str, *, stream: bool
) -> None:
    with ScriptedServer([reply]) as server:
        heard = ask(provider, server, stream=stream)
    assert (heard.text, heard.stop) == (reply.refusal or reply.text, stop)
    made = [(each.id, each.name, json.loads(each.arguments)) for each in heard.calls]
    assert made == [(each.id, each.name, json.loads(each.arguments)) for each in reply.calls]
    used = reply.usage
    assert heard.usage == answer.Usage(used.input, used.output, used.cached, 1)
    if reply.reasoning:
        is_shown = json.dumps(reply.reasoning) in json.dumps(heard.items)
        assert is_shown == (provider != "openai")


@PROVIDER
@given(text=st.text(st.characters(exclude_categories=["Cs"])), piece=st.integers(1, 9))
@moderate
def test_any_text_arrives_in_pieces_of_any_size(provider: str, text: str, piece: int) -> None:
    reply = calls(("add", {"a": text}, "id_1"), text=text)
    with ScriptedServer([reply, reply], piece=piece) as server:
        for stream in (False, True):
            heard = ask(provider, server, stream=stream)
            assert heard.text == text
            assert json.loads(heard.calls[0].arguments) == {"a": text}


def test_chat_completions_tells_of_usage_in_a_stream_only_if_asked() -> None:
    with (
        ScriptedServer([says("Hi")]) as server,
        client_of("openai", server) as client,
        create("openai", client, stream=True) as chunks,
    ):
        told = list(chunks)
    assert all(chunk.choices and chunk.usage is None for chunk in told)


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
