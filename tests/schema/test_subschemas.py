from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.subschemas import SchemaNode, nodes
from tests.schema.strategies import moderate, schemas

LEAF: dict[str, Any] = {"title": "leaf"}


def found(schema: JSON) -> dict[Path, SchemaNode]:
    return {node.path: node for node in nodes(schema, ("parameters",))}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        ({"properties": {"a": LEAF}}, ("properties", "a")),
        ({"patternProperties": {"^a": LEAF}}, ("patternProperties", "^a")),
        ({"$defs": {"a": LEAF}}, ("$defs", "a")),
        ({"definitions": {"a": LEAF}}, ("definitions", "a")),
        ({"dependentSchemas": {"a": LEAF}}, ("dependentSchemas", "a")),
        ({"prefixItems": [True, LEAF]}, ("prefixItems", 1)),
        ({"allOf": [LEAF]}, ("allOf", 0)),
        ({"anyOf": [LEAF]}, ("anyOf", 0)),
        ({"oneOf": [LEAF]}, ("oneOf", 0)),
        ({"items": LEAF}, ("items",)),
        ({"additionalProperties": LEAF}, ("additionalProperties",)),
        ({"unevaluatedItems": LEAF}, ("unevaluatedItems",)),
        ({"unevaluatedProperties": LEAF}, ("unevaluatedProperties",)),
        ({"propertyNames": LEAF}, ("propertyNames",)),
        ({"contains": LEAF}, ("contains",)),
        ({"contentSchema": LEAF}, ("contentSchema",)),
        ({"not": LEAF}, ("not",)),
        ({"if": LEAF}, ("if",)),
        ({"then": LEAF}, ("then",)),
        ({"else": LEAF}, ("else",)),
        ({"items": {"properties": {"a": {"items": LEAF}}}}, ("items", "properties", "a", "items")),
    ],
)
def test_a_subschema_is_found_wherever_it_stands(schema: JSON, path: Path) -> None:
    assert found(schema)["parameters", *path].schema is LEAF


@pytest.mark.parametrize(
    "schema",
    [
        {"default": {"properties": {"a": {}}}},
        {"enum": [{"items": {}}]},
        {"const": {"not": {}}},
        {"examples": [{}]},
        {"items": True, "additionalProperties": False},
        {"properties": {}},
        {"x-own": {"items": {}}},
    ],
)
def test_what_is_no_subschema_is_no_node(schema: JSON) -> None:
    assert set(found(schema)) == {("parameters",)}


def test_a_keyword_that_is_the_name_of_a_property_is_a_property() -> None:
    schema = {"properties": {"items": {"type": "array"}, "properties": {"type": "object"}}}
    assert set(found(schema)) == {
        ("parameters",),
        ("parameters", "properties", "items"),
        ("parameters", "properties", "properties"),
    }


def test_a_property_knows_that_it_is_one_and_whether_it_is_required() -> None:
    child = {"properties": {"a": {}, "b": {}}, "required": ["a"], "$defs": {"a": {}}}
    nodes_of = found({"properties": {"outer": child}})
    outer = ("parameters", "properties", "outer")
    told = {path[3:]: (node.is_property, node.is_required) for path, node in nodes_of.items()}
    assert told[()] == (True, False)
    assert told["properties", "a"] == (True, True)
    assert told["properties", "b"] == (True, False)
    assert told["$defs", "a"] == (False, False)
    assert nodes_of[outer].root == {"properties": {"outer": child}}


def test_what_stands_below_an_alternative_is_partial() -> None:
    schema = {"anyOf": [{"properties": {"a": {}}}], "properties": {"b": {"items": {}}}}
    partial = {path[1:] for path, node in found(schema).items() if node.is_partial}
    assert partial == {("anyOf", 0), ("anyOf", 0, "properties", "a")}


@moderate
@given(schemas.filter(lambda schema: isinstance(schema, dict)))
def test_a_path_leads_to_its_node_and_parents_come_first(schema: JSON) -> None:
    seen: set[Path] = set()
    for node in nodes(schema, ("parameters",)):
        value = schema
        for part in node.path[1:]:
            value = value[part]
        assert value is node.schema
        assert not seen or any(node.path[:length] in seen for length in range(len(node.path)))
        assert node.path not in seen
        seen.add(node.path)
