"""What the model is told first, what becomes of its answer, and who hears of it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from sovl_tools import Agent, hook, tool
from sovl_tools.testing import calls, refuses, says
from tests.agent.conversations import Talk, Way, each_api, each_provider, talk
from tests.tables import check_each


@tool(instructions="Add with care.")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def told(to: Talk, number: int = -1) -> str:
    """Return what the model was told before the conversation."""
    body = to.bodies[number]
    if to.way.provider == "openai-responses":
        return str(body.get("instructions", ""))
    if to.way.provider == "anthropic":
        return str(body.get("system", ""))
    first = body["messages"][0]
    return str(first["content"]) if first["role"] == "system" else ""


class Librarian(Agent):
    """Tells the model of what the user has asked for, and knows its books only then."""

    books: tuple[str, ...] = ()

    def _system_messages(self) -> Any:
        self.books = (f"All about {self.messages[-1]['content']}",)
        return [{"role": "system", "content": self.books[0]}, "Be quiet."]

    def _finalize_response(self, text: str) -> Any:
        return text.strip().lower()

    @tool(params={"book": {"enum": lambda self: list(self.books)}})
    def lend(self, book: str) -> str:
        """Lend a book."""
        return f"{book}: here you are"


class AsyncLibrarian(Librarian):
    async def _system_messages(self) -> Any:
        return super()._system_messages()

    async def _finalize_response(self, text: str) -> Any:
        return super()._finalize_response(text)


@each_api
@check_each("kind", [Librarian, AsyncLibrarian])
def test_messages_of_the_system_are_sent_first_each_turn_and_are_not_kept(
    way: Way, kind: type[Agent]
) -> None:
    script = [calls(("lend", {"book": "All about cats"})), says(" Meow. "), says("Woof.")]
    with talk(way, script, kind=kind, system="You lend books.") as to:
        assert to.say("cats") == "meow."
        assert to.results() == ["All about cats: here you are"]
        assert told(to, 0) == told(to, 1) == "You lend books.\n\nAll about cats\n\nBe quiet."
        assert to.say("dogs") == "woof."
        assert "All about cats" not in told(to)
        assert "All about dogs" in str(to.bodies[-1]["tools"])
        assert [each["role"] for each in to.messages] == [
            "user", "assistant", "tool", "assistant", "user", "assistant",
        ]  # fmt: skip
        assert to.messages[3] == {"role": "assistant", "content": "meow."}
        assert " Meow. " not in str(to.bodies[-1])
        assert "meow." in str(to.bodies[-1])


@check_each(
    ("said", "expected"),
    [
        (None, ""),
        ("Be brief.", "Be brief."),
        ({"role": "system", "content": [{"type": "text", "text": "Be kind."}]}, "Be kind."),
        (("One.", "  ", "Two."), "One.\n\nTwo."),
    ],
    ids=["nothing", "text", "message", "texts"],
)
@each_provider
def test_the_system_may_speak_in_many_forms(way: Way, said: Any, expected: str) -> None:
    with talk(way, [says("Good.")]) as to:
        to.agent._system_messages = lambda: said  # type: ignore[method-assign]
        to.say("Hello")
        assert told(to) == expected


class Hooked(Agent):
    @hook.system
    def weather(self) -> str:
        return "It rains."

    @hook.system()
    async def time(self) -> list[str]:
        return ["It is late."]

    @hook.response
    def polite(self, text: str) -> str:
        return f"{text}, please"

    @hook.response()
    async def loud(self, text: str) -> str:
        return text.upper()


@each_api
def test_hooks_speak_after_the_system_and_change_the_answer_one_after_another(way: Way) -> None:
    with talk(way, [says("Come in")], kind=Hooked, system="Be nice.") as to:
        assert to.say("Hello") == "COME IN, PLEASE"
        assert told(to).startswith("Be nice.")
        assert set(told(to).split("\n\n")[1:]) == {"It rains.", "It is late."}
        assert to.messages[-1]["content"] == "COME IN, PLEASE"


@each_provider
def test_the_tools_that_are_offered_instruct_the_model(way: Way) -> None:
    with talk(way, [says("Yes."), says("No.")], tools=[add], system="Be brief.") as to:
        to.say("Hello")
        assert told(to) == "Be brief.\n\nAdd with care."
        to.say("Hello", tools=[])
        assert told(to) == "Be brief."
    with talk(way, [says("Yes.")], tools=[add], instructions=False) as to:
        to.say("Hello")
        assert told(to) == ""


class Ear:
    """Hears what is emitted, and can be sick of it."""

    def __init__(self, *, is_sick: bool = False) -> None:
        self.heard: list[dict[str, Any]] = []
        self._is_sick = is_sick

    def hear(self, event: dict[str, Any]) -> None:
        self.heard.append(event)
        if self._is_sick:
            raise OSError("the line is dead")

    async def hear_async(self, event: dict[str, Any]) -> None:
        self.hear(event)


@each_api
@check_each("name", ["hear", "hear_async"])
def test_each_answer_is_emitted_once(way: Way, name: str) -> None:
    ear = Ear()
    script = [calls(("add", {"a": 1, "b": 2})), says(" 3. "), refuses("No."), says("Yes.")]
    with talk(way, script, kind=Librarian, tools=[add], emit=getattr(ear, name)) as to:
        to.say("Add")
        assert ear.heard == [{"type": "ai_response", "message": "3."}]
        with pytest.raises(Exception, match="No"):
            to.say("Evil")
        to.say("Good")
        assert ear.heard[1:] == [{"type": "ai_response", "message": "yes."}]


@each_api
@check_each("name", ["hear", "hear_async"])
def test_calls_are_emitted_on_demand(way: Way, name: str) -> None:
    ear = Ear()
    script = [calls(("add", {"a": 1, "b": 2}, "c1"), ("nope", {}, "c2")), says("Done.")]
    with talk(way, script, tools=[add], emit=getattr(ear, name), emit_tools=True) as to:
        to.say("Add")
        first, second = ear.heard[:2]
        assert first["type"] == second["type"] == "tool_call"
        assert (first["name"], first["call_id"]) == ("add", "c1")
        results = {each["name"]: each for each in ear.heard[2:4]}
        assert results["add"] | {"duration": 0} == {
            "type": "tool_result", "name": "add", "call_id": "c1", "ok": True, "value": 3,
            "error": None, "duration": 0,
        }  # fmt: skip
        assert (results["nope"]["ok"], results["nope"]["error"]) == (
            False,
            "there's no tool 'nope'",
        )
        assert ear.heard[4:] == [{"type": "ai_response", "message": "Done."}]


@each_api
def test_a_callback_that_fails_loses_neither_answer_nor_result(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    ear = Ear(is_sick=True)
    script = [calls(("add", {"a": 1, "b": 2})), says("3.")]
    with (
        caplog.at_level(logging.ERROR, "sovl_tools"),
        talk(way, script, tools=[add], emit=ear.hear, emit_tools=True) as to,
    ):
        assert to.say("Add") == "3."
        assert to.results() == ["3"]
    assert [record.getMessage() for record in caplog.records] == [
        "emit failed at a call of add",
        "emit failed at a call of add",
        "emit failed at an answer",
    ]
