"""Schemas that a provider takes as they are, told and copied in one walk.

Most tools take a few scalars, and lists and objects of them. Whoever finds that there is nothing
to change need not look for what to change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sovl_tools.model.document import JSON, copied

_SCALARS = ("string", "integer", "number", "boolean", "null")
_OBJECT = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties"}
)
_MOST = 64

WORDS = frozenset({"type", "title", "description"})
"""What everybody takes, and what holds nothing that could be changed."""

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
        keywords: these, whatever their values; ``WORDS`` are among them.
        admits: tells it of any other keyword and its value.
    """

    keywords: frozenset[str]
    admits: Callable[[str, JSON], bool]


def plain(parameters: dict[str, JSON], plainness: Plainness) -> dict[str, JSON] | None:
    """Return a copy of a schema of arguments in which a provider could refuse nothing, or None.

    It is an object that says what its properties are, as any object in it does; arrays say what
    their items are; names of properties are usual.
    """
    return _object(parameters, plainness) if parameters.get("type") == "object" else None


def _object(schema: dict[str, JSON], plainness: Plainness) -> dict[str, JSON] | None:
    if "properties" not in schema or not _OBJECT.issuperset(schema):
        return None
    properties = {}
    for name, each in schema["properties"].items():
        found = _schema(each, plainness)
        if found is None or not is_usual(name):
            return None
        properties[name] = found
    made = {**schema, "properties": properties}
    if "required" in schema:
        made["required"] = schema["required"].copy()
    others = schema.get("additionalProperties", False)
    if type(others) is not bool:
        found = _schema(others, plainness)
        if found is None:
            return None
        made["additionalProperties"] = found
    return made


def is_usual(name: str) -> bool:
    """Tell whether the name of a property is an ASCII identifier of at most 64 characters."""
    return name.isidentifier() and name.isascii() and len(name) <= _MOST


def _schema(schema: JSON, plainness: Plainness) -> dict[str, JSON] | None:
    if type(schema) is not dict:
        return None
    kind = schema.get("type")
    if kind in _SCALARS:
        return schema.copy() if WORDS.issuperset(schema) else _scalar(schema, plainness)
    if kind == "object":
        return _object(schema, plainness)
    if kind == "array":
        return _array(schema, plainness)
    return _union(schema, plainness)


def _scalar(schema: dict[str, JSON], plainness: Plainness) -> dict[str, JSON] | None:
    return copied(schema) if _is_admitted(schema, plainness) else None


def _is_admitted(schema: dict[str, JSON], plainness: Plainness, *beside: str) -> bool:
    for keyword, value in schema.items():
        if keyword in plainness.keywords or keyword in beside:
            continue
        if not plainness.admits(keyword, value):
            return False
    return True


def _array(schema: dict[str, JSON], plainness: Plainness) -> dict[str, JSON] | None:
    items = _schema(schema.get("items"), plainness)
    if items is None or not _is_admitted(schema, plainness, "items"):
        return None
    return {key: items if key == "items" else copied(each) for key, each in schema.items()}


def _union(schema: dict[str, JSON], plainness: Plainness) -> dict[str, JSON] | None:
    """Return a copy of a list of scalar types, or of plain alternatives."""
    types = schema.get("type")
    if isinstance(types, list):
        return _scalar(schema, plainness) if all(each in _SCALARS for each in types) else None
    if types is not None or "anyOf" not in schema or not _is_admitted(schema, plainness, "anyOf"):
        return None
    branches = [_schema(each, plainness) for each in schema["anyOf"]]
    if None in branches:
        return None
    return {key: branches if key == "anyOf" else copied(each) for key, each in schema.items()}
