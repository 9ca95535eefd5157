"""What a JSON Schema says of a place in a value: cautiously, so that any doubt is "anything"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import lookup

_MOST = 32
_COMBINING = ("allOf", "anyOf", "oneOf", "if", "not", "$dynamicRef", "patternProperties")


class Lacking(NamedTuple):
    """A property that no value of a schema can have, and those that one can have."""

    name: str
    others: tuple[str, ...]


def followed(schema: JSON, root: JSON) -> Any:
    """Return a schema behind its references; True where they lead nowhere."""
    for _ in range(_MOST):
        if not isinstance(schema, dict) or "$ref" not in schema:
            return schema
        if schema.keys() - {"$ref", "title", "description", "$defs"}:
            return True
        schema = lookup(root, schema["$ref"]).target
    return True


def within(schema: JSON, attributes: Sequence[str | int], root: JSON) -> JSON | Lacking:
    """Return the schema of what attributes and indexes lead to."""
    for each in attributes:
        schema = followed(schema, root)
        if not isinstance(schema, dict) or not schema.keys().isdisjoint(_COMBINING):
            return True
        found = _member(schema, each)
        if isinstance(found, Lacking):
            return found
        schema = found
    return followed(schema, root)


def _member(schema: dict[str, JSON], key: str | int) -> JSON | Lacking:
    if isinstance(key, int):
        return schema.get("items", True) if "prefixItems" not in schema else True
    properties = schema.get("properties", {})
    if key in properties or schema.get("type") != "object":
        return properties.get(key, True)
    if schema.get("additionalProperties", True) is False:
        return Lacking(key, tuple(properties))
    return True


def types_of(schema: JSON) -> frozenset[str] | None:
    """Return the types that a schema admits; None if that can't be told at once."""
    if not isinstance(schema, dict) or "$ref" in schema:
        return None
    types = schema.get("type")
    if types is None:
        return None
    found = frozenset([types] if isinstance(types, str) else types)
    return found | {"integer"} if "number" in found else found


def do_exclude(one: JSON, other: JSON) -> bool:
    """Tell whether no value can be of the types of both schemas."""
    first, second = types_of(one), types_of(other)
    return first is not None and second is not None and first.isdisjoint(second)
