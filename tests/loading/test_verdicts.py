"""Schemas that a load accepts compile, and none reaches the engine whose references multiply."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools.loading.rules.schema import errors_of, warnings_of
from sovl_tools.schema.engine import published
from tests.conftest import manifest_of
from tests.schema.strategies import TYPES, examples, moderate, scalars
from tests.schema.strategies import schemas as any_schemas
from tests.schema.validators import validator
from tests.tables import check_each

NAMES = ("color", "size", "user name")

enums = st.lists(st.sampled_from(["red", "green", 1, 2.5, None, True]), min_size=1, max_size=2)
oddities: dict[str, st.SearchStrategy[Any]] = {
    "type": st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
    "description": st.sampled_from(["", " ", "\n\t", "\u00a0", "\x1c", "It."]),
    "title": st.just("Title"),
    "enum": enums,
    "const": scalars,
    "default": scalars,
    "examples": st.lists(scalars, max_size=1),
    "pattern": st.sampled_from(["^a", "(", "[", "a{2,1}"]),
    "format": st.sampled_from(["date", "no-format"]),
    "minLength": st.integers(0, 3),
    "maximum": st.integers(0, 3),
    "minItems": st.integers(0, 3),
    "uniqueItems": st.booleans(),
    "minlength": st.just(1),
    "requried": st.just(["color"]),
    "x-minLenght": st.just(1),
    "nothing": st.just(1),
    "$ref": st.sampled_from(["#/$defs/absent", "#", "#/required", "#here", "http://localhost/x"]),
    "$id": st.just("urn:own"),
    "$anchor": st.just("here"),
    "$defs": st.just({"absent": {"type": "string"}, "nested": {"$ref": "#/$defs/absent"}}),
    "anyOf": st.just([{"type": "null"}, {"required": ["colour"], "properties": {}}]),
    "additionalProperties": st.booleans(),
    "required": st.lists(st.sampled_from([*NAMES, "colour"]), max_size=2, unique=True),
    "properties": st.dictionaries(st.sampled_from(NAMES), st.just({"type": "array"}), max_size=1),
    "items": st.just({"type": "array"}),
    "patternProperties": st.just({"(": {}}),
    "not": st.just({"properties": {"color": {}}}),
}


def near_clean(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas as tools have them, with at most two oddities."""

    @st.composite
    def near(draw: st.DrawFn) -> dict[str, Any]:
        kind = draw(st.sampled_from(TYPES))
        made: dict[str, Any] = {"type": kind, "description": "It."}
        if kind == "array":
            made["items"] = draw(inner)
        if kind == "object":
            made["properties"] = draw(st.dictionaries(st.sampled_from(NAMES), inner, max_size=2))
            made["required"] = sorted(made["properties"])[:1]
        for key in draw(st.lists(st.sampled_from(sorted(oddities)), max_size=2, unique=True)):
            made[key] = draw(oddities[key])
        for key in draw(st.sets(st.sampled_from(["type", "description", "items"]), max_size=1)):
            made.pop(key, None)
        return made

    return near()


schemas = st.recursive(near_clean(st.just({"type": "string"})), near_clean, max_leaves=4)
roots = schemas | any_schemas.filter(lambda found: isinstance(found, dict))


def manifest_with(parameters: dict[str, Any]) -> dict[str, Any]:
    return manifest_of("echo", parameters={"properties": {}, **parameters, "type": "object"})


def is_valid(document: dict[str, Any]) -> bool:
    return published("tool").is_valid(document)


@settings(moderate, max_examples=examples(600))
@example({"$ref": "#/required", "required": []})
@example({"properties": {"a": {"$ref": "#/properties"}}})
@example({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}})
@example({"$defs": {"[": {}}, "$ref": "#/$defs/["})
@example({"$defs": {"a#b": {}}, "$ref": "#/$defs/a#b"})
@example({"properties": {"a b": {}}, "$ref": "#/properties/a b"})
@given(roots)
def test_a_schema_without_errors_compiles(parameters: dict[str, Any]) -> None:
    document = manifest_with(parameters)
    if is_valid(document) and not errors_of(document).verdicts:
        assert validator(document["parameters"])


def doubled(levels: int) -> dict[str, Any]:
    """Return a schema of which each definition refers twice to the next."""
    twice = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/d0", "$defs": {**twice, f"d{levels}": {"type": "string"}}}


@check_each("levels", [3, 4, 5, 6, 7, 11, 12, 13, 40])
def test_references_that_multiply_are_found_before_anything_else_is_asked(levels: int) -> None:
    document = manifest_with({**doubled(levels), "pattern": "("})
    found = [each.rule.code for each in errors_of(document).verdicts]
    assert found == (["ST314"] if levels > 11 else ["ST303"])
    assert not warnings_of(document) or levels <= 11
