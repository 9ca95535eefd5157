"""Compare two JSON Schemas: is the second equal to the first, wider, narrower or contradictory?

Both must be valid. The comparison never guesses: two parts that it can't compare are a difference,
so an empty result is a proof.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, combinations, permutations
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, canonical, kind
from sovl_tools.schema.applicators import (
    combinator_of,
    exclude_each_other,
    numeric,
    values_of,
)
from sovl_tools.schema.bounds import (
    CONCERNED,
    COUNTS,
    HOLDS,
    LIMITS,
    LOOSEST,
    NUMBERS,
    contrary_bound,
    strictness,
)
from sovl_tools.schema.keywords import ANNOTATIONS
from sovl_tools.schema.parts import (
    SPEAKING,
    Part,
    Parts,
    applying,
    are_told_apart,
    have_other_members,
    is_valid,
    needed_members,
    place_of,
    unlisted,
)
from sovl_tools.schema.subschemas import SchemaNode, nodes

Relation: TypeAlias = Literal["equal", "wider", "narrower", "contradictory", "unknown"]
"""How the second schema relates to the first.

Contradictory schemas share no value but null. Only ``unknown`` is uncertain.
"""

InFormat: TypeAlias = Callable[[JSON, str], bool]
"""Checks whether a value matches a format."""


class Difference(NamedTuple):
    """A place where the narrow schema may reject a value that the wide one accepts.

    Attributes:
        name: the place for people: ``places[].city``; empty for the root.
        path: the path of the subschema in the wide schema, None if it has no subschema there.
            For the keyword ``properties`` it is the member's path, whether listed or not.
        keyword: the keyword that rejects the value; ``alternatives`` if no alternative accepts it.
        wide: the wide schema's value of the keyword, None if it hasn't the keyword.
        narrow: the narrow schema's value; for ``required`` only the names that the wide schema
            doesn't require, for ``properties`` the member's schema.
        values: the values listed by the wide schema that the narrow one rejects.
        is_contradictory: whether the narrow schema rejects every value of this place but null.
    """

    name: str
    path: Path | None
    keyword: str
    wide: JSON
    narrow: JSON
    values: tuple[JSON, ...] = ()
    is_contradictory: bool = False


class Comparison(NamedTuple):
    """The differences between a first and a second schema.

    Attributes:
        narrower: where the second schema is narrower than the first.
        wider: where the second schema is wider; these differences have it as their wide one.
    """

    narrower: list[Difference]
    wider: list[Difference]

    @property
    def relation(self) -> Relation:
        """How the second schema relates to the first."""
        if not self.narrower:
            return "wider" if self.wider else "equal"
        if not self.wider:
            return "narrower"
        every = [*self.narrower, *self.wider]
        is_apart = any(each.is_contradictory and not each.name for each in every)
        return "contradictory" if is_apart else "unknown"


def compare(first: JSON, second: JSON) -> Comparison:
    """Compare two schemas in both directions."""
    return Comparison(narrowings(first, second), narrowings(second, first))


def narrowings(
    wide: JSON,
    narrow: JSON,
    in_format: InFormat | None = None,
    *,
    roots: tuple[JSON, JSON] | None = None,
) -> list[Difference]:
    """Return the places where the narrow schema may reject a value that the wide one accepts.

    Args:
        wide: the schema whose values are considered.
        narrow: the schema that may reject some of them.
        in_format: checks listed values; without it, ``format`` only describes.
        roots: the schemas where references are looked up, if the two are parts of them.
    """
    walk = _Walk(*(roots or (wide, narrow)), in_format)
    path = () if roots is None else None
    try:
        found = walk.compare("", [Part(wide, path, walk.wide)], Part(narrow, path, walk.narrow))
    except (_TooFarError, RecursionError):
        found = [Difference("", (), "allOf", None, None)]
    if found and roots is None and _means_the_same(wide, narrow):
        return []  # the walk can't compare every keyword with itself
    unique: dict[Any, Difference] = {}
    for each in found:
        unique.setdefault((each.name, canonical(each[2:])), each)
    return sorted(unique.values(), key=lambda n: n.name.count(".") + n.name.count("["))


def contained(node: SchemaNode) -> tuple[int, int] | None:
    """Return an alternative of ``oneOf`` all of whose values match another as well, and that.

    No value is valid because of it. Return None if there isn't any, or if finding it takes long.
    """
    path = node.path[len(node.base) :]
    branches = Part(node.schema, path, node.root).branches("oneOf")
    # no argument is checked against it
    branches = [p.without("format") if isinstance(p.schema, dict) else p for p in branches]
    walk = _Walk(node.root, node.root, None, steps=_FEW_STEPS)
    try:
        for (index, one), (place, other) in permutations(enumerate(branches), 2):
            if applying([one]) is not None and not walk.compare("", [one], other):
                return index, place
    except (_TooFarError, RecursionError):
        return None
    return None


def _means_the_same(one: JSON, other: JSON) -> bool:
    """Return whether two schemas are written the same, apart from annotations."""
    return canonical(_without_annotations(one)) == canonical(_without_annotations(other))


def _without_annotations(schema: JSON) -> JSON:
    if not isinstance(schema, dict):
        return schema
    copied = copy.deepcopy(schema)
    for node in [*nodes(copied, ())]:
        for keyword in ANNOTATIONS & node.schema.keys():
            del node.schema[keyword]
    return copied


class _TooFarError(Exception):
    """The schemas have too many combinations to compare."""


_FEW_STEPS = 2_000

_ALL = NUMBERS | {"null", "boolean", "string", "array", "object"}
"""Types of values; here ``number`` means numbers that aren't integers."""


