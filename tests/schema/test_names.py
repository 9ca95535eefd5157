"""The names of arguments, also behind combinators."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.names import argument_names
from tests.schema.strategies import moderate
from tests.tables import check_each


def lists(*names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"properties": {name: {} for name in names}, "required": [*required]}


X = lists("x", required=("x",))


@check_each(
    ("schema", "listed", "required"),
    [
        (X, "x", "x"),
        ({"$ref": "#/$defs/a", "$defs": {"a": X}}, "x", "x"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {**X, "$ref": "#/$defs/a"}}}, "x", "x"),
        ({"anyOf": [X, lists("y")]}, "xy", ""),
        ({"oneOf": [lists("x", required=("x", "z")), lists("y", required=("z",))]}, "xy", "z"),
        ({"anyOf": [{"required": ["x"]}, {"required": ["y"]}], **lists("x", "y")}, "xy", ""),
        ({"anyOf": [X, False]}, "x", "x"),
        ({"if": lists("k"), "then": X, "else": X}, "kx", "x"),
        ({"if": lists("k"), "then": X}, "kx", ""),
        ({"dependentSchemas": {"a": X}, **lists("a")}, "ax", ""),
        ({"properties": {"x": False}}, "", ""),
    ],
)
def test_names_are_found_behind_combinators(
    schema: dict[str, Any], listed: str, required: str
) -> None:
    found = argument_names(schema)
    assert sorted(found.places) == [*listed]
    assert sorted(found.required) == [*required]


names = st.sampled_from("abc")
objects = st.recursive(
    st.builds(
        lambda own, needed: lists(*own, required=tuple(needed)),
        st.lists(names, unique=True),
        st.lists(names, unique=True, max_size=2),
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "if": inner,
            "then": inner,
            "else": inner,
            "required": st.lists(names, unique=True, max_size=1),
        },
    ),
    max_leaves=5,
)


@moderate
@given(objects, st.dictionaries(names, st.integers(0, 1)))
def test_every_valid_object_has_what_is_required(
    schema: dict[str, Any], value: dict[str, Any]
) -> None:
    if compile_schema(schema).is_valid(value):
        assert argument_names(schema).required <= value.keys()
    closed = compile_schema({**schema, "unevaluatedProperties": False})
    if closed.is_valid(value):
        assert value.keys() <= argument_names(schema).places.keys()
