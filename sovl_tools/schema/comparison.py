"""One schema against another: does the second admit more, less, the same, or something else?

Both are valid and stand for themselves: references lead to other parts of the same schema. Nothing
is guessed: what can't be compared is a difference, so that an empty answer is a proof.
"""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain, combinations
from typing import Any, Literal, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, Path, canonical, kind
from sovl_tools.model.errors import SchemaError
from sovl_tools.schema.applicators import (
    alternatives_of,
    combinator_of,
    exclude_each_other,
    numeric,
    places_of,
    values_of,
)
from sovl_tools.schema.engine import compile_part
from sovl_tools.schema.keywords import (
    ANNOTATIONS,
    BOUNDS,
    IN_LIST,
    IN_OBJECT,
    KEYWORDS,
    SILENT,
    SINGLE,
)
from sovl_tools.schema.subschemas import SchemaNode, lookup, nodes

Relation: TypeAlias = Literal["equal", "wider", "narrower", "contradictory", "unknown"]
"""What the second schema is to the first; contradictory ones have at most null in common.

All but ``unknown`` are certain.
"""

InFormat: TypeAlias = Callable[[JSON, str], bool]
"""Whether a value is in a format."""


class Difference(NamedTuple):
    """Why a schema may refuse what another one admits.

    Attributes:
        name: what people call the place: ``places[].city``; empty for the whole.
        path: of the subschema, from the root of the other one; None if that says nothing there.
            Of ``properties`` it is the member's, which need not be listed.
        keyword: by which values are refused; ``alternatives`` if no alternative takes them.
        wide: what the other one says there; None if it says nothing.
        narrow: what the refusing one says; of ``required``, what is needed beyond the other one,
            of ``properties`` the member's schema.
        values: those of the values listed by the other one that are refused.
        is_contradictory: whether everything is refused that the other one admits at this place,
            null apart.
    """

    name: str
    path: Path | None
    keyword: str
    wide: JSON
    narrow: JSON
    values: tuple[JSON, ...] = ()
    is_contradictory: bool = False


class Comparison(NamedTuple):
    """What a second schema refuses of a first one, and what it admits beyond that.

    Attributes:
        refused: where the second schema may refuse what the first one admits.
        admitted: where the second schema may admit what the first one refuses; here the second
            is the wide one.
    """

    refused: list[Difference]
    admitted: list[Difference]

    @property
    def relation(self) -> Relation:
        """What the second schema is to the first."""
        if not self.refused:
            return "wider" if self.admitted else "equal"
        if not self.admitted:
            return "narrower"
        is_apart = any(each.is_contradictory and not each.name for each in self.refused)
        return "contradictory" if is_apart else "unknown"


def compare(first: JSON, second: JSON) -> Comparison:
    """Return what a second schema is to a first one, and where they differ."""
    return Comparison(refusals(first, second), refusals(second, first))


def refusals(
    wide: JSON,
    narrow: JSON,
    in_format: InFormat | None = None,
    *,
    roots: tuple[JSON, JSON] | None = None,
) -> list[Difference]:
    """Return why the second schema may refuse what the first one admits; nothing if it can't.

    Args:
        wide: the schema that says which values there are.
        narrow: the schema that may refuse some of them.
        in_format: checks the formats of listed values; to JSON Schema a format only describes.
        roots: the schemas that the two are parts of, if they are parts.
    """
    try:
        walk = _Walk(*(roots or (wide, narrow)), in_format)
        found = walk.compare("", [wide], narrow)
    except (_TooFarError, RecursionError):
        found = [Difference("", (), "allOf", None, None)]
    if (
        found and roots is None and _means_the_same(wide, narrow)
    ):  # although it says more than can be compared
        return []
    unique: dict[Any, Difference] = {}
    for each in found:
        unique.setdefault((each.name, canonical(each[2:])), each)
    return sorted(unique.values(), key=lambda n: n.name.count(".") + n.name.count("["))


