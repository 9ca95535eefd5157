"""Definitions of other systems, read as manifests say them."""

from __future__ import annotations

from typing import Any

from sovl_tools.formats.foreign import Flaw, ForeignTool, definitions_in
from tests.tables import check_each

TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def of(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


ONE = of(["a"], a=TEXT)


@check_each(
    ("definition", "parameters"),
    [
        ({"parameters": ONE}, ONE),
        ({"input_schema": ONE}, ONE),
        ({"inputSchema": {"json": ONE}}, ONE),
        ({"args": {"a": {"type": "str"}}}, ONE),
        ({"inputs": {"a": "str", "b": {"type": "int", "default": 1}}},
         of(["a"], a=TEXT, b={**COUNT, "default": 1})),
        ({"params": {"a": "string", "required": ["a"]}}, ONE),
        ({"parameters": {"a": {"type": "string", "required": True}, "b": {"type": "int"}}},
         of(["a"], a=TEXT, b=COUNT)),
        ({"parameters": {"type": {"type": "string"}}}, of(["type"], type=TEXT)),
        ({"parameter_definitions": [{"name": "a", "type": "string", "required": True}]}, ONE),
        ({"arguments": {"a": "list[str]", "b": "Optional[int]", "c": "int | None"}},
         of(["a", "c"], a={"type": "array", "items": TEXT}, b=COUNT, c=COUNT)),
        ({"parameters": {"type": "dict", "properties": {"a": {"type": "float"}}}},
         {"type": "object", "properties": {"a": {"type": "number"}}}),
        ({"parameters": {"type": "object", "properties": {"a": TEXT}, "required": None}},
         of([], a=TEXT)),
        ({"parameters": {"type": "object",
          "properties": {"a": {**TEXT, "required": True}, "b": {**TEXT, "required": False}}}},
         of(["a"], a=TEXT, b=TEXT)),
        ({"type": "custom"}, of(["input"], input={**TEXT, "description": "The text of the call."})),
        ({"parameters": {}}, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
    ],
)  # fmt: skip
def test_arguments_are_read_in_every_form(
    definition: dict[str, Any], parameters: dict[str, Any]
) -> None:
    (found,) = definitions_in({"name": "act", "description": "Act.", **definition})
    assert isinstance(found, ForeignTool)
    assert (found.parameters, found.unread) == (parameters, ())


def test_a_whole_request_of_bedrock_is_read() -> None:
    spec = {"name": "act", "description": "Act.", "inputSchema": {"json": ONE}}
    (found,) = definitions_in({"modelId": "m", "toolConfig": {"tools": [{"toolSpec": spec}]}})
    assert isinstance(found, ForeignTool)
    assert found.parameters == ONE


@check_each(
    ("definition", "place", "words"),
    [
        ({"schema": ONE}, "schema", "'schema' isn't known"),
        ({"signature": ["a"]}, "signature", "under 'parameters'"),
        ({"parameters": {"a": 3}}, "a", "must be an object or a type"),
        ({"parameters": [{"type": "string"}]}, 0, "must be an object with a name"),
        ({"parameters": []}, "parameters", "a schema must be an object"),
        ({"parameters": "none"}, "parameters", "a schema must be an object"),
    ],
)
def test_an_unknown_form_is_rejected(definition: dict[str, Any], place: Any, words: str) -> None:
    (found,) = definitions_in({"name": "act", **definition})
    assert isinstance(found, Flaw)
    assert found.place[-1] == place
    assert words in found.message


def test_unknown_values_are_named() -> None:
    (found,) = definitions_in({"name": "act", "color": "red", "x": 1, "parameters": ONE})
    assert isinstance(found, ForeignTool)
    assert found.unread == ("color", "x")
