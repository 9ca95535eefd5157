"""Are generated schemas sound, and values and strict forms of them right?"""

from __future__ import annotations

from typing import Any

from hypothesis import find, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.formats.arguments import arguments_for
from tests.formats.forms import comes_to, fits, strict_forms
from tests.formats.rules.checks import keywords
from tests.formats.rules.walking import resolved, walk
from tests.formats.schemas import manifests, moderate, strict_parameters


@moderate
@given(manifests())
def test_schemas_are_sound_and_their_references_lead_somewhere(manifest: dict[str, Any]) -> None:
    for schema in (manifest["parameters"], manifest.get("output_schema", True)):
        Draft202012Validator.check_schema(schema)
        for node in walk(schema):
            for keyword in {"$ref", "$dynamicRef"} & keywords(node):
                assert isinstance(resolved(schema, node.schema[keyword]), dict | bool)


@moderate
@given(data=st.data())
def test_values_fit_and_have_a_form_that_names_every_property(data: st.DataObject) -> None:
    schema = data.draw(strict_parameters())
    value = data.draw(arguments_for(schema))
    assert Draft202012Validator(schema).is_valid(value)
    forms = strict_forms(schema, value)
    assert forms
    assert all(each.keys() == schema["properties"].keys() for each in forms)
    assert all(comes_to(each, value) for each in forms)


def test_values_may_have_properties_that_are_not_listed_where_that_is_asked_for() -> None:
    schema = {"type": "object", "properties": {}}
    assert find(arguments_for(schema, is_open=True), bool)
    assert find(arguments_for({**schema, "additionalProperties": True}), bool)
    assert find(arguments_for(schema), lambda value: value == {}) == {}


def test_forms_follow_the_alternatives_that_a_value_fits() -> None:
    branches = [{"properties": {"x": {"type": kind}, kind: {}}} for kind in ("string", "integer")]
    schema = {"properties": {"a": {"anyOf": branches}, "b": False, "c": {"$ref": "#"}}}
    assert strict_forms(schema, {"a": {"x": 1}}) == [{"a": {"x": 1, "integer": None}, "c": None}]
    assert strict_forms(schema, {"a": {}, "c": {}}) == [
        {"a": {"x": None, kind: None}, "c": {"a": None, "c": None}}
        for kind in ("string", "integer")
    ]
    assert strict_forms(schema, {"z": 1}) == []
    assert not fits(schema["properties"]["c"], {"a": {"x": []}}, schema)


def test_only_null_may_be_there_in_addition() -> None:
    assert comes_to({"a": [{"b": 1, "c": None}]}, {"a": [{"b": 1}]})
    assert not comes_to({"a": 1}, {"a": 1, "b": None})
    assert not comes_to({"a": 1, "b": 2}, {"a": 1})
    assert not comes_to({"a": True}, {"a": 1})
    assert not comes_to([1], [1, 2])
