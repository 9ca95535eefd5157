"""``2.0`` is an integer to JSON Schema; a function that wants one gets ``2``."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.model.document import JSON, Path
from sovl_tools.model.schemanodes import SchemaNode
from sovl_tools.schema import fit
from sovl_tools.schema.references import lookup, path_of


def with_integers(value: JSON, schema: JSON) -> JSON:
    """Return a valid value in which whole numbers are ints wherever the schema says integer.

    Of alternatives only those count that the value fits.
    """
    root = schema if isinstance(schema, dict) else {}
    return _converted(value, [SchemaNode((), root, root, ())])


def _converted(value: JSON, nodes: list[SchemaNode]) -> JSON:
    if not isinstance(value, float | dict | list):
        return value
    nodes = _applicable(value, nodes)
    if isinstance(value, float):
        return int(value) if value.is_integer() and any(map(_says_integer, nodes)) else value
    if isinstance(value, dict):
        return {
            key: _converted(member, [each for node in nodes for each in _members(node, key)])
            for key, member in value.items()
        }
    return [
        _converted(item, [each for node in nodes for each in _items(node, index)])
        for index, item in enumerate(value)
    ]


def _says_integer(node: SchemaNode) -> bool:
    kinds = node.schema.get("type", ())
    return "integer" in kinds and (isinstance(kinds, str) or "number" not in kinds)


def _applicable(value: JSON, nodes: list[SchemaNode]) -> list[SchemaNode]:
    """Return the nodes and every other subschema that the very same value has to fit."""
    found: dict[int, SchemaNode] = {}
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if id(node.schema) not in found:
            found[id(node.schema)] = node
            pending += _also(value, node)
    return list(found.values())


def _also(value: JSON, node: SchemaNode) -> Iterator[SchemaNode]:
    schema = node.schema
    if isinstance(schema.get("$ref"), str):
        target = lookup(node.root, schema["$ref"]).target
        if isinstance(target, dict):
            yield node._replace(schema=target, path=_place(schema["$ref"]))
    for index, _ in enumerate(schema.get("allOf", ())):
        yield from _child(node, "allOf", index)
    for keyword in ("anyOf", "oneOf"):
        for index, _ in enumerate(schema.get(keyword, ())):
            yield from (each for each in _child(node, keyword, index) if _fits(value, each))
    for condition in _child(node, "if"):
        yield from _child(node, "then" if _fits(value, condition) else "else")


def _place(reference: str) -> Path:
    """Return the path of a reference within its own document; of others the root's."""
    return path_of(reference[1:]) if reference.startswith("#/") else ()


def _fits(value: JSON, node: SchemaNode) -> bool:
    return not fit.problems(node, value)


def _child(node: SchemaNode, *path: str | int) -> Iterator[SchemaNode]:
    """Yield the subschema at a path below the node if it is there and no boolean."""
    schema: JSON = node.schema
    for part in path:
        if isinstance(schema, dict) and part not in schema:
            return
        schema = schema[part]
    if isinstance(schema, dict):
        yield node._replace(path=(*node.path, *path), schema=schema)


def _members(node: SchemaNode, key: str) -> Iterator[SchemaNode]:
    patterns = [
        pattern for pattern in node.schema.get("patternProperties", ()) if fit.matches(pattern, key)
    ]
    for pattern in patterns:
        yield from _child(node, "patternProperties", pattern)
    if key in node.schema.get("properties", ()):
        yield from _child(node, "properties", key)
    elif not patterns:
        yield from _child(node, "additionalProperties")


def _items(node: SchemaNode, index: int) -> Iterator[SchemaNode]:
    if index < len(node.schema.get("prefixItems", ())):
        yield from _child(node, "prefixItems", index)
    else:
        yield from _child(node, "items")
