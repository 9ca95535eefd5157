"""Whether a schema admits all that another does."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.schema.comparison import compare, narrowings
from sovl_tools.schema.subschemas import nodes
from tests.schema.strategies import examples, likely, moderate, plain_schemas, schemas, values
from tests.schema.validators import validator
from tests.tables import check_each


@st.composite
def edited(draw: st.DrawFn, known: st.SearchStrategy[Any]) -> tuple[Any, Any]:
    """Return a schema, and the same after an edit or two."""
    first = draw(known)
    second = copy.deepcopy(first)
    for _ in range(draw(st.integers(0, 2))):
        places = [each.schema for each in nodes(second, ())] if isinstance(second, dict) else []
        if not places:
            break
        place, other = draw(st.sampled_from(places)), draw(known)
        if draw(st.booleans()) and place:
            del place[draw(st.sampled_from(sorted(place)))]
        elif isinstance(other, dict) and other:
            key = draw(st.sampled_from(sorted(other)))
            place[key] = copy.deepcopy(other[key])
    return (first, second) if draw(st.booleans()) else (second, first)


def admits(schema: Any, value: Any) -> bool | None:
    try:
        return validator(schema).is_valid(value)
    except ValueError:
        return None


@settings(moderate, max_examples=examples(3000))
@given(st.data(), edited(plain_schemas) | edited(schemas) | st.tuples(schemas, schemas))
@example(None, ({}, {"not": {}}))
def test_what_one_schema_admits_the_other_does_unless_it_is_told(
    data: Any, pair: tuple[Any, Any]
) -> None:
    wide, narrow = pair
    if narrowings(wide, narrow) or data is None:
        return
    drawn = st.lists(likely(wide) | likely(narrow) | values, min_size=5, max_size=20)
    try:
        found = data.draw(drawn)
    except TypeError:  # nothing is likely for a schema of keywords that don't suit its type
        found = data.draw(st.lists(values, min_size=5, max_size=20))
    for value in found:
        if admits(wide, value):
            assert admits(narrow, value) is not False, value


TEXT = {"type": "string"}


def refers(definition: Any, **keys: Any) -> dict[str, Any]:
    return {"$defs": {"a": definition}, **keys}


@check_each(
    ("wide", "narrow"),
    [
        ({"type": "string", "enum": ["a", 1]}, {"const": "a"}),
        ({"type": ["string", "null"], "enum": ["a"]}, TEXT),
        ({"allOf": [{"minimum": 3}, {"type": "integer"}]}, {"type": "number", "minimum": 2}),
        ({"type": "integer"}, {"multipleOf": 1, "minLength": 5}),
        ({"maximum": 3}, {"exclusiveMaximum": 4}),
        ({"type": "array", "uniqueItems": True}, {"uniqueItems": False, "minItems": 0}),
        ({"prefixItems": [TEXT, {"const": 1}]}, {"prefixItems": [{"type": ["string", "null"]}]}),
        (
            {"patternProperties": {"^a": {"const": 1}}},
            {"patternProperties": {"^a": {"enum": [1, 2]}}},
        ),
        (
            {"patternProperties": {"^a": TEXT}, "additionalProperties": False},
            {"additionalProperties": TEXT},
        ),
        ({"required": ["a", "b"]}, {"minProperties": 2, "dependentRequired": {"c": ["a"]}}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "number"}, TEXT, {"type": "null"}]}),
        (
            refers(TEXT, **{"not": {"$ref": "#/$defs/a"}}),
            refers(TEXT, **{"not": {"$ref": "#/$defs/a"}}, x=1),
        ),
    ],
)
def test_a_schema_surely_admits_what_another_one_does(wide: Any, narrow: Any) -> None:
    assert narrowings(wide, narrow) == []


@check_each(
    ("wide", "narrow", "keyword"),
    [
        ({"type": "object"}, {"unevaluatedProperties": False}, "unevaluatedProperties"),
        ({}, {"$ref": "https://example.org/other"}, "$ref"),
        ({"const": 1}, {"const": 2}, "const"),
        ({"minimum": 1}, {"exclusiveMinimum": 1}, "exclusiveMinimum"),
        ({"multipleOf": 3}, {"multipleOf": 2}, "multipleOf"),
        ({"prefixItems": [TEXT]}, {"items": TEXT}, "type"),
        ({}, {"propertyNames": {"pattern": "^a"}}, "pattern"),
        ({}, {"dependentRequired": {"a": ["b"]}}, "dependentRequired"),
        ({"anyOf": [{"minimum": 1}, TEXT]}, {"oneOf": [{"minimum": 1}, TEXT]}, "oneOf"),
        (
            refers(TEXT, **{"not": {"$ref": "#/$defs/a"}}),
            refers({}, **{"not": {"$ref": "#/$defs/a"}}),
            "not",
        ),
        ({"not": {"$ref": "urn:x"}}, {"not": {"$ref": "urn:x"}, "allOf": []}, "not"),
    ],
)
def test_a_schema_may_refuse_what_another_one_admits(wide: Any, narrow: Any, keyword: str) -> None:
    assert keyword in {each.keyword for each in narrowings(wide, narrow)}


@check_each(
    ("first", "second", "relation"),
    [
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "minimum": 1}, "equal"),
        (TEXT, {}, "wider"),
        ({"minimum": 1}, {"exclusiveMinimum": 0}, "wider"),
        ({"enum": [1, 2]}, {"enum": [2]}, "narrower"),
        ({"type": "object"}, {"type": "object", "required": ["a"]}, "narrower"),
        (TEXT, {"type": "integer"}, "contradictory"),
        ({"type": ["string", "null"]}, {"type": ["integer", "null"]}, "contradictory"),
        ({"type": "integer", "minimum": 5}, {"type": "number", "maximum": 4}, "contradictory"),
        ({"enum": ["a"]}, {"type": "string", "minLength": 2}, "contradictory"),
        ({"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}, "unknown"),
        ({"type": "string", "minLength": 2}, {"type": "string", "maxLength": 9}, "unknown"),
        ({"minimum": 5}, {"maximum": 4}, "unknown"),
    ],
)
def test_two_schemas_have_a_relation(first: Any, second: Any, relation: str) -> None:
    assert compare(first, second).relation == relation
    mirrored = {"wider": "narrower", "narrower": "wider"}
    assert compare(second, first).relation == mirrored.get(relation, relation)
