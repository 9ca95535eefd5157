from __future__ import annotations

from typing import Any

from hypothesis import given

from sovl_tools import ToolDefinition
from tests.formats.schemas import moderate, parameters
from tests.formats.tools import collected, shaped

PARAMETERS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"city": {"$ref": "#city", "default": {"$ref": "no reference"}}},
    "required": ["city"],
    "$defs": {"city": {"$anchor": "city", "type": "string", "minLength": 1}},
    "if": {"required": ["city"]},
}


def tool(name: str = "weather", parameters: dict[str, Any] = PARAMETERS) -> ToolDefinition:
    return ToolDefinition(name, "Tell it.", parameters, print, title="Weather", tags=("a",))


def containers(value: Any) -> set[int]:
    """Return the identities of all objects and arrays in a value."""
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        return set()
    return {id(value), *(each for part in inner for each in containers(part))}


def test_a_definition_is_name_description_and_parameters_and_nothing_else() -> None:
    shape = shaped("json-schema", tool(), strict=True, cache_control={"type": "ephemeral"})
    assert shape.definition == {
        "name": "weather",
        "description": "Tell it.",
        "parameters": PARAMETERS,
    }
    assert list(shape.definition) == ["name", "description", "parameters"]


def test_nothing_is_lost_and_nothing_has_to_be_undone() -> None:
    shape = shaped("json-schema", tool())
    assert (shape.losses, shape.undo, shape.is_strict) == ((), None, False)


@moderate
@given(parameters())
def test_the_schema_stands_there_verbatim_and_is_a_copy(schema: dict[str, Any]) -> None:
    found = shaped("json-schema", tool(parameters=schema)).definition["parameters"]
    assert repr(found) == repr(schema)
    assert containers(found).isdisjoint(containers(schema))


def test_definitions_are_a_list_in_the_order_given() -> None:
    shapes = [shaped("json-schema", tool(name)) for name in ("b", "a")]
    definitions, losses = collected("json-schema", shapes)
    assert [each["name"] for each in definitions] == ["b", "a"]
    assert losses == ()
