"""Schemas of which nothing has to be changed."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.formats.plainness import Plainness, plain

TEXT = {"type": "string", "description": "What it is."}
PLAINNESS = Plainness(
    frozenset({"type", "description", "minItems"}),
    lambda keyword, value: keyword == "enum" and len(value) < 3,
)


def containers(value: Any) -> set[int]:
    """Return the identities of a JSON value's objects and arrays."""
    if not isinstance(value, dict | list):
        return set()
    inner = value.values() if isinstance(value, dict) else value
    return {id(value)}.union(*map(containers, inner))


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    "schema",
    [
        of(),
        of(a=TEXT, b={"type": "integer"}, c={"type": "null"}) | {"required": ["a"]},
        of(a={"type": "string", "enum": ["x", "y"]}),
        of(a={"type": "array", "items": TEXT, "minItems": 1}),
        of(a={"type": "array", "items": {"type": "array", "items": TEXT}, "enum": [[]]}),
        of(a=of(b=of())),
        of(a={"type": ["string", "null"], "description": "A text."}),
        of(a={"anyOf": [TEXT, {"type": "null"}], "description": "A text."}),
        of() | {"additionalProperties": True, "title": "All", "description": "All."},
        of() | {"additionalProperties": TEXT},
        of(**{"_" * 64: TEXT}),
    ],
)
def test_objects_lists_and_scalars_are_plain(schema: dict[str, Any]) -> None:
    found = plain(schema, PLAINNESS)
    assert found == schema
    assert containers(found).isdisjoint(containers(schema))


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {}},
        {"type": "object"},
        {"type": ["object"], "properties": {}},
        of() | {"anyOf": []},
        of() | {"$defs": {}},
        of() | {"enum": [{}]},
        of() | {"additionalProperties": {}},
        of(a=True),
        of(a={}),
        of(a={"description": "Anything."}),
        of(a={"type": "string", "format": "date"}),
        of(a={"type": "string", "enum": ["x", "y", "z"]}),
        of(a={"type": "array"}),
        of(a={"type": "array", "items": True}),
        of(a={"type": "array", "items": TEXT, "uniqueItems": True}),
        of(a={"type": "object"}),
        of(a={"type": ["string", "object"]}),
        of(a={"type": ["string", "null"], "format": "date"}),
        of(a={"anyOf": [TEXT, {}]}),
        of(a={"anyOf": [TEXT], "oneOf": [TEXT]}),
        of(a={"anyOf": [TEXT], "type": ["string"], "format": "date"}),
        of(a={"type": "text", "anyOf": [TEXT]}),
        of(**{"a b": TEXT}),
        of(größe=TEXT),
        of(**{"_" * 65: TEXT}),
    ],
)
def test_all_else_has_to_be_looked_at(schema: dict[str, Any]) -> None:
    assert plain(schema, PLAINNESS) is None
