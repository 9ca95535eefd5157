"""The parts of a manifest's schema, each with what the function says in its place."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.applicators import Kinds, alternatives_of, combinator_of, kinds
from sovl_tools.schema.subschemas import follow, nodes

BASE: Path = ("parameters",)
_SAME_TYPE = 1
_TOP = len((*BASE, "properties", "name"))


class Pair(NamedTuple):
    """A subschema of a manifest, and what the function says in its place.

    Attributes:
        name: what people call the place: ``place.city``, ``places[].city``.
        path: of the subschema, from the manifest's root.
        schema: the subschema.
        own: the function's, with what it refers to in the place of a reference.
        is_part: whether this is what the place refers to, or an alternative in it.
        argument: the property of the whole schema in which it was met.
    """

    name: str
    path: Path
    schema: dict[str, JSON]
    own: dict[str, JSON]
    is_part: bool
    argument: str

    @property
    def is_property(self) -> bool:
        """Whether it is what an object says of a member."""
        return len(self.path) > 1 and self.path[-2] == "properties"

    @property
    def is_inner(self) -> bool:
        """Whether it lies below the properties of the whole schema."""
        return len(self.path) > _TOP


class Comparison(NamedTuple):
    """A manifest's schema of the arguments beside the one that its function implies.

    Attributes:
        parameters: the manifest's.
        own: the function's.
        pairs: the subschemas of both, from the properties of the same name on, parents first;
            without the properties of which the manifest says word for word what the function does.
    """

    parameters: dict[str, JSON]
    own: dict[str, JSON]
    pairs: list[Pair]

    @property
    def matcher(self) -> Matcher:
        """Finds alternatives that belong together."""
        return Matcher(self.parameters, self.own)


def compare(parameters: dict[str, JSON], own: dict[str, JSON]) -> Comparison:
    """Walk through two schemas at once.

    References are followed on both sides. What is used in several places is met once for each
    thing that the function says there.
    """
    found: list[Pair] = []
    pending = [*_members("", "", BASE, parameters, own)]
    if not pending:
        return Comparison(parameters, own, found)
    walk = _Walk(parameters, own)
    # Schemas may refer to themselves, so each combination is visited once.
    seen: set[tuple[int, int]] = set()
    for step in pending:  # which grows meanwhile
        name, path, schema, said, is_part, argument = step
        key = (id(schema), id(said))
        if isinstance(schema, dict) and isinstance(said, dict) and key not in seen:
            seen.add(key)
            target = follow(said, own)
            if target is not said and isinstance(target, dict):
                # keywords beside a reference add to what it refers to
                beside = {name: each for name, each in said.items() if name != "$ref"}
                said = {**target, **beside}
            found.append(Pair(name, path, schema, said, is_part, argument))
            pending.extend(walk.below(step))
    return Comparison(parameters, own, found)


class _Step(NamedTuple):
    name: str
    path: Path
    schema: JSON
    own: JSON
    is_part: bool
    argument: str


class _Walk:
    """A way through two schemas at once."""

    def __init__(self, parameters: dict[str, JSON], own: dict[str, JSON]) -> None:
        self._matcher = Matcher(parameters, own)

    @cached_property
    def _places(self) -> dict[int, Path]:
        return {id(each.schema): each.path for each in nodes(self._matcher.parameters, BASE)}

    def below(self, step: _Step) -> Iterator[_Step]:
        """Yield what lies below a step, or what it refers to."""
        parameters, root = self._matcher
        name, path, schema, _, _, argument = step
        target = follow(schema, parameters)
        own = follow(step.own, root)
        if target is not schema:
            place = self._places.get(id(target))
            if place is not None:
                yield _Step(name, place, target, own, True, argument)  # noqa: FBT003 - all by place
        elif isinstance(own, dict):
            if "properties" in schema:
                yield from _members(name, argument, path, schema, own)
            if "additionalProperties" in schema and "additionalProperties" in own:
                below = (*path, "additionalProperties")
                values = schema["additionalProperties"], own["additionalProperties"]
                yield _Step(f"{name}[]", below, *values, False, argument)  # noqa: FBT003 - likewise
            yield from _items(step._replace(own=own))
            yield from self._alternatives(step, own)

    def _alternatives(self, step: _Step, own: dict[str, JSON]) -> Iterator[_Step]:
        key = combinator_of(step.schema)
        if key is None and combinator_of(own) is None:
            return
        for index, each in enumerate(self._matcher.matches(step.schema, own)):
            if each.own is not None and not (each.own is own and each.schema is step.schema):
                path = (*step.path, key, index) if key else step.path
                yield step._replace(path=path, schema=each.schema, own=each.own, is_part=True)


def _members(
    name: str, argument: str, path: Path, schema: dict[str, JSON], own: dict[str, JSON]
) -> Iterator[_Step]:
    others = own.get("properties", {})
    for key, each in schema.get("properties", {}).items():
        if key in others and not _says_nothing_more(each, others[key]):
            whole = f"{name}.{key}" if name else key
            place = (*path, "properties", key)
            yield _Step(whole, place, each, others[key], False, argument or key)  # noqa: FBT003 - likewise


def _says_nothing_more(schema: JSON, own: JSON) -> bool:
    """Tell whether a manifest says all that a function does, word for word."""
    if type(schema) is not dict or type(own) is not dict:
        return False
    # values that it lists may contradict the rest
    if not (_LISTING.isdisjoint(schema) or own.keys() & _LISTING):
        return False
    for key, value in own.items():
        if key not in schema or key in _STRUCTURED:
            return False
        said = schema[key]
        if type(value) is dict:
            if key not in _PARTS or not _says_nothing_more(said, value):
                return False
        # in Python 1 == True, also in lists
        elif key != "description" and (
            said != value or not (type(value) is str or repr(said) == repr(value))
        ):
            return False
    return True


_LISTING = frozenset({"enum", "const"})
_PARTS = frozenset({"items", "additionalProperties"})
_STRUCTURED = frozenset({"$ref", "$defs", "properties", "prefixItems", "anyOf", "oneOf", "allOf"})


def _items(step: _Step) -> Iterator[_Step]:
    """Yield the items of two arrays, each of which may list them one by one."""
    name, path, schema, own, _, argument = step
    ours, theirs = schema.get("prefixItems", ()), own.get("prefixItems", ())
    rest, others = schema.get("items"), own.get("items")
    for index in range(max(len(ours), len(theirs))):
        is_listed = index < len(ours)
        place: Path = ("prefixItems", index) if is_listed else ("items",)
        item = ours[index] if is_listed else rest
        other = theirs[index] if index < len(theirs) else others
        yield _Step(f"{name}[{index}]", (*path, *place), item, other, False, argument)  # noqa: FBT003 - likewise
    if rest is not None and others is not None:
        yield _Step(f"{name}[]", (*path, "items"), rest, others, False, argument)  # noqa: FBT003 - likewise


ANNOTATIONS = frozenset({"title", "description", "default", "examples"})


def agreed(found: Iterable[Pair]) -> list[Pair]:
    """Return the pairs of those subschemas in whose place the function says one thing only.

    A definition that other places share can't be mended for one of them alone.
    """
    every = list(found)
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in every:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    shared = {key for key, others in said.items() if len(others) > 1}
    return [pair for pair in every if id(pair.schema) not in shared]


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
    """An alternative of a manifest, and the function's that corresponds to it, if any."""

    schema: JSON
    own: JSON | None


