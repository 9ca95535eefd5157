from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

from hypothesis import given

from sovl_tools import ToolDefinition
from tests.formats.schemas import moderate, parameters
from tests.formats.tools import shaped
from tests.tables import check_each

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


def tool(schema: dict[str, Any] = EMPTY, name: str = "find", **fields: Any) -> ToolDefinition:
    return ToolDefinition(name, "Find it.\n", schema, print, **fields)


def text(schema: dict[str, Any], **fields: Any) -> str:
    """Return what is said of the arguments."""
    shape = shaped("prompt", tool(schema, **fields))
    assert (shape.losses, shape.undo) == ((), None)
    said: str = shape.definition
    head = "## find\nFind it.\nArguments:"
    assert said.startswith(head)
    return said.removeprefix(head).strip()


def about(schema: Any, **definitions: Any) -> str:
    """Return what is said of an optional argument ``a``, without its label."""
    whole = {"type": "object", "properties": {"a": schema}, "$defs": definitions}
    return text(whole).removeprefix("- a ")


def test_a_tool_is_told_by_name_description_arguments_and_instructions() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where", "minLength": 1},
            "days": {"type": "integer", "description": "How far ahead.", "default": 3},
            "unit": {"enum": ["celsius", "kelvin"]},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    shape = shaped("prompt", tool(schema, instructions=" Ask first. \n"))
    assert shape.definition == (
        "## find\n"
        "Find it.\n"
        "Arguments:\n"
        "- city (string, required): Where. At least 1 character.\n"
        "- days (integer, default 3): How far ahead.\n"
        '- unit (string, optional): One of: "celsius", "kelvin".\n'
        "Instructions: Ask first."
    )


def test_a_tool_may_have_no_arguments_and_no_instructions() -> None:
    shape = shaped("prompt", tool(instructions=" \n"))
    assert shape.definition == "## find\nFind it.\nArguments: none."


def test_what_the_arguments_have_to_be_together_stands_above_them() -> None:
    schema = {**EMPTY, "additionalProperties": True, "minProperties": 1}
    assert text(schema) == "none. Other properties are allowed. At least 1 property."
    schema["properties"] = {"a": {"type": "null"}}
    said = shaped("prompt", tool(schema)).definition.splitlines()[2:]
    assert said == [
        "Arguments: Other properties are allowed. At least 1 property.",
        "- a (null, optional)",
    ]


@check_each(
    ("schema", "words"),
    [
        (True, "any"),
        (False, "nothing"),
        ({}, "any"),
        ({"type": "number"}, "number"),
        ({"type": ["string", "null"]}, "string or null"),
        ({"enum": ["a", None, "b"]}, "string or null"),
        ({"const": 1.5}, "number"),
        ({"enum": []}, "any"),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, "string or integer"),
        ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "string"),
        ({"anyOf": [{"type": "string"}, True]}, "any"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"allOf": [{"title": ""}, {"type": "boolean"}]}, "boolean"),
        ({"$ref": "#/$defs/b"}, "integer"),
        ({"$dynamicRef": "#b"}, "integer"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {"type": "string"}}, "array of strings"),
        ({"type": ["array", "null"], "items": {"$ref": "#/$defs/b"}}, "array of integers or null"),
        ({"type": "array", "items": {}}, "array"),
    ],
)
def test_a_type_is_said_in_short_words(schema: Any, words: str) -> None:
    found = about(schema, b={"type": "integer", "$dynamicAnchor": "b"})
    assert found.startswith(f"({words}, optional)")


def test_the_title_stands_in_for_a_description() -> None:
    assert about({"title": "The city", "description": " "}) == "(any, optional): The city."
    assert about({"title": "City", "description": "Which?"}) == "(any, optional): Which?"


def test_the_lines_of_a_description_stay_below_their_argument() -> None:
    inner = {"type": "object", "properties": {"b": {"description": "One\n\ntwo"}}}
    assert about(inner) == "(object, optional)\n  - b (any, optional): One\n\n    two."


@check_each(
    ("schema", "words"),
    [
        ({"minimum": 1, "maximum": 2}, "At least 1. At most 2."),
        ({"pattern": "^a"}, "Matches the regular expression `^a`."),
        ({"format": "date", "examples": ["2026-11-22"]}, 'Format: date. Examples: "2026-11-22".'),
        ({"not": {"const": 1}}, 'Must not match {"const":1}.'),
        ({"required": ["b"]}, 'Required: "b".'),
        ({"items": False}, "No other items."),
        ({"$ref": "urn:other"}, 'As defined at "urn:other".'),
        ({"allOf": [{"minimum": 1}, {"minimum": 1}]}, "At least 1."),
    ],
)
def test_what_a_schema_asks_beyond_its_type_is_a_sentence(schema: Any, words: str) -> None:
    assert about(schema) == f"(any, optional): {words}"