class _Walk:
    """Walks through a wide and a narrow schema at the same time.

    At each place the wide side is a list of subschemas that a value satisfies, and every keyword of
    the narrow side must follow from them.
    """

    def __init__(
        self, wide: JSON, narrow: JSON, in_format: InFormat | None, *, steps: int = 20_000
    ) -> None:
        self.wide, self.narrow, self._in_format = wide, narrow, in_format
        # only deeply nested combinations need many comparisons of subschemas
        self._steps = steps
        # pairs that are being compared, with their place's name, or that proved true, with None
        self._assumed: dict[tuple[frozenset[str], str], str | None] = {}
        self._types_known: dict[tuple[Path, bool], frozenset[str]] = {}

    def compare(self, name: str, wide: Iterable[Part], narrow: Part) -> list[Difference]:
        """Return why the narrow part may reject a value that satisfies all the wide parts."""
        if narrow.schema is True or narrow.schema == {}:
            return []
        parts = applying(wide)
        types = _ALL if parts is None else self._types(parts)
        if parts is None or not types:
            return []
        if not isinstance(narrow.schema, dict):
            return [_difference(name, parts, "properties", narrow.schema)]
        key = frozenset(canonical(each.schema) for each in parts), canonical(narrow.schema)
        if key in self._assumed:
            # a pair that recurs in a member is true if it is true here; at the same place it
            # says neither yes nor no
            recurs = self._assumed[key] == name
            said = narrow.schema.get("$ref")
            return [_difference(name, parts, "$ref", said)] if recurs else []
        self._steps -= 1
        if self._steps < 0:
            raise _TooFarError
        mark = len(self._assumed)
        self._assumed[key] = name
        found = [*self._refused(name, parts, types, narrow)]
        found = found and self._by_case(name, parts, types, narrow, found)
        if not found:
            self._assumed[key] = None
        while found and len(self._assumed) > mark:
            self._assumed.popitem()  # pairs that proved true since can have relied on this one
        return found

    def _types(self, parts: Parts) -> frozenset[str]:
        """Return the types that a value can have, possibly too many."""
        types = _ALL
        for part in parts:
            schema, keyword = part.schema, combinator_of(part.schema)
            if "type" in schema:
                types &= numeric(schema["type"])
            if "multipleOf" in schema and float(schema["multipleOf"]).is_integer():
                types -= {"number"}
            values = values_of(schema)
            if values is not None:
                types &= frozenset(map(_type_of, values))
            if keyword is not None and part.path is not None:
                key = (*part.path, keyword), part.root is self.wide
                if key not in self._types_known:
                    self._types_known[key] = _ALL  # for an alternative that leads back here
                    cases = [applying([each]) for each in part.branches(keyword)]
                    known = [self._types(each) for each in cases if each is not None]
                    self._types_known[key] = frozenset[str]().union(*known)
                types &= self._types_known[key]
        return types

    def _by_case(
        self,
        name: str,
        parts: Parts,
        types: frozenset[str],
        narrow: Part,
        found: list[Difference],
    ) -> list[Difference]:
        """Compare each alternative separately: different ones may satisfy the narrow part."""
        for part in parts:
            keyword = combinator_of(part.schema)
            if keyword is None:
                continue
            others = [each.without(keyword) if each is part else each for each in parts]
            cases = [[each, *others] for each in part.branches(keyword)]
            return [n for each in cases for n in self.compare(name, each, narrow)]
        groups = ["number" if "number" in types else "integer"] * (not types.isdisjoint(NUMBERS))
        groups += sorted(types - NUMBERS)
        if len(groups) == 1 or types == _ALL or combinator_of(narrow.schema) is None:
            return found
        each_type = [Part({"type": each}, None, None) for each in groups]
        return [n for each in each_type for n in self.compare(name, [*parts, each], narrow)]

    def _refused(
        self, name: str, parts: Parts, types: frozenset[str], narrow: Part
    ) -> Iterator[Difference]:
        said = narrow.schema
        if "type" in said and exclude_each_other(types, numeric(said["type"])):
            found = _difference(name, parts, "type", said["type"])
            yield found._replace(is_contradictory=True)
            return
        by_value = self._refused_values(name, parts, types, narrow)
        if by_value is not None:
            yield from by_value
            return
        keywords = [
            each
            for each in said
            if each in SPEAKING and not types.isdisjoint(CONCERNED.get(each, _ALL))
        ]
        for keyword in keywords:
            if keyword not in _WALKS and not self._follows(parts, types, said, keyword):
                found = _difference(name, parts, keyword, said[keyword])
                # other types don't have the bound
                is_apart = types <= CONCERNED.get(keyword, _ALL) and any(
                    contrary_bound(each.schema, keyword, said[keyword]) for each in parts
                )
                yield found._replace(is_contradictory=is_apart)
        for walk in dict.fromkeys(_WALKS[each] for each in keywords if each in _WALKS):
            yield from walk(self, name, parts, narrow)

    def _refused_values(
        self, name: str, parts: Parts, types: frozenset[str], narrow: Part
    ) -> list[Difference] | None:
        """Return the rejected values of a finite list; None if the keywords decide."""
        listing = tuple(each for each in parts if values_of(each.schema) is not None)
        values = values_of(listing[0].schema) if listing else None
        if values is None and types <= {"boolean", "null"}:
            values = [True, False, None]
        if values is None:
            return None
        values = [each for each in values if _type_of(each) in types]
        refused = [
            each
            for each in values
            if not self._admits(each, narrow)
            and all(is_valid(each, part) is not False for part in parts)
        ]
        if not refused or not listing:
            return None if refused else []
        said = narrow.schema
        others = numeric(said["type"]) if "type" in said else _ALL
        listed = tuple(each for each in refused if _type_of(each) in others)
        found = []
        if len(listed) < len(refused):
            found.append(_difference(name, parts, "type", said["type"]))
        if listed:
            keyword = "const" if "const" in said else "enum"
            each = _difference(name, listing, keyword, said.get(keyword))
            is_sure = all(is_valid(value, narrow) is False for value in listed)
            is_apart = is_sure and len(listed) == len(values)
            found.append(each._replace(values=listed, is_contradictory=is_apart))
        return found

    def _admits(self, value: JSON, narrow: Part) -> bool:
        """Return whether a part of the narrow side certainly accepts a value."""
        said = narrow.schema
        if self._in_format is not None and isinstance(said, dict):
            if "anyOf" in said:
                return any(self._admits(value, each) for each in narrow.branches("anyOf"))
            if "$ref" in said:
                return self._admits(value, narrow.target())
            if "format" in said and not self._in_format(value, said["format"]):
                return False
        return is_valid(value, narrow) is True

    def reference(self, name: str, parts: Parts, narrow: Part) -> list[Difference]:
        target = narrow.target()
        if target.schema is None:  # only an engine could follow it
            return [_difference(name, parts, "$ref", narrow.schema["$ref"])]
        return self.compare(name, parts, target)

    def every(self, name: str, parts: Parts, narrow: Part) -> Iterator[Difference]:
        for each in narrow.branches("allOf"):
            yield from self.compare(name, parts, each)

    def alternatives(self, name: str, parts: Parts, narrow: Part) -> Iterator[Difference]:
        for keyword in ("anyOf", "oneOf"):
            if keyword in narrow.schema and not any(
                self._is_same(each.schema.get(keyword), narrow.schema[keyword]) for each in parts
            ):
                yield from self._any_of(name, parts, keyword, narrow)

    def _any_of(self, name: str, parts: Parts, keyword: str, narrow: Part) -> list[Difference]:
        branches = narrow.branches(keyword)
        cases = [applying([each]) or () for each in branches]
        # a value may satisfy only one, so no value may satisfy two
        if keyword == "oneOf" and not self._exclude_each_other(cases):
            return [_difference(name, parts, keyword, narrow.schema[keyword])]
        tries = []
        for each in branches:
            tries.append(self.compare(name, parts, each))
            if not tries[-1]:
                return []
        # an alternative for other values doesn't explain why these aren't accepted
        alike = [
            each
            for case, each in zip(cases, tries, strict=True)
            if not have_other_members(parts, case)
            and not any(
                (n.keyword == "const" and n.is_contradictory)
                or (n.keyword == "type" and n.name == name)
                for n in each
            )
        ]
        if alike:
            return min(alike, key=len)
        known = frozenset[str]().union(*map(self._types, cases))
        is_apart = exclude_each_other(self._types(parts), known)
        found = _difference(name, parts, "alternatives", sorted(known))
        return [found._replace(is_contradictory=is_apart)]

    def _exclude_each_other(self, cases: list[Parts]) -> bool:
        """Return whether no value satisfies two: by type, or by a member with other values."""
        known = [(self._types(each), each) for each in cases if each]
        return len(known) == len(cases) and all(
            one.isdisjoint(other) or (one == other == {"object"} and are_told_apart(this, that))
            for (one, this), (other, that) in combinations(known, 2)
        )

    def members(self, name: str, parts: Parts, narrow: Part) -> Iterator[Difference]:
        known = dict.fromkeys(
            key for each in (*parts, narrow) for key in each.schema.get("properties", ())
        )
        for member in known:
            wide = [each for part in parts for each in part.applied(member)]
            whole = f"{name}.{member}" if name else member
            for each in narrow.applied(member):
                found = self.compare(whole, wide, each)
                if found and (each.schema is False or not wide):
                    # it isn't accepted anymore, or it could be anything before
                    found = [_member_difference(whole, parts, member, each.schema)]
                yield from found
        others = [each for part in parts for each in unlisted(part)]
        if "additionalProperties" in narrow.schema:
            additional = narrow.at("additionalProperties")
            found = self.compare(f"{name}[]", others, additional)
            is_open = all(each.schema in ({}, True) for each in others)
            if found and (additional.schema is False or is_open):
                found = [_difference(name, parts, "additionalProperties", additional.schema)]
            yield from found
        for pattern in narrow.schema.get("patternProperties", ()):
            same = [
                each.at("patternProperties", pattern)
                for each in parts
                if pattern in each.schema.get("patternProperties", ())
            ]
            inner = narrow.at("patternProperties", pattern)
            yield from self.compare(f"{name}[]", [*others, *same], inner)

    def items(self, name: str, parts: Parts, narrow: Part) -> Iterator[Difference]:
        listed = max(len(each.schema.get("prefixItems", ())) for each in (*parts, narrow))
        for index in range(listed):
            wide = [each for part in parts for each in part.applied(index)]
            for each in narrow.applied(index):
                yield from self.compare(f"{name}[{index}]", wide, each)
        if "items" in narrow.schema:
            rest = [each.at("items") for each in parts if "items" in each.schema]
            yield from self.compare(f"{name}[]", rest, narrow.at("items"))

    def names(self, name: str, parts: Parts, narrow: Part) -> list[Difference]:
        wide = [each.at("propertyNames") for each in parts if "propertyNames" in each.schema]
        text = Part({"type": "string"}, None, None)
        return self.compare(f"names of {name}", [*wide, text], narrow.at("propertyNames"))

    def required(self, name: str, parts: Parts, narrow: Part) -> Iterator[Difference]:
        needed = needed_members(parts)
        missing = [each for each in dict.fromkeys(narrow.schema["required"]) if each not in needed]
        if missing:
            yield _difference(name, parts, "required", missing)

    def _follows(
        self, parts: Parts, types: frozenset[str], narrow: dict[str, JSON], keyword: str
    ) -> bool:
        """Return whether a value that satisfies the parts satisfies a keyword, too."""
        value, known = narrow[keyword], [each.schema for each in parts]
        if keyword == "type":
            return types <= numeric(value)
        if keyword.startswith("unevaluated") or keyword.endswith("Ref"):
            return False  # they depend on the keywords around them
        if keyword in LIMITS:
            is_whole = "number" not in types
            ours = [
                strictness(other, each[other], is_whole=is_whole)
                for each in known
                for other in each.keys() & LIMITS.keys()
                if LIMITS[other][0] == LIMITS[keyword][0]
            ]
            return max(ours, default=LOOSEST) >= strictness(keyword, value, is_whole=is_whole)
        holds = HOLDS.get(keyword)
        if holds and any(holds(each[keyword], value) for each in known if keyword in each):
            return True
        needed = needed_members(parts)
        is_idle = (
            (keyword in COUNTS and value == 0)
            or (keyword == "uniqueItems" and not value)
            or (keyword == "minProperties" and value <= len(needed))
            or (keyword == "multipleOf" and value == 1 and "number" not in types)
            or (keyword == "dependentRequired" and needed.issuperset(chain(*value.values())))
        )
        group = next((each for each in _GROUPS if keyword in each), (keyword,))
        return is_idle or any(
            all(
                (k in part) == (k in narrow) and self._is_same(part.get(k), narrow.get(k))
                for k in group
            )
            for part in known
        )

    def _is_same(self, wide: JSON, narrow: JSON) -> bool:
        """Return whether two parts are written the same, and their references' targets as well."""
        if not _means_the_same(wide, narrow):
            return False
        if '"$ref"' not in (text := canonical(wide)) and 'Ref"' not in text:
            return True
        sides = [each if isinstance(each, dict) else {} for each in (self.wide, self.narrow)]
        ours, theirs = (canonical(each.get("$defs")) for each in sides)
        references = _REFERENCE.findall(text + ours)
        are_near = all(each.startswith("#/$defs/") for each in references)
        return ours == theirs and are_near and 'Ref"' not in text + ours


