"""The nodes of a parameter schema: every subschema, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path

_IN_OBJECT = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_IN_LIST = ("prefixItems", "allOf", "anyOf", "oneOf")
_SINGLE = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_PLAIN_KEYS = frozenset(
    {
        "type", "description", "title", "pattern", "format", "minLength", "maxLength", "minimum",
        "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "examples",
    }
)  # fmt: skip
_SCALARS = frozenset({"string", "integer", "number", "boolean", "null"})


class SchemaNode(NamedTuple):
    """A subschema.

    Attributes:
        path: from the manifest's root.
        schema: the subschema itself.
        root: the whole schema, in which its references are looked up.
        base: the root's path.
        is_property: whether it describes a named property.
        is_required: whether that property is required.
        is_partial: whether it is only one of the schemas that a value must fit, as under ``anyOf``.
    """

    path: Path
    schema: dict[str, JSON]
    root: dict[str, JSON]
    base: Path
    is_property: bool = False
    is_required: bool = False
    is_partial: bool = False


def is_plain(schema: JSON) -> bool:
    """Tell whether no rule can find anything in a valid subschema: a described scalar.

    It only saves time; a property test holds it to that.
    """
    return (
        type(schema) is dict
        and schema.keys() <= _PLAIN_KEYS
        and "description" in schema
        and type(kind := schema.get("type")) is str
        and kind in _SCALARS
    )


def nodes(root: dict[str, JSON], base: Path) -> Iterator[SchemaNode]:
    """Yield the root and every subschema that is an object, parents first, but no plain ones."""
    pending = [SchemaNode(base, root, root, base)]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(_children(node))


def _children(node: SchemaNode) -> list[SchemaNode]:
    schema = node.schema
    children = []
    required = schema.get("required", ())
    for name, child in schema.get("properties", _NONE).items():
        if not is_plain(child):
            path = (*node.path, "properties", name)
            children.append(
                _child(node, child, path)._replace(is_property=True, is_required=name in required)
            )
    for keyword in schema.keys() & _NESTING:
        children.extend(_below(node, keyword, schema[keyword]))
    return [child for child in reversed(children) if isinstance(child.schema, dict)]


_NONE: dict[str, JSON] = {}
_NESTING = {*_IN_OBJECT, *_IN_LIST, *_SINGLE} - {"properties"}
_PARTIAL = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains"}


def _below(node: SchemaNode, keyword: str, value: JSON) -> Iterator[SchemaNode]:
    partial = node.is_partial or keyword in _PARTIAL
    if keyword in _SINGLE:
        members = [((keyword,), value)]
    else:
        entries = value.items() if keyword in _IN_OBJECT else enumerate(value)
        members = [((keyword, key), child) for key, child in entries]
    for path, child in members:
        yield _child(node, child, (*node.path, *path))._replace(is_partial=partial)


def _child(node: SchemaNode, schema: JSON, path: Path) -> SchemaNode:
    return SchemaNode(path, schema, node.root, node.base, is_partial=node.is_partial)
