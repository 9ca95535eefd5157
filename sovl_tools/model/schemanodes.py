"""The nodes of a parameter schema: every subschema, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path

# Keywords with subschemas by name, in a list, and alone.
IN_OBJECT = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
IN_LIST = ("prefixItems", "allOf", "anyOf", "oneOf")
SINGLE = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedItems", "unevaluatedProperties", "contentSchema",
)  # fmt: skip
_NESTING = {*IN_OBJECT, *IN_LIST, *SINGLE}
_PARTIAL = {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "contains"}


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


def nodes(root: dict[str, JSON], base: Path) -> Iterator[SchemaNode]:
    """Yield the root and every subschema that is an object, parents first."""
    pending = [SchemaNode(base, root, root, base)]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(list(_children(node))))


def _children(node: SchemaNode) -> Iterator[SchemaNode]:
    for keyword in node.schema.keys() & _NESTING:
        value = node.schema[keyword]
        partial = node.is_partial or keyword in _PARTIAL
        for key, child in _members(keyword, value):
            if not isinstance(child, dict):
                continue
            named = keyword == "properties"
            yield SchemaNode(
                (*node.path, keyword, *key),
                child,
                node.root,
                node.base,
                is_property=named,
                is_required=named and key[0] in node.schema.get("required", ()),
                is_partial=partial,
            )


def _members(keyword: str, value: JSON) -> Iterator[tuple[Path, JSON]]:
    """Yield the subschemas under a keyword, each with its key below that."""
    if keyword in SINGLE:
        yield (), value
    else:
        for key, child in value.items() if keyword in IN_OBJECT else enumerate(value):
            yield (key,), child