def test_what_lies_in_an_argument_is_indented() -> None:
    schema = {
        "type": "object",
        "properties": {
            "sizes": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"width": {"type": "number"}},
                    "required": ["width"],
                },
            }
        },
    }
    assert about(schema) == (
        "(object, optional)\n"
        "  - sizes (array of objects, optional)\n"
        "    - each item (object)\n"
        "      - width (number, required)"
    )


def test_items_get_a_line_if_there_is_more_to_say_than_their_type() -> None:
    assert about({"type": "array", "items": {"type": "string", "maxLength": 3}}) == (
        "(array of strings, optional)\n  - each item (string): At most 3 characters."
    )
    assert about({"type": "array", "items": {"type": ["string", "null"]}}) == (
        "(array, optional)\n  - each item (string or null)"
    )


def test_names_that_nobody_knows_are_told_too() -> None:
    string = {"type": "string"}
    assert about({"additionalProperties": string}) == ("(any, optional)\n  - any name (string)")
    found = about(
        {
            "properties": {"b": string, "c d": string},
            "patternProperties": {"^x": string},
            "additionalProperties": {},
        }
    )
    assert found == (
        "(any, optional)\n"
        "  - b (string, optional)\n"
        '  - "c d" (string, optional)\n'
        "  - any name that matches `^x` (string)\n"
        "  - any other name"
    )


def test_alternatives_get_lines_if_there_is_more_to_say_than_their_types() -> None:
    branches = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
    expected = "(string or array, optional)\n  - either (string)\n  - or (array of strings)"
    assert about({"anyOf": branches}) == expected
    branches = [{"type": "string"}, {"type": "object", "properties": {"b": True}}, {"minimum": 1}]
    assert about({"oneOf": branches, "description": "It."}) == (
        "(any, optional): It.\n"
        "  - either (string)\n"
        "  - or (object)\n"
        "    - b (any, optional)\n"
        "  - or: At least 1."
    )


def test_what_several_schemas_say_of_one_property_is_said_together() -> None:
    parts = [
        {"properties": {"b": {"type": "integer"}, "c": {}}},
        {"properties": {"b": {"minimum": 1}}, "required": ["b"]},
    ]
    assert about({"type": "object", "allOf": parts}) == (
        "(object, optional)\n  - b (integer, required): At least 1.\n  - c (any, optional)"
    )


def test_what_a_reference_leads_to_is_told_in_its_place() -> None:
    schema = {"$ref": "#/$defs/color", "description": "Of the sky."}
    color = {"enum": ["red"], "description": "A colour."}
    assert about(schema, color=color) == '(string, optional): Of the sky. One of: "red".'


def test_what_lies_in_itself_is_told_once() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "title": "Node"}
    assert about({"$ref": "#/$defs/node", "minProperties": 1}, node=node) == (
        "(object, optional): Node. At least 1 property.\n"
        "  - next (object, optional): The same as a above."
    )
    whole = {"type": "object", "properties": {"a": {"type": "array", "items": {"$ref": "#"}}}}
    assert text(whole) == (
        "- a (array of objects, optional)\n  - each item (object): The same as the arguments above."
    )


def test_what_several_arguments_share_is_told_once() -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}}}
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "array", "items": {"$ref": "#/$defs/point"}},
            "end": {"$ref": "#/$defs/point", "description": "The last."},
        },
        "$defs": {"point": point},
    }
    assert text(schema) == (
        "- path (array of objects, optional)\n"
        "  - each item (object)\n"
        "    - x (number, optional)\n"
        "- end (object, optional): The last. The same as each item of path above."
    )


def test_definitions_that_refer_to_all_others_do_not_multiply() -> None:
    names = [f"d{index}" for index in range(30)]
    references = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    definitions = {name: {"type": "object", "properties": references} for name in names}
    assert len(about({"$ref": "#/$defs/d0"}, **definitions).splitlines()) == 30 * 30 + 1


def test_definitions_stand_at_the_end_if_the_text_refers_to_them() -> None:
    assert about({"not": {"$ref": "#/$defs/b"}}, b={"const": 1}) == (
        '(any, optional): Must not match {"$ref":"#/$defs/b"}.\n$defs: {"b":{"const":1}}.'
    )
    whole = {"type": "object", "properties": {"a": {"not": {"$ref": "#"}}}}
    assert text(whole) == '- a (any, optional): Must not match {"$ref":"#"}.'


@moderate
@given(parameters())
def test_every_argument_is_told_in_its_order_and_nothing_is_changed(schema: dict[str, Any]) -> None:
    before = deepcopy(schema)
    first, second = (shaped("prompt", tool(each)).definition for each in (schema, deepcopy(schema)))
    assert first == second
    assert repr(schema) == repr(before)
    lines = [line for line in first.splitlines() if line.startswith("- ")]
    for name, line in zip(schema["properties"], lines, strict=False):
        label = name if name.isidentifier() else json.dumps(name, ensure_ascii=False)
        assert line.startswith(f"- {label} (")
    assert len(lines) >= len(schema["properties"])
