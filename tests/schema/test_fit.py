from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.schema.fit import compiles, has_type, problems, surely_fits
from sovl_tools.schema.subschemas import SchemaNode
from tests.schema.strategies import TYPES, likely, moderate, plain_schemas, schemas, values
from tests.schema.validators import validator
from tests.tables import check_each

ODD_NAMES = ("plain", "a b", "50%", "%41", "a/b", "~", "ä", '"', "#", "日本", "^", "a\\b")


@moderate
@given(data=st.data(), schema=plain_schemas | schemas, is_within=st.booleans())
def test_what_surely_fits_is_accepted(
    data: st.DataObject, schema: dict[str, Any], *, is_within: bool
) -> None:
    value = data.draw(likely(schema))
    root = {"items": {"$ref": "#/$defs/it"}, "$defs": {"it": schema}} if is_within else schema
    value = [value] if is_within else value
    assert not surely_fits(value, root, root) or validator(root).is_valid(value)


@moderate
@given(plain_schemas | schemas, values)
def test_what_surely_fits_the_contrary_is_refused(schema: Any, value: Any) -> None:
    assert not surely_fits(value, {"not": schema}) or not validator(schema).is_valid(value)


TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {"leaf": {"type": "integer"}, "left": {"$ref": "#/$defs/tree"}},
            "additionalProperties": False,
        }
    },
}


@check_each(
    ("schema", "value"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 3}, "abc"),
        ({"type": "string", "pattern": "^a", "description": "A word."}, "abc"),
        ({"type": "string", "enum": ["a", "b"], "default": "a"}, "b"),
        ({"type": "integer", "minimum": 1, "maximum": 3}, 3),
        ({"type": "number", "minimum": 0.5}, 1),
        ({"type": "boolean", "title": "Loud"}, False),
        ({"type": "null"}, None),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"type": "array", "maxItems": 2, "uniqueItems": True}, ["a", "b"]),
        ({"type": "array"}, ["a", None]),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"a": 1, "other": None},
        ),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"other": 1}),
        ({"type": "string", "format": "email"}, "a@b.c"),
        ({"type": ["string", "null"]}, None),
        ({"type": "integer"}, 1.0),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}, None),
        ({"oneOf": [{"const": "a", "description": "One."}, {"const": "b"}]}, "b"),
        ({"not": {"enum": [1, "a", None]}}, True),
        (TREE, {"leaf": 1, "left": {"left": {}}}),
        ({}, 1),
        (True, 1),
        ({"multipleOf": 2}, 4),
        ({"multipleOf": 2}, "a"),
        ({"const": {"a": [1]}}, {"a": [1]}),
        ({"type": "array", "uniqueItems": True}, [None, "a", 1.5]),
    ],
    ids=str,
)
def test_plain_values_surely_fit(schema: Any, value: Any) -> None:
    assert surely_fits(value, schema, schema)


@check_each(
    ("schema", "value"),
    [
        ({"type": "integer"}, True),
        ({"type": "integer"}, "1"),
        ({"type": "string", "pattern": "["}, "["),
        ({"const": 1}, True),
        ({"enum": [{"a": 1.0}]}, {"a": 1}),
        ({"maximum": 1 << 60}, 1 << 59),
        ({"multipleOf": 0.5}, 4),
        ({"multipleOf": 2}, 4.0),
        ({"$ref": "#"}, 1),
        ({"$ref": "urn:other"}, 1),
        ({"type": "object", "additionalProperties": False}, {"a": 1}),
        ({"type": "array", "uniqueItems": True}, [1, 1.0]),
    ],
    ids=str,
)
def test_all_else_is_left_to_the_engine(schema: Any, value: Any) -> None:
    assert not surely_fits(value, schema, schema)


@check_each(
    ("text", "name", "does"),
    [
        ("2024-02-03", "date", True),
        ("yesterday", "date", False),
        ("a@b.c", "email", True),
        ("a@b.c", "uuid", False),
        ("a", "no-format", False),
    ],
)
def test_formats_count_if_they_are_asked_for(text: str, name: str, *, does: bool) -> None:
    schema = {"type": "string", "format": name}
    assert surely_fits(text, schema, with_formats=True) is does


@moderate
@given(st.data(), plain_schemas | schemas, st.sampled_from(ODD_NAMES))
def test_the_verdict_through_a_reference_is_the_engines(
    data: st.DataObject, schema: Any, name: str
) -> None:
    value = data.draw(likely(schema))
    child = {"description": "It.", "$ref": "#/$defs/it"}
    root = {"properties": {name: child}, "$defs": {"it": schema}}
    node = SchemaNode(("parameters", "properties", name), child, root, ("parameters",))
    accepted = validator(root).is_valid({name: value})
    assert (problems(node, value) == []) == accepted


@pytest.mark.parametrize("reference", ["#/$defs/it", "urn:mine#/$defs/it", "#it", "urn:it"])
def test_a_reference_is_followed_however_it_is_written(reference: str) -> None:
    definition = {"type": "integer", "$anchor": "it"}
    if reference == "urn:it":
        definition["$id"] = reference
    child = {"$ref": reference}
    root = {"$id": "urn:mine", "properties": {"a": child}, "$defs": {"it": definition}}
    node = SchemaNode(("parameters", "properties", "a"), child, root, ("parameters",))
    assert validator(root)
    assert [each.keyword for each in problems(node, "x")] == ["type"]
    assert problems(node, 1) == []


def test_a_schema_that_can_not_be_used_refuses_nothing() -> None:
    schema = {"$ref": "urn:absent"}
    assert problems(SchemaNode((), schema, schema, ()), 1) == []


@pytest.mark.parametrize(("pattern", "does"), [("^a+$", True), (r"\d{2}", True), ("(", False)])
def test_a_pattern_compiles_or_not(pattern: str, *, does: bool) -> None:
    assert compiles(pattern) is does


@moderate
@given(values, st.sets(st.sampled_from(TYPES), min_size=1))
def test_a_value_has_the_types_that_the_engine_says(value: Any, types: set[str]) -> None:
    assert has_type(value, types) == validator({"type": sorted(types)}).is_valid(value)
