"""Schemas in the keywords that Gemini knows."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.formats.gemini import declared
from tests.formats.rules.gemini import problems_of_schema
from tests.formats.schemas import arguments_for, moderate, parameters
from tests.formats.tools import TEXT
from tests.schema.validators import validator
from tests.tables import check_each

RECURSION = "recursion through required properties"


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def said(schema: Any, **definitions: Any) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return what becomes of a property, and what is lost of it."""
    root = of(a=schema) | ({"$defs": definitions} if definitions else {})
    made, losses, _ = declared(root)
    return made["properties"]["a"], [(loss.kind, *loss.path[3:]) for loss in losses]


def test_what_gemini_knows_stays_as_it_is() -> None:
    schema = of(
        a={
            "type": ["array", "null"],
            "title": "A",
            "description": "An a.",
            "prefixItems": [{"enum": ["x", 1, 2.5], "type": ["string", "number", "integer"]}],
            "items": {"type": "number", "minimum": 1, "maximum": 2, "format": "float"},
            "minItems": 1,
            "maxItems": 3,
            "default": [],
        },
        b={"anyOf": [TEXT, {"$ref": "#/$defs/b"}], "description": "A b."},
        c={"$ref": "#"},
    ) | {"additionalProperties": TEXT, "required": ["a"], "$defs": {"b": of(type=TEXT)}}
    made, losses, source = declared(schema)
    assert (made, losses) == (schema, ())
    assert source.targets["b"].path == ("$defs", "b")