def _means_the_same(one: JSON, other: JSON) -> bool:
    """Tell whether two schemas are written alike, but for annotations."""
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
    """The schemas combine too much to be compared."""


_STEPS = 10
"""Comparisons for each subschema; only what combines and recurs without end needs as many."""

_NUMBERS = frozenset({"integer", "number"})
_ALL = _NUMBERS | {"null", "boolean", "string", "array", "object"}
"""Types of values; here ``number`` means those that are no integers."""

_ANYTHING: dict[str, JSON] = {}
"""The schema that says nothing: always this one, because schemas are known by their identity."""

_Parts: TypeAlias = tuple[dict[str, JSON], ...]
"""Schemas all of which a value fits."""

_Key: TypeAlias = tuple[frozenset[int], int]
"""By identity, what is compared: all that a value fits, and the schema that it should fit."""


class _Walk:
    """A walk through two schemas at once.

    A value is known by a list of schemas that it fits, all from the wide side; each keyword of the
    narrow side has to follow from them.
    """

    def __init__(self, wide: JSON, narrow: JSON, in_format: InFormat | None) -> None:
        self._wide, self._narrow, self._in_format = wide, narrow, in_format
        self._paths, self._narrow_paths = _paths(wide), _paths(narrow)
        self._steps = _STEPS * (100 + len(self._paths) + len(self._narrow_paths))
        self._open: dict[_Key, str] = {}
        self._known: dict[_Key, tuple[str, list[Difference]]] = {}
        self._held: list[_Key] = []
        # kept with what it was made of: it is known by its identity, and schemas may recur
        self._made: dict[tuple[Any, ...], dict[str, JSON]] = {}
        self._types_found: dict[tuple[int, bool], frozenset[str]] = {}

    def compare(self, name: str, wide: Sequence[JSON], narrow: JSON) -> list[Difference]:
        """Return why what fits all the wide schemas may be refused by the narrow one."""
        parts = self._parts(wide, self._wide)
        types = _ALL if parts is None else self._types(parts, self._wide)
        if parts is None or not types or narrow is True:
            return []
        if not isinstance(narrow, dict):
            return [self._difference(name, parts, "properties", narrow)]
        # values that are listed may not be in the format that is named beside them
        if any(_repeats(each, narrow) and values_of(each) is None for each in parts):
            return []
        key = frozenset(map(id, parts)), id(narrow)
        if key in self._known:
            place, known = self._known[key]
            # one is enough of what is elsewhere already
            return [each._replace(name=_moved(each.name, place, name)) for each in known[:1]]
        if key in self._open:
            # what recurs in a member holds if it holds here; in the same place it says nothing
            is_inner = self._open[key] != name
            return [] if is_inner else [self._difference(name, parts, "$ref", narrow.get("$ref"))]
        self._steps -= 1
        if self._steps < 0:
            raise _TooFarError
        self._open[key] = name
        mark = len(self._held)
        try:
            found = [*self._refused(name, parts, types, narrow)]
            found = found and self._by_case(name, parts, types, narrow, found)
        finally:
            del self._open[key]
        if found:
            # what held meanwhile may have relied on this
            for each in self._held[mark:]:
                del self._known[each]
            del self._held[mark:]
        else:
            self._held.append(key)
        self._known[key] = name, found
        return found

    def _difference(self, name: str, parts: _Parts, keyword: str, narrow: JSON) -> Difference:
        said = [each for each in parts if keyword in each]
        wide = said[0][keyword] if said else None
        return Difference(name, self._place((*said, *parts)), keyword, wide, narrow)

    def _place(self, parts: Iterable[dict[str, JSON]]) -> Path | None:
        """Return the path of the first of the schemas that the wide side has."""
        return next((self._paths[id(each)] for each in parts if id(each) in self._paths), None)

    def _parts(self, schemas: Iterable[JSON], root: JSON) -> _Parts | None:
        """Return all schemas that apply to what fits some; None if nothing can."""
        found: dict[int, dict[str, JSON]] = {}
        pending = [*schemas]
        while pending:
            schema = pending.pop()
            if schema is False:
                return None
            if isinstance(schema, dict) and id(schema) not in found:
                found[id(schema)] = self._alone(schema)
                if isinstance(schema.get("$ref"), str):
                    target, _, path = lookup(root, schema["$ref"])
                    if root is self._wide:
                        self._paths.setdefault(id(target), path)
                    pending.append(target)
                pending += schema.get("allOf", ())
        # what only refers says nothing itself
        speaking = [each for each in found.values() if not _SPEAKING.isdisjoint(each)]
        return tuple(speaking or found.values())

    def _alone(self, schema: dict[str, JSON], *without: str) -> dict[str, JSON]:
        """Return a schema without the keywords that say that others apply as well."""
        left_out = without or ("$ref", "allOf")
        if schema.keys().isdisjoint(left_out):
            return schema
        made = {key: each for key, each in schema.items() if key not in left_out}
        made = self._made.setdefault((id(schema), *left_out), made)
        if id(schema) in self._paths:
            self._paths[id(made)] = self._paths[id(schema)]
        return made

    def _types(self, parts: _Parts, root: JSON) -> frozenset[str]:
        """Return the types that a value can have, or more."""
        types = _ALL
        for part in parts:
            if "type" in part:
                types &= numeric(part["type"])
            if "multipleOf" in part and float(part["multipleOf"]).is_integer():
                types -= {"number"}
            values = values_of(part)
            if values is not None:
                types &= frozenset(map(_type_of, values))
            if combinator_of(part) is not None:
                key = id(part), root is self._wide
                if key not in self._types_found:
                    self._types_found[key] = _ALL  # for an alternative that leads back here
                    cases = [self._parts([each], root) for each in alternatives_of(part)]
                    known = [self._types(each, root) for each in cases if each is not None]
                    self._types_found[key] = frozenset[str]().union(*known)
                types &= self._types_found[key]
        return types

    def _by_case(
        self,
        name: str,
        parts: _Parts,
        types: frozenset[str],
        narrow: dict[str, JSON],
        found: list[Difference],
    ) -> list[Difference]:
        """Compare each alternative by itself, because another one may take its place."""
        for part in parts:
            keyword = combinator_of(part)
            if keyword is None:
                continue
            others = [self._alone(each, keyword) if each is part else each for each in parts]
            cases = [[*others, each] for each in part[keyword]]
            return [n for each in cases for n in self.compare(name, each, narrow)]
        groups = ["number" if "number" in types else "integer"] * (not types.isdisjoint(_NUMBERS))
        groups += sorted(types - _NUMBERS)
        if len(groups) == 1 or types == _ALL or combinator_of(narrow) is None:
            return found
        each_type = [self._made.setdefault((each,), {"type": each}) for each in groups]
        return [n for each in each_type for n in self.compare(name, [*parts, each], narrow)]

    def _refused(
        self, name: str, parts: _Parts, types: frozenset[str], narrow: dict[str, JSON]
    ) -> Iterator[Difference]:
        if "type" in narrow and exclude_each_other(types, numeric(narrow["type"])):
            found = self._difference(name, parts, "type", narrow["type"])
            yield found._replace(is_contradictory=True)
            return
        by_value = self._refused_values(name, parts, types, narrow)
        if by_value is not None:
            yield from by_value
            return
        keywords = [
            each
            for each in narrow
            if each in _SPEAKING and not types.isdisjoint(_CONCERNED.get(each, _ALL))
        ]
        for keyword in keywords:
            if keyword not in _WALKS and not self._follows(parts, types, narrow, keyword):
                found = self._difference(name, parts, keyword, narrow[keyword])
                is_apart = any(contrary_bound(each, keyword, narrow[keyword]) for each in parts)
                yield found._replace(is_contradictory=is_apart)
        for walk in dict.fromkeys(_WALKS[each] for each in keywords if each in _WALKS):
            yield from walk(self, name, parts, narrow)

    def _refused_values(
        self, name: str, parts: _Parts, types: frozenset[str], narrow: dict[str, JSON]
    ) -> list[Difference] | None:
        """Return which of all possible values are refused; None if they have to be compared."""
        values = _values(parts, types)
        if values is None:
            return None
        refused = tuple(
            each
            for each in values
            if not self._admits(each, narrow)
            and all(self._is_valid(each, part, self._wide) is not False for part in parts)
        )
        if not refused:
            return []
        if all(values_of(each) is None for each in parts):
            return None
        others = numeric(narrow["type"]) if "type" in narrow else _ALL
        listed = tuple(each for each in refused if _type_of(each) in others)
        found = []
        if len(listed) < len(refused):
            found.append(self._difference(name, parts, "type", narrow["type"]))
        if listed:
            keyword = "const" if "const" in narrow else "enum"
            listing = tuple(each for each in parts if values_of(each) is not None)
            each = self._difference(name, listing, keyword, narrow.get(keyword))
            is_apart = len(listed) == len(values)
            found.append(each._replace(values=listed, is_contradictory=is_apart))
        return found

    def _admits(self, value: JSON, narrow: dict[str, JSON]) -> bool:
        """Tell whether a schema of the narrow side surely admits a value."""
        if self._in_format is not None and combinator_of(narrow) == "anyOf":
            return any(self._admits(value, each) for each in narrow["anyOf"])
        if self._in_format is not None and "$ref" in narrow:
            target = lookup(self._narrow, narrow["$ref"]).target
            return isinstance(target, dict) and self._admits(value, target)
        return self._is_valid(value, narrow, self._narrow) is True and (
            self._in_format is None
            or "format" not in narrow
            or self._in_format(value, narrow["format"])
        )

    def _is_valid(self, value: JSON, schema: dict[str, JSON], root: dict[str, JSON]) -> bool | None:
        """Tell whether a value fits a part of a schema; None if that is unknown."""
        paths = self._paths if root is self._wide else self._narrow_paths
        try:
            node = SchemaNode(paths[id(schema)], schema, root, ())
            return compile_part(node).is_valid(value)
        except (KeyError, SchemaError):
            return None

    def reference(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> list[Difference]:
        target, _, path = lookup(self._narrow, narrow["$ref"])
        if target is None:  # only an engine could follow it
            return [self._difference(name, parts, "$ref", narrow["$ref"])]
        self._narrow_paths.setdefault(id(target), path)
        return self.compare(name, parts, target)

    def every(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Difference]:
        for each in narrow["allOf"]:
            yield from self.compare(name, parts, each)

    def alternatives(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> list[Difference]:
        keywords = [each for each in ("anyOf", "oneOf") if each in narrow]
        return [n for each in keywords for n in self._any_of(name, parts, each, narrow[each])]

    def _any_of(
        self, name: str, parts: _Parts, keyword: str, branches: list[JSON]
    ) -> list[Difference]:
        if any(self._is_same(each[keyword], branches) for each in parts if keyword in each):
            return []
        # one alone fits only where no value can fit two
        if keyword == "oneOf" and not self._exclude_each_other(branches):
            return [self._difference(name, parts, keyword, branches)]
        tries = []
        for each in branches:
            tries.append(self.compare(name, parts, each))
            if not tries[-1]:
                return []
        # those that are for values of other kinds say nothing of why this one is not taken
        cases = [self._parts([each], self._narrow) or () for each in branches]
        alike = [
            each
            for case, each in zip(cases, tries, strict=True)
            if not _have_other_members(parts, case)
            and not any(
                (n.keyword == "const" and n.is_contradictory)
                or (n.keyword == "type" and n.name == name)
                for n in each
            )
        ]
        if alike:
            return min(alike, key=len)
        known = frozenset[str]().union(*(self._types(each, self._narrow) for each in cases))
        found = self._difference(name, parts, "alternatives", sorted(known))
        is_apart = exclude_each_other(self._types(parts, self._wide), known)
        return [found._replace(is_contradictory=is_apart)]

    def _exclude_each_other(self, branches: list[JSON]) -> bool:
        """Tell whether no value fits two, by their types or by a member that tells them apart."""
        cases = [self._parts([each], self._narrow) for each in branches]
        known = [(self._types(each, self._narrow), each) for each in cases if each is not None]
        return all(
            one.isdisjoint(other) or (one == other == {"object"} and _are_told_apart(this, that))
            for (one, this), (other, that) in combinations(known, 2)
        )

    def members(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Difference]:
        known = dict.fromkeys(k for each in (*parts, narrow) for k in each.get("properties", ()))
        for member in known:
            wide = [schema for each in parts for schema in _applied(each, member)]
            whole = f"{name}.{member}" if name else member
            for schema in _applied(narrow, member):
                found = self.compare(whole, wide, schema)
                if found and (schema is False or not wide):  # it is taken no more, or was anything
                    place = self._place([p for p in parts if member in p.get("properties", ())])
                    place = self._place(parts) if place is None else place
                    path = None if place is None else (*place, "properties", member)
                    found = [Difference(whole, path, "properties", None, schema)]
                yield from found
        others = [self._others(each) for each in parts]
        additional = narrow.get("additionalProperties", _ANYTHING)
        found = self.compare(f"{name}[]", others, additional)
        if found and (additional is False or all(each in (_ANYTHING, True) for each in others)):
            found = [self._difference(name, parts, "additionalProperties", additional)]
        yield from found
        for pattern, schema in narrow.get("patternProperties", {}).items():
            same = [
                each["patternProperties"][pattern]
                for each in parts
                if pattern in each.get("patternProperties", ())
            ]
            yield from self.compare(f"{name}[]", [*others, *same], schema)

    def _others(self, schema: dict[str, JSON]) -> JSON:
        """Return what a schema says of members that it doesn't name, or less."""
        additional = schema.get("additionalProperties", _ANYTHING)
        patterns = schema.get("patternProperties")
        if not patterns:
            return additional
        anyone = {"anyOf": [additional, *patterns.values()]}
        return self._made.setdefault((id(schema), "patternProperties"), anyone)

    def items(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Difference]:
        listed = max(len(each.get("prefixItems", ())) for each in (*parts, narrow))
        for index in range(listed):
            wide = [schema for each in parts for schema in _applied(each, index)]
            for schema in _applied(narrow, index):
                yield from self.compare(f"{name}[{index}]", wide, schema)
        rest = [each.get("items", _ANYTHING) for each in parts]
        yield from self.compare(f"{name}[]", rest, narrow.get("items", _ANYTHING))

    def names(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> list[Difference]:
        wide = [each["propertyNames"] for each in parts if "propertyNames" in each]
        text = self._made.setdefault(("string",), {"type": "string"})
        return self.compare(f"names of {name}", [*wide, text], narrow["propertyNames"])

    def required(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Difference]:
        needed = _needed(parts)
        missing = [each for each in dict.fromkeys(narrow["required"]) if each not in needed]
        if missing:
            yield self._difference(name, parts, "required", missing)

    def _follows(
        self, parts: _Parts, types: frozenset[str], narrow: dict[str, JSON], keyword: str
    ) -> bool:
        """Tell whether a keyword follows from what is known of a value."""
        value, needed = narrow[keyword], _needed(parts)
        if keyword == "type":
            return types <= numeric(value)
        if keyword.startswith("unevaluated") or keyword.endswith("Ref"):
            return False  # they depend on what is evaluated beside and around them
        if keyword in _LIMITS:
            is_whole = "number" not in types
            ours = [
                _strictness(other, each[other], is_whole=is_whole)
                for each in parts
                for other in each.keys() & _LIMITS.keys()
                if _LIMITS[other][0] == _LIMITS[keyword][0]
            ]
            return max(ours, default=_LOOSEST) >= _strictness(keyword, value, is_whole=is_whole)
        holds = _HOLDS.get(keyword)
        if holds and any(holds(each[keyword], value) for each in parts if keyword in each):
            return True
        is_idle = (
            (keyword in _COUNTS and value == 0)
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
            for part in parts
        )

    def _is_same(self, wide: JSON, narrow: JSON) -> bool:
        """Tell whether two parts of schemas are equal, and what they refer to likewise."""
        pending, seen = [(wide, narrow)], set[str]()
        while pending:
            one, other = pending.pop()
            if not _means_the_same(one, other) or 'Ref": ' in canonical(one):
                return False
            for reference in set(_references(one)) - seen:
                seen.add(reference)
                targets = (
                    lookup(self._wide, reference).target,
                    lookup(self._narrow, reference).target,
                )
                if None in targets:
                    return False
                pending.append(targets)
        return True


def _paths(root: JSON) -> dict[int, Path]:
    """Return the path of each subschema, by its identity."""
    return {id(each.schema): each.path for each in nodes(root, ())} if type(root) is dict else {}


def _repeats(part: dict[str, JSON], narrow: dict[str, JSON]) -> bool:
    """Tell whether a schema says all that another one does, which holds no schemas."""
    said = narrow.keys() & _SPEAKING
    return said <= _FLAT and all(k in part and repr(part[k]) == repr(narrow[k]) for k in said)


def _moved(name: str, place: str, other: str) -> str:
    """Return the name that something at a place has at another one."""
    return f"{other}{name.removeprefix(place)}".lstrip(".") if name.startswith(place) else name


def _are_told_apart(one: _Parts, other: _Parts) -> bool:
    """Tell whether two objects need the same member with different texts."""
    members = _needed(one) & _needed(other)
    texts = ([_texts_of_member(parts, each) for parts in (one, other)] for each in members)
    return any(ours and theirs and ours.isdisjoint(theirs) for ours, theirs in texts)


def _have_other_members(one: _Parts, other: _Parts) -> bool:
    """Tell whether two schemas list members of which none is the same."""
    ours, theirs = (
        {name for each in parts for name in each.get("properties", ())} for parts in (one, other)
    )
    return bool(ours and theirs) and ours.isdisjoint(theirs)


def _texts_of_member(parts: _Parts, member: str) -> set[str]:
    """Return the texts that a member can be; nothing if it may be anything else."""
    schemas = [each["properties"][member] for each in parts if member in each.get("properties", ())]
    listed = [values_of(each) or () for each in schemas if isinstance(each, dict)]
    texts = ({*each} for each in listed if each and all(isinstance(v, str) for v in each))
    return next(texts, set())


def _references(value: JSON) -> Iterator[str]:
    if isinstance(value, dict) and isinstance(value.get("$ref"), str):
        yield value["$ref"]
    inner = value.values() if isinstance(value, dict) else value
    for each in inner if isinstance(value, dict | list) else ():
        yield from _references(each)


_REFERRING = frozenset({"$ref", "$dynamicRef"})
_SPEAKING = (KEYWORDS.keys() | {"additionalItems", "$recursiveRef"}) - SILENT - ANNOTATIONS
"""Keywords that can make a schema narrower."""

_FLAT = _SPEAKING.difference(IN_OBJECT, IN_LIST, SINGLE, _REFERRING, {"dependencies"})
"""Those whose values hold no schemas."""


def _type_of(value: JSON) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return "integer" if is_whole else kind(value)


def _values(parts: _Parts, types: frozenset[str]) -> list[JSON] | None:
    """Return all values that there can be, or more; None if there may be any number of them."""
    values = next((each for each in map(values_of, parts) if each is not None), None)
    if values is None and types <= {"boolean", "null"}:
        values = [True, False, None]
    return None if values is None else [each for each in values if _type_of(each) in types]


def _needed(parts: _Parts) -> frozenset[str]:
    return frozenset(name for each in parts for name in each.get("required", ()))


def _applied(schema: JSON, key: str | int) -> list[JSON]:
    """Return the schemas of a member of that name, or of the item at that index."""
    return [reduce(operator.getitem, path, schema) for path in places_of(schema, key)]


_COUNTS = frozenset({"minLength", "minItems", "minProperties"})
_LIMITS = {
    "minimum": (1, False),
    "exclusiveMinimum": (1, True),
    "maximum": (-1, False),
    "exclusiveMaximum": (-1, True),
}
"""The bounds of numbers: by which sign the greater is the stricter, and whether it is excluded."""
_LOOSEST = (-math.inf, False)


def _strictness(keyword: str, value: float, *, is_whole: bool) -> tuple[float, bool]:
    """Return how strict a bound is, compared with others on the same side."""
    sign, is_exclusive = _LIMITS[keyword]
    if is_whole:  # more than 0 is at least 1
        return math.floor(sign * value) + 1 if is_exclusive else math.ceil(sign * value), False
    return sign * value, is_exclusive


def contrary_bound(schema: Mapping[str, JSON], keyword: str, value: JSON) -> str | None:
    """Return the keyword of a schema that no value satisfies together with a bound."""
    for lowers, uppers in _OPPOSITES:
        if keyword in lowers:
            return next((each for each in uppers if each in schema and schema[each] < value), None)
        if keyword in uppers:
            return next((each for each in lowers if each in schema and schema[each] > value), None)
    return None


_OPPOSITES = [((lower,), (upper,)) for lower, upper in BOUNDS if lower in _COUNTS] + [
    (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
]
"""Keywords that bound values from below, and those that bound the same from above."""


def _is_multiple(wide: float, narrow: float) -> bool:
    are_whole = isinstance(wide, int) and isinstance(narrow, int)
    return wide == narrow or (are_whole and wide % narrow == 0)


_GROUPS = (("contains", "minContains", "maxContains"), ("if", "then", "else"))
"""Keywords that say something only together."""

_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "multipleOf": _is_multiple,
    "uniqueItems": operator.ge,
    **dict.fromkeys(_COUNTS, operator.ge),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), operator.le),
}
"""How the value of a keyword compares with that of the wide side, if it follows from it."""

_CONCERNED = {
    **dict.fromkeys((*_LIMITS, "multipleOf"), _NUMBERS),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(
        (
            "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains",
            "minContains", "maxContains", "unevaluatedItems",
        ),
        frozenset({"array"}),
    ),
    **dict.fromkeys(
        (
            "properties", "patternProperties", "additionalProperties", "required", "propertyNames",
            "minProperties", "maxProperties", "dependentRequired", "dependentSchemas",
            "unevaluatedProperties",
        ),
        frozenset({"object"}),
    ),
}  # fmt: skip
"""The types of values of which a keyword says something; of all, if it is not here."""

_Compare: TypeAlias = Callable[[_Walk, str, _Parts, dict[str, JSON]], Iterable[Difference]]
_WALKS: dict[str, _Compare] = {
    "$ref": _Walk.reference,
    "allOf": _Walk.every,
    **dict.fromkeys(("anyOf", "oneOf"), _Walk.alternatives),
    "required": _Walk.required,
    "propertyNames": _Walk.names,
    **dict.fromkeys(("properties", "patternProperties", "additionalProperties"), _Walk.members),
    **dict.fromkeys(("items", "prefixItems"), _Walk.items),
}
