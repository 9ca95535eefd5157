"""What can be handed over to a registry, and what is said of anything else."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from sovl_tools import AITool, InferenceError, ToolDefinition, Tooler, ToolRegistry, tool
from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.authoring.offering import offered
from sovl_tools.model.errors import UnresolvedReferenceError

EXPECTED = "a function, a method, an object with @tool methods, an AITool or a ToolDefinition"


def greet(name: str) -> str:
    """Greet somebody."""
    return f"hello {name}"


class Greeter(AITool):
    name = "greeter"
    description = "Greet somebody."
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
    found = offered(value)
    assert isinstance(found, list)
    return {each.name: each for each in found}


def test_a_function_is_taken_as_if_it_were_decorated() -> None:
    found = offered(greet)
    assert isinstance(found, ToolDefinition)
    assert not hasattr(greet, ATTRIBUTE)
    assert found.to_schema() == definition_of(tool(fresh())).to_schema()


def fresh() -> Callable[..., str]:
    def greet(name: str) -> str:
        """Greet somebody."""
        return name

    return greet


def test_a_decorated_function_brings_its_definition_and_so_does_a_definition() -> None:
    decorated = tool(name="hello")(fresh())
    assert offered(decorated) is definition_of(decorated)
    definition = definition_of(decorated)
    assert offered(definition) is definition


def test_an_instance_of_a_tool_class_and_the_class_itself_will_do() -> None:
    greeter = Greeter()
    found, made = offered(greeter), offered(Greeter)
    assert isinstance(found, ToolDefinition)
    assert isinstance(made, ToolDefinition)
    assert found.instance is greeter
    assert isinstance(made.instance, Greeter)
    assert made.instance is not greeter


def test_an_object_brings_its_methods_in_the_order_in_which_they_are_written() -> None:
    speaker = Speaker()
    found = by_name(speaker)
    assert list(found) == ["shout", "count", "again", "kind", "silence"]
    assert all(each.instance is speaker for each in found.values())


def test_methods_are_bound_to_their_object() -> None:
    quiet, loud = by_name(Speaker(".")), by_name(Speaker("!"))
    assert quiet["shout"].execute(text="a") == "A."
    assert loud["shout"].execute(text="a") == "A!"
    assert loud["count"].execute(text="a b") == 2
    assert (loud["kind"].execute(), loud["silence"].execute()) == ("Speaker", "")


def test_a_method_that_overrides_a_tool_keeps_what_is_said_of_it() -> None:
    shout = by_name(Speaker())["shout"]
    assert (shout.description, shout.tags) == ("Say it loudly.", ("loud",))
    assert shout.parameters["required"] == ["text"]


def test_none_takes_a_tool_away_and_another_method_brings_it_back() -> None:
    assert list(by_name(Mute())) == ["count", "again", "silence"]
    brought = by_name(Outspoken())
    assert list(brought) == ["cry", "count", "again", "silence"]
    assert brought["cry"].execute(text="a") == "a!!"


@pytest.mark.parametrize("name", ["count", "helper"])
def test_a_method_of_an_object_is_one_tool(name: str) -> None:
    speaker = Speaker()
    found = offered(getattr(speaker, name))
    assert isinstance(found, ToolDefinition)
    assert found.name == name
    assert found.instance is speaker
    assert list(found.parameters["properties"]) == ["text"]


def test_a_method_of_the_class_needs_no_object() -> None:
    found = offered(Speaker.kind)
    assert isinstance(found, ToolDefinition)
    assert found.execute() == "Speaker"


def test_a_plain_method_of_the_class_is_bound_to_the_class() -> None:
    class Local:
        @classmethod
        def kind(cls, mark: str) -> str:
            """Say what it is."""
            return cls.__name__ + mark

    found = offered(Local.kind)
    assert isinstance(found, ToolDefinition)
    assert found.execute(mark="!") == "Local!"
    assert list(found.parameters["properties"]) == ["mark"]


class Plain: ...


class Lacking(AITool):
    name = "lacking"


class Demanding(Greeter):
    def __init__(self, service: object) -> None:
        self.service = service


class Foreign:
    def here(self) -> None: ...

    setattr(here, ATTRIBUTE, "a text")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (5, f"register takes {EXPECTED}, not 5"),
        (None, f"register takes {EXPECTED}, not None"),
        ("greet", f"register takes {EXPECTED}, not 'greet'"),
        ([greet], f"register takes {EXPECTED}, not {[greet]!r:.80}"),
        (Words, f"register takes {EXPECTED}, not the class Words; pass an instance"),
        (Lacking, "Lacking lacks description, execute, parameters_schema, so there can't be an"),
        (Demanding, "Demanding.__init__() missing 1 required positional argument: 'service'"),
        (Words.count, "Words.count is a method without its object; pass an instance of Words, or"),
        (Words.helper, "Words.helper is a method without its object; pass an instance of Words"),
        (lambda: 1, "a lambda has no name to call it by; use def, or tool(name=…)"),
        (len, "len: 'obj': positional-only; remove the '/': arguments are passed by keyword"),
        (print, "print: 'args': '*args' never receives anything"),
    ],
    ids=lambda value: getattr(value, "__qualname__", type(value).__name__),
)
def test_whatever_else_is_refused_with_words_on_what_to_pass(value: Any, words: str) -> None:
    with pytest.raises(TypeError) as caught:
        offered(value)
    assert str(caught.value).startswith(words)


def test_an_object_without_tools_is_refused() -> None:
    for value in (Plain(), Mute, functools.partial(greet, "you")):
        with pytest.raises(TypeError, match="register takes a function"):
            offered(value)


def test_a_definition_of_another_kind_is_refused() -> None:
    for value in (Foreign.here, Foreign().here, Foreign()):
        with pytest.raises(TypeError, match="is a str, not a ToolDefinition"):
            offered(value)


def test_a_partial_is_a_tool_if_it_has_a_name() -> None:
    found = offered(tool(name="greet_all")(functools.partial(greet, "all")))
    assert isinstance(found, ToolDefinition)
    assert found.execute() == "hello all"


def test_a_method_that_waits_for_a_name_can_not_be_bound_before() -> None:
    class Calendar:
        @tool
        def day(self, day: Day) -> str:  # type: ignore[name-defined]  # noqa: F821 - not there yet
            """Say the day."""
            return str(day)

    for value in (Calendar(), Calendar().day):
        with pytest.raises(UnresolvedReferenceError, match="'day': annotated Day, but the name"):
            offered(value)


def test_a_function_that_can_not_be_expressed_is_refused() -> None:
    def socket(server: memoryview) -> None: ...

    with pytest.raises(InferenceError, match="'server': annotated memoryview, but there is no"):
        offered(socket)


def test_two_objects_of_one_class_are_two_candidates() -> None:
    registry = ToolRegistry()
    first, second = Speaker("1"), Speaker("2")
    entered = registry.register(first)
    kept = registry.register(second)
    assert isinstance(entered, list)
    assert kept == entered
    assert Tooler(registry).call_sync("shout", {"text": "a"}).value == "A1"
    assert {each.code for each in registry.report.errors} == {"ST801"}
    registry.unregister("shout")
    assert Tooler(registry).call_sync("shout", {"text": "a"}).value == "A2"
