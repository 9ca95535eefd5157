from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.formats.meaning import note, with_notes
from tests.schema.strategies import moderate, values
from tests.tables import check_each

TEXT = {"type": "string"}


@check_each(
    ("keyword", "value", "sentence"),
    [
        ("minimum", 1, "At least 1."),
        ("maximum", 2.5, "At most 2.5."),
        ("exclusiveMinimum", 0, "Greater than 0."),
        ("exclusiveMaximum", -1, "Less than -1."),
        ("multipleOf", 5, "A multiple of 5."),
        ("minLength", 1, "At least 1 character."),
        ("maxLength", 20, "At most 20 characters."),
        ("minItems", 2, "At least 2 items."),
        ("maxItems", 1, "At most 1 item."),
        ("minContains", 2, "At least 2 items match what is asked of some."),
        ("maxContains", 1, "At most 1 item matches what is asked of some."),
        ("minProperties", 1, "At least 1 property."),
        ("maxProperties", 0, "At most 0 properties."),
        ("pattern", r"^\d{3}$", r"Matches the regular expression `^\d{3}$`."),
        ("format", "date-time", "Format: date-time."),
        ("contentEncoding", "base64", "Encoded as base64."),
        ("contentMediaType", "text/html", "Media type: text/html."),
        ("contentSchema", TEXT, 'Decoded, it matches {"type":"string"}.'),
        ("default", None, "Default: null."),
        ("default", "größe", 'Default: "größe".'),
        ("examples", [1, "a", {"b": [True]}], 'Examples: 1, "a", {"b":[true]}.'),
        ("const", True, "Must be true."),
        ("enum", ["a", None, 2], 'One of: "a", null, 2.'),
        ("deprecated", True, "Deprecated."),
        ("deprecated", False, "Not deprecated."),
        ("readOnly", True, "Read-only."),
        ("writeOnly", True, "Write-only."),
        ("nullable", True, "May be null."),
        ("type", "string", "Of type string."),
        ("type", ["string", "null"], "Of type string or null."),
        ("title", "The city", "Title: The city."),
        ("description", "The city", "The city."),
        ("description", "Which city?", "Which city?"),
        ("uniqueItems", True, "No two items are equal."),
        ("uniqueItems", False, "Items can be equal."),
        ("items", TEXT, 'Each item matches {"type":"string"}.'),
        ("items", False, "No other items."),
        ("items", [TEXT], 'The first items match, in this order: {"type":"string"}.'),
        (
            "prefixItems",
            [TEXT, True],
            'The first items match, in this order: {"type":"string"}, true.',
        ),
        ("additionalItems", False, "No other items."),
        ("unevaluatedItems", TEXT, 'Each other item matches {"type":"string"}.'),
        ("contains", TEXT, 'Some item matches {"type":"string"}.'),
        ("properties", {"a": TEXT}, 'Properties: {"a":{"type":"string"}}.'),
        ("required", ["a", "b"], 'Required: "a", "b".'),
        ("required", [], "Required: none."),
        ("additionalProperties", False, "No other properties."),
        ("additionalProperties", True, "Other properties are allowed."),
        ("additionalProperties", TEXT, 'Each other property matches {"type":"string"}.'),
        ("unevaluatedProperties", False, "No other properties."),
        ("patternProperties", {"^x": {}}, 'Properties by a pattern of their names: {"^x":{}}.'),
        ("propertyNames", {"maxLength": 3}, 'Each property\'s name matches {"maxLength":3}.'),
        (
            "dependentRequired",
            {"a": ["b"], "c": ["d", "e"]},
            'Required too, with "a": ["b"]; with "c": ["d","e"].',
        ),
        ("dependentRequired", {}, "Required too, nothing."),
        ("dependentSchemas", {"a": TEXT}, 'Fits, with "a": {"type":"string"}.'),
        ("dependencies", {"a": ["b"]}, 'Asks for, with "a": ["b"].'),
        ("not", {"const": 0}, 'Must not match {"const":0}.'),
        ("not", {}, "No value matches."),
        ("if", TEXT, 'The condition is that it matches {"type":"string"}.'),
        ("then", TEXT, 'If the condition is met, it matches {"type":"string"}.'),
        ("else", False, "If the condition is not met, it matches false."),
        ("allOf", [TEXT, {}], 'Fits all of: {"type":"string"}, {}.'),
        ("anyOf", [TEXT], 'Fits at least one of: {"type":"string"}.'),
        ("oneOf", [TEXT], 'Fits exactly one of: {"type":"string"}.'),
        ("$ref", "#/$defs/city", 'As defined at "#/$defs/city".'),
        ("$dynamicRef", "#city", 'As defined at "#city".'),
        ("x-unit", {"in": "°C"}, 'x-unit: {"in":"°C"}.'),
        ("x-{0}", "{1}", 'x-{0}: "{1}".'),
        ("pattern", {"{": 0}, 'pattern: {"{":0}.'),
    ],
)
def test_a_keyword_is_said_in_a_sentence(keyword: str, value: Any, sentence: str) -> None:
    assert note(keyword, value) == sentence


@moderate
@given(st.sampled_from(["minimum", "enum", "pattern", "dependentRequired", "items"]), values)
def test_whatever_a_keyword_has_for_a_value_is_said(keyword: str, value: Any) -> None:
    assert note(keyword, value).endswith(".")


def test_notes_stand_below_the_description() -> None:
    schema = {"description": "How many. ", "type": "integer"}
    assert with_notes(schema, ["At least 1.", "At most 9."]) == {
        "description": "How many.\n\nAt least 1. At most 9.",
        "type": "integer",
    }
    assert schema["description"] == "How many. "


@check_each("schema", [{}, {"description": " "}, {"description": None}])
def test_notes_are_the_description_where_there_is_none(schema: dict[str, Any]) -> None:
    assert with_notes(schema, ["At least 1."]) == {"description": "At least 1."}


def test_a_sentence_is_said_once() -> None:
    assert with_notes({}, ["Read-only.", "At least 1.", "Read-only."]) == {
        "description": "Read-only. At least 1."
    }


def test_a_schema_without_notes_is_that_schema() -> None:
    schema = {"type": "string"}
    assert with_notes(schema, ()) is schema
