"""Clients that are of no SDK: any object with the method that is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, MagicMock

import pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

from sovl_tools import Agent
from sovl_tools.agent.errors import ProviderError
from sovl_tools.agent.events import TurnFinished
from tests.tables import check_each


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def _as_objects(value: Any) -> Any:
    if isinstance(value, dict):
        return SimpleNamespace(**{key: _as_objects(each) for key, each in value.items()})
    return [_as_objects(each) for each in value] if isinstance(value, list) else value


ARGUMENTS = '{"a": 5, "b": 3}'
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": ARGUMENTS}}
ANSWERS: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"choices": [{"message": {"content": None, "tool_calls": [CALL]}}]},
        {"choices": [{"message": {"content": "It is 8."}}]},
    ],
    "openai-responses": [
        {
            "output": [
                {"type": "function_call", "call_id": "c1", "name": "add", "arguments": ARGUMENTS}
            ],
            "output_text": "",
        },
        {"output": [], "output_text": "It is 8."},
    ],
    "anthropic": [
        {"content": [{"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 5, "b": 3}}]},
        {"content": [{"type": "text", "text": "It is 8."}]},
    ],
}
METHODS = {
    "openai": "chat.completions.create",
    "openai-responses": "responses.create",
    "anthropic": "messages.create",
}


def client_with(path: str, method: Any) -> Any:
    """Return an object with one method, at ``a.b.create``."""
    made = method
    for name in reversed(path.split(".")):
        made = SimpleNamespace(**{name: made})
    return made


class Script:
    """Answers with what a script says, sync or async, and keeps what it is asked."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers = [*answers]
        self.asked: list[dict[str, Any]] = []

    def create(self, **body: Any) -> Any:
        self.asked.append(body)
        return self.answers.pop(0)

    async def create_later(self, **body: Any) -> Any:
        return self.create(**body)


@check_each("is_named", [True, False], ids=["named", "by its method"])
@check_each("form", ["objects", "dictionaries"])
@check_each("way", ["sync", "async", "hidden"])
@check_each("provider", ANSWERS)
async def test_a_plain_object_may_answer_with_objects_or_dictionaries(
    provider: str, form: str, way: str, *, is_named: bool
) -> None:
    answers = ANSWERS[provider]
    script = Script([_as_objects(each) for each in answers] if form == "objects" else answers)
    methods = {
        "sync": script.create,
        "async": script.create_later,
        "hidden": partial(lambda method, **body: method(**body), script.create_later),
    }
    client = client_with(METHODS[provider], methods[way])
    agent = Agent(client, "m", provider=provider if is_named else None, tools=[add])
    assert await agent.chat("Add 5 and 3") == "It is 8."
    assert [each["content"] for each in agent.messages if each["role"] == "tool"] == ["8"]
    assert len(script.asked) == 2
    assert agent.statistics()["add"].calls == 1
    script.answers = [answers[1]]
    assert agent.chat_sync("Again") == "It is 8."


@check_each(
    ("client", "provider"),
    [
        (MagicMock(), "openai-responses"),
        (AsyncMock(), "openai-responses"),
        (AsyncMock(spec=AsyncOpenAI), "openai-responses"),
        (MagicMock(spec=OpenAI), "openai-responses"),
        (MagicMock(spec=Anthropic), "anthropic"),
        (MagicMock(**{"chat.completions.create.return_value": {}}), "openai"),
        (MagicMock(**{"messages.create.return_value": {}}), "anthropic"),
    ],
)
def test_a_mock_tells_its_provider(client: Any, provider: str) -> None:
    assert f"on {provider} m" in repr(Agent(client, "m"))


@check_each("answer", [None, "hello", SimpleNamespace()])
@check_each("provider", ANSWERS)
def test_what_is_no_answer_is_an_error_of_the_provider(provider: str, answer: Any) -> None:
    client = client_with(METHODS[provider], lambda **_body: answer)
    agent = Agent(client, "m", provider=provider)
    with pytest.raises(ProviderError):
        agent.chat_sync("Hello")
    assert agent.messages == []


CHUNKS = [
    {"choices": [{"delta": {"content": "Hel"}}]},
    {"choices": [{"delta": {"content": "lo."}, "finish_reason": "stop"}]},
]
EVENTS = [
    {"type": "response.output_text.delta", "delta": "Hello."},
    {"type": "response.completed", "response": {"output": [], "output_text": "Hello."}},
]


def _generated(chunks: list[Any]) -> Iterator[Any]:
    yield from chunks


async def _generated_later(chunks: list[Any]) -> AsyncIterator[Any]:
    for chunk in chunks:
        yield chunk


async def _awaited(stream: Any) -> Any:
    return stream


STREAMS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "generator": _generated,
    "async generator": _generated_later,
    "awaited list": _awaited,
    "awaited async generator": lambda chunks: _awaited(_generated_later(chunks)),
}


@check_each("form", ["objects", "dictionaries"])
@check_each("kind", STREAMS)
@check_each(("provider", "chunks"), [("openai", CHUNKS), ("openai-responses", EVENTS)])
async def test_a_plain_object_may_stream(
    provider: str, chunks: list[Any], kind: str, form: str
) -> None:
    parts = [_as_objects(each) for each in chunks] if form == "objects" else chunks
    client = client_with(METHODS[provider], lambda **_body: STREAMS[kind](parts))
    agent = Agent(client, "m", provider=provider)
    events = [event async for event in agent.stream("Hello")]
    for last in (events[-1], [*agent.stream("Hello")][-1]):
        assert isinstance(last, TurnFinished)
        assert last.reply == "Hello."
