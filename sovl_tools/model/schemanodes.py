"""The nodes of a parameter schema: every subschema, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
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
        nesting = _nesting(tuple(node.schema))
        if nesting:
            pending.extend(reversed([*_children(node, nesting)]))


@lru_cache(maxsize=4096)
def _nesting(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a schema's keywords that hold subschemas."""
    return tuple(key for key in keys if key in _NESTING)


def _children(node: SchemaNode, keywords: tuple[str, ...]) -> Iterator[SchemaNode]:
    path, schema, root, base, *_, is_partial = node
    for keyword in keywords:
        value, partial = schema[keyword], is_partial or keyword in _PARTIAL
        if keyword in SINGLE:
            if isinstance(value, dict):
                yield SchemaNode((*path, keyword), value, root, base, is_partial=partial)
            continue
        named = keyword == "properties"
        required = schema.get("required", ()) if named else ()
        for key, child in value.items() if keyword in IN_OBJECT else enumerate(value):
            if isinstance(child, dict):
                place = (*path, keyword, key)
                yield SchemaNode(place, child, root, base, named, key in required, partial)
