"""Subschemas that a value satisfies together, each with its place and root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, value_at
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.applicators import values_of
from sovl_tools.schema.engine import compile_part, matches
from sovl_tools.schema.keywords import ANNOTATIONS, KEYWORDS, SILENT
from sovl_tools.schema.subschemas import SchemaNode, lookup, nodes, places_of

_REFERRING = frozenset({"$ref", "$dynamicRef"})
SPEAKING = (KEYWORDS | {"additionalItems", "$recursiveRef"}) - SILENT - ANNOTATIONS
"""Keywords that can make a schema narrower."""


class Part(NamedTuple):
    """A subschema, its path if it has one, and the root where its references are looked up."""

    schema: JSON
    path: Path | None
    root: JSON

    def at(self, *keys: str | int) -> Part:
        """Return the subschema at a path below."""
        path = None if self.path is None else (*self.path, *keys)
        return self._replace(schema=value_at(self.schema, keys), path=path)

    def branches(self, keyword: str) -> list[Part]:
        """Return the subschemas that a keyword lists."""
        return [self.at(keyword, index) for index in range(len(self.schema.get(keyword, ())))]

    def applied(self, key: str | int) -> list[Part]:
        """Return the subschemas for a member of that name, or for the item at that index."""
        return [self.at(*path) for path in places_of(self.schema, key, matches)]

    def without(self, *keywords: str) -> Part:
        """Return the same without some keywords."""
        kept = {key: each for key, each in self.schema.items() if key not in keywords}
        return self._replace(schema=kept)

    def target(self) -> Part:
        """Return the target of its ``$ref``; the schema is None if only an engine can follow it."""
        target, _, path = lookup(self.root, self.schema["$ref"])
        return Part(target, path, self.root)


Parts: TypeAlias = tuple[Part, ...]
"""Subschemas that a value satisfies, all of them."""


def applying(parts: Iterable[Part]) -> Parts | None:
    """Return the subschemas with those they refer to or combine; None if no value is valid."""
    pending, followed = [*parts], list[JSON]()
    found = []
    for part in pending:  # which grows meanwhile
        if part.schema is False:
            return None
        if not isinstance(part.schema, dict) or any(each is part.schema for each in followed):
            continue
        followed.append(part.schema)
        if isinstance(part.schema.get("$ref"), str):
            pending.append(part.target())
        pending += part.branches("allOf")
        found.append(part.without("$ref", "allOf"))
    # a schema that is only a reference has no constraint itself
    return tuple(each for each in found if not SPEAKING.isdisjoint(each.schema)) or tuple(found)


def place_of(parts: Iterable[Part]) -> Path | None:
    """Return the first path of a part that has one."""
    return next((each.path for each in parts if each.path is not None), None)


def unlisted(part: Part) -> list[Part]:
    """Return the schema of members that aren't listed; it may accept too much."""
    additional = part.schema.get("additionalProperties", True)
    patterns = part.schema.get("patternProperties")
    if patterns:
        return [Part({"anyOf": [additional, *patterns.values()]}, None, part.root)]
    return [part.at("additionalProperties")] if "additionalProperties" in part.schema else []


def is_valid(value: JSON, part: Part) -> bool | None:
    """Return whether a value satisfies a part; None if that is unknown."""
    if not isinstance(part.schema, dict):
        return None if part.schema is None else bool(part.schema)
    refers = any(_REFERRING & each.schema.keys() for each in nodes(part.schema, ()))
    if part.path is None and refers:
        return None
    try:
        node = SchemaNode(part.path or (), part.schema, part.root, ())
        return compile_part(node).is_valid(value)
    except SchemaError:
        return None


def are_told_apart(one: Parts, other: Parts) -> bool:
    """Return whether two objects require the same member with different strings."""
    members = needed_members(one) & needed_members(other)
    texts = ([_texts_of_member(parts, each) for parts in (one, other)] for each in members)
    return any(ours and theirs and ours.isdisjoint(theirs) for ours, theirs in texts)


def _texts_of_member(parts: Parts, member: str) -> set[str]:
    """Return the strings that a member can be; empty if it can be anything else."""
    schemas = [each.schema.get("properties", {}).get(member) for each in parts]
    listed = [values_of(each) or () for each in schemas if isinstance(each, dict)]
    texts = ({*each} for each in listed if each and all(isinstance(v, str) for v in each))
    return next(texts, set())


def have_other_members(one: Parts, other: Parts) -> bool:
    """Return whether both schemas list members, and none in common."""
    ours, theirs = (
        {name for each in parts for name in each.schema.get("properties", ())}
        for parts in (one, other)
    )
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def needed_members(parts: Parts) -> frozenset[str]:
    """Return the names of the members that every value has."""
    return frozenset(name for each in parts for name in each.schema.get("required", ()))
