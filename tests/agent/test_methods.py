"""Tools that are methods of the agent itself, and those that it was given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Agent, ToolNotFoundError, ToolRegistry, tool
from sovl_tools.testing import ScriptedServer, calls, says
from tests.agent.conversations import Talk, Way, client_of, each_provider, talk
from tests.conftest import Write
from tests.tables import check_each


def ring() -> str:
    """Ring the bell of the house."""
    return "ding"


class Singer:
    """A mixin."""

    @tool
    def sing(self) -> str:
        """Sing a song."""
        return "la la"


class Animal(Agent):
    @tool(name="speak_up", tags=["loud"])
    def speak(self) -> str:
        """Make a noise."""
        return "…"

    @tool
    def walk(self, steps: int) -> str:
        """Walk some steps."""
        return f"{steps} steps"


class Dog(Singer, Animal):
    """Has a bell and its own registry, which aren't any of the agent's business."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.registry = ["a", "bone"]
        super().__init__(*arguments, **options)

    def speak(self) -> str:
        return "woof"

    walk = None  # type: ignore[assignment]

    @tool
    def ring(self) -> str:
        """Ring the bell of the dog."""
        return "jingle"


def offered(to: Talk, number: int = -1) -> list[str]:
    """Return the names of the tools that the model was offered."""
    return [each.get("name") or each["function"]["name"] for each in tools_of(to, number)]


def tools_of(to: Talk, number: int = -1) -> list[Any]:
    found: list[Any] = to.bodies[number].get("tools", [])
    return found


@each_provider
def test_methods_of_bases_and_mixins_count_and_overrides_keep_what_was_said_of_them(
    way: Way,
) -> None:
    with talk(way, [calls(("speak_up", {}), ("sing", {})), says("Woof.")], kind=Dog) as to:
        to.say("Speak")
        assert to.results() == ["woof", "la la"]
        assert sorted(offered(to)) == ["ring", "sing", "speak_up"]
        assert [*to.agent.tools["speak_up"].tags] == ["loud"]
        assert to.agent.registry == ["a", "bone"]  # type: ignore[attr-defined]


def test_a_registry_stays_alive_behind_methods() -> None:
    registry = ToolRegistry()
    heard: list[Any] = []
    with talk(Way("openai"), [says("1")], kind=Dog, tools=registry) as to:
        unsubscribe = to.agent.tools.subscribe(heard.append)
        registry.register(ring)
        assert to.agent.tools["ring"].description == "Ring the bell of the dog."
        assert heard
        unsubscribe()
        count = len(heard)
        registry.unregister("ring")
        assert len(heard) == count
        to.say("Hello")
        assert sorted(offered(to)) == ["ring", "sing", "speak_up"]
        assert len(registry) == 0


def test_a_directory_may_be_given(write: Write, tmp_path: Path) -> None:
    write("echo")
    with talk(
        Way("anthropic"),
        [calls(("echo", {"text": "hi"})), says("ok"), says("now two")],
        kind=Dog,
        tools=tmp_path / "tools",
    ) as to:
        to.say("Echo")
        assert to.results() == ["hi"]
        write("parrot")
        to.agent.tools.reload()
        to.say("Again")
        assert {"echo", "parrot", "sing"} <= set(offered(to))
        with to.agent.tools.watch():
            assert "parrot" in to.agent.tools


@each_provider
def test_a_turn_may_be_about_some_tools_only(way: Way) -> None:
    script = [calls(("sing", {}), ("ring", {})), says("Sung."), says("Plain.")]
    with talk(way, script, kind=Dog) as to:
        to.say("Sing", tools=["sing"], tool_choice="required")
        assert offered(to, 0) == offered(to, 1) == ["sing"]
        song, bell = to.results()
        assert song == "la la"
        assert bell == "there's no tool 'ring' in this turn; there is sing"
        to.say("No tools", tools=())
        assert offered(to) == []
        with pytest.raises(ToolNotFoundError, match="there's no tool 'dance'"):
            to.say("Dance", tools=["dance"])
        assert to.messages[-1]["content"] == "Plain."
        with pytest.raises(TypeError, match="tools must be a list of names, not 'sing'"):
            to.say("Sing", tools="sing")


