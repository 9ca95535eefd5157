from __future__ import annotations

from typing import Any

from sovl_tools.formats.meaning import note, with_notes
from tests.tables import check_each

TEXT = {"type": "string"}


@check_each(
    ("keyword", "value", "sentence"),
    [
        ("minimum", 1, "At least 1."),
        ("exclusiveMaximum", -1, "Less than -1."),
        ("minLength", 1, "At least 1 character."),
        ("maxItems", 1, "At most 1 item."),
        ("pattern", r"^\d{3}$", r"Matches the regular expression `^\d{3}$`."),
        ("default", None, "Default: null."),
        ("examples", [1, "a", {"b": [True]}], 'Examples: 1, "a", {"b":[true]}.'),
        ("enum", ["a", None, 2], 'One of: "a", null, 2.'),
        ("deprecated", True, "Deprecated."),
        ("type", ["string", "null"], "Of type string or null."),
        ("title", "The city", "Title: The city."),
        ("uniqueItems", True, "No two items are equal."),
        ("items", TEXT, 'Each item matches {"type":"string"}.'),
        ("items", False, "No other items."),
        ("patternProperties", {"^x": {}}, 'Properties by a pattern of their names: {"^x":{}}.'),
        ("not", {"const": 0}, 'Must not match {"const":0}.'),
        ("$ref", "#/$defs/city", 'As defined at "#/$defs/city".'),
        ("x-unit", {"in": "°C"}, 'x-unit: {"in":"°C"}.'),
        ("x-{0}", "{1}", 'x-{0}: "{1}".'),
    ],
)
def test_a_keyword_is_said_in_a_sentence(keyword: str, value: Any, sentence: str) -> None:
    assert note(keyword, value) == sentence


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
    assert with_notes({}, ["Deprecated.", "At least 1.", "Deprecated."]) == {
        "description": "Deprecated. At least 1."
    }
