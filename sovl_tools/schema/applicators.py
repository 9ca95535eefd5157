"""The subschemas that apply to a value and to its parts, and the types that they admit."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from sovl_tools.model.document import JSON, kind
from sovl_tools.schema.engine import matches
from sovl_tools.schema.subschemas import SchemaNode, follow, places_of

Kinds: TypeAlias = frozenset[str] | None
"""JSON types; None where they are unknown."""

_ALTERNATIVES = ("anyOf", "oneOf")
_DEEPEST = 20


def in_place(found: Iterable[SchemaNode]) -> list[SchemaNode]:
    """Return subschemas, and all others that apply, or can apply, to the same value."""
    applied: dict[int, SchemaNode] = {}
    pending = [*found]
    for node in pending:  # which grows meanwhile
        # By identity: equal subschemas at two places can have references with different targets.
        if id(node.schema) in applied:
            continue
        applied[id(node.schema)] = node
        depth = len(node.path)
        pending += [each for each in node.children() if each.path[depth] in _SAME_VALUE]
        pending += filter(None, [node.target()])
    return list(applied.values())


_SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"})


def below(node: SchemaNode, key: str | int) -> list[SchemaNode]:
    """Return the subschemas that apply to a member of that name, or to the item at that index."""
    places = {(*node.path, *each) for each in places_of(node.schema, key, matches)}
    return [each for each in node.children() if each.path in places]


def alternatives_of(schema: dict[str, JSON]) -> list[JSON]:
    """Return the alternatives of a schema; the schema itself if it has none."""
    key = combinator_of(schema)
    return [schema] if key is None else list(schema[key])


def combinator_of(schema: Mapping[str, JSON]) -> str | None:
    """Return the keyword under which a schema lists alternatives, if it lists any."""
    return next((key for key in _ALTERNATIVES if key in schema), None)


def values_of(schema: Mapping[str, JSON]) -> list[JSON] | None:
    """Return the values that a schema lists; None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    values: list[JSON] | None = schema.get("enum")
    return values


def kinds(schema: JSON, root: JSON, depth: int = 0) -> Kinds:
    """Return the JSON types that a schema admits; None if they are unknown."""
    schema = follow(schema, root)
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    if "type" in schema:
        return numeric(schema["type"])
    values = values_of(schema)
    if values is not None:
        return numeric([kind(value) for value in values])
    if combinator_of(schema) is not None:
        found = [kinds(each, root, depth + 1) for each in alternatives_of(schema)]
        known = [each for each in found if each is not None]
        return frozenset().union(*known) if len(known) == len(found) else None
    return frozenset({"object"}) if "properties" in schema else None


def numeric(types: str | Collection[str]) -> frozenset[str]:
    """Return the types that a schema names; numbers include integers."""
    named = [types] if isinstance(types, str) else types
    return frozenset((*named, "integer") if "number" in named else named)


def exclude_each_other(types: Kinds, others: Kinds) -> bool:
    """Return whether no value can be of both; null next to other types doesn't count."""
    if types is None or others is None:
        return False
    return (types - {"null"} or types).isdisjoint(others)


def is_wider(types: Kinds, others: Kinds) -> bool:
    """Return whether the first has types that the second lacks; null doesn't count."""
    return not (types is None or others is None or (types - {"null"} or types) <= others)
