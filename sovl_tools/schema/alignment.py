"""Pair the subschemas of two schemas that describe the same values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON, Path
from sovl_tools.schema.applicators import alternatives_of, combinator_of, values_of
from sovl_tools.schema.comparison import narrowings
from sovl_tools.schema.keywords import ANNOTATIONS
from sovl_tools.schema.subschemas import follow, lookup


class Pair(NamedTuple):
    """A subschema of a schema, and its counterpart in the other schema.

    Attributes:
        name: the place for people: ``place.city``, ``places[].city``.
        path: the path of the subschema from the root of its schema.
        schema: the subschema.
        own: the counterpart, merged with the target of its reference.
        is_part: whether this is the target of a reference, or an alternative.
        is_needed: whether it is a member that the other schema requires.
    """

    name: str
    path: Path
    schema: dict[str, JSON]
    own: dict[str, JSON]
    is_part: bool = False
    is_needed: bool = False

    @property
    def is_member(self) -> bool:
        """Whether it describes a member of an object."""
        return not self.is_part and len(self.path) > 1 and self.path[-2] == "properties"


class Roots(NamedTuple):
    """The two schemas where references are looked up."""

    schema: dict[str, JSON]
    own: dict[str, JSON]


def aligned(roots: Roots) -> list[Pair]:
    """Return the pairs below two schemas of objects, parents first.

    References are followed on both sides. A definition that several places share is paired once
    with each counterpart.
    """
    found: list[Pair] = []
    pending = [*_members(Pair("", (), *roots))]
    seen: set[tuple[int, int]] = set()
    for pair in pending:  # which grows meanwhile
        schema: JSON = pair.schema
        own: JSON = pair.own
        key = (id(schema), id(own))
        if not (isinstance(schema, dict) and isinstance(own, dict)) or not own or key in seen:
            continue
        seen.add(key)
        target = follow(own, roots.own)
        if isinstance(target, dict) and target is not own:
            # keywords next to a reference add to its target
            own = {**target, **{name: each for name, each in own.items() if name != "$ref"}}
        found.append(pair if own is pair.own else pair._replace(own=own))
        pending += _below(pair, roots)
    return found


def agreed(pairs: list[Pair]) -> list[Pair]:
    """Return the pairs of the subschemas whose counterparts say the same, apart from annotations.

    A definition that several places share can't change for one of them only.
    """
    said: dict[int, list[dict[str, JSON]]] = {}
    for pair in pairs:
        if "anyOf" not in pair.own:
            others = said.setdefault(id(pair.schema), [])
            plain = {key: each for key, each in pair.own.items() if key not in ANNOTATIONS}
            if plain not in others:
                others.append(plain)
    return [pair for pair in pairs if len(said.get(id(pair.schema), ())) < _SEVERAL]


_SEVERAL = 2


def _below(pair: Pair, roots: Roots) -> Iterator[Pair]:
    """Yield the pairs directly below a pair, or the target of its reference."""
    name, path, schema, *_ = pair
    own = follow(pair.own, roots.own)
    if isinstance(schema.get("$ref"), str):
        target, _, place = lookup(roots.schema, schema["$ref"])
        yield Pair(name, place, target, own, is_part=True)
        return
    if not isinstance(own, dict):
        return
    if _NESTED.isdisjoint(schema) and _NESTED.isdisjoint(own):
        return
    if own is not pair.own:
        pair = pair._replace(own=own)
    yield from _members(pair)
    if "additionalProperties" in schema and "additionalProperties" in own:
        values = schema["additionalProperties"], own["additionalProperties"]
        yield Pair(f"{name}[]", (*path, "additionalProperties"), *values)
    yield from _items(pair)
    keyword = combinator_of(schema)
    for index, (each, other) in enumerate(matches(schema, own, roots)):
        place = (*path, keyword, index) if keyword else path
        yield Pair(name, place, each, _taker(each, other, own, roots), is_part=True)


_NESTED = frozenset(
    {"properties", "additionalProperties", "items", "prefixItems", "anyOf", "oneOf"}
)


def _taker(schema: JSON, other: JSON, own: dict[str, JSON], roots: Roots) -> JSON:
    """Return an alternative's counterpart: the whole other schema if several accept its values."""
    schema = follow(schema, roots.schema)
    if not isinstance(schema, dict) or combinator_of(schema) is not None:
        return own
    if other is None or values_of(schema) is None:
        return other
    refused = [each.values for each in narrowings(schema, other, roots=roots)]
    is_best = not refused or refused == [
        each.values for each in narrowings(schema, own, roots=roots)
    ]
    return other if is_best else own


def _members(pair: Pair) -> Iterator[Pair]:
    name, path, schema, own, *_ = pair
    others = own.get("properties", {})
    for key, each in schema.get("properties", {}).items():
        if key in others:
            whole = f"{name}.{key}" if name else key
            is_needed = key in own.get("required", ())
            place = (*path, "properties", key)
            yield Pair(whole, place, each, others[key], is_needed=is_needed)


def _items(pair: Pair) -> Iterator[Pair]:
    """Yield the items of two arrays, each of which may list them one by one."""
    name, path, schema, own, *_ = pair
    ours, theirs = schema.get("prefixItems", ()), own.get("prefixItems", ())
    rest: JSON = schema.get("items")
    others: JSON = own.get("items")
    for index in range(max(len(ours), len(theirs))):
        place: Path = ("prefixItems", index) if index < len(ours) else ("items",)
        item = ours[index] if index < len(ours) else rest
        other = theirs[index] if index < len(theirs) else others
        yield Pair(f"{name}[{index}]", (*path, *place), item, other)
    if rest is not None and others is not None:
        yield Pair(f"{name}[]", (*path, "items"), rest, others)


def matches(
    schema: dict[str, JSON], own: dict[str, JSON], roots: Roots
) -> list[tuple[JSON, JSON | None]]:
    """Return each alternative of a schema with its best counterpart, if it has any."""
    if combinator_of(schema) is None and combinator_of(own) is None:
        return []
    found = []
    for index, each in enumerate(alternatives_of(schema)):
        ranks = [
            (rank, place != index, place)
            for place, other in enumerate(alternatives_of(own))
            if (rank := _rank(each, other, roots)) is not None
        ]
        found.append((each, alternatives_of(own)[min(ranks)[2]] if ranks else None))
    return found


def _rank(schema: JSON, own: JSON, roots: Roots) -> int | None:
    """Return the share of an alternative that another rejects; None if they don't match."""
    if schema == own:
        return 0
    found = narrowings(schema, own, roots=roots)
    ours, theirs = follow(schema, roots.schema), follow(own, roots.own)
    if not (isinstance(ours, dict) and isinstance(theirs, dict)) or any(
        each.keyword in {"type", "alternatives"} and not each.name for each in found
    ):
        return None
    names, known = {*ours.get("properties", ())}, {*theirs.get("properties", ())}
    if names and known and names.isdisjoint(known):
        return None
    # a contradiction, such as another tag, counts most
    return sum(_APART if each.is_contradictory else 1 for each in found) + 1


_APART = 1000
