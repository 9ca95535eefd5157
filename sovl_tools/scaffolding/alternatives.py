"""Of which types a value may be, and which alternatives of two schemas belong together."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, kind
from sovl_tools.schema.references import lookup

_COMBINATORS = ("anyOf", "oneOf")
_DEEPEST = 20
_SAME_TYPE = 1
Kinds: TypeAlias = frozenset[str] | None
"""JSON types; None where they can't be told."""


def target_of(schema: JSON, root: dict[str, JSON]) -> JSON:
    """Return what a schema refers to; itself if it refers to nothing, or to nothing known."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            break
        schema = lookup(root, schema["$ref"]).target
    return schema


def alternatives_of(schema: dict[str, JSON]) -> list[JSON]:
    """Return the schemas of which a value may fit any; the schema alone if it lists none."""
    return next((schema[key] for key in _COMBINATORS if key in schema), [schema])


def kinds(schema: JSON, root: dict[str, JSON], depth: int = 0) -> Kinds:
    """Return the JSON types that a schema admits; None where that can't be told.

    Where numbers are, integers are too.
    """
    schema = target_of(schema, root)
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return None
    if "type" in schema:
        said = schema["type"]
        return _numeric({said} if isinstance(said, str) else said)
    values = values_of(schema)
    if values is not None:
        return _numeric([kind(value) for value in values])
    if any(key in schema for key in _COMBINATORS):
        found = [kinds(each, root, depth + 1) for each in alternatives_of(schema)]
        known = [each for each in found if each is not None]
        return frozenset().union(*known) if len(known) == len(found) else None
    return frozenset({"object"}) if "properties" in schema else None


def _numeric(names: Collection[str]) -> frozenset[str]:
    return frozenset(names) | ({"integer"} if "number" in names else set())


def values_of(schema: Mapping[str, JSON]) -> list[JSON] | None:
    """Return the values that a schema lists; None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    values: list[JSON] | None = schema.get("enum")
    return values


def exclude_each_other(one: Kinds, other: Kinds) -> bool:
    """Tell whether no value can be of both types; null beside others does not count."""
    if one is None or other is None:
        return False
    return (one - {"null"} or one).isdisjoint(other)


def is_wider(one: Kinds, other: Kinds) -> bool:
    """Tell whether the first admits types that the second does not; null does not count."""
    if one is None or other is None:
        return False
    return not (one - {"null"} or one) <= other


class Match(NamedTuple):
    """An alternative of a manifest and that of the function which it stands for, if any."""

    schema: JSON
    own: JSON | None


class Matcher(NamedTuple):
    """Finds alternatives that belong together, in the schemas of a manifest and a function."""

    parameters: dict[str, JSON]
    own: dict[str, JSON]

    def matches(self, schema: dict[str, JSON], own: dict[str, JSON]) -> list[Match]:
        """Return each alternative of a manifest's schema with the function's."""
        ours, theirs = alternatives_of(schema), alternatives_of(own)
        is_single = len(ours) == len(theirs) == 1
        return [
            Match(each, theirs[0] if is_single else self._partner(each, index, theirs))
            for index, each in enumerate(ours)
        ]

    def _partner(self, schema: JSON, index: int, others: Sequence[JSON]) -> JSON | None:
        scores = [self._score(schema, each) for each in others]
        best = max(scores)
        places = [place for place, score in enumerate(scores) if score == best]
        if best == 0 or (best > _SAME_TYPE and len(places) > 1 and index not in places):
            return None
        return others[index if index in places else places[0]]

    def _score(self, schema: JSON, own: JSON) -> float:
        """Return how alike two alternatives are; 0 if they can't be one."""
        one, other = kinds(schema, self.parameters), kinds(own, self.own)
        if schema == own:
            return math.inf
        if one is None or other is None or is_wider(one, other):
            return 0
        names, known = self._names(schema, self.parameters), self._names(own, self.own)
        if not names or not known:
            return _SAME_TYPE if one == other else _SAME_TYPE / 2
        common = len(names & known)
        return common and _SAME_TYPE + 2 * common - (names != known)

    def _names(self, schema: JSON, root: dict[str, JSON]) -> frozenset[str]:
        found = target_of(schema, root)
        return frozenset(found.get("properties", ())) if isinstance(found, dict) else frozenset()
