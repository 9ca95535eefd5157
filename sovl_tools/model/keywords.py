"""What the keywords of JSON Schema (draft 2020-12) want to have for values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sovl_tools.model.document import JSON

LISTS = frozenset({"enum", "examples", "required"})
"""Keywords with a list of values."""

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object", "null"})
_Demand: TypeAlias = tuple[str, Callable[[Any], bool]]


def wanted(keyword: str, value: JSON) -> str | None:
    """Return in words what a keyword's value has to be; None if it is that, or may be anything.

    Schemas and keywords that are not known may be anything.
    """
    words, is_met = _DEMANDS.get(keyword, _NOTHING)
    return None if is_met(value) else words


def _is_text(value: JSON) -> bool:
    return isinstance(value, str)


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: JSON) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_set(value: JSON) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len({*value}) == len(value)


def _is_type(value: JSON) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _is_set(value) and bool(value) and _TYPES.issuperset(value)


_NOTHING: _Demand = ("", lambda _: True)
_DEMANDS: dict[str, _Demand] = {
    "type": ("a JSON type or a list of them", _is_type),
    "required": ("a list of different strings", _is_set),
    "multipleOf": ("a number above 0", lambda value: _is_number(value) and value > 0),
    **dict.fromkeys(("enum", "examples"), ("a list", lambda value: isinstance(value, list))),
    **dict.fromkeys(
        ("description", "title", "format", "pattern", "$ref", "$comment", "contentMediaType"),
        ("a string", _is_text),
    ),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), ("a number", _is_number)
    ),
    **dict.fromkeys(
        (
            "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
            "minContains", "maxContains",
        ),
        ("an integer of at least 0", _is_count),
    ),
    **dict.fromkeys(
        ("uniqueItems", "deprecated", "readOnly", "writeOnly"),
        ("true or false", lambda value: isinstance(value, bool)),
    ),
}  # fmt: skip
