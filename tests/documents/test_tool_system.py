"""The tool system of a basic agent: its table of types, its definitions and its registry."""

from __future__ import annotations

import enum
from typing import Any, Literal, Optional, Union

import pytest

from sovl_tools import ToolDefinition, Tooler, ToolRegistry, definition_of, tool
from tests.tables import check_each

pydantic = pytest.importorskip("pydantic")


@tool
def get_weather(city: str) -> str:
    """Look out of the window in a city."""
    return f"rain over {city}"


class Size(enum.Enum):
    """How large a pizza is."""

    SMALL = "small"
    LARGE = "large"


class Pizza(pydantic.BaseModel):  # type: ignore[name-defined]
    """What to bake."""

    name: str
    slices: int = 8
    toppings: list[str] = pydantic.Field(default_factory=list)


STRING = {"type": "string"}
INTEGER = {"type": "integer"}

TABLE: list[tuple[Any, dict[str, Any], Any, Any]] = [
    (str, STRING, "Oslo", "Oslo"),
    (int, INTEGER, 3, 3),
    (float, {"type": "number"}, 0.5, 0.5),
    (bool, {"type": "boolean"}, True, True),
    (list, {"type": "array"}, [1, "two"], [1, "two"]),
    (list[str], {"type": "array", "items": STRING}, ["a"], ["a"]),
    (list[Size], {"type": "array", "items": {"type": "string", "enum": ["small", "large"]}},
     ["small"], [Size.SMALL]),
    (dict, {"type": "object"}, {"a": [1]}, {"a": [1]}),
    (dict[str, int], {"type": "object", "additionalProperties": INTEGER}, {"a": 1}, {"a": 1}),
    (Optional[str], STRING, "Oslo", "Oslo"),  # noqa: UP045 - as the table has it
    (str | None, STRING, "Oslo", "Oslo"),
    (Union[int, str], {"anyOf": [INTEGER, STRING]}, "three", "three"),  # noqa: UP007 - likewise
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
    (Size, {"type": "string", "enum": ["small", "large"]}, "large", Size.LARGE),
    (Pizza, Pizza.model_json_schema(), {"name": "Roma"}, Pizza(name="Roma")),
]  # fmt: skip
IDS = [repr(row[0]) for row in TABLE]


def taking(annotation: Any, *default: Any) -> Any:
    """Return a function that keeps what it is given in ``received``."""

    def bake(value: Any) -> str:
        """Bake."""
        bake.received = value  # type: ignore[attr-defined]
        return "done"

    bake.__annotations__["value"] = annotation
    bake.__defaults__ = default or None
    return bake


@check_each(("annotation", "schema", "given", "received"), TABLE, ids=IDS)
def test_a_row_of_the_table_holds_and_the_argument_arrives_as_that_type(
    annotation: Any, schema: Any, given: Any, received: Any
) -> None:
    registry, function = ToolRegistry(), taking(annotation)
    registry.register(function)
    assert registry["bake"].parameters["properties"] == {"value": schema}
    result = Tooler(registry).call_sync("bake", {"value": given})
    assert result.value == "done"
    assert function.received == received
    assert type(function.received) is type(received)


REFUSED = [
    (str, 3), (int, 0.5), (float, "1"), (bool, 1), (list, {}), (list[str], [1]), (dict, []),
    (dict[str, int], {"a": "b"}), (Optional[str], 3),  # noqa: UP045 - as the table has it
    (Union[int, str], []),  # noqa: UP007 - likewise
    (Literal["a", "b"], "c"), (Size, "huge"), (Pizza, {"slices": 3}),
]  # fmt: skip


@check_each(("annotation", "given"), REFUSED, ids=[f"{row[0]!r} {row[1]!r}" for row in REFUSED])
def test_an_argument_of_another_type_never_arrives(annotation: Any, given: Any) -> None:
    registry, function = ToolRegistry(), taking(annotation)
    registry.register(function)
    error = Tooler(registry).call_sync("bake", {"value": given}).error
    assert error is not None
    assert error.kind == "invalid_arguments"
    assert not hasattr(function, "received")


def test_parameters_without_a_default_are_required() -> None:
    def order(
        pizza: Pizza, size: Size = Size.LARGE, note: str | None = None, count: int = 1
    ) -> str:
        """Order."""
        return f"{count} {size.value} {pizza.name} {note}"

    registry = ToolRegistry()
    definition = registry.register(order)
    assert isinstance(definition, ToolDefinition)
    assert definition.parameters["required"] == ["pizza"]
    assert definition.parameters["properties"]["size"]["default"] == "large"
    result = Tooler(registry).call_sync("order", {"pizza": {"name": "Roma"}})
    assert result.value == "1 large Roma None"


def test_an_optional_parameter_may_be_left_out_or_null() -> None:
    registry, function = ToolRegistry(), taking(Optional[str])  # noqa: UP045 - as the table has it
    registry.register(function)
    assert registry["bake"].parameters["required"] == []
    tooler = Tooler(registry)
    for given in ({}, {"value": None}):
        function.received = "nothing yet"
        assert tooler.call_sync("bake", given).ok
        assert function.received is None


def test_the_bare_decorator_takes_name_description_and_types_from_the_function() -> None:
    definition = get_weather._tool_definition  # type: ignore[attr-defined]
    assert definition is definition_of(get_weather)
    assert definition.name == "get_weather"
    assert definition.description == "Look out of the window in a city."
    assert definition.parameters == {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }


def test_a_definition_executes_and_has_a_neutral_schema() -> None:
    definition = definition_of(get_weather)
    assert definition.execute(city="Oslo") == "rain over Oslo"
    assert definition.to_schema() == {
        "name": "get_weather",
        "description": "Look out of the window in a city.",
        "parameters": definition.parameters,
    }


def test_a_registry_registers_finds_lists_and_describes() -> None:
    registry = ToolRegistry()
    registry.register(get_weather)
    assert registry.get("get_weather") is definition_of(get_weather)
    assert registry.get("get_whether") is None
    assert registry.list_tools() == [definition_of(get_weather)]
    assert registry.schemas() == [definition_of(get_weather).to_schema()]