_REFERENCE = re.compile(r'"\$ref": "([^"]*)')


def _difference(name: str, parts: Parts, keyword: str, narrow: JSON) -> Difference:
    said = [each for each in parts if keyword in each.schema]
    wide = said[0].schema[keyword] if said else None
    return Difference(name, place_of((*said, *parts)), keyword, wide, narrow)


def _member_difference(name: str, parts: Parts, member: str, narrow: JSON) -> Difference:
    listing = [each for each in parts if member in each.schema.get("properties", ())]
    place = place_of((*listing, *parts))
    path = None if place is None else (*place, "properties", member)
    return Difference(name, path, "properties", None, narrow)


def _type_of(value: JSON) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return "integer" if is_whole else kind(value)


_GROUPS = (("contains", "minContains", "maxContains"), ("if", "then", "else"))
"""Keywords that only have a meaning together."""

_Compare: TypeAlias = Callable[[_Walk, str, Parts, Part], Iterable[Difference]]
_WALKS: dict[str, _Compare] = {
    "$ref": _Walk.reference,
    "allOf": _Walk.every,
    **dict.fromkeys(("anyOf", "oneOf"), _Walk.alternatives),
    "required": _Walk.required,
    "propertyNames": _Walk.names,
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties"), _Walk.members),
    **dict.fromkeys(("items", "prefixItems"), _Walk.items),
}