CHOICES: dict[str, dict[str, Any]] = {
    "openai": {
        "auto": "auto",
        "required": "required",
        "none": "none",
        "ring": {"type": "function", "function": {"name": "ring"}},
    },
    "openai-responses": {
        "auto": "auto",
        "required": "required",
        "none": "none",
        "ring": {"type": "function", "name": "ring"},
    },
    "anthropic": {
        "auto": {"type": "auto"},
        "required": {"type": "any"},
        "none": {"type": "none"},
        "ring": {"type": "tool", "name": "ring"},
    },
}


@each_provider
def test_a_choice_holds_for_the_first_answer_and_none_for_all(way: Way) -> None:
    known = CHOICES[way.provider]
    for choice in known:
        later = choice if choice == "none" else "auto"
        with talk(way, [calls(("ring", {})), says("Rung.")], tools=[ring]) as to:
            to.say("Go", tool_choice=choice)
            assert [body["tool_choice"] for body in to.bodies] == [known[choice], known[later]]


@each_provider
def test_options_go_into_each_request(way: Way) -> None:
    with talk(way, [says("Cold.")], options={"temperature": 0}) as to:
        to.say("Hello")
        assert to.bodies[0]["temperature"] == 0


@each_provider
def test_what_is_offered_can_be_looked_at(way: Way) -> None:
    with talk(way, [says("Yes.")], tools=[ring]) as to:
        seen = to.agent.definitions()
        to.say("Hello")
        assert tools_of(to) == seen
        seen[0].clear()
        assert to.agent.definitions() != seen
        assert repr(to.agent) == f"<Agent on {way.provider} m with 1 tools>"


@check_each("wrong", [7, ring, object()], ids=["number", "function", "object"])
def test_what_is_no_set_of_tools_is_refused(wrong: Any) -> None:
    with ScriptedServer([]), pytest.raises(TypeError, match="tools must be a ToolRegistry, a list"):
        Agent(provider="local", tools=wrong)


@check_each(
    ("wrong", "message"),
    [
        ({"max_rounds": "5"}, "^max_rounds must be a whole number, not '5'$"),
        ({"max_tools": None}, "^max_tools must be a whole number, not None$"),
        ({"approve": True}, "^approve must be a function, not True$"),
        ({"trim": 20}, "^trim must be a function, not 20$"),
        ({"emit": "all"}, "^emit must be a function, not 'all'$"),
    ],
)
def test_an_argument_of_another_type_is_refused(wrong: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        Agent(**wrong)


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^there's no tools directory '.*tols'$"):
        Agent(tools=tmp_path / "tols")


@check_each(
    ("content", "wanted", "message"),
    [
        (3, {}, "^say a string or a list of content blocks, not 3$"),
        ([{"text": "Hello"}], {}, "^say a string or a list of content blocks, not "),
        ("Hello", {"tools": "add"}, "^tools must be a list of names"),
    ],
)
def test_what_cannot_be_said_is_refused_at_once(content: Any, wanted: Any, message: str) -> None:
    agent = Agent()
    with pytest.raises(TypeError, match=message):
        agent.stream(content, **wanted)
    with pytest.raises(TypeError, match=message):
        agent.chat_sync(content, **wanted)


async def test_client_model_and_emit_may_be_given_by_their_places() -> None:
    with ScriptedServer([says("Hello.")]) as server:
        async with client_of("openai", server, is_async=True) as client:
            emitted: list[Any] = []
            agent = Agent(client, "mine", emitted.append)
            assert await agent.chat("Hello") == "Hello."
        assert server.requests[0].body["model"] == "mine"
        assert emitted == [{"type": "ai_response", "message": "Hello."}]
