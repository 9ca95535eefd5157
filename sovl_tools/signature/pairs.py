"""The parts of a manifest's schema, each with what the function says in its place."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, kind
from sovl_tools.model.schemanodes import nodes
from sovl_tools.schema.references import lookup

BASE: Path = ("parameters",)
Kinds: TypeAlias = frozenset[str] | None
"""JSON types; None where they can't be told."""

_COMBINATORS = ("anyOf", "oneOf")
_DEEPEST = 20
_SAME_TYPE = 1
_TOP = len((*BASE, "properties", "name"))


class Pair(NamedTuple):
    """A subschema of a manifest, and what the function says in its place.

    Attributes:
        name: what people call the place: ``place.city``, ``places[].city``.
        path: of the subschema, from the manifest's root.
        schema: the subschema.
        own: the function's, with what it refers to in the place of a reference.
        is_part: whether that is said of what the place refers to, or of an alternative in it.
    """

    name: str
    path: Path
    schema: dict[str, JSON]
    own: dict[str, JSON]
    is_part: bool

    @property
    def is_property(self) -> bool:
        """Whether it is what an object says of a member."""
        return len(self.path) > 1 and self.path[-2] == "properties"

    @property
    def is_inner(self) -> bool:
        """Whether it lies below the properties of the whole schema."""
        return len(self.path) > _TOP


def pairs(parameters: dict[str, JSON], own: dict[str, JSON]) -> list[Pair]:
    """Return the subschemas of both, from the properties of the same name on, parents first.

    References are followed on both sides. What is used in several places is met once for each
    thing that the function says there.
    """
    return list(_Walk(parameters, own).pairs())


class _Step(NamedTuple):
    name: str
    path: Path
    schema: JSON
    own: JSON
    is_part: bool = False


class _Walk:
    """A way through two schemas at once."""

    def __init__(self, parameters: dict[str, JSON], own: dict[str, JSON]) -> None:
        self._matcher = Matcher(parameters, own)
        self._seen: set[tuple[int, int]] = set()

    @cached_property
    def _places(self) -> dict[int, Path]:
        return {id(each.schema): each.path for each in nodes(self._matcher.parameters, BASE)}

    def pairs(self) -> Iterator[Pair]:
        root, own = self._matcher
        pending = deque(_members("", BASE, root, own))
        while pending:
            step = pending.popleft()
            if not isinstance(step.schema, dict) or not isinstance(step.own, dict):
                continue
            key = (id(step.schema), id(step.own))
            if key not in self._seen:
                self._seen.add(key)
                name, path, schema, said, is_part = step
                yield Pair(name, path, schema, self._whole(said), is_part)
                pending.extend(self._inner(step))

    def _whole(self, own: dict[str, JSON]) -> dict[str, JSON]:
        target = target_of(own, self._matcher.own)
        if target is own or not isinstance(target, dict):
            return own
        return {**target, **{key: each for key, each in own.items() if key != "$ref"}}

    def _inner(self, step: _Step) -> Iterator[_Step]:
        """Yield what lies below a step, or what it refers to."""
        parameters, root = self._matcher
        name, path, schema, _, _ = step
        target = target_of(schema, parameters)
        own = target_of(step.own, root)
        if target is not schema:
            place = self._places.get(id(target))
            if place is not None:
                yield _Step(name, place, target, own, is_part=True)
        elif isinstance(own, dict):
            if "properties" in schema:
                yield from _members(name, path, schema, own)
            if "additionalProperties" in schema and "additionalProperties" in own:
                below = (*path, "additionalProperties")
                values = schema["additionalProperties"], own["additionalProperties"]
                yield _Step(f"{name}[]", below, *values)
            yield from _items(name, path, schema, own)
            yield from self._alternatives(step, own)

    def _alternatives(self, step: _Step, own: dict[str, JSON]) -> Iterator[_Step]:
        key = combinator_of(step.schema)
        if key is None and combinator_of(own) is None:
            return
        for index, each in enumerate(self._matcher.matches(step.schema, own)):
            if each.own is not None and not (each.own is own and each.schema is step.schema):
                path = (*step.path, key, index) if key else step.path
                yield _Step(step.name, path, each.schema, each.own, is_part=True)


def _members(
    name: str, path: Path, schema: dict[str, JSON], own: dict[str, JSON]
) -> Iterator[_Step]:
    others = own.get("properties", {})
    for key, each in schema.get("properties", {}).items():
        if key in others:
            whole = f"{name}.{key}" if name else key
            yield _Step(whole, (*path, "properties", key), each, others[key])


def _items(name: str, path: Path, schema: dict[str, JSON], own: dict[str, JSON]) -> Iterator[_Step]:
    """Yield the items of two arrays, each of which may list them one by one."""
    ours, theirs = schema.get("prefixItems", ()), own.get("prefixItems", ())
    rest, others = schema.get("items"), own.get("items")
    for index in range(max(len(ours), len(theirs))):
        is_listed = index < len(ours)
        place: Path = ("prefixItems", index) if is_listed else ("items",)
        item = ours[index] if is_listed else rest
        other = theirs[index] if index < len(theirs) else others
        yield _Step(f"{name}[{index}]", (*path, *place), item, other)
    if rest is not None and others is not None:
        yield _Step(f"{name}[]", (*path, "items"), rest, others)


_ANNOTATIONS = frozenset({"title", "description", "default", "examples"})


def agreed(found: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of those subschemas in whose place the function says one thing only.

    A definition that other places share can't be mended for one of them alone.
    """
    every = list(found)
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in every:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in _ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    shared = {key for key, others in said.items() if len(others) > 1}
    return [pair for pair in every if id(pair.schema) not in shared]


def target_of(schema: JSON, root: dict[str, JSON]) -> JSON:
    """Return what a schema refers to; itself if it refers to nothing, or to nothing known."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict) or not isinstance(schema.get("$ref"), str):
            break
        schema = lookup(root, schema["$ref"]).target
    return schema


def alternatives_of(schema: dict[str, JSON]) -> list[JSON]:
    """Return the schemas of which a value may fit any; the schema alone if it lists none."""
    key = combinator_of(schema)
    return [schema] if key is None else list(schema[key])


def combinator_of(schema: Mapping[str, JSON]) -> str | None:
    """Return the keyword under which a schema lists alternatives, if it lists any."""
    return next((key for key in _COMBINATORS if key in schema), None)


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
