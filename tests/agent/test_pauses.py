"""Answers of Anthropic that pause (``pause_turn``), because the provider's own tools take long."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from sovl_tools import Agent
from sovl_tools.agent.errors import AgentError, RoundsError
from tests.tables import check_each

SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 1, "b": 2}}


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def answer(reason: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"content": [*blocks], "stop_reason": reason, "usage": usage}


def streamed(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {"usage": message["usage"]}}
    for index, block in enumerate(message["content"]):
        begun = {**block, "text": ""} if block["type"] == "text" else block
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        if block["type"] == "text":
            delta = {"type": "text_delta", "text": block["text"]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}, "usage": {}}
    yield {"type": "message_stop"}


class Talk:
    """An agent, and a client that answers by a script; ``asked`` has the messages it was sent."""

    def __init__(self, *script: Any, is_streaming: bool = False, **options: Any) -> None:
        self.asked: list[Any] = []
        self._script = [*script]
        self._is_streaming = is_streaming
        client = SimpleNamespace(messages=SimpleNamespace(create=self._create))
        self.agent = Agent(client, "m", provider="anthropic", tools=[add], **options)

    def _create(self, **body: Any) -> Any:
        self.asked.append(body["messages"])
        found = self._script.pop(0)
        if isinstance(found, Exception):
            raise found
        return streamed(found) if self._is_streaming else found

    def say(self, said: str) -> str:
        if self._is_streaming:
            return str([*self.agent.stream(said)][-1].reply)
        return str(self.agent.chat_sync(said))


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@check_each("is_streaming", [False, True])
@check_each("said", ["", "I look it up."])
def test_an_answer_that_pauses_is_sent_back_to_go_on(said: str, *, is_streaming: bool) -> None:
    first = [text(said), SEARCH] if said else [SEARCH]
    script = answer("pause_turn", *first), answer("end_turn", FOUND, text("Found."))
    talk = Talk(*script, answer("end_turn", text("Bye.")), is_streaming=is_streaming)
    assert talk.say("Search x") == "Found."
    assert talk.asked[1][-1] == {"role": "assistant", "content": first}
    assert talk.say("Bye") == "Bye."
    assert talk.asked[2][1] == {"role": "assistant", "content": [*first, FOUND, text("Found.")]}


@check_each("is_streaming", [False, True])
def test_an_answer_that_paused_may_call_tools(*, is_streaming: bool) -> None:
    talk = Talk(
        answer("pause_turn", SEARCH),
        answer("tool_use", FOUND, CALL),
        answer("end_turn", text("3.")),
        is_streaming=is_streaming,
    )
    assert talk.say("Search and add") == "3."
    assert talk.asked[2][1]["content"] == [SEARCH, FOUND, CALL]
    assert talk.asked[2][2]["content"][0]["tool_use_id"] == "toolu_1"


def test_an_answer_that_never_ends_is_not_asked_for_ever() -> None:
    talk = Talk(*(answer("pause_turn", SEARCH) for _ in range(4)), max_rounds=3)
    with pytest.raises(RoundsError):
        talk.say("Search x")


@check_each("failure", [ConnectionError("gone"), answer("refusal"), answer("max_tokens", SEARCH)])
@check_each("pauses", [1, 2])
@check_each("said", ["", "I look it up."])
def test_a_pause_that_is_not_ended_leaves_a_sound_conversation(
    failure: Any, pauses: int, said: str
) -> None:
    paused = answer("pause_turn", *([text(said)] if said else []), SEARCH)
    talk = Talk(*[paused] * pauses, failure, answer("end_turn", text("Hello.")))
    with pytest.raises(AgentError):
        talk.say("Search x")
    assert len(talk.agent.messages) == (1 + pauses if said else 0)
    assert talk.say("Hello") == "Hello."
    assert not any(SEARCH in each["content"] for each in talk.asked[-1])
