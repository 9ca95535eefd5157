"""Tools that are instances of classes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from sovl_tools import AITool, Tooler, ToolRegistry
from sovl_tools.authoring.aitool import definition_of_instance
from tests.tables import check_each

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}


class Plain(AITool):
    """The least that there can be."""

    name = "plain"
    description = "Say a city."
    parameters_schema = PARAMETERS

    def execute(self, city: str) -> str:
        return city


class Rich(AITool):
    """All that there can be, as properties."""

    category = "weather"
    tags = ("weather", "io")
    supports_streaming = True

    def __init__(self, name: str = "rich", *, is_fast: bool = False) -> None:
        self._name = name
        self._is_fast = is_fast

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return f"Tell the weather as {self._name} does."

    @property
    def parameters_schema(self) -> dict[str, Any]:
        return {"properties": {"city": {"enum": lambda tool: [tool.name]}}}

    @property
    def speed(self) -> str:
        return "fast" if self._is_fast else "slow"

    def get_ai_prompt_instructions(self) -> str:
        return f"Ask {self._name} first."

    async def execute(self, **arguments: Any) -> Any:
        await asyncio.sleep(0)
        return arguments


def test_a_class_needs_four_members_and_has_defaults_for_the_others() -> None:
    definition = definition_of_instance(Plain())
    assert definition.to_schema() == {
        "name": "plain",
        "description": "Say a city.",
        "parameters": PARAMETERS,
    }
    assert (definition.category, definition.tags, definition.instructions) == (None, (), None)
    assert definition.source == f"{__name__}.Plain"
    assert not definition.is_dynamic
    assert definition.execute(city="Oslo") == "Oslo"


def test_what_a_subclass_says_itself_is_what_the_definition_says() -> None:
    tool = Rich("north")
    definition = definition_of_instance(tool)
    assert (definition.name, definition.category) == ("north", "weather")
    assert definition.tags == ("weather", "io")
    assert definition.instructions == "Ask north first."
    assert definition.instance is tool
    assert definition.is_dynamic
    assert definition.to_schema()["parameters"] == {
        "type": "object",
        "properties": {"city": {"enum": ["north"]}},
    }


@check_each("tool", [Plain(), Rich()], ids=["sync", "async"])
async def test_execute_is_called_with_checked_arguments(tool: AITool) -> None:
    registry = ToolRegistry()
    registry.register(tool)
    tooler = Tooler(registry)
    good, bad = {"city": "rich"}, {"city": 5}
    result = await tooler.call(tool.name, good)
    assert result.value in ("rich", good)
    refused = await tooler.call(tool.name, bad)
    assert refused.error is not None
    assert refused.error.kind == "invalid_arguments"


def test_tools_are_found_by_any_further_attribute() -> None:
    registry = ToolRegistry()
    for tool in (Plain(), Rich("slow"), Rich("fast", is_fast=True)):
        registry.register(tool)
    found: Callable[..., list[str]] = lambda **criteria: [  # noqa: E731 - three words
        each.name for each in registry.filter(**criteria)
    ]
    assert found(supports_streaming=True) == ["fast", "slow"]
    assert found(supports_streaming=False) == []
    assert found(speed="fast") == ["fast"]
    assert found(tags=["io"], category="weather", speed="slow") == ["slow"]
    assert found(category=None) == ["plain"]


def member(**members: Any) -> AITool:
    """Return a tool with other members than the least one has."""
    made: AITool = type("Odd", (Plain,), members)()
    return made


@check_each(
    ("members", "words"),
    [
        ({"name": 5}, "name of Odd is of type int, not a string"),
        ({"parameters_schema": []}, "parameters_schema of Odd is of type list, not a mapping"),
        ({"tags": "io"}, "tags of Odd is of type str, not a list"),
        (
            {"get_ai_prompt_instructions": lambda _: 5},
            "instructions of Odd is of type int, not a string",
        ),
        (
            {"parameters_schema": {"items": str}},
            "items is the class str, which isn't JSON Schema; write it as in {'type': 'string'}",
        ),
    ],
)
def test_a_member_of_another_type_is_refused(members: dict[str, Any], words: str) -> None:
    with pytest.raises(TypeError) as caught:
        definition_of_instance(member(**members))
    assert str(caught.value) == words


class Whole(Plain):
    """A tool with every field."""

    title = "Whole"
    version = "2"
    activation_phrases = ("do it all",)
    annotations: ClassVar[dict[str, bool]] = {"destructive": True}
    requires: ClassVar[dict[str, list[str]]] = {"env": ["WHOLE_KEY"]}
    execution: ClassVar[dict[str, Any]] = {"timeout": 5}
    metadata: ClassVar[dict[str, Any]] = {"owner": "team-a"}
    output_schema: ClassVar[dict[str, Any]] = {"type": "string"}
    examples: ClassVar[list[Any]] = [{"input": {}}]
    instructions = "Use it once."
    owner_email = "a@example.com"


def test_every_field_of_a_class_is_taken() -> None:
    tool = definition_of_instance(Whole())
    assert (tool.title, tool.version, tool.activation_phrases) == ("Whole", "2", ("do it all",))
    assert (tool.annotations, tool.execution) == ({"destructive": True}, {"timeout": 5})
    assert (tool.requires, tool.metadata) == ({"env": ["WHOLE_KEY"]}, {"owner": "team-a"})
    assert (tool.output_schema, tool.examples) == ({"type": "string"}, ({"input": {}},))
    assert tool.instructions == "Use it once."
    assert tool.remarks == ()


def test_the_methods_of_an_object_are_asked_each_time() -> None:
    class Changing(Plain):
        count = 0

        def get_ai_prompt_instructions(self) -> str:
            self.count += 1
            return f"Asked {self.count} times."

        def get_openrouter_tool_definition(self) -> dict[str, Any]:
            self.count += 1
            return {
                "type": "function",
                "function": {"name": self.name, "description": str(self.count)},
            }

    registry = ToolRegistry()
    registry.register(Changing())
    first, second = registry.prompt_instructions(), registry.prompt_instructions()
    assert first != second
    found = [registry.definitions("openrouter")[0]["function"]["description"] for _ in range(2)]
    assert found[0] != found[1]


def test_an_attribute_of_nearly_such_a_name_is_a_finding() -> None:
    class Misspelt(Plain):
        anotations: ClassVar[dict[str, bool]] = {"destructive": True}

    ((_, words),) = definition_of_instance(Misspelt()).remarks
    assert words == "has an attribute 'anotations': did you mean 'annotations'?"
