"""Schemas that a provider takes as they are, told in a microsecond.

Most tools take a few scalars, and lists and objects of them. Whoever finds that there is nothing
to change need not look for what to change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.model.document import JSON

_SCALARS = ("string", "integer", "number", "boolean", "null")
_OBJECT = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties"}
)
_MOST = 64

COMMON = frozenset(
    {
        "type", "title", "description", "default", "examples", "enum", "const", "format",
        "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
        "multipleOf", "minItems", "maxItems", "uniqueItems", "deprecated", "readOnly", "writeOnly",
    }
)  # fmt: skip
"""Keywords that everybody takes, since their values hold neither schemas nor expressions."""


class Plainness(NamedTuple):
    """What may stand in a plain schema, beside a type and the schemas of members.

    Attributes:
        keywords: these, whatever their values.
        admits: tells it of any other keyword and its value.
    """

    keywords: frozenset[str]
    admits: Callable[[str, JSON], bool]


def is_plain(parameters: dict[str, JSON], plainness: Plainness) -> bool:
    """Tell whether a schema of arguments says nothing that a provider could refuse.

    It is an object that says what its properties are, as any object in it does; arrays say what
    their items are; names of properties are ASCII identifiers of at most 64 characters.
    """
    return parameters.get("type") == "object" and _is_plain_object(parameters, plainness)


def _is_plain_object(schema: dict[str, JSON], plainness: Plainness) -> bool:
    if "properties" not in schema or not _OBJECT.issuperset(schema):
        return False
    for name, each in schema["properties"].items():
        if not (name.isidentifier() and name.isascii() and len(name) <= _MOST):
            return False
        if not _is_plain(each, plainness):
            return False
    others = schema.get("additionalProperties", False)
    return type(others) is bool or _is_plain(others, plainness)


def _is_plain(schema: JSON, plainness: Plainness) -> bool:
    if type(schema) is not dict:
        return False
    kind = schema.get("type")
    if kind in _SCALARS:
        return plainness.keywords.issuperset(schema) or _is_admitted(schema, plainness)
    if kind == "object":
        return _is_plain_object(schema, plainness)
    if kind == "array":
        return _is_plain_array(schema, plainness)
    return _is_plain_union(schema, plainness)


def _is_admitted(schema: dict[str, JSON], plainness: Plainness, *beside: str) -> bool:
    for keyword, value in schema.items():
        if keyword in plainness.keywords or keyword in beside:
            continue
        if not plainness.admits(keyword, value):
            return False
    return True


def _is_plain_array(schema: dict[str, JSON], plainness: Plainness) -> bool:
    is_complete = "items" in schema and _is_plain(schema["items"], plainness)
    return is_complete and _is_admitted(schema, plainness, "items")


def _is_plain_union(schema: dict[str, JSON], plainness: Plainness) -> bool:
    """Tell whether a schema is a list of scalar types, or plain alternatives."""
    types = schema.get("type")
    if isinstance(types, list):
        return all(each in _SCALARS for each in types) and _is_admitted(schema, plainness)
    if types is not None or "anyOf" not in schema:
        return False
    is_complete = all(_is_plain(each, plainness) for each in schema["anyOf"])
    return is_complete and _is_admitted(schema, plainness, "anyOf")
