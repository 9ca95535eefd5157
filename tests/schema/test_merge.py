"""One schema in the place of several."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.schema.merge import merged
from tests.schema.strategies import moderate
from tests.schema.validators import validator
from tests.tables import check_each

TEXT = {"type": "string"}
NUMBER = {"type": "number"}


@check_each(
    ("schemas", "expected"),
    [
        ([], {}),
        ([True, {}, TEXT], TEXT),
        ([{"type": ["string", "null"]}, TEXT], TEXT),
        ([NUMBER, {"type": "integer"}], {"type": "integer"}),
        (
            [{"type": ["integer", "string"]}, {"type": ["number", "string"]}],
            {"type": ["integer", "string"]},
        ),
        (
            [{"minimum": 1, "maximum": 9}, {"minimum": 3, "maximum": 12}],
            {"minimum": 3, "maximum": 9},
        ),
        ([{"required": ["a"]}, {"required": ["b", "a"]}], {"required": ["a", "b"]}),
        ([{"enum": [1, 2, "x"]}, {"enum": ["x", 2]}], {"enum": [2, "x"]}),
        ([{"description": "One."}, {"description": "Two."}], {"description": "One.\n\nTwo."}),
        ([{"description": "One."}, {"description": "One."}], {"description": "One."}),
        ([{"title": "A"}, {"title": "B"}], {"title": "A"}),
        ([{"uniqueItems": False}, {"uniqueItems": True}], {"uniqueItems": True}),
        ([{"items": TEXT}, {"items": {"minLength": 1}}], {"items": {**TEXT, "minLength": 1}}),
        (
            [{"properties": {"a": TEXT}}, {"properties": {"a": {"minLength": 1}, "b": NUMBER}}],
            {"properties": {"a": {**TEXT, "minLength": 1}, "b": NUMBER}},
        ),
        (
            [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"a": TEXT}}],
            {"properties": {"a": TEXT}, "additionalProperties": False},
        ),
        ([{"$ref": "#/$defs/a"}], {"$ref": "#/$defs/a"}),
        ([{"if": TEXT, "then": {}}, NUMBER], {"if": TEXT, "then": {}, **NUMBER}),
        ([{"default": 1}, {"default": 1}], {"default": 1}),
    ],
)  # fmt: skip
def test_several_schemas_are_one(schemas: list[Any], expected: Any) -> None:
    assert merged(schemas) == expected


@check_each(
    "schemas",
    [
        [False],
        [TEXT, False],
        [TEXT, NUMBER],
        [{"enum": [1]}, {"enum": [True]}],
        [{"enum": [1]}, {"enum": [2]}],
        [{"const": 1}, {"const": 1.0}],
        [{"pattern": "a"}, {"pattern": "b"}],
        [{"default": 1}, {"default": 2}],
        [{"items": TEXT}, {"items": NUMBER}],
        [{"items": TEXT}, {"prefixItems": [TEXT]}],
        [{"properties": {"a": TEXT}}, {"properties": {"a": NUMBER}}],
        [{"additionalProperties": False}, {"properties": {"a": TEXT}}],
        [{"properties": {"a": TEXT}}, {"additionalProperties": NUMBER}],
        [{"additionalProperties": False}, {"patternProperties": {"a": TEXT}}],
        [{"additionalProperties": False, "patternProperties": {"a": {}}}, TEXT],
        [{"if": TEXT}, {"then": NUMBER}],
        [{"contains": TEXT}, {"minContains": 2}],
        [{"anyOf": [TEXT]}, {"anyOf": [NUMBER]}],
        [{"$ref": "#/$defs/a"}, TEXT],
        [{"unevaluatedProperties": False}, {"properties": {}}],
    ],
    ids=str,
)
def test_what_can_not_be_said_at_once_is_not_said(schemas: list[Any]) -> None:
    assert merged(schemas) is None


TYPES = st.sampled_from(["string", "integer", "number", "object", "array", "null"])
SMALL = st.integers(0, 3)


def schemas() -> st.SearchStrategy[dict[str, Any]]:
    return st.recursive(
        st.fixed_dictionaries(
            {},
            optional={
                "type": TYPES | st.lists(TYPES, min_size=1, unique=True),
                "minimum": SMALL,
                "maximum": SMALL,
                "exclusiveMinimum": SMALL,
                "minLength": SMALL,
                "maxLength": SMALL,
                "multipleOf": st.integers(1, 3),
                "enum": st.lists(
                    SMALL | st.sampled_from(["a", "bb", None]), min_size=1, unique=True
                ),
                "minItems": SMALL,
                "uniqueItems": st.booleans(),
                "required": st.lists(st.sampled_from("ab"), unique=True),
            },
        ),
        lambda inner: st.fixed_dictionaries(
            {},
            optional={
                "properties": st.dictionaries(st.sampled_from("ab"), inner),
                "additionalProperties": st.booleans() | inner,
                "items": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
                "not": inner,
            },
        ),
        max_leaves=4,
    )


VALUES = st.recursive(
    SMALL | st.sampled_from(["", "a", "bb", "cccc", None, True, 1.5]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=5,
)


@moderate
@given(st.lists(schemas(), min_size=1, max_size=3), VALUES)
def test_it_admits_what_all_of_them_admit(parts: list[dict[str, Any]], value: Any) -> None:
    found = merged(parts)
    if found is not None:
        fits = all(validator(each).is_valid(value) for each in parts)
        assert validator(found).is_valid(value) == fits
