"""Schemas that no value satisfies."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from sovl_tools.schema.emptiness import contradiction
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.subschemas import nodes
from tests.schema.strategies import moderate, schemas, values
from tests.tables import check_each

NUMBER = {"type": "integer"}


def found(schema: dict[str, Any]) -> str | None:
    every = [contradiction(node) for node in nodes(schema, ("parameters",))]
    return next((each.reason for each in every if each is not None), None)


@check_each(
    ("schema", "reason"),
    [
        ({"enum": []}, "'enum' lists no value"),
        (
            NUMBER | {"exclusiveMinimum": 1, "exclusiveMaximum": 2},
            "exclusiveMinimum 1 leaves no value below exclusiveMaximum 2",
        ),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "minLength 3 is above maxLength 2"),
        ({"type": "object", "minProperties": 1, "maxProperties": 0}, "minProperties 1 is above"),
        (NUMBER | {"enum": ["red", "blue"]}, "no value of 'enum' satisfies 'type'"),
        (NUMBER | {"const": "red"}, "\"red\" contradicts 'type'"),
        ({"allOf": [{"type": "string"}, NUMBER]}, 'both the type "string" and "integer"'),
        ({"allOf": [{"enum": ["a", "b"]}, {"enum": ["c"]}]}, "no value of 'enum' satisfies"),
        ({"allOf": [False]}, "a schema of 'allOf' admits no value"),
        (
            {"$ref": "#/$defs/n", "type": "string", "$defs": {"n": NUMBER}},
            'both the type "string" and "integer"',
        ),
        (
            {"type": "object", "properties": {"a": False}, "required": ["a"]},
            "'a' is required, but its schema is false",
        ),
    ],
)
def test_a_schema_that_admits_nothing_is_found(schema: dict[str, Any], reason: str) -> None:
    words = found(schema)
    assert words is not None
    assert reason in words


@check_each(
    "schema",
    [
        NUMBER | {"minimum": 1, "maximum": 1},
        {"type": ["integer", "string"], "minimum": 5, "maximum": 1},
        {"type": "object", "properties": {"a": False}},
        {"not": NUMBER | {"const": "a"}},
        {"if": NUMBER | {"const": "a"}, "then": {"allOf": [False]}},
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}},
        {"allOf": [{"$ref": "#/nowhere"}], "enum": [1]},
    ],
)
def test_a_schema_that_admits_something_is_not_found(schema: dict[str, Any]) -> None:
    assert found(schema) is None


@moderate
@given(schemas, values)
def test_no_value_satisfies_a_schema_that_is_found(schema: Any, value: Any) -> None:
    if not isinstance(schema, dict) or "type" not in schema:
        return
    (root, *_) = nodes(schema, ())
    if contradiction(root) is not None:
        assert not compile_schema(schema).is_valid(value)
