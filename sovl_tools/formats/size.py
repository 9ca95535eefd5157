"""The size of a strict schema, as providers count it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON


class Size(NamedTuple):
    """The size of a strict schema; each definition counts once.

    Attributes:
        properties: the number of properties of all objects.
        values: the number of values of all enums.
        levels: the number of objects and arrays in each other.
        optional: the number of properties that aren't required.
        unions: the number of schemas with alternatives or several types.
    """

    properties: int = 0
    values: int = 0
    levels: int = 0
    optional: int = 0
    unions: int = 0


_WORDS = ("properties", "values to choose from", "levels of nesting")  # in the order of the fields


def size_of(schema: dict[str, JSON]) -> Size:
    """Return the size of a strict schema with its definitions in ``$defs``."""
    definitions = schema.get("$defs", {})
    properties = values = levels = optional = unions = 0
    pending = [schema, *definitions.values()]
    for each in pending:  # which grows meanwhile
        values += len(each.get("enum", ()))
        if "properties" in each:
            members = each["properties"]
            properties += len(members)
            optional += len(members) - len(each["required"])
            pending += members.values()
        if "items" in each:
            pending.append(each["items"])
        if "anyOf" in each:
            pending += each["anyOf"]
        levels += "properties" in each or "items" in each
        unions += "anyOf" in each or type(each.get("type")) is list
    return Size(properties, values, levels, optional, unions)


def excess_of(schema: dict[str, JSON], most: Size) -> str | None:
    """Return the first size above its limit, in words; None if a schema is within all limits."""
    size = size_of(schema)
    if size.levels > most.levels:  # only nested ones count
        size = size._replace(levels=_depth(schema, schema.get("$defs", {}), ()))
    for words, count, limit in zip(_WORDS, size, most, strict=False):
        if count > limit:
            return f"{count:,} {words}, more than {limit:,}"
    return None


def _depth(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], followed: tuple[str, ...]
) -> int:
    """Return the depth of nested objects and arrays; recursion isn't followed."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if name in followed or name not in definitions:
            return 0
        return _depth(definitions[name], definitions, (*followed, name))
    items = [schema["items"]] if "items" in schema else []
    below = [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *items]
    deepest = max((_depth(each, definitions, followed) for each in below), default=0)
    return deepest + ("properties" in schema or "items" in schema)
