"""How large a schema is, as providers count it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sovl_tools.model.document import JSON


class Size(NamedTuple):
    """The size of a narrowed schema; each definition counts once.

    Attributes:
        properties: how many properties its objects have.
        optional: how many of them are not required.
        unions: how many subschemas are of several types.
        values: how many values there are to choose from.
        characters: of all names of properties and definitions, and of all values.
        longest: characters of the values of the longest choice of more than 250 texts.
        depth: how many objects and arrays lie in one another; recursion is not followed.
    """

    properties: int = 0
    optional: int = 0
    unions: int = 0
    values: int = 0
    characters: int = 0
    longest: int = 0
    depth: int = 0


_MANY = 250


def size_of(schema: dict[str, JSON]) -> Size:
    """Return the size of a narrowed schema."""
    definitions: dict[str, JSON] = schema.get("$defs", {})
    nodes = [node for each in (schema, *definitions.values()) for node in _nodes(each)]
    choices = [_values(node) for node in nodes]
    names = [name for node in nodes for name in node.get("properties", ())]
    texts = [*names, *definitions, *(_text(each) for values in choices for each in values)]
    required = sum(len(node.get("required", ())) for node in nodes)
    return Size(
        len(names),
        len(names) - required,
        sum("anyOf" in node or isinstance(node.get("type"), list) for node in nodes),
        sum(map(len, choices)),
        sum(map(len, texts)),
        max((sum(map(len, map(_text, each))) for each in choices if len(each) > _MANY), default=0),
        _depth(schema, definitions, ()),
    )


def _nodes(schema: dict[str, JSON]) -> Iterator[dict[str, JSON]]:
    yield schema
    for each in _children(schema):
        yield from _nodes(each)


def _children(schema: dict[str, JSON]) -> list[dict[str, JSON]]:
    found = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    return [*found, schema["items"]] if "items" in schema else found


def _values(schema: dict[str, JSON]) -> list[JSON]:
    return [schema["const"]] if "const" in schema else schema.get("enum", [])


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _depth(
    schema: dict[str, JSON], definitions: Mapping[str, JSON], followed: tuple[str, ...]
) -> int:
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix("#/$defs/")
        if name in followed or name not in definitions:
            return 0
        return _depth(definitions[name], definitions, (*followed, name))
    below = max((_depth(each, definitions, followed) for each in _children(schema)), default=0)
    return below + ("properties" in schema or "items" in schema)
