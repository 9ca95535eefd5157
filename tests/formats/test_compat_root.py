"""The root of a schema as a plain object."""

from __future__ import annotations

from typing import Any

import pytest

from sovl_tools.formats.compat import Compatible, compatible
from sovl_tools.formats.providers import Rules
from tests.formats.tools import TEXT

NUMBER = {"type": "integer"}
REFUSED = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else"})


def made(schema: dict[str, Any], refused: frozenset[str] = REFUSED) -> Compatible:
    return compatible(schema, Rules(refused, needs_members=False))


def of(*required: str, **properties: Any) -> dict[str, Any]:
    described = {"type": "object", "properties": properties}
    return {**described, "required": list(required)} if required else described


def lost(found: Compatible) -> list[tuple[Any, ...]]:
    return [loss.path[1:] for loss in found.losses]


def test_a_plain_object_stays_as_it_is() -> None:
    schema = of("a", a=TEXT) | {"description": "All.", "additionalProperties": False}
    assert made(schema)[:2] == (schema, ())


@pytest.mark.parametrize("schema", [{}, {"type": ["object", "null"]}, {"type": "object"}])
def test_a_root_has_a_type_and_properties(schema: dict[str, Any]) -> None:
    assert made(schema)[:2] == (of(), ())


def test_what_a_reference_says_is_merged_into_the_root() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "title": "All",
        "$defs": {"a": of(b=TEXT, c={"$ref": "#/$defs/a"})},
    }
    target = of(b=TEXT, c={"$ref": "#/$defs/a"})
    assert made(schema)[:2] == ({"title": "All", **target, "$defs": {"a": target}}, ())


def test_what_nothing_evaluates_is_said_of_the_merged_root() -> None:
    schema = of(a=TEXT) | {"allOf": [of(b=NUMBER)], "unevaluatedProperties": False}
    assert made(schema)[:2] == (of(a=TEXT, b=NUMBER) | {"unevaluatedProperties": False}, ())


def test_schemas_that_can_not_be_merged_are_told_in_words() -> None:
    schema = of(a={"pattern": "a"}) | {
        "allOf": [of("b", a={"pattern": "b"}, b=NUMBER), of(c=TEXT), False],
        "unevaluatedProperties": False,
    }
    found = made(schema)
    assert found.schema == of("b", a={"pattern": "a"}, c=TEXT, b=NUMBER) | {
        "description": "No other properties. Fits all of: "
        '{"properties":{"a":{"pattern":"b"}},"required":["b"]}. No value fits.'
    }
    assert lost(found) == [("unevaluatedProperties",), ("allOf",), ()]
    assert found.losses[1].kind == "moved"
    assert found.losses[1].message == "allOf of all arguments stands in the description only"


def test_a_reference_that_can_not_be_merged_is_told_in_words() -> None:
    schema = of(a={"pattern": "a"}) | {
        "$ref": "#/$defs/b",
        "$defs": {"b": of(a={"pattern": "b"})},
    }
    found = made(schema)
    assert found.schema == of(a={"pattern": "a"}) | {
        "description": 'Fits all of: {"properties":{"a":{"pattern":"b"}}}.'
    }
    assert lost(found) == [("$ref",)]


def test_a_model_learns_of_the_properties_of_alternatives() -> None:
    schema = of() | {
        "oneOf": [
            of("kind", kind={"const": "cat"}, purrs={"type": "boolean"}, age=NUMBER),
            {"$ref": "#/$defs/dog"},
        ],
        "$defs": {"dog": of("name", "kind", kind={"const": "dog"}, age=TEXT, name=TEXT)},
    }
    found = made(schema)
    assert found.schema.pop("description") == (
        'Fits exactly one of: {"properties":{"kind":{"const":"cat"},"age":{"type":"integer"}},'
        '"required":["kind"]}, {"properties":{"kind":{"const":"dog"},"age":{"type":"string"}},'
        '"required":["name","kind"]}.'
    )
    assert found.schema == of(
        "kind",
        kind={"enum": ["cat", "dog"]},
        purrs={"type": "boolean"},
        age={"anyOf": [NUMBER, TEXT]},
        name=TEXT,
    )


def test_values_of_alternatives_come_together_if_nothing_else_is_said_of_them() -> None:
    branches = [
        of(a={"type": "string", "enum": ["x", "y"]}, b={"const": 1}, c=TEXT),
        of(a={"type": "string", "enum": ["y", "z"]}, b={"const": 1, "title": "One"}, c=TEXT),
    ]
    assert made(of() | {"anyOf": branches}).schema["properties"] == {
        "a": {"type": "string", "enum": ["x", "y", "z"]},
        "b": {"anyOf": [{"const": 1}, {"const": 1, "title": "One"}]},
        "c": TEXT,
    }


def test_properties_within_alternatives_of_alternatives_are_learnt() -> None:
    inner = {"oneOf": [of(a=TEXT), {"if": {}, "then": of(b=TEXT), "else": of(c=TEXT)}, True]}
    found = made(of(c=NUMBER) | {"anyOf": [inner, of(d=False, e={"not": {}})]})
    assert found.schema["properties"] == {"c": NUMBER, "a": TEXT, "b": TEXT}


def test_no_properties_are_learnt_where_there_can_be_no_others() -> None:
    schema = of(a=TEXT) | {"anyOf": [of("a", "b", b=TEXT)], "additionalProperties": False}
    found = made(schema)
    assert (found.schema["properties"], found.schema["required"]) == ({"a": TEXT}, ["a"])


def test_what_nothing_evaluates_is_told_in_words_beside_alternatives() -> None:
    schema = of(a=TEXT) | {"anyOf": [{"required": ["a"]}], "unevaluatedProperties": False}
    found = made(schema)
    assert found.schema["description"].startswith("No other properties. Fits at least one of")
    assert "unevaluatedProperties" not in found.schema


def test_a_condition_is_told_in_words() -> None:
    schema = of(a=TEXT) | {
        "if": of(a={"const": "x"}),
        "then": of("b", b=NUMBER),
        "else": {"$ref": "#/$defs/never"},
        "$defs": {"never": {"maxProperties": 0}},
    }
    found = made(schema)
    assert found.schema == of(a=TEXT, b=NUMBER) | {
        "description": 'The condition is that it fits {"properties":{"a":{"const":"x"}}}. '
        'If the condition is met, it fits {"required":["b"]}. '
        'If the condition is not met, it fits {"maxProperties":0}.'
    }
    assert lost(found) == [("if",)]


def test_consequences_of_nothing_say_nothing() -> None:
    assert made(of() | {"then": of(a=TEXT), "else": False})[:2] == (of(), ())


def test_what_is_not_refused_stays() -> None:
    schema = of() | {"if": of(a=TEXT), "then": of(), "anyOf": [{}]}
    assert made(schema, frozenset({"oneOf"}))[:2] == (schema, ())


def test_what_comes_with_a_reference_has_the_place_of_the_root() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": of(a=TEXT) | {"anyOf": [{"required": ["a"]}]}}}
    assert lost(made(schema)) == [()]


def test_definitions_stay_if_something_refers_to_them_be_it_in_words() -> None:
    schema = of(a={"$ref": "#/$defs/one"}) | {
        "not": of(x={"$ref": "#/$defs/two"}),
        "allOf": [{"$ref": "#/$defs/merged"}],
        "$defs": {
            "one": {"items": {"$ref": "#/$defs/three"}},
            "two": TEXT,
            "three": NUMBER,
            "merged": of(b=NUMBER),
        },
    }
    assert {*made(schema).schema["$defs"]} == {"one", "two", "three"}
