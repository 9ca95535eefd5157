"""Answers with a value of another type at any place: an error of the provider, or an answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sovl_tools import Agent, AgentError
from sovl_tools.testing import Reply, Request, calls, refuses, says
from sovl_tools.testing.script import Memory
from sovl_tools.testing.server import APIS
from tests.schema.strategies import moderate

PATHS = {
    "openai": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
METHODS = {
    "openai": "chat.completions",
    "openai-responses": "responses",
    "anthropic": "messages",
}
REPLIES = (
    says("Hello there", reasoning="hm"),
    calls(("add", {"a": 1, "b": 2}), ("add", {"a": 1, "b": 3}), text="So.", reasoning="hm"),
    refuses("No."),
)
ODD: list[Any] = [
    None, True, 0, -1, 1.5, float("nan"), 10**30, "", "\ud800", [], [None], ["x"], [[]], {},
    {"type": None}, [{}],
]  # fmt: skip


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value: Any, path: tuple[str | int, ...], odd: Any) -> Any:
    if not path:
        return odd
    key, changed = path[0], value.copy()
    changed[key] = put(value[key], path[1:], odd)
    return changed


class OddProvider:
    """Answers first with a reply in which one value is odd, then soundly; notes what was asked."""

    def __init__(self, provider: str, reply: Reply, *, is_streaming: bool) -> None:
        self._answers_of = APIS[PATHS[provider]].answers
        self._provider, self._is_streaming = provider, is_streaming
        self._answers = [self._made(reply)]

    def _made(self, reply: Reply) -> Any:
        body = {"model": "m", "stream": self._is_streaming}
        request = Request(self._provider, "", {}, b"", body)
        turn = Memory().turn(reply, request, prefix="call", piece=5)
        if not self._is_streaming:
            return self._answers_of.body(turn)
        events = self._answers_of.events(turn)
        return [each.data for each in events if not isinstance(each.data, str)]

    def spoil(self, number: int, odd: Any) -> None:
        found = [*places(self._answers[0])]
        self._answers[0] = put(self._answers[0], found[number % len(found)], odd)

    def client(self) -> Any:
        found: Any = SimpleNamespace(create=self._create)
        for name in reversed(METHODS[self._provider].split(".")):
            found = SimpleNamespace(**{name: found})
        return found

    def _create(self, **body: Any) -> Any:
        json.dumps(body, allow_nan=False).encode()
        answer = self._answers.pop(0) if self._answers else self._made(says("Fine."))
        return iter(answer) if self._is_streaming and isinstance(answer, list) else answer


@pytest.mark.parametrize("is_streaming", [False, True], ids=["plain", "streaming"])
@pytest.mark.parametrize("provider", PATHS)
@moderate
@given(reply=st.sampled_from(REPLIES), number=st.integers(0, 500), odd=st.sampled_from(ODD))
@example(reply=Reply(text="Hello there", reasoning="hm"), number=439, odd="")
def test_an_odd_answer_ends_a_turn_and_spoils_no_other(
    provider: str, reply: Reply, number: int, odd: Any, *, is_streaming: bool
) -> None:
    asked = OddProvider(provider, reply, is_streaming=is_streaming)
    asked.spoil(number, odd)
    agent = Agent(asked.client(), "m", provider=provider, tools=[add])

    def say(text: str) -> None:
        list(agent.stream(text)) if is_streaming else agent.chat_sync(text)

    with suppress(AgentError):
        say("Hello")
    say("Go on.")
    assert agent.messages[-1]["content"] == "Fine."
    json.dumps(agent.messages)
