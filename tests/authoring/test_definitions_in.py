"""What can be handed over to a registry, and what is said of anything else."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools import (
    AITool,
    ToolDefinition,
    ToolLoadError,
    ToolRegistry,
    tool,
)
from sovl_tools.authoring.decorator import definitions_in
from tests.tables import check_each

EXPECTED = "a function, a method, an object with @tool methods, an AITool or a ToolDefinition"


class Greeter(AITool):
    name = "greeter"
    description = "Greet someone."
    parameters_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - nobody changes it

    def execute(self) -> str:
        return "hello"


class Words:
    @tool
    def count(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    def helper(self, text: str) -> str:
        return text


class Loud:
    @tool(tags=["loud"])
    def shout(self, text: str) -> str:
        """Say it loudly."""
        return text.upper()


class Speaker(Words, Loud):
    def __init__(self, mark: str = "!") -> None:
        self.mark = mark

    @tool
    def again(self, text: str) -> str:
        """Say it again."""
        return f"{text} {text}"

    def shout(self, text: str) -> str:
        return super().shout(text) + self.mark

    @classmethod
    @tool
    def kind(cls) -> str:
        """Say what it is."""
        return cls.__name__

    @staticmethod
    @tool
    def silence() -> str:
        """Say nothing."""
        return ""


class Mute(Speaker):
    shout = None  # type: ignore[assignment]  # which takes the tool away
    kind = None  # type: ignore[assignment]  # likewise


class Outspoken(Mute):
    @tool(name="cry")
    def shout(self, text: str) -> str:  # type: ignore[override]  # it is there again
        """Cry it."""
        return f"{text}!!"


def by_name(value: Any) -> dict[str, ToolDefinition]:
    found = definitions_in(value)
    assert isinstance(found, list)
    return {each.name: each for each in found}


def test_an_object_brings_its_methods_in_the_order_in_which_they_are_written() -> None:
    speaker = Speaker()
    found = by_name(speaker)
    assert list(found) == ["shout", "count", "again", "kind", "silence"]
    instances = {"kind": Speaker, "silence": None}
    assert all(each.instance is instances.get(name, speaker) for name, each in found.items())


def test_none_takes_a_tool_away_and_another_method_brings_it_back() -> None:
    assert list(by_name(Mute())) == ["count", "again", "silence"]
    brought = by_name(Outspoken())
    assert list(brought) == ["cry", "count", "again", "silence"]
    assert brought["cry"].execute(text="a") == "a!!"


class Lacking(AITool):
    name = "lacking"


class Demanding(Greeter):
    def __init__(self, service: object) -> None:
        self.service = service


@check_each(
    ("value", "words"),
    [
        (5, f"register takes {EXPECTED}, not 5"),
        (Words, f"register takes {EXPECTED}, not the class Words; pass an instance"),
        (Lacking, "Lacking lacks description, execute, parameters_schema, so there can't be an"),
        (Demanding, "Demanding.__init__() missing 1 required positional argument: 'service'"),
        (Words.count, "Words.count is a method without its object; pass an instance of Words, or"),
        (lambda: 1, "a lambda has no name to call it by; use def, or tool(name=…)"),
        (len, "len: 'obj': positional-only; remove the '/': arguments are passed by keyword"),
    ],
    ids=lambda value: getattr(value, "__qualname__", type(value).__name__),
)
def test_whatever_else_is_refused_with_words_on_what_to_pass(value: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        definitions_in(value)
    assert str(caught.value).startswith(words)


class Waiting:
    @tool
    def early(self, text: str) -> str:
        """Say it."""
        return text

    @tool
    def late(self, day: Day) -> str:  # type: ignore[name-defined]  # noqa: F821 - not there yet
        """Say the day."""
        return repr(day)


def test_one_method_that_can_not_be_inferred_does_not_stop_the_others() -> None:
    registry = ToolRegistry()
    with pytest.raises(ToolLoadError) as caught:
        registry.register(Waiting())
    (found,) = caught.value.diagnostics
    assert found.message == "'day': annotated Day, but the name 'Day' is not defined"
    assert (found.code, found.tool) == ("ST703", "late")
    assert found.line == Waiting.late.__code__.co_firstlineno + 1
    assert [each.name for each in registry] == ["early"]


class Choosing:
    colors = ("red",)

    @staticmethod
    @tool(params={"color": {"enum": lambda: Choosing.colors}})
    def static(color: str) -> str:
        """Choose."""
        return color

    @classmethod
    @tool(params={"color": {"enum": lambda kind: [kind.__name__]}})
    def of_class(cls, color: str) -> str:
        """Choose."""
        return color

    @tool(params={"color": {"enum": lambda choosing: [id(choosing)]}})
    def own(self, color: str) -> str:
        """Choose."""
        return color
