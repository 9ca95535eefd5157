"""Schemas that demand every property, and what undoes that."""

from __future__ import annotations

from typing import Any

from sovl_tools.formats.form import Restore
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


def test_so_many_ways_there_may_be_and_no_more_are_tried() -> None:
    names = [f"p{number}" for number in range(40)]
    nullable = {"type": ["string", "null"]}
    parameters = closed("needed", needed=TEXT, **dict.fromkeys(names, nullable))
    undo = undoing(parameters)
    assert undo is not None
    given = dict.fromkeys([*names, "needed"])
    assert undo(given, check_of) == given