class Matcher(NamedTuple):
    """Finds alternatives that belong together, in the schemas of a manifest and a function."""

    parameters: dict[str, JSON]
    own: dict[str, JSON]

    def matches(self, schema: dict[str, JSON], own: dict[str, JSON]) -> list[Match]:
        """Return each alternative of a manifest's schema with the function's."""
        ours, theirs = alternatives_of(schema), alternatives_of(own)
        if len(ours) == len(theirs) == 1:
            return [Match(ours[0], theirs[0])]
        found = []
        for index, each in enumerate(ours):
            scores = [self._score(each, other) for other in theirs]
            best = max(scores)
            places = [place for place, score in enumerate(scores) if score == best]
            # Of equally good partners the one at the same index, if it is among them.
            is_doubtful = best > _SAME_TYPE and len(places) > 1 and index not in places
            partner = theirs[index if index in places else places[0]]
            found.append(Match(each, None if best == 0 or is_doubtful else partner))
        return found

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
        # objects are matched by their members; those of another set of names are second best
        common = len(names & known)
        return common and _SAME_TYPE + 2 * common - (names != known)

    def _names(self, schema: JSON, root: dict[str, JSON]) -> frozenset[str]:
        found = follow(schema, root)
        return frozenset(found.get("properties", ())) if isinstance(found, dict) else frozenset()
