from __future__ import annotations

from typing import Any

import mcp_types
from hypothesis import given
from mcp_types import _v2025_11_25, _v2026_07_28
from pydantic import TypeAdapter, ValidationError

from sovl_tools import ToolDefinition, ToolRegistry
from tests.conftest import REPOSITORY
from tests.formats.schemas import manifests, moderate
from tests.formats.tools import collected, shaped
from tests.tables import check_each

PARAMETERS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"city": {"$ref": "#city", "x-mcp-header": "City"}},
    "$defs": {"city": {"$anchor": "city", "type": "string"}},
    "if": {"required": ["city"]},
    "then": {"minProperties": 1},
}
OBJECT = {"type": "object", "properties": {"degrees": {"type": "number"}}}

_PUBLIC: TypeAdapter[Any] = TypeAdapter(mcp_types.Tool)
_NEW: TypeAdapter[Any] = TypeAdapter(_v2026_07_28.Tool)
_OLD: TypeAdapter[Any] = TypeAdapter(_v2025_11_25.Tool)


def tool(**fields: Any) -> ToolDefinition:
    return ToolDefinition("weather", "Tell it.", PARAMETERS, print, **fields)


def tool_of(manifest: dict[str, Any]) -> ToolDefinition:
    known = {key: each for key, each in manifest.items() if key not in {"examples", "tags"}}
    return ToolDefinition(function=print, **known)


def is_taken_by_older_clients(definition: Any) -> bool:
    try:
        _OLD.validate_python(definition, by_alias=True, by_name=False)
    except ValidationError:
        return False
    return True


def test_a_plain_tool_has_a_name_a_description_and_the_schema_of_its_input() -> None:
    shape = shaped("mcp", tool(tags=("a",), category="b", version="1", metadata={"c": 1}))
    assert shape.definition == {
        "name": "weather",
        "description": "Tell it.",
        "inputSchema": PARAMETERS,
    }
    assert shape.losses == ()


def test_title_output_schema_and_annotations_are_said_in_the_words_of_the_protocol() -> None:
    hints = {"read_only": True, "destructive": False, "idempotent": True, "open_world": False}
    definition = shaped(
        "mcp", tool(title="Weather", output_schema=OBJECT, annotations=hints)
    ).definition
    assert list(definition) == [
        "name", "title", "description", "inputSchema", "outputSchema", "annotations",
    ]  # fmt: skip
    assert definition["title"] == "Weather"
    assert definition["outputSchema"] == OBJECT
    assert definition["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }


def test_annotations_that_the_protocol_does_not_know_are_left_out() -> None:
    assert "annotations" not in shaped("mcp", tool(annotations={"x-own": True})).definition


def test_an_empty_title_would_hide_the_name_and_is_left_out() -> None:
    assert "title" not in shaped("mcp", tool(title="")).definition


def test_both_schemas_are_copies() -> None:
    output: dict[str, Any] = {"type": "object", "properties": {}}
    definition = shaped("mcp", tool(output_schema=output)).definition
    definition["inputSchema"]["properties"]["city"]["x-mcp-header"] = "Town"
    definition["outputSchema"]["properties"]["degrees"] = True
    assert PARAMETERS["properties"]["city"]["x-mcp-header"] == "City"
    assert output["properties"] == {}


@check_each(
    "schema",
    [
        {"type": "array"},
        {},
        {"type": ["object", "null"]},
        {"$ref": "#/$defs/a", "$defs": {"a": {}}},
    ],
)
def test_an_output_schema_of_no_object_is_a_limit_of_older_clients(schema: Any) -> None:
    shape = shaped("mcp", tool(output_schema=schema))
    assert shape.definition["outputSchema"] == schema
    assert shape.losses == (
        (
            "doubt",
            ("output_schema",),
            "output_schema is not of type 'object', as clients before revision 2026-07-28 demand",
            "wrap the result in an object",
        ),
    )


@moderate
@given(manifests())
def test_every_definition_is_one_of_the_protocol(manifest: dict[str, Any]) -> None:
    shape = shaped("mcp", tool_of(manifest))
    _PUBLIC.validate_python(shape.definition, extra="forbid", by_alias=True, by_name=False)
    _NEW.validate_python(shape.definition, by_alias=True, by_name=False)
    is_doubted = any("clients before" in each.message for each in shape.losses)
    assert is_doubted is not is_taken_by_older_clients(shape.definition)
    if all(each.kind != "dropped" for each in shape.losses):
        assert repr(shape.definition["inputSchema"]) == repr(manifest["parameters"])


def test_the_tools_that_are_shipped_are_taken_by_older_clients_too() -> None:
    shapes = [shaped("mcp", each) for each in ToolRegistry.from_directory(REPOSITORY / "tools")]
    definitions, losses = collected("mcp", shapes)
    for definition in definitions:
        _PUBLIC.validate_python(definition, extra="forbid", by_alias=True, by_name=False)
    assert all(map(is_taken_by_older_clients, definitions))
    assert len(definitions) > 9
    assert losses == ()


@check_each(
    ("icons", "is_taken"),
    [
        ([{"src": "https://example.com/a.png", "mimeType": "image/png"}], True),
        ([{"source": "a.png"}], False),
        (["a.png"], False),
        ("a.png", False),
        (None, False),
    ],
)
def test_what_looks_like_icons_in_metadata_is_meant_as_such(icons: Any, is_taken: bool) -> None:  # noqa: FBT001
    definition = shaped("mcp", tool(metadata={"icons": icons})).definition
    assert definition.get("icons") == (icons if is_taken else None)
    _NEW.validate_python(definition)