@check_each(
    ("schema", "made"),
    [
        ({"const": "x"}, {"type": "string", "enum": ["x"]}),
        ({"const": 5, "type": "number"}, {"type": "integer", "enum": [5]}),
        ({"const": "x", "type": ["string", "null"]}, {"type": "string", "enum": ["x"]}),
        ({"const": None}, {"type": "null"}),
        ({"enum": ["x", "y"], "type": "string"}, {"type": "string", "enum": ["x", "y"]}),
        ({"enum": ["x", 1, 2.5]}, {"type": ["string", "integer", "number"], "enum": ["x", 1, 2.5]}),
        ({"enum": [True, False]}, {"type": "boolean"}),
        (
            {"enum": ["x", None], "title": "X"},
            {"title": "X", "anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]},
        ),
        ({"enum": ["x", None], "type": "string"}, {"type": "string", "enum": ["x"]}),
        (
            {"enum": [None, True, 1, False]},
            {"anyOf": [{"type": "integer", "enum": [1]}, {"type": "boolean"}, {"type": "null"}]},
        ),
        ({"type": "integer", "exclusiveMinimum": 2}, {"type": "integer", "minimum": 3}),
        ({"type": "integer", "exclusiveMaximum": 2.5}, {"type": "integer", "maximum": 2}),
        (
            {"type": ["integer", "null"], "exclusiveMinimum": -1, "minimum": 4},
            {"type": ["integer", "null"], "minimum": 4},
        ),
        ({"allOf": [TEXT, {"enum": ["x"]}]}, {"type": "string", "enum": ["x"]}),
        ({"allOf": [{"title": "X"}], "anyOf": [TEXT]}, {"anyOf": [TEXT], "title": "X"}),
        (True, {}),
        ({**TEXT, "deprecated": False, "readOnly": False, "writeOnly": False}, TEXT),
        ({**TEXT, "$comment": "c", "$id": "x", "$anchor": "y"}, TEXT),
    ],
)
def test_what_can_be_said_otherwise_is(schema: Any, made: Any) -> None:
    assert said(schema) == (made, [])


@check_each(
    ("schema", "made", "kind"),
    [
        ({"const": True}, {"type": "boolean", "description": "Must be true."}, "moved"),
        (
            {"const": {}, "type": "object"},
            {"type": "object", "description": "Must be {}."},
            "moved",
        ),
        (
            {"enum": [True, "auto"]},
            {"type": ["boolean", "string"], "description": 'One of: true, "auto".'},
            "moved",
        ),
        ({"enum": [[]]}, {"type": "array", "description": "One of: []."}, "moved"),
        ({"enum": []}, {"description": "One of: none."}, "moved"),
        ({"enum": [None], **TEXT}, {**TEXT, "description": "One of: null."}, "moved"),
        ({"enum": [1], **TEXT}, {**TEXT, "description": "One of: 1."}, "moved"),
        (
            {"type": "number", "exclusiveMinimum": 2},
            {"type": "number", "minimum": 2, "description": "Greater than 2."},
            "rewritten",
        ),
        ({"exclusiveMaximum": 2}, {"maximum": 2, "description": "Less than 2."}, "rewritten"),
        (
            {"type": "integer", "exclusiveMaximum": float("inf")},
            {"type": "integer", "maximum": float("inf"), "description": "Less than Infinity."},
            "rewritten",
        ),
        ({"oneOf": [TEXT, {"type": "null"}]}, {"anyOf": [TEXT, {"type": "null"}]}, "rewritten"),
        ({"oneOf": [TEXT], "anyOf": [{}]}, {"oneOf": [TEXT], "anyOf": [{}]}, "rewritten"),
        ({"multipleOf": 2}, {"description": "A multiple of 2."}, "moved"),
        ({**TEXT, "examples": ["x"]}, {**TEXT, "description": 'Examples: "x".'}, "moved"),
        ({**TEXT, "deprecated": True}, {**TEXT, "description": "Deprecated."}, "moved"),
        ({"not": {"const": 1}}, {"description": 'Must not fit {"const":1}.'}, "moved"),
        ({**TEXT, "x-own": 1}, TEXT, "dropped"),
        ({**TEXT, "own": 1}, {**TEXT, "description": "own: 1."}, "moved"),
        (
            {"allOf": [{"pattern": "x"}, {"pattern": "y"}]},
            {"description": 'Fits all of: {"pattern":"x"}, {"pattern":"y"}.'},
            "moved",
        ),
        ({**TEXT, "minLength": 1}, {**TEXT, "minLength": 1}, "doubt"),
    ],
)
def test_what_is_said_less_exactly_is_reported(schema: Any, made: Any, kind: str) -> None:
    found, losses = said(schema)
    assert found == made
    (keyword,) = [each for each in ("oneOf", *schema) if each in schema and each != "type"][:1]
    assert losses == [(kind, keyword)]


def test_what_may_be_ignored_stays_and_is_told() -> None:
    schema = {"minLength": 1, "maxLength": 2, "pattern": "x", "minProperties": 1}
    schema |= {"maxProperties": 2, "uniqueItems": True}
    assert said(schema) == (schema, [("doubt", keyword) for keyword in schema])
    assert said({"uniqueItems": False, "minLength": 0})[1] == []
    assert declared(of(a={"pattern": "x"})).losses == (
        (
            "doubt",
            ("parameters", "properties", "a", "pattern"),
            "pattern may be ignored",
            "say it in the description too",
        ),
    )


def test_properties_by_patterns_are_told_with_all_others() -> None:
    found, losses = said(of() | {"patternProperties": {"x": {}}, "additionalProperties": False})
    assert found == of() | {
        "description": 'Properties by a pattern of their names: {"x":{}}. No other properties.'
    }
    assert losses == [("moved", "patternProperties"), ("moved", "additionalProperties")]


NODE = of(next={"$ref": "#/$defs/node"})


@check_each(
    ("schema", "made"),
    [
        ({"$ref": "#/$defs/text"}, {"$ref": "#/$defs/text"}),
        (
            {"$ref": "#/$defs/text", "description": "A", "default": "x"},
            {"description": "A", "default": "x", "anyOf": [{"$ref": "#/$defs/text"}]},
        ),
        (
            {"allOf": [{"$ref": "#/$defs/text"}], "title": "A"},
            {"title": "A", "anyOf": [{"$ref": "#/$defs/text"}]},
        ),
        ({"$ref": "#/$defs/text", "format": "date"}, {"format": "date", **TEXT}),
        ({"$ref": "#", "type": "object"}, {"type": "object", "anyOf": [{"$ref": "#"}]}),
        (
            {"allOf": [{"$ref": "#/$defs/text"}, {"$ref": "#/$defs/date"}]},
            {**TEXT, "format": "date"},
        ),
        (
            {"$ref": "#/$defs/text", "type": "null"},
            {"type": "null", "anyOf": [{"$ref": "#/$defs/text"}]},
        ),
    ],
)
def test_nothing_stands_beside_a_reference(schema: Any, made: Any) -> None:
    assert said(schema, text=TEXT, date={"format": "date"}) == (made, [])


def test_a_reference_beside_alternatives_that_can_not_be_merged_is_told_in_words() -> None:
    either = {"anyOf": [{"format": "a"}, {"format": "b"}]}
    found, losses = said({"$ref": "#/$defs/x", **either}, x={"anyOf": [TEXT]})
    assert found == {**either, "description": 'As defined at "#/$defs/x".'}
    assert losses == [("moved", "$ref")]


def test_a_reference_back_is_not_followed() -> None:
    node = of(next={"$ref": "#/$defs/node", "minProperties": 1})
    made = declared(of(a={"$ref": "#/$defs/node"}) | {"$defs": {"node": node}}).schema
    assert made["$defs"]["node"]["properties"]["next"] == {
        "minProperties": 1,
        "anyOf": [{"$ref": "#/$defs/node"}],
    }


def test_the_root_is_a_plain_object() -> None:
    schema = of(a=TEXT) | {
        "allOf": [{"$ref": "#/$defs/b"}],
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        "if": {"required": ["b"]},
        "then": of(c=TEXT),
        "else": {"required": ["a"]},
        "const": {"a": "x"},
        "$defs": {"b": of(b={"const": "x"})},
    }
    made, losses, _ = declared(schema)
    assert made == of(a=TEXT, b={"type": "string", "enum": ["x"]}, c=TEXT) | {
        "description": 'Must be {"a":"x"}.\n\n'
        'Fits exactly one of: {"required":["a"]}, {"required":["b"]}. '
        'The condition is that it fits {"required":["b"]}. '
        "If the condition is met, it fits {}. "
        'If the condition is not met, it fits {"required":["a"]}.'
    }
    assert [(loss.kind, loss.path[-1]) for loss in losses] == [
        ("moved", "const"),
        ("moved", "oneOf"),
        ("moved", "if"),
    ]


def test_names_that_may_be_refused_are_told() -> None:
    losses = declared(of(**{"a b": {}, "_1": {}, "1": of(größe={})})).losses
    assert [(loss.kind, loss.path[1:]) for loss in losses] == [
        ("doubt", ("properties", "1")),
        ("doubt", ("properties", "1", "properties", "größe")),
        ("doubt", ("properties", "a b")),
    ]


@moderate
@given(parameters())
def test_gemini_takes_whatever_schema_there_is(schema: dict[str, Any]) -> None:
    before = json.dumps(schema)
    made, losses, _ = declared(schema)
    assert [each for each in problems_of_schema(made) if each != RECURSION] == []
    assert json.dumps(schema) == before
    for loss in losses:
        found: Any = {"parameters": schema}
        for part in loss.path:
            found = found[part]


AT_THE_ROOT = {"anyOf", "oneOf", "allOf", "if"}


@moderate
@given(st.data())
def test_what_fitted_before_fits(data: st.DataObject) -> None:
    schema = data.draw(parameters().filter(AT_THE_ROOT.isdisjoint))
    given_arguments = data.draw(arguments_for(schema))
    assert validator(declared(schema).schema).is_valid(given_arguments)
