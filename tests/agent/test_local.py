"""The provider ``local``: a dialogue that ends in a call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import Agent, ToolDefinition, ToolRegistry, tool
from sovl_tools.agent.events import Reply, TextDelta
from sovl_tools.agent.history import text_of
from tests.schema.strategies import moderate, texts
from tests.tables import check_each

LEVELS = ["low", "very high"]


def _kept(**arguments: Any) -> dict[str, Any]:
    return arguments


def definition(
    name: str, properties: dict[str, Any], *required: str, **known: Any
) -> ToolDefinition:
    """Return a tool that returns its arguments; all are required unless some are named."""
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(required or properties),
        "additionalProperties": False,
    }
    known = {"function": _kept, "description": f"Do the {name}.", **known}
    return ToolDefinition(name=name, parameters=parameters, **known)


ADD = definition(
    "example_tool",
    {
        "number1": {"type": "integer", "description": "The first number.", "maximum": 99},
        "number2": {"type": "integer", "description": "The second number"},
    },
    description="A simple example tool that adds two numbers. It is small.",
    activation_phrases=("add numbers",),
)
PAINT = definition(
    "paint",
    {
        "color": {"type": "string", "description": "Which color?"},
        "level": {"enum": LEVELS, "default": "low"},
        "is_glossy": {"type": "boolean"},
        "coats": {"type": "integer", "default": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "color",
    "level",
    title="Paint a wall",
    activation_phrases=("brush the wall",),
)


def agent_with(*tools: Any, **options: Any) -> Agent:
    registry = ToolRegistry()
    for each in tools:
        registry.register(each)
    return Agent(tools=registry, provider="local", **options)


def called(reply: Reply) -> Any:
    """Return the arguments of the one call of a turn."""
    (call,) = reply.calls
    return json.loads(call.arguments)


def said(agent: Agent, *texts_: str) -> Reply:
    """Return the answer to the last of some strings, said one after the other."""
    return [agent.chat_sync(text) for text in texts_][-1]


@check_each(
    "text",
    [
        "add numbers number1=5 number2=3",
        "please add numbers, number1=5, number2=3",
        "example_tool number2=3 number1=5",
        'example_tool number1="5" number2=3',
        "number1=5 number2=3 for the example_tool",
        "a simple tool that adds two numbers number1=5 number2=3",
    ],
)
def test_arguments_in_the_text_are_taken(text: str) -> None:
    reply = said(agent_with(ADD, PAINT), text)
    assert called(reply) == {"number1": 5, "number2": 3}
    assert json.loads(reply) == {"number1": 5, "number2": 3}


@check_each("text", ["add numbers 5 and 3", "add numbers: 5, 3", "example_tool 5 3"])
def test_nothing_is_guessed(text: str) -> None:
    reply = said(agent_with(ADD, PAINT), text)
    assert reply.calls == ()
    assert "number1 (integer): The first number." in reply


LEAVING = 'Say "never mind" to leave it.'


def test_a_sentence_is_no_value_unless_it_is_in_quotes() -> None:
    agent = agent_with(PAINT)
    said(agent, "brush the wall")
    advice = f"If that is what color is, say it in quotes. {LEAVING}"
    for sentence in ("I would like something else", "what are the choices", "is it red?"):
        assert said(agent, sentence) == advice
    assert said(agent, '"what you like best"') == "level (one of low, very high)?"
    assert said(agent, "never mind") == "All right, paint is not called."
    assert said(agent, "never mind") == "All right."


def test_what_is_said_beside_a_phrase_may_be_for_an_argument() -> None:
    @tool(activation_phrases=["what time is it"])
    def clock(time_zone: str = "UTC") -> str:
        """Tell the time."""
        return f"noon in {time_zone}"

    agent = agent_with(clock)
    assert said(agent, "what time is it now, please?") == "noon in UTC"
    assert said(agent, "what time is it in Tokyo?") == (
        "clock: Tell the time.\nOptional, as key=value: time_zone.\n"
        "Shall I call clock()? (yes or no)"
    )
    assert said(agent, "time_zone=Asia/Tokyo") == "noon in Asia/Tokyo"


def test_a_tool_is_proposed_and_its_arguments_asked_for_one_by_one() -> None:
    agent = agent_with(ADD, PAINT)
    assert said(agent, "add numbers") == (
        "example_tool: A simple example tool that adds two numbers.\n"
        f"number1 (integer): The first number.\n{LEAVING}"
    )
    assert said(agent, "5") == "number2 (integer): The second number?"
    assert called(said(agent, "3")) == {"number1": 5, "number2": 3}


def test_an_unfit_answer_is_told_in_a_sentence_and_asked_again() -> None:
    agent = agent_with(ADD, PAINT)
    assert said(agent, "add numbers", "five") == (
        'number1: must be an integer, not the string "five".\nnumber1 (integer): The first number.'
    )
    assert said(agent, "500").startswith("number1: must be at most 99, not 500.\n")
    assert said(agent, "7").startswith("number2")
    agent = agent_with(PAINT)
    reply = said(agent, "brush the wall", "red", "hihg")
    assert reply.startswith('level: must be one of "low", "very high", not "hihg"')
    assert called(said(agent, "Very High")) == {"color": "red", "level": "very high"}


@check_each("word", ["never mind", "Cancel!", "stop"])
def test_the_user_can_leave_off(word: str) -> None:
    agent = agent_with(ADD)
    assert said(agent, "add numbers", word) == "All right, example_tool is not called."
    assert "No tool matches" in said(agent, "5")


@check_each(
    ("text", "arguments"),
    [
        ('color="dark red" level=low', {"color": "dark red", "level": "low"}),
        (r'level=LOW color="a \"b\""', {"color": 'a "b"', "level": "low"}),
        ("color='dark red' level=low", {"color": "dark red", "level": "low"}),
        (
            "color=red, level=low, is_glossy=yes, tags=a,b",
            {"color": "red", "level": "low", "is_glossy": True, "tags": ["a", "b"]},
        ),
        (
            'color=red level=low tags=["a","b"]',
            {"color": "red", "level": "low", "tags": ["a", "b"]},
        ),
    ],
)
def test_a_value_is_read_as_its_schema_says(text: str, arguments: dict[str, Any]) -> None:
    assert called(said(agent_with(PAINT, ADD), f"paint {text}")) == arguments


def test_a_key_that_is_no_parameter_is_told() -> None:
    agent = agent_with(ADD)
    reply = said(agent, "add numbers number1=5 number2=3 numbr3=1")
    assert "numbr3: is not a parameter" in reply
    assert reply.endswith("Shall I call example_tool(number1=5, number2=3)? (yes or no)")
    assert called(said(agent, "yes")) == {"number1": 5, "number2": 3}


@check_each(
    ("schema", "answer", "value"),
    [
        ({"type": "number"}, "2.5", 2.5),
        ({"type": "boolean"}, "no", False),
        ({"type": "array", "items": {"type": "integer"}}, "1, 2", [1, 2]),
        ({"type": "object"}, '{"a": 1}', {"a": 1}),
        ({"type": ["integer", "null"]}, "null", None),
        ({"type": "string"}, "5", "5"),
        ({"enum": [1, 2]}, "2", 2),
    ],
)
def test_an_answer_is_read_as_its_schema_says(schema: Any, answer: str, value: Any) -> None:
    made = definition("ask", {"what": schema, "other": {"type": "integer"}}, "what")
    assert called(said(agent_with(made), "ask", answer)) == {"what": value}


@check_each("text", ["hello", "Help!", "what can you do?", "  "])
def test_a_greeting_is_answered_with_the_tools(text: str) -> None:
    reply = said(agent_with(ADD, PAINT), text)
    assert reply == (
        "These tools are here:\n"
        "- example_tool: A simple example tool that adds two numbers.\n"
        "- paint: Do the paint.\n"
        "Say the name of one or a phrase, and arguments as key=value; I ask for what lacks."
    )


def test_the_slots_of_a_phrase_are_arguments() -> None:
    paint = replace(PAINT, activation_phrases=("paint it {color}", "give it {coats} coats"))
    reply = said(agent_with(paint, ADD), "please paint it dark green, level=low")
    assert called(reply) == {"color": "dark green", "level": "low"}
    assert "\ncolor (string): Which color?" in said(agent_with(paint, ADD), "give it 2 coats")


def test_what_no_tool_is_for_is_told() -> None:
    reply = said(agent_with(ADD, PAINT), "sing me something")
    assert reply.startswith("No tool matches that. These tools are here:\n- example_tool: ")
    reply = said(agent_with(ADD, PAINT), "hang the painting on a nail that is long enough")
    assert reply.startswith("No tool fits well; nearest:\n- paint: Do the paint.\nSay the name")


def test_a_tool_that_words_alone_have_found_is_not_called_unasked() -> None:
    sweep = definition("sweep_floor", {})
    agent = agent_with(sweep, ADD)
    reply = said(agent, "could you do the floor, please")
    assert reply == "sweep_floor: Do the sweep_floor.\nShall I call sweep_floor()? (yes or no)"
    assert said(agent, "no") == "All right, sweep_floor is not called."
    assert called(said(agent, "could you do the floor, please", "yes")) == {}
    assert called(said(agent, "sweep_floor")) == {}
    assert called(
        said(agent, "could you do the floor, please", "example_tool number1=5 number2=3")
    ) == {
        "number1": 5,
        "number2": 3,
    }


def test_a_destructive_tool_that_words_have_found_is_not_called_unasked() -> None:
    wipe = definition(
        "wipe_disk", {"number": {"type": "integer"}}, annotations={"destructive": True}
    )
    agent = agent_with(wipe)
    assert said(agent, "the disk number=5").endswith(
        "Shall I call wipe_disk(number=5)? (yes or no)"
    )
    assert called(said(agent, "yes")) == {"number": 5}


def test_while_something_is_asked_for_another_tool_can_be_named() -> None:
    agent = agent_with(ADD, PAINT)
    assert said(agent, "add numbers", "brush the wall").startswith("paint: ")
    assert said(agent, "paint 'red'", "add numbers").startswith("example_tool")
    agent.messages.clear()
    assert said(agent, "paint", "add numbers").startswith("example_tool")
    assert said(agent, "paint", '"add numbers"').startswith("level")


def test_what_it_waits_for_is_saved_with_the_conversation(tmp_path: Path) -> None:
    first, second = agent_with(ADD), agent_with(ADD)
    said(first, "add numbers", "5")
    first.save(tmp_path / "chat.json")
    second.restore(tmp_path / "chat.json")
    assert called(said(second, "3")) == {"number1": 5, "number2": 3}


async def test_answers_can_be_streamed() -> None:
    agent = agent_with(ADD, PAINT)
    pieces = [event.text async for event in agent.stream("hello") if isinstance(event, TextDelta)]
    assert "".join(pieces) == text_of(agent.messages[-1]["content"])
    assert [type(event).__name__ for event in agent.stream("example_tool number1=5 number2=3")] == [
        "ToolStarted", "ToolFinished", "RoundFinished",
        "TextDelta", "RoundFinished", "TurnFinished",
    ]  # fmt: skip


def _all_names(agent: Agent) -> Iterator[str]:
    for message in agent.messages:
        yield from (call["name"] for call in message.get("calls", ()))


@moderate
@given(
    lines=st.lists(texts | st.sampled_from(["add numbers", "paint", "yes", "5", "no"]), max_size=8)
)
def test_any_conversation_has_answers_and_calls_that_fit(lines: list[str]) -> None:
    agent = agent_with(ADD, PAINT)
    for line in lines:
        assert said(agent, line)
    assert all(not each["is_error"] for each in agent.messages if each["role"] == "tool")
    assert json.loads(json.dumps(agent.messages)) == agent.messages
    assert set(_all_names(agent)) <= {"example_tool", "paint"}
