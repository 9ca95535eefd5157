"""Turns from what a user says to the answer, by every way of asking a provider."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from sovl_tools import Agent, EmbeddedResource, Image, ToolError, tool
from sovl_tools.agent.answer import Usage
from sovl_tools.agent.errors import LengthError, RefusalError, RoundsError
from sovl_tools.agent.events import RoundFinished, ToolFinished, ToolStarted, TurnFinished
from sovl_tools.testing import Usage as Cost
from sovl_tools.testing import calls, refuses, says
from tests.agent.conversations import (
    Way,
    each_api,
    each_crossed,
    each_streaming,
    each_way,
    of_kind,
    said,
    talk,
)
from tests.patience import PATIENCE


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def fall(x: int) -> int:
    """Fail."""
    raise ValueError("the ground is wet")


def greet(name: str, title: str = "dear") -> str:
    """Greet someone."""
    return f"Good day, {title} {name}"


@each_way
def test_a_model_that_only_speaks_is_answered_with_what_it_says(way: Way) -> None:
    with talk(way, [says("Good day."), says("Again.")], system="Be brief.") as to:
        reply = to.say("Hello")
        assert (reply, reply.rounds, reply.calls) == ("Good day.", 1, ())
        assert to.say("And now?") == "Again."
        assert [each["role"] for each in to.messages] == ["user", "assistant"] * 2
        assert all("tools" not in body for body in to.bodies)


@each_crossed
def test_either_client_serves_either_world(way: Way) -> None:
    with talk(way, [calls(("add", {"a": 1, "b": 2})), says("That makes 3.")], tools=[add]) as to:
        assert to.say("Add 1 and 2") == "That makes 3."
        assert to.results() == ["3"]


@each_way
def test_parallel_calls_are_answered_in_order_whatever_order_they_end_in(way: Way) -> None:
    ended: list[str] = []
    second_is_over = threading.Event()

    def first() -> str:
        """Wait for the second."""
        assert second_is_over.wait(PATIENCE)
        ended.append("first")
        return "one"

    async def second() -> str:
        """Let the first end."""
        ended.append("second")
        second_is_over.set()
        return "two"

    script = [calls(("first", {}), ("second", {})), says("Both are done.")]
    with talk(way, script, tools=[first, second]) as to:
        reply = to.say("Do both")
        assert ended == ["second", "first"]
        assert to.results() == ["one", "two"]
        assert [call.name for call in reply.calls] == ["first", "second"]


WRONG: tuple[tuple[Any, str], ...] = (
    (("add", '{"a": 1, "b"'), "aren't JSON"),
    (("add", "[1, 2]"), "object"),
    (("ad", {"a": 1, "b": 2}), "there's no tool 'ad'"),
    (("functions.add", {"a": 1, "b": 2}), "there's no tool 'functions.add'"),
    (("", {}), "there's no tool ''"),
    (("add", {"a": "one", "b": 2}), "must be an integer"),
    (("fall", {"x": 1}), "the ground is wet"),
)


@each_api
def test_calls_may_be_made_one_after_the_other(way: Way) -> None:
    log: list[str] = []

    async def slow(name: str) -> str:
        """Take a while."""
        log.append(f"{name} begins")
        await asyncio.sleep(0.01)
        log.append(f"{name} ends")
        return name

    made = [("slow", {"name": name}) for name in "abc"]
    script = [calls(*made[:2], ("nothing", {}), made[2]), says("Done.")]
    with talk(way, script, tools=[slow], parallel_calls=False) as to:
        to.say("Go")
        assert log == [f"{name} {word}" for name in "abc" for word in ("begins", "ends")]
        assert [*to.results()[:2], to.results()[3]] == [*"abc"]
    with talk(way, script, tools=[slow]) as to:
        log.clear()
        to.say("Go")
        assert log[:3] == ["a begins", "b begins", "c begins"]


LONG = "x" * 300_000


def _long_results() -> list[Any]:
    def text() -> str:
        """Return a string."""
        return LONG

    def numbers() -> list[int]:
        """Return a list."""
        return [*range(100_000)]

    def parts() -> Any:
        """Return a picture between strings."""
        return [LONG[:60_000], Image(PICTURE), LONG, EmbeddedResource("a:b", LONG)]

    def fail() -> None:
        """Fail."""
        raise ToolError(LONG)

    @tool(execution={"max_result_bytes": 200_000})
    def wide() -> str:
        """Return a string that has its own limit."""
        return LONG

    return [text, numbers, parts, fail, wide]


PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(200_000)


@each_api
def test_a_long_result_is_cut_and_says_so(way: Way) -> None:
    names = ("text", "numbers", "parts", "fail", "wide")
    script = [calls(*((name, {}) for name in names)), says("I see.")]
    with talk(way, script, tools=_long_results()) as to:
        reply = to.say("Go")
        text, numbers, parts, fail, wide = to.results()
        assert text.endswith("… [cut: 99,962 of 300,000 characters]")
        assert 99_990 < len(text) <= 100_000
        assert numbers.startswith("[0, 1, 2, ")
        assert 99_990 < len(numbers) <= 100_000
        assert parts[0]["text"] == LONG[:60_000]
        assert parts[1] == Image(PICTURE).to_json()
        assert 99_990 < len(parts[2]["text"]) <= 100_000
        assert 99_990 < len(parts[3]["resource"]["text"]) <= 100_000
        assert len(fail) <= 100_000
        assert len(wide) > 190_000
        assert reply.calls[0].name == "text"


@each_way
def test_what_goes_wrong_goes_back_to_the_model(way: Way) -> None:
    wrong = calls(*(call for call, _ in WRONG), ("add", {"a": 1, "b": 2}))
    with talk(way, [wrong, says("I am sorry."), says("Still here.")], tools=[add, fall]) as to:
        assert to.say("Go on") == "I am sorry."
        *refused, right = [each for each in to.messages if each["role"] == "tool"]
        is_object = way.provider == "anthropic" and not way.is_streaming
        for (call, told), result in zip(WRONG, refused, strict=True):
            is_lost = is_object and isinstance(call[1], str)
            assert ("required" if is_lost else told) in result["content"]
            assert result["is_error"]
        assert (right["content"], right["is_error"]) == ("3", False)
        assert to.say("And now?") == "Still here."


@each_api
def test_a_slow_tool_ends_at_its_time_limit(way: Way) -> None:
    async def ponder() -> None:
        """Never end."""
        await asyncio.Event().wait()

    with talk(way, [calls(("ponder", {})), says("Too slow.")], tools=[ponder], timeout=0.05) as to:
        assert to.say("Think") == "Too slow."
        assert "0.05" in to.results()[0]


@each_way
def test_three_rounds_are_counted_and_their_cost_is_summed(way: Way) -> None:
    one = calls(("add", {"a": 1, "b": 2}), text="First.", usage=Cost(10, 5, cached=4))
    two = calls(("add", {"a": 3, "b": 4}), usage=Cost(20, 6, cached=8))
    script = [one, two, says("10 in all.", usage=Cost(30, 7)), says("Thanks.", usage=Cost(3, 2))]
    with talk(way, script, tools=[add]) as to:
        reply = to.say("Add 1, 2, 3 and 4")
        assert reply == "10 in all."
        assert reply.rounds == 3
        assert reply.usage == Usage(60, 18, 12, 3)
        assert to.results() == ["3", "7"]
        assert to.say("Good").usage == Usage(3, 2, 0, 1)


@each_streaming
def test_a_stream_tells_what_happens_in_its_order(way: Way) -> None:
    script = [calls(("add", {"a": 1, "b": 2}), text="Let me see. "), says("That makes 3.")]
    with talk(way, script, tools=[add]) as to:
        events = to.events("Add")
        assert said(events) == "Let me see. That makes 3."
        rounds = of_kind(events, RoundFinished)
        assert [(each.number, each.text) for each in rounds] == [
            (1, "Let me see. "),
            (2, "That makes 3."),
        ]
        assert [len(each.calls) for each in rounds] == [1, 0]
        (started,), (finished,) = of_kind(events, ToolStarted), of_kind(events, ToolFinished)
        assert started.call == finished.call
        assert finished.result.value == 3
        assert events.index(started) < events.index(finished) < events.index(rounds[0])
        assert isinstance(events[-1], TurnFinished)


@each_way
def test_a_refusal_is_an_error_that_the_conversation_survives(way: Way) -> None:
    script = [refuses("I will not."), refuses("No.", text="Well, "), says("Gladly.")]
    with talk(way, script) as to:
        with pytest.raises(RefusalError) as first:
            to.say("Do evil")
        assert first.value.text == "I will not."
        with pytest.raises(RefusalError) as second:
            to.say("Do evil, please")
        assert second.value.text.startswith("Well, ")
        assert to.say("Do good") == "Gladly."


CUT = (
    (says("Once upon a", cut=True), "Once upon a"),
    (says("", cut=True), ""),
    (calls(("add", '{"a": 1, "b'), cut=True), ""),
    (calls(("add", {"a": 1, "b": 2}), ("add", '{"a'), text="See: ", cut=True), "See: "),
)


@each_way
def test_an_answer_that_is_cut_off_is_an_error_and_none_of_its_calls_is_made(way: Way) -> None:
    script = [each for reply, _ in CUT for each in (reply, says("Shorter now."))]
    with talk(way, script, tools=[add]) as to:
        for _, text in CUT:
            with pytest.raises(LengthError) as caught:
                to.say("Tell me all")
            assert caught.value.text == text
            assert to.say("Shorter") == "Shorter now."
        assert to.results() == []


@each_way
def test_calls_beyond_the_last_round_are_not_made(way: Way) -> None:
    again = calls(("add", {"a": 1, "b": 2}))
    with talk(way, [again, again, again, says("At last.")], tools=[add], max_rounds=2) as to:
        with pytest.raises(RoundsError, match="more than 2 rounds"):
            to.say("Add for ever")
        assert to.results() == [
            "3",
            "3",
            "this call was not made: there were more than 2 rounds of calls",
        ]
        assert to.say("Enough") == "At last."


@each_way
def test_what_the_model_thought_is_sent_back_as_it_came(way: Way) -> None:
    script = [
        calls(("add", {"a": 1, "b": 2}), reasoning="One and two…", text="Let me see."),
        calls(("add", {"a": 3, "b": 3}), reasoning="And three…"),
        says("That makes 6.", reasoning="Six."),
        says("You are welcome."),
    ]
    with talk(way, script, tools=[add]) as to:
        assert to.say("Add 1, 2 and 3") == "That makes 6."
        assert to.say("Thanks") == "You are welcome."
        sent = str(to.bodies[-1])
        assert way.provider == "openai" or all(w in sent for w in ("One and two…", "Six."))


@each_api
def test_what_a_strict_tool_is_not_told_is_left_out(way: Way) -> None:
    # OpenAI's strict mode has the model write null for it, Anthropic's lets it leave it out
    optional = {} if way.provider == "anthropic" else {"title": None}
    script = [calls(("greet", {"name": "Ada", **optional})), says("Done.")]
    with talk(way, script, tools=[greet], strict=True) as to:
        to.say("Greet Ada")
        assert to.results() == ["Good day, dear Ada"]
        assert '"strict": true' in to.server.requests[0].content.decode().replace('":t', '": t')


def test_a_function_is_enough_for_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    agent = Agent(tools=[add])
    assert repr(agent) == "<Agent on local with 1 tools>"
    assert agent.chat_sync("add")
    assert agent.messages[0] == {"role": "user", "content": "add"}
