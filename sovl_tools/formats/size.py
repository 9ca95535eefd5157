"""The size of a strict schema, as providers count it."""

from __future__ import annotations

from typing import NamedTuple

from sovl_tools.model.document import JSON


class Size(NamedTuple):
    """The size of a strict schema; each definition counts once.

    Attributes:
        properties: the number of properties of all objects.
        values: the number of values of all enums.
        optional: the number of properties that aren't required.
        unions: the number of schemas with alternatives or several types.
    """

    properties: int = 0
    values: int = 0
    optional: int = 0
    unions: int = 0


def size_of(schema: dict[str, JSON]) -> Size:
    """Return the size of a strict schema with its definitions in ``$defs``."""
    properties = values = optional = unions = 0
    pending = [schema, *schema.get("$defs", {}).values()]
    for each in pending:  # which grows meanwhile
        values += len(each.get("enum", ()))
        if "properties" in each:
            members = each["properties"]
            properties += len(members)
            optional += len(members) - len(each["required"])
            pending += members.values()
        if "items" in each:
            pending.append(each["items"])
        pending += each.get("anyOf", ())
        unions += "anyOf" in each or isinstance(each.get("type"), list)
    return Size(properties, values, optional, unions)
