"""The nodes of a parameter schema: every subschema, with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple, TypeAlias

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


Idle: TypeAlias = Callable[[dict[str, JSON], str], bool]
"""Tells of a subschema, and of the keyword under which it stands, that it is of no interest."""


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


def nodes(root: dict[str, JSON], base: Path, is_idle: Idle | None = None) -> Iterator[SchemaNode]:
    """Yield the root and every subschema that is an object, parents first.

    ``is_idle`` leaves out subschemas; it is asked of each but the root.
    """
    pending = [SchemaNode(base, root, root, base)]
    while pending:
        node = pending.pop()
        yield node
        keywords = nesting(tuple(node.schema))
        if keywords:
            pending.extend(reversed([*_children(node, keywords, is_idle)]))


@lru_cache(maxsize=4096)
def nesting(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a schema's keywords that hold subschemas."""
    return tuple(key for key in keys if key in _NESTING)


def is_subschema(path: Path) -> bool:
    """Tell whether a path below a schema leads to a subschema, going by the keywords on it."""
    parts = iter(path)
    for part in parts:
        if part in SINGLE:
            continue
        if (part not in IN_OBJECT and part not in IN_LIST) or next(parts, None) is None:
            return False
    return True


def _children(
    node: SchemaNode, keywords: tuple[str, ...], is_idle: Idle | None
) -> Iterator[SchemaNode]:
    path, schema, root, base, *_, is_partial = node
    for keyword in keywords:
        value, partial = schema[keyword], is_partial or keyword in _PARTIAL
        if keyword in SINGLE:
            if isinstance(value, dict) and not (is_idle and is_idle(value, keyword)):
                yield SchemaNode((*path, keyword), value, root, base, is_partial=partial)
            continue
        named = keyword == "properties"
        required = schema.get("required", ()) if named else ()
        for key, child in value.items() if keyword in IN_OBJECT else enumerate(value):
            if isinstance(child, dict) and not (is_idle and is_idle(child, keyword)):
                place = (*path, keyword, key)
                yield SchemaNode(place, child, root, base, named, key in required, partial)
