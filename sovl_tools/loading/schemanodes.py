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
_LEAF_KEYS = frozenset(
    {
        "type", "description", "title", "pattern", "format", "minLength", "maxLength", "minimum",
        "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "examples", "minItems",
        "maxItems", "uniqueItems", "minProperties", "maxProperties",
    }
)  # fmt: skip
_CLEAN_KEYS = _LEAF_KEYS | {"enum", "items", "properties", "required", "additionalProperties"}
_NONE: dict[str, JSON] = {}
_NESTING = {*_IN_OBJECT, *_IN_LIST, *_SINGLE}
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


def is_clean(schema: JSON) -> bool:
    """Tell whether surely no rule finds anything in a valid schema, down to its last subschema.

    It only ever saves time: what it does not understand is walked node by node. A property test
    holds it to that.
    """
    return _is_clean(schema, described=False)


def _is_clean(schema: JSON, *, described: bool) -> bool:
    if type(schema) is not dict or (described and not schema.get("description")):
        return False
    keys = schema.keys()
    if keys <= _LEAF_KEYS:
        return type(schema.get("type")) is str and schema["type"] != "array"
    return keys <= _CLEAN_KEYS and _is_clean_container(schema)


def _is_clean_container(schema: dict[str, JSON]) -> bool:
    kind = schema.get("type")
    if "enum" in schema:
        return kind == "string" and all(type(value) is str for value in schema["enum"])
    if kind == "array":
        return "items" in schema and _is_clean(schema["items"], described=False)
    if kind != "object" or type(schema.get("additionalProperties", True)) is not bool:
        return False
    properties = schema.get("properties", _NONE)
    return all(name in properties for name in schema.get("required", ())) and all(
        _is_clean(child, described=True) for child in properties.values()
    )


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
    if keyword in _SINGLE:
        yield (), value
    else:
        for key, child in value.items() if keyword in _IN_OBJECT else enumerate(value):
            yield (key,), child
