"""Definitions of a schema in one place."""

from __future__ import annotations

from typing import Any

from sovl_tools.schema.rewrite import hoisted
from tests.tables import check_each

TEXT = {"type": "string"}


def test_whatever_is_referred_to_becomes_a_definition() -> None:
    schema: dict[str, Any] = {
        "$id": "urn:root",
        "properties": {
            "a": {"$ref": "#/$defs/one"},
            "b": {"$ref": "urn:root#/$defs/one", "description": "B."},
            "c": {"$ref": "#/properties/d/items"},
            "d": {"type": "array", "items": {"type": "integer", "$defs": {"one": TEXT}}},
            "e": {"$ref": "#far"},
            "f": {"$ref": "#"},
            "g": {"$ref": "#/properties/d/items/$defs/one"},
            "h": {"$ref": "#/$defs/odd%20name~1"},
        },
        "$defs": {
            "one": {"properties": {"next": {"$ref": "#/$defs/one"}}},
            "two": {"not": {"$anchor": "far", "type": "null"}},
            "odd name/": {"const": 1},
        },
    }
    found = hoisted(schema)
    properties = found.schema["properties"]
    assert {name: each["$ref"] for name, each in properties.items() if "$ref" in each} == {
        "a": "#/$defs/one",
        "b": "#/$defs/one",
        "c": "#/$defs/items",
        "e": "#/$defs/far",
        "f": "#",
        "g": "#/$defs/one_2",
        "h": "#/$defs/odd_name_",
    }
    assert found.definitions == {
        "one": {"properties": {"next": {"$ref": "#/$defs/one"}}},
        "items": {"type": "integer"},
        "far": {"type": "null"},
        "one_2": TEXT,
        "odd_name_": {"const": 1},
    }


@check_each(
    "reference", ["#/nowhere", "https://json-schema.org/draft/2020-12/schema", "urn:apart#/a"]
)
def test_a_reference_that_only_an_engine_can_follow_stays(reference: str) -> None:
    schema = {"items": {"$ref": reference}, "allOf": [{"$id": "urn:apart"}, True]}
    found = hoisted(schema)
    assert found.schema == {"items": {"$ref": reference}, "allOf": [{}, True]}
    assert not found.definitions
