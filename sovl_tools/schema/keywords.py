"""The keywords of JSON Schema (draft 2020-12), and the values that they take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, JSON_KINDS

Holds: TypeAlias = Literal["scalar", "data", "schema", "schemas", "schemas by name"]


class Keyword(NamedTuple):
    """The values of a keyword.

    Attributes:
        holds: a scalar, any JSON, or subschemas: one, a list, or by name.
        words: the valid values; "" if any value is valid.
        is_met: returns True for a valid value.
    """

    holds: Holds
    words: str = ""
    is_met: Callable[[Any], bool] = lambda _: True


def _is_number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_set(value: JSON) -> bool:
    are_texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return are_texts and len({*value}) == len(value)


def _is_type(value: JSON) -> bool:
    if isinstance(value, str):
        return value in JSON_KINDS
    return _is_set(value) and bool(value) and {*value} <= {*JSON_KINDS}


_TEXT = Keyword("scalar", "a string", lambda value: isinstance(value, str))
_NUMBER = Keyword("scalar", "a number", _is_number)
# To JSON Schema 2.0 is an integer.
_COUNT = Keyword(
    "scalar",
    "an integer of at least 0",
    lambda value: _is_number(value) and value >= 0 and value == int(value),
)
_FLAG = Keyword("scalar", "true or false", lambda value: isinstance(value, bool))
_LIST = Keyword("data", "a list", lambda value: isinstance(value, list))
_NAMES = Keyword("data", "a list of different strings", _is_set)
_DATA = Keyword("data")
_SCHEMA = Keyword("schema")
_SCHEMAS = Keyword("schemas", "a list", lambda value: isinstance(value, list))
_BY_NAME = Keyword(
    "schemas by name", "schemas by their names", lambda value: isinstance(value, dict)
)

KEYWORDS: dict[str, Keyword] = {
    **dict.fromkeys(("$schema", "$id", "$anchor", "$dynamicAnchor", "$comment"), _TEXT),
    **dict.fromkeys(("$ref", "$dynamicRef", "title", "description", "format", "pattern"), _TEXT),
    **dict.fromkeys(("contentMediaType", "contentEncoding"), _TEXT),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    "multipleOf": Keyword(
        "scalar", "a number above 0", lambda value: _is_number(value) and value > 0
    ),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _COUNT),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _COUNT),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _FLAG),
    "type": Keyword("data", "a JSON type or a list of them", _is_type),
    "required": _NAMES,
    **dict.fromkeys(("enum", "examples"), _LIST),
    **dict.fromkeys(("const", "default", "dependentRequired", "$vocabulary"), _DATA),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "dependentSchemas"), _BY_NAME),
    **dict.fromkeys(("prefixItems", "allOf", "anyOf", "oneOf"), _SCHEMAS),
    **dict.fromkeys(("items", "additionalProperties", "not", "if", "then", "else"), _SCHEMA),
    **dict.fromkeys(("contains", "propertyNames", "contentSchema"), _SCHEMA),
    **dict.fromkeys(("unevaluatedItems", "unevaluatedProperties"), _SCHEMA),
    # in older drafts
    "definitions": _BY_NAME,
    "dependencies": _DATA,
}


def _that_hold(holds: Holds) -> frozenset[str]:
    return frozenset(name for name, each in KEYWORDS.items() if each.holds == holds)


NESTING = {name: each.holds for name, each in KEYWORDS.items() if each.holds.startswith("schema")}
"""Keywords with subschemas, and the form of their values."""
IN_OBJECT = _that_hold("schemas by name")
IN_LIST = _that_hold("schemas")
SINGLE = _that_hold("schema")
SCALAR = _that_hold("scalar")
LISTS = frozenset({"enum", "examples", "required"})
"""Keywords with a list of values."""

BOUNDS = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("exclusiveMinimum", "exclusiveMaximum"),
)
"""Keywords with a lower bound, each with its counterpart for the upper bound."""

IDENTITY = frozenset({"$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"})
"""Keywords without a meaning once all references lead to ``$defs``."""

SILENT = IDENTITY | {"$schema", "$comment", "$vocabulary"}
"""Keywords that don't describe values."""

ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that describe a value without constraining it."""

COMBINING = frozenset({"allOf", "anyOf", "oneOf", "if", "$ref", "dependentSchemas"})
"""Keywords that can add properties which ``additionalProperties`` doesn't see."""

OF_SEVERAL_PROPERTIES = frozenset(
    {
        "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
        "propertyNames", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
    }
)  # fmt: skip
"""Keywords about several members of an object."""


def wanted(keyword: str, value: JSON) -> str | None:
    """Return in words the valid values of a keyword; None if this value is valid."""
    known = KEYWORDS.get(keyword, _DATA)
    return None if known.is_met(value) else known.words
