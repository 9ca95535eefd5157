"""What certainly fits a schema fits it for the engines too."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.formats.certainty import certainly_fits
from sovl_tools.validation import compile_schema
from tests.validation.strategies import examples, moderate

NUMBERS = st.sampled_from([0, 1, 2, 4, -4, 1.0, 2.5, 4.0, -0.0, 2**53, 2**53 + 1, 0.1, 0.3, 1e300])
SCALARS = st.none() | st.booleans() | NUMBERS | st.sampled_from(["", "a", "ab", "\U0001f600"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=6,
)
SIZES = st.integers(0, 3)
TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), min_size=1, unique=True),
    "enum": st.lists(VALUES, min_size=1, max_size=3),
    "const": VALUES,
    "multipleOf": st.sampled_from([1, 2, 4, 0.5, 0.1, 2**53 + 1, 3]),
    "minimum": NUMBERS,
    "exclusiveMaximum": NUMBERS,
    "uniqueItems": st.booleans(),
    "minItems": SIZES,
    "maxItems": SIZES,
    "minLength": SIZES,
    "maxLength": SIZES,
    "minProperties": SIZES,
    "maxProperties": SIZES,
    "required": st.lists(st.sampled_from("ab"), unique=True),
    "contains": st.just({"type": "string"}),
}


def deeper(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keywords = {
        **PLAIN,
        "items": schemas,
        "anyOf": st.lists(schemas, min_size=1, max_size=2),
        "allOf": st.lists(schemas, min_size=1, max_size=2),
        "properties": st.dictionaries(st.sampled_from("ab"), schemas),
        "additionalProperties": schemas,
        "$ref": st.just("#/$defs/a"),
    }
    return st.fixed_dictionaries({}, optional=keywords)


FLAT = st.booleans() | st.fixed_dictionaries({}, optional=PLAIN)
SCHEMAS = st.recursive(FLAT, deeper, max_leaves=4)


@settings(moderate, max_examples=examples(1_000))
@given(VALUES, SCHEMAS, FLAT)
def test_what_certainly_fits_is_accepted(value: Any, schema: Any, other: Any) -> None:
    root = {"allOf": [schema], "$defs": {"a": other}}
    if certainly_fits(value, schema, root):
        assert compile_schema(root).is_valid(value)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (4, {"type": "integer", "multipleOf": 2}),
        ("a", {"multipleOf": 2}),
        ([1, 2], {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}),
        ([1, 1], {"uniqueItems": False}),
        ([{}], {"uniqueItems": True}),
        ("aa", {"uniqueItems": True}),
        ([None, "a", 1.5], {"uniqueItems": True, "minItems": 3, "maxItems": 3}),
        ("ab", {"minLength": 2, "maxLength": 2}),
        ({"a": 1}, {"minProperties": 1, "maxProperties": 1}),
    ],
)
def test_what_takes_a_glance_is_certain(value: Any, schema: dict[str, Any]) -> None:
    assert certainly_fits(value, schema, schema)
    assert compile_schema(schema).is_valid(value)


@pytest.mark.parametrize(
    ("value", "schema"),
    [
        (4.0, {"multipleOf": 2}),
        (4, {"multipleOf": 0.5}),
        (3, {"multipleOf": 2}),
        ([1, True], {"uniqueItems": True}),
        ([1, 1.0], {"uniqueItems": True}),
        ([2**53, 2**53 + 1], {"uniqueItems": True}),
        ([[1], [2]], {"uniqueItems": True}),
        ({}, {"minProperties": 1}),
        (1, {"minimum": 1, "if": True}),
    ],
)
def test_what_takes_more_than_a_glance_is_not_certain(value: Any, schema: dict[str, Any]) -> None:
    assert not certainly_fits(value, schema, schema)
