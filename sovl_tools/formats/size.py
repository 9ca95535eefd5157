"""How large a strict schema is, as providers count it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from sovl_tools.annotations.jsonvalues import text_of
from sovl_tools.model.document import JSON

# OpenAI bounds the characters of a choice only if it has more texts than this
_MANY = 250


class Size(NamedTuple):
    """The size of a strict schema; each definition counts once.

    Attributes:
        properties: how many properties its objects have.
        values: how many values there are to choose from.
        characters: of all names of properties and definitions, and of all values.
        longest: characters of the values of the longest choice of more than 250 values.
        depth: how many objects and arrays lie in one another, recursion not followed.
        optional: how many properties are not required.
        unions: how many schemas have alternatives or several types.
    """

    properties: int = 0
    values: int = 0
    characters: int = 0
    longest: int = 0
    depth: int = 0
    optional: int = 0
    unions: int = 0


_WORDS = {
    "properties": "properties", "values": "values to choose from",
    "characters": "characters of names and values", "depth": "levels of nesting",
    "longest": "characters of values in one long choice",
}  # fmt: skip


def size_of(schema: dict[str, JSON]) -> Size:
    """Return the size of a strict schema with its definitions in ``$defs``."""
    definitions = schema.get("$defs", {})
    properties = values = longest = optional = unions = 0
    characters = sum(map(len, definitions))
    pending = [schema, *definitions.values()]
    for each in pending:  # which grows meanwhile
        if "enum" in each or "const" in each:
            choice = [each["const"]] if "const" in each else each["enum"]
            length = sum(len(one if type(one) is str else text_of(one)) for one in choice)
            values, characters = values + len(choice), characters + length
            longest = max(longest, length if len(choice) > _MANY else 0)
        if "properties" in each:
            members = each["properties"]
            properties, characters = properties + len(members), characters + sum(map(len, members))
            optional += len(members) - len(each["required"])
        unions += "anyOf" in each or type(each.get("type")) is list
        pending += _below(each)
    depth = _depth(schema, definitions, ())
    return Size(properties, values, characters, longest, depth, optional, unions)


def excess_of(size: Size, most: Size) -> str | None:
    """Return in words what of a schema is too much; None if nothing is."""
    for name, words in _WORDS.items():
        count, limit = getattr(size, name), getattr(most, name)
        if count > limit:
            return f"{count:,} {words}, more than {limit:,}"
    return None


def _below(schema: dict[str, JSON]) -> list[dict[str, JSON]]:
    items = [schema["items"]] if "items" in schema else []
    return [*schema.get("properties", {}).values(), *schema.get("anyOf", ()), *items]


def _depth(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], followed: tuple[str, ...]
) -> int:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if name in followed or name not in definitions:
            return 0
        return _depth(definitions[name], definitions, (*followed, name))
    deepest = max((_depth(each, definitions, followed) for each in _below(schema)), default=0)
    return deepest + ("properties" in schema or "items" in schema)
