"""Schemas that a provider can enforce."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from sovl_tools.formats import providers
from sovl_tools.formats.strict import StrictError, StrictSubset, strict_subset
from tests.formats.tools import arguments as of
from tests.formats.tools import shaped, tool
from tests.tables import check_each

TEXT = {"type": "string"}
OPENAI, ANTHROPIC = providers.OPENAI.dialect, providers.ANTHROPIC.dialect
CLOSED = "an object can't have other properties than those listed"


def arguments(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": []}


def property_of(schema: Any, **more: Any) -> Any:
    """Return what becomes of a schema that one property has."""
    return strict_subset({**arguments(a=schema), **more}, OPENAI).schema["properties"]["a"]


def lost(found: StrictSubset) -> list[tuple[str, str, str]]:
    return [(each.kind, "/".join(map(str, each.path[1:])), each.message) for each in found.losses]


def losses_of(schema: Any, **more: Any) -> list[tuple[str, str, str]]:
    return lost(strict_subset({**arguments(a=schema), **more}, OPENAI))


def why(schema: Any, dialect: Any = OPENAI, **more: Any) -> tuple[str, str]:
    with pytest.raises(StrictError) as caught:
        strict_subset({**arguments(a=schema), **more}, dialect)
    return "/".join(map(str, caught.value.path)), caught.value.message


def test_a_plain_schema_is_closed_and_otherwise_as_it_was() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "x",
        "type": "object",
        "description": "All.",
        "properties": {"a": {**TEXT, "x-own": 1, "minLength": 0}, "b": {"enum": [1, None]}},
        "required": ["b"],
    }
    before = deepcopy(schema)
    assert strict_subset(schema, OPENAI)[:2] == (
        {
            "type": "object",
            "description": "All.",
            "properties": {"a": TEXT, "b": {"type": ["integer", "null"], "enum": [1, None]}},
            "required": ["b"],
            "additionalProperties": False,
        },
        (),
    )
    assert schema == before


def test_what_can_not_stay_is_told_in_the_description() -> None:
    schema = {
        **TEXT,
        "description": "A city.",
        "minLength": 2,
        "pattern": "^(?=x)",
        "format": "uri",
        "default": "Oslo",
        "deprecated": False,
    }
    assert property_of(schema) == {
        **TEXT,
        "description": "A city.\n\nAt least 2 characters. Matches the regular expression `^(?=x)`. "
        'Format: uri. Default: "Oslo".',
    }
    message = "minLength, pattern, format and default are in the description only"
    assert losses_of(schema) == [("moved", "properties/a/minLength", message)]


def test_what_can_stay_stays() -> None:
    number = {"type": "number", "minimum": 1, "exclusiveMaximum": 2.5, "multipleOf": 0.5}
    text = {**TEXT, "pattern": "^a", "format": "date", "title": "T"}
    array = {"type": "array", "items": text, "minItems": 1, "maxItems": 3}
    for schema in (number, text, array, {"type": ["string", "null"]}, {**TEXT, "const": "x"}):
        assert property_of(schema) == schema
        assert losses_of(schema) == []


@check_each(
    ("schema", "path", "message"),
    [
        ({}, "", "any type is admitted"),
        (True, "", "any value is admitted"),
        ({"type": "object"}, "", "an object does not list its properties"),
        (
            {"type": "object", "additionalProperties": TEXT},
            "/additionalProperties",
            "an object can have properties of any name",
        ),
        (
            {"type": "object", "patternProperties": {"^a": TEXT}},
            "/patternProperties",
            "an object can have properties of any name",
        ),
        (
            {"type": "object", "properties": {"b": TEXT}, "required": ["c"]},
            "/required",
            "'c' is required but not described",
        ),
        (
            {"type": "object", "properties": {"b": False}, "required": ["b"]},
            "/properties/b",
            "no value is admitted",
        ),
        ({"type": "array"}, "", "an array doesn't describe its items"),
        (
            {"type": "array", "prefixItems": [TEXT], "items": False},
            "/prefixItems",
            "a tuple has items of different schemas",
        ),
        ({"enum": [[1]]}, "/enum", "enum has values that aren't scalars"),
        ({"allOf": [TEXT, TEXT]}, "/allOf", "allOf isn't merged into one schema"),
        ({"if": TEXT, "then": {"minLength": 1}}, "/if", "a condition can't be enforced"),
        (
            {"type": "object", "properties": {"b": TEXT}, "dependentRequired": {"b": ["c"]}},
            "/dependentRequired",
            "a condition can't be enforced",
        ),
        ({"$ref": "#", "minLength": 1}, "/$ref", "$ref is next to other keywords"),
        ({"$ref": "#/$defs/self"}, "", "it refers only to itself"),
        (
            {"$ref": "https://json-schema.org/draft/2020-12/schema"},
            "",
            "the reference 'https://json-schema.org/draft/2020-12/schema' can't be followed",
        ),
        ({"anyOf": [TEXT, {}]}, "/anyOf/1", "any type is admitted"),
    ],
    ids=str,
)
def test_what_can_not_be_said_is_not_said_otherwise(schema: Any, path: str, message: str) -> None:
    definitions = {"self": {"$ref": "#/$defs/self"}}
    place, words = why(schema, **{"$defs": definitions})
    start = "parameters" if path.startswith("/$defs") else "parameters/properties/a"
    assert (place, words) == (f"{start}{path}", message)


def test_an_object_without_word_on_others_is_closed_and_that_is_told() -> None:
    schema = {"type": "object", "properties": {"b": TEXT, "c": False}}
    assert property_of(schema) == {
        "type": "object",
        "properties": {"b": TEXT},
        "required": [],
        "additionalProperties": False,
    }
    assert losses_of(schema) == [("rewritten", "properties/a", CLOSED)]
    closed = {**schema, "additionalProperties": False, "unevaluatedProperties": False}
    assert losses_of(closed) == []


@check_each(
    ("schema", "kind"),
    [
        ({"properties": {"b": TEXT}, "additionalProperties": False}, "object"),
        ({"items": TEXT}, "array"),
    ],
)
def test_a_type_that_is_only_implied_is_said(schema: dict[str, Any], kind: str) -> None:
    assert property_of(schema)["type"] == kind
    message = f"only a value of type {kind} is admitted"
    assert losses_of(schema) == [("rewritten", "properties/a", message)]


def test_alternatives_are_any_of() -> None:
    number = {"type": "number"}
    for keyword in ("anyOf", "oneOf"):
        schema = {keyword: [TEXT, number], "description": "A.", "default": 1, "x-own": 1}
        assert property_of(schema) == {"anyOf": [TEXT, number], "description": "A.\n\nDefault: 1."}
        assert [kind for kind, _, _ in losses_of(schema)] == ["moved"]


def test_definitions_are_narrowed_once_and_may_refer_to_themselves() -> None:
    tree = {
        "type": "object",
        "properties": {"name": TEXT, "children": {"type": "array", "items": {"$ref": "#tree"}}},
        "additionalProperties": False,
        "$anchor": "tree",
    }
    schema = {**arguments(a={"$ref": "#/$defs/tree"}, b={"$ref": "#"}), "$defs": {"tree": tree}}
    found = strict_subset(schema, OPENAI).schema
    assert found["properties"] == {"a": {"$ref": "#/$defs/tree"}, "b": {"$ref": "#"}}
    items = found["$defs"]["tree"]["properties"]["children"]["items"]
    assert items == {"$ref": "#/$defs/tree"}
    path, message = why({"$ref": "#/$defs/tree"}, ANTHROPIC, **{"$defs": {"tree": tree}})
    assert (path, message) == (
        "parameters/$defs/tree",
        "it contains itself",
    )


def test_a_reference_that_is_described_is_wrapped_or_replaced() -> None:
    more = {"$defs": {"short": {**TEXT, "title": "Short"}}}
    schema = {"$ref": "#/$defs/short", "description": "A.", "default": "x"}
    assert property_of(schema, **more) == {
        "anyOf": [{"$ref": "#/$defs/short"}],
        "description": 'A.\n\nDefault: "x".',
    }
    found = strict_subset({**arguments(a=schema), **more}, ANTHROPIC).schema
    assert found["properties"]["a"] == {
        **TEXT,
        "title": "Short",
        "description": "A.",
        "default": "x",
    }
    assert "$defs" not in found


@check_each(
    "whole",
    [
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"allOf": [{"required": ["a"]}]},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
        {"dependentRequired": {"a": ["b"]}},
    ],
    ids=str,
)
def test_arguments_that_depend_on_one_another_can_not_be_strict(whole: dict[str, Any]) -> None:
    with pytest.raises(StrictError) as caught:
        strict_subset({**arguments(a=TEXT, b=TEXT), **whole}, OPENAI)
    assert caught.value.path == ("parameters", next(iter(whole)))


def test_only_the_shortest_array_is_enforced_at_anthropic() -> None:
    array = {"type": "array", "items": TEXT}
    for least, is_kept in ((1, True), (2, False)):
        found = strict_subset(arguments(a={**array, "minItems": least}), ANTHROPIC).schema
        assert ("minItems" in found["properties"]["a"]) is is_kept


@check_each(
    ("schema", "expected"),
    [
        (TEXT, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({**TEXT, "enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        (
            {**TEXT, "const": "x", "description": "A."},
            {"anyOf": [{**TEXT, "const": "x"}, {"type": "null"}], "description": "A."},
        ),
        ({"anyOf": [TEXT]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"anyOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"$ref": "#"}, {"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    ],
)
def test_what_may_be_left_out_may_be_null(schema: Any, expected: Any) -> None:
    made = strict_subset(arguments(a=schema), OPENAI, require_all=True).schema
    assert made["properties"]["a"] == expected
    assert made["required"] == ["a"]


def test_a_schema_that_is_too_large_is_not_strict() -> None:
    choices = {**TEXT, "enum": [*map(str, range(1001))]}
    fitting = {"type": "array", "items": {**choices, "enum": choices["enum"][1:]}}
    assert shaped("openai", tool(of("a", a=fitting)), strict=True).is_strict
    shape = shaped("openai", tool(of("a", a={"type": "array", "items": choices})), strict=True)
    assert shape.losses[0].message == "not strict: it has 1,001 values, more than 1,000"
