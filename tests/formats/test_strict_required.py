"""Schemas that demand every property, and what undoes that."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sovl_tools.formats.form import Restore
from sovl_tools.formats.meaning import accepts_null
from sovl_tools.formats.providers import OPENAI
from sovl_tools.formats.strict import strict_subset
from tests.schema.validators import validator
from tests.tables import check_each

TEXT: dict[str, Any] = {"type": "string"}
NULL = {"type": "null"}


def check_of(schema: dict[str, Any]) -> Any:
    return validator(schema).is_valid


def demanding(parameters: dict[str, Any]) -> dict[str, Any]:
    return strict_subset(parameters, OPENAI.dialect, require_all=True).schema


def undoing(parameters: dict[str, Any]) -> Restore:
    assert strict_subset(parameters, OPENAI.dialect).has_optional
    return Restore(parameters, OPENAI.dialect)


def closed(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def demanded(schema: dict[str, Any]) -> Any:
    """Return what becomes of an optional property."""
    return demanding(closed(a=schema))["properties"]["a"]


@check_each(
    ("schema", "expected"),
    [
        (TEXT, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({**TEXT, "enum": ["x"]}, {"type": ["string", "null"], "enum": ["x", None]}),
        (
            {"type": ["string", "null"], "enum": ["x"]},
            {"type": ["string", "null"], "enum": ["x", None]},
        ),
        (
            {**TEXT, "const": "x", "description": "A."},
            {"anyOf": [{**TEXT, "const": "x"}, NULL], "description": "A."},
        ),
        ({"anyOf": [TEXT], "description": "A."}, {"anyOf": [TEXT, NULL], "description": "A."}),
        ({"anyOf": [TEXT, NULL]}, {"anyOf": [TEXT, NULL]}),
        ({"$ref": "#"}, {"anyOf": [{"$ref": "#"}, NULL]}),
    ],
)  # fmt: skip
def test_what_may_be_left_out_may_be_null(schema: Any, expected: Any) -> None:
    assert demanded(schema) == expected


@check_each(
    ("schema", "accepts"),
    [
        (NULL, True),
        ({"type": ["null", "string"]}, True),
        ({"type": ["null", "string"], "enum": ["x"]}, False),
        ({"type": ["null", "string"], "enum": ["x", None]}, True),
        ({**NULL, "const": None}, True),
        ({"anyOf": [TEXT, NULL]}, True),
        ({"anyOf": [TEXT]}, False),
        ({"$ref": "#/$defs/a"}, True),
        ({"$ref": "#/$defs/b"}, False),
        ({"$ref": "#"}, False),
        (TEXT, False),
    ],
)
def test_null_is_admitted_by_what_says_so(schema: dict[str, Any], accepts: bool) -> None:  # noqa: FBT001 - a row
    definitions: dict[str, Any] = {
        "a": {"$ref": "#/$defs/c"},
        "b": {"$ref": "#/$defs/b"},
        "c": NULL,
    }
    assert accepts_null(schema, definitions) is accepts


SCHEMA: dict[str, Any] = {
    **closed(
        "needed",
        needed=TEXT,
        optional=TEXT,
        nullable={"type": ["string", "null"]},
        inner=closed("x", x=TEXT, y=TEXT),
        items={"type": "array", "items": {"$ref": "#/$defs/node"}},
        choice={
            "anyOf": [
                closed("kind", kind={**TEXT, "const": "a"}, size={"type": "integer"}),
                closed("kind", kind={**TEXT, "const": "b"}, size={"type": ["integer", "null"]}),
                {"type": "array", "items": closed(z=TEXT)},
                TEXT,
            ]
        },
        described={"anyOf": [{"$ref": "#/$defs/node"}], "description": "A."},
        root={"$ref": "#"},
        either={"anyOf": [{"type": "array", "items": {"$ref": "#"}}, TEXT]},
    ),
    "$defs": {"node": closed("name", name=TEXT, below={"$ref": "#/$defs/node"})},
}


@check_each(
    ("given", "expected"),
    [
        ({"needed": "a", "optional": None}, {"needed": "a"}),
        ({"needed": "a", "nullable": None}, {"needed": "a", "nullable": None}),
        ({"needed": None}, {"needed": None}),
        ({"needed": "a", "unknown": None}, {"needed": "a", "unknown": None}),
        ({"inner": {"x": "a", "y": None}}, {"inner": {"x": "a"}}),
        ({"inner": None}, {}),
        (
            {"items": [{"name": "a", "below": {"name": "b", "below": None}}, 5]},
            {"items": [{"name": "a", "below": {"name": "b"}}, 5]},
        ),
        ({"choice": {"kind": "a", "size": None}}, {"choice": {"kind": "a"}}),
        ({"choice": {"kind": "b", "size": None}}, {"choice": {"kind": "b", "size": None}}),
        ({"choice": {"kind": "c", "size": None}}, {"choice": {"kind": "c", "size": None}}),
        ({"choice": [{"z": None}]}, {"choice": [{}]}),
        ({"choice": "text"}, {"choice": "text"}),
        ({"choice": None}, {}),
        ({"described": {"name": "a", "below": None}}, {"described": {"name": "a"}}),
        ({"root": {"needed": "a", "optional": None}}, {"root": {"needed": "a"}}),
        (
            {"either": [{"needed": "a", "optional": None, "either": "text"}]},
            {"either": [{"needed": "a", "either": "text"}]},
        ),
    ],
    ids=str,
)
def test_a_null_for_what_was_left_out_is_taken_out(given: Any, expected: Any) -> None:
    undo = undoing(SCHEMA)
    assert undo is not None
    before = deepcopy(given)
    assert undo(given, check_of) == expected
    assert undo(given, check_of) == expected
    assert given == before


def test_so_many_ways_there_may_be_and_no_more_are_tried() -> None:
    names = [f"p{number}" for number in range(40)]
    nullable = {"type": ["string", "null"]}
    parameters = closed("needed", needed=TEXT, **dict.fromkeys(names, nullable))
    undo = undoing(parameters)
    assert undo is not None
    given = dict.fromkeys([*names, "needed"])
    assert undo(given, check_of) == given


def test_a_definition_that_refers_to_itself_admits_no_null() -> None:
    definitions: dict[str, Any] = {"a": {"anyOf": [{"$ref": "#/$defs/b"}, TEXT]}}
    definitions["b"] = {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "integer"}]}
    assert not accepts_null({"$ref": "#/$defs/a"}, definitions)
