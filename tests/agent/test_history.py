"""The conversation: kept, read, saved, restored, trimmed and continued with someone else."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Audio, Image, Text, ToolRegistry
from sovl_tools.agent.answer import Prompt
from sovl_tools.agent.history import (
    LOST,
    last_tokens,
    last_turns,
    with_all_results,
)
from sovl_tools.agent.providers import anthropic, chat_completions, responses
from sovl_tools.formats.base import estimate
from sovl_tools.testing import calls, says
from sovl_tools.testing.script import Memory, Request
from sovl_tools.testing.server import APIS
from tests.agent.conversations import PROVIDERS, Way, each_api, each_provider, talk
from tests.schema.strategies import moderate
from tests.tables import check_each

ADAPTERS: dict[str, Any] = {
    "openai": chat_completions,
    "openai-responses": responses,
    "anthropic": anthropic,
}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def objections(provider: str, messages: list[Any], **options: Any) -> list[str]:
    """Return what an API would reject in the request that a conversation makes."""
    registry = ToolRegistry()
    prompt = Prompt("m", ("Be brief.",), messages, [], "auto", options, registry, ())
    arguments = ADAPTERS[provider].body(prompt)
    body = {**arguments, **arguments.pop("extra_body", {})}
    content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    head = {"authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}
    api = next(each for each in APIS.values() if provider == each.provider)
    asked = Request(provider, "/", head, content, json.loads(content))
    return [each.message for each in api.objections(asked, Memory())]


_texts = st.text(max_size=4) | st.sampled_from(["", " ", "\ud83d", "Hello"])
_pictures = st.fixed_dictionaries(
    {"type": st.just("image"), "data": st.just("AAAA"), "mimeType": st.just("image/png")}
)
_odd = st.sampled_from([
    {"type": "image"},
    {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
    {"type": "resource", "resource": {"uri": "file:///a", "text": "A"}},
    {"type": "resource", "resource": {"uri": "file:///a", "blob": "AA"}},
    {"type": "text"},
    {"type": "resource_link", "uri": "file:///a"},
])  # fmt: skip
_blocks = st.fixed_dictionaries({"type": st.just("text"), "text": _texts}) | _pictures | _odd
_contents = _texts | st.lists(_blocks, max_size=3)
_ids = st.sampled_from(["a", "b", "c", "", "é", "call.1", "x" * 70, "call_1"])
_calls = st.fixed_dictionaries({
    "id": _ids,
    "name": st.sampled_from(["add", "", "functions.add", "n" * 99]),
    "arguments": st.sampled_from(["{}", "[]", '{"a": NaN}', '{"a": 1e999}', '{"a"', "\ud83d"]),
})  # fmt: skip
_users = st.fixed_dictionaries({"role": st.just("user"), "content": _contents})
_models = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": _texts},
    optional={
        "calls": st.lists(_calls, max_size=3),
        "provider": st.just("gone"),
        "items": st.just([{}]),
    },
)
_tools = st.fixed_dictionaries({
    "role": st.just("tool"),
    "id": _ids,
    "name": st.just("add"),
    "content": _contents,
    "is_error": st.booleans(),
})  # fmt: skip
_any_messages = st.lists(_users | _models | _tools, max_size=8)


@moderate
@given(_any_messages, _contents)
def test_any_messages_become_a_conversation_that_every_provider_accepts(
    messages: list[Any], said: Any
) -> None:
    before = json.dumps(messages)
    asked = [*messages, {"role": "user", "content": said}]
    for provider in PROVIDERS:
        assert objections(provider, asked) == []
    assert json.dumps(messages) == before


@pytest.mark.unmeasured
@moderate
@given(_any_messages)
def test_every_call_is_answered_once_and_in_its_place(messages: list[Any]) -> None:
    made = with_all_results(messages)
    assert [m for m in made if m["role"] == "user"] == [m for m in messages if m["role"] == "user"]
    expected: list[str] = []
    for message in made:
        if message["role"] == "tool":
            assert message["id"] == expected.pop(0)
        else:
            assert expected == []
            expected = [call["id"] for call in message.get("calls", ())]
    assert expected == []
    ids = [call["id"] for message in made for call in message.get("calls", ())]
    assert len(ids) == len(set(ids))
    assert with_all_results(made) == made


def _calling(*ids: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": "",
        "calls": [{"id": each, "name": "add", "arguments": "{}"} for each in ids],
    }


def _result(identity: str, content: str = "3") -> dict[str, Any]:
    return {"role": "tool", "id": identity, "name": "add", "content": content, "is_error": False}


_USER = {"role": "user", "content": "?"}
_TWICE = [_calling("a", "a"), _result("a", "1"), _result("a", "2")]


@check_each(
    ("messages", "results", "ids"),
    [
        ([_calling("a", "b"), _result("b"), _result("z"), _USER], [LOST, "3"], ["a", "b"]),
        ([_calling("a", "b"), _result("b", "2"), _result("a", "1"), _result("a", "0")],
         ["1", "2"], ["a", "b"]),
        ([*_TWICE, *_TWICE], ["1", "2", "1", "2"], ["a", "call_1", "call_2", "call_3"]),
        ([_calling("a", "call_3", "a"), _calling("a")], [LOST] * 4,
         ["a", "call_3", "call_2", "call_4"]),
    ],
)  # fmt: skip
def test_results_answer_their_calls_and_ids_are_told_apart(
    messages: list[Any], results: list[str], ids: list[str]
) -> None:
    told = [each for each in with_all_results(messages) if each["role"] == "tool"]
    assert [each["content"] for each in told] == results
    assert [each["id"] for each in told] == ids


@moderate
@given(_any_messages, st.integers(0, 4), st.integers(0, 200))
def test_trimming_never_parts_a_call_from_its_result(
    messages: list[Any], turns: int, tokens: int
) -> None:
    conversation = with_all_results(messages)
    for policy in (last_turns(turns), last_tokens(tokens)):
        kept = policy(conversation)
        assert kept == conversation[len(conversation) - len(kept) :]
        assert with_all_results(kept) == kept
        assert not kept or len(kept) == len(conversation) or kept[0]["role"] == "user"
    assert sum(each["role"] == "user" for each in last_turns(turns)(conversation)) <= turns
    assert sum(map(estimate, last_tokens(tokens)(conversation))) <= tokens


@each_api
def test_a_conversation_is_trimmed_when_a_turn_begins(way: Way) -> None:
    script = [
        calls(("add", {"a": 1, "b": 2}), reasoning="Hm"),
        says("3."),
        says("Yes."),
        says("No."),
    ]
    with talk(way, script, tools=[add], trim=last_turns(1)) as to:
        to.say("Add")
        to.say("Sure?")
        assert [each["content"] for each in to.messages[2:]] == ["3", "3.", "Sure?", "Yes."]
        to.say("Really?")
        assert [each["content"] for each in to.messages] == ["Sure?", "Yes.", "Really?", "No."]


@each_api
def test_a_conversation_is_saved_and_restored(way: Way, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    script = [
        calls(("add", {"a": 1, "b": 2}), ("functions.add", "{"), reasoning="Hm", text="So…"),
        says("Drei, ©."),
        says("Still 3."),
    ]
    with talk(way, script, tools=[add]) as to:
        to.say("Add \ud83d")
        before = list(to.messages)
        to.agent.save(path)
        to.agent.messages = []
        to.agent.restore(path)
        assert to.messages == before
        assert "©" in path.read_text(encoding="utf-8", errors="surrogatepass")
        assert to.say("Sure?") == "Still 3."


WRONG = [
    ({}, "a conversation must be a list of messages"),
    ([7], "message 0 must have the role user, assistant or tool"),
    ([{"role": "user", "content": "a"}, {"role": "tool"}], "message 1 must have"),
]


@pytest.mark.parametrize(("content", "words"), WRONG, ids=[str(n) for n in range(len(WRONG))])
def test_what_is_no_conversation_is_not_restored(content: Any, words: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(content))
    with talk(Way("openai"), []) as to:
        with pytest.raises(ValueError, match=words):
            to.agent.restore(path)
        assert to.messages == []


@each_provider
@pytest.mark.parametrize("other", PROVIDERS)
def test_a_conversation_goes_on_with_another_provider(way: Way, other: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    first = [
        calls(("add", {"a": 1, "b": 2}), ("add", '{"a'), reasoning="Hm", text="Let me see."),
        says("3.", reasoning="Three"),
    ]
    with talk(way, first, tools=[add]) as to:
        to.say("Add")
        to.agent.save(path)
    if other == way.provider:
        return
    second = [calls(("add", {"a": 1, "b": 1}), reasoning="Again"), says("2."), says("Bye.")]
    with talk(Way(other), second, tools=[add]) as to:
        to.agent.restore(path)
        to.say("And 1 and 1?")
        to.say("Thanks")
        assert "Let me see." in str(to.bodies[0])
        assert "Three" not in str(to.bodies[0])


PICTURE = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
SOUND = {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}


@each_api
def test_pictures_of_users_and_tools_are_shown_where_they_can_be(way: Way) -> None:
    def draw() -> list[Any]:
        """Draw a house."""
        sound = Audio(b64decode(SOUND["data"]), SOUND["mimeType"])
        return [Text("A house:"), Image(b64decode(PICTURE["data"])), sound]

    script = [calls(("draw", {})), says("Nice."), says("Yes.")]
    with talk(way, script, tools=[draw]) as to:
        shown = [{"type": "text", "text": "Like this:"}, PICTURE, SOUND]
        to.say(shown)
        to.say("Is it?")
        user, result = to.messages[0]["content"], to.results()[0]
        assert user == shown
        assert result == [{"type": "text", "text": "A house:"}, PICTURE, SOUND]
        sent = json.dumps(to.bodies[-1])
        assert sent.count(PICTURE["data"]) == (1 if way.provider == "openai" else 2)
        assert sent.count("[audio/wav, not shown]") == 2
        assert sent.count("[image/png, not shown]") == (1 if way.provider == "openai" else 0)
