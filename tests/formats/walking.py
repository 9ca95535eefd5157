"""The subschemas of a schema and the references in it, by draft 2020-12 alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

BY_NAME = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
IN_LIST = {"allOf", "anyOf", "oneOf", "prefixItems"}
ALONE = {
    "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip


class Node(NamedTuple):
    """A subschema, which can be true or false, and the JSON Pointer to it."""

    place: str
    schema: Any


def walk(schema: Any, place: str = "") -> Iterator[Node]:
    """Yield a schema and all that is in it, those above before those below."""
    yield Node(place, schema)
    for child in children(Node(place, schema)):
        yield from walk(child.schema, child.place)


def children(node: Node) -> Iterator[Node]:
    """Yield the subschemas that stand directly in one."""
    for keyword, value in node.schema.items() if isinstance(node.schema, dict) else ():
        for key, child in _members(keyword, value):
            yield Node(f"{node.place}/{keyword}{key}", child)


def _members(keyword: str, value: Any) -> Iterable[tuple[str, Any]]:
    if keyword in BY_NAME:
        return [(f"/{_escaped(name)}", child) for name, child in value.items()]
    if keyword in IN_LIST:
        return [(f"/{index}", child) for index, child in enumerate(value)]
    return [("", value)] if keyword in ALONE else []


def rebuilt(schema: Any, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Return a copy of a schema with every subschema that is an object changed."""
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    for keyword, value in schema.items():
        if keyword in BY_NAME:
            made[keyword] = {name: rebuilt(each, change) for name, each in value.items()}
        elif keyword in IN_LIST:
            made[keyword] = [rebuilt(each, change) for each in value]
        elif keyword in ALONE:
            made[keyword] = rebuilt(value, change)
    return change(made)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def target(root: Any, reference: str) -> Any:
    """Return what a reference by JSON Pointer leads to, None if it leads nowhere."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        return None
    found = root
    for part in unquote(reference)[2:].split("/"):
        found = _step(found, part.replace("~1", "/").replace("~0", "~"))
    return found


def _step(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    is_index = isinstance(value, list) and key.isdigit() and int(key) < len(value)
    return value[int(key)] if is_index else None


def resolved(root: Any, reference: str) -> Any:
    """Return what a reference leads to, by JSON Pointer or by the name of an anchor."""
    if reference == "#" or reference.startswith("#/"):
        return target(root, reference)
    return next(
        node.schema
        for node in walk(root)
        if isinstance(node.schema, dict)
        and reference[1:] in (node.schema.get("$anchor"), node.schema.get("$dynamicAnchor"))
    )


def types(schema: Any) -> tuple[str, ...]:
    """Return the types that a schema names."""
    named = schema.get("type", ()) if isinstance(schema, dict) else ()
    return (named,) if isinstance(named, str) else tuple(named)
