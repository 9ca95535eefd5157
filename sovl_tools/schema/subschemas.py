"""Every subschema of a schema, with its place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.keywords import IN_LIST, IN_OBJECT, SINGLE

_NESTING = IN_OBJECT | IN_LIST | SINGLE
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
        keywords = nesting(tuple(node.schema))
        if keywords:
            found = [child_of(node, *each) for each in subschemas(node.schema, keywords)]
            pending.extend(reversed(found))


@lru_cache(maxsize=4096)
def nesting(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a schema's keywords that hold subschemas."""
    return tuple(key for key in keys if key in _NESTING)


Below: TypeAlias = tuple[str, str | int | None, dict[str, JSON]]
"""A keyword, the name or index below it (None if there is none), and the subschema there."""


def subschemas(schema: dict[str, JSON], keywords: tuple[str, ...]) -> Iterator[Below]:
    """Yield the subschemas right below a schema, under these of its keywords."""
    for keyword in keywords:
        value = schema[keyword]
        if keyword in SINGLE:
            if isinstance(value, dict):
                yield keyword, None, value
            continue
        for key, child in value.items() if keyword in IN_OBJECT else enumerate(value):
            if isinstance(child, dict):
                yield keyword, key, child


def child_of(
    parent: SchemaNode, keyword: str, key: str | int | None, schema: dict[str, JSON]
) -> SchemaNode:
    """Return the node of a subschema right below another."""
    path, above, root, base, *_, is_partial = parent
    return SchemaNode(
        (*path, keyword) if key is None else (*path, keyword, key),
        schema,
        root,
        base,
        is_property=keyword == "properties",
        is_required=keyword == "properties" and key in above.get("required", ()),
        is_partial=is_partial or keyword in _PARTIAL,
    )


def is_subschema(path: Path) -> bool:
    """Tell whether a path below a schema leads to a subschema, going by the keywords on it."""
    parts = iter(path)
    for part in parts:
        if part in SINGLE:
            continue
        if (part not in IN_OBJECT and part not in IN_LIST) or next(parts, None) is None:
            return False
    return True
