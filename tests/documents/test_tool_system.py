"""The tool system of a basic agent: its table of types, its definitions and its registry."""

from __future__ import annotations

from sovl_tools import ToolRegistry, definition_of, tool


@tool
def get_weather(city: str) -> str:
    """Look out of the window in a city."""
    return f"rain over {city}"


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
