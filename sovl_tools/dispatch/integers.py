"""``2.0`` is an integer to JSON Schema; a function that wants one gets ``2``."""

from __future__ import annotations

from sovl_tools.model.document import JSON
from sovl_tools.schema.applicators import below, in_place
from sovl_tools.schema.subschemas import SchemaNode


def with_integers(value: JSON, schema: JSON) -> JSON:
    """Return a valid value in which whole numbers are ints wherever the schema says integer.

    Of alternatives only those count that the value fits.
    """
    root = schema if isinstance(schema, dict) else {}
    return _converted(value, [SchemaNode((), root, root, ())])


def _converted(value: JSON, nodes: list[SchemaNode]) -> JSON:
    if not isinstance(value, float | dict | list):
        return value
    nodes = in_place(nodes, value)
    if isinstance(value, float):
        return int(value) if value.is_integer() and any(map(_says_integer, nodes)) else value
    if isinstance(value, dict):
        return {
            key: _converted(member, [each for node in nodes for each in below(node, key)])
            for key, member in value.items()
        }
    return [
        _converted(item, [each for node in nodes for each in below(node, index)])
        for index, item in enumerate(value)
    ]


def _says_integer(node: SchemaNode) -> bool:
    kinds = node.schema.get("type", ())
    return "integer" in kinds and (isinstance(kinds, str) or "number" not in kinds)
