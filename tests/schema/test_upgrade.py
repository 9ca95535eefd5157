"""Schemas of other dialects, and what they are in draft 2020-12."""

from __future__ import annotations

from typing import Any

from sovl_tools.schema.requests import Requests
from sovl_tools.schema.upgrade import upgrade
from tests.tables import check_each

STRING = {"type": "string"}


@check_each(
    ("before", "after"),
    [
        ({"type": "STRING"}, STRING),
        ({"type": "ARRAY", "items": {"type": "OBJECT"}, "maxItems": "3"},
         {"type": "array", "items": {"type": "object"}, "maxItems": 3}),
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": False}, {"maximum": 1}),
        ({"type": "string", "example": "a"}, {"type": "string", "examples": ["a"]}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": ["string"], "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True},
         {"type": ["string", "null"], "enum": ["a", None]}),
        ({"items": [STRING], "additionalItems": {"type": "INTEGER"}},
         {"prefixItems": [STRING], "items": {"type": "integer"}}),
        ({"xml": {}, "externalDocs": {}, "discriminator": {}, "$schema": "x"}, {}),
        ({"properties": {"example": STRING, "nullable": STRING}},
         {"properties": {"example": STRING, "nullable": STRING}}),
    ],
)  # fmt: skip
def test_a_schema_says_the_same_in_draft_2020_12(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert upgrade(before) == after


def test_definitions_come_to_one_place_and_those_of_a_document_along() -> None:
    document = {"components": {"schemas": {"A": {"items": {"$ref": "#/components/schemas/A"}}}}}
    schema = {"properties": {"a": {"$ref": "#/components/schemas/A"}}}
    assert upgrade(schema, document) == {
        "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}},
    }


def test_the_root_says_what_it_refers_to() -> None:
    schema = {"$ref": "#/definitions/A", "title": "B", "definitions": {"A": {"type": "object"}}}
    assert upgrade(schema) == {
        "type": "object", "title": "B", "$defs": {"A": {"type": "object"}},
    }  # fmt: skip


def test_a_request_has_nothing_that_only_comes_back() -> None:
    properties = {"id": {"type": "integer", "readOnly": True}, "name": STRING}
    schema = {"properties": properties, "required": ["id", "name", 3]}
    assert upgrade(schema, requests=Requests(schema)) == {
        "properties": {"name": STRING}, "required": ["name", 3],
    }  # fmt: skip
    assert upgrade(schema) == schema
    odd: dict[str, Any] = {"properties": []}
    assert upgrade(odd, requests=Requests(odd)) == odd
