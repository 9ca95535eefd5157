"""Does a schema admit all that another one does? The answer is yes only where that is certain.

``signature.agreement`` asks for the opposite of two schemas: where they surely contradict each
other. Here what can't be compared counts as narrower, so that nobody relies on a guess.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain, combinations
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.model.document import JSON, canonical, kind
from sovl_tools.schema import fit
from sovl_tools.schema.applicators import (
    alternatives_of,
    combinator_of,
    numeric,
    places_of,
    values_of,
)
from sovl_tools.schema.keywords import ANNOTATIONS, KEYWORDS, SILENT
from sovl_tools.schema.subschemas import lookup, nodes

_STEPS = 10
"""Comparisons for each subschema; only what combines and recurs without end needs as many."""

_NUMBERS = frozenset({"integer", "number"})
_ALL = _NUMBERS | {"null", "boolean", "string", "array", "object"}
"""Types of values; here ``number`` means those that are no integers."""

_ANYTHING: dict[str, JSON] = {}
"""The schema of what nothing is said of: always the same, because it is known by its identity."""


class Narrowing(NamedTuple):
    """Why a schema may refuse what another one admits.

    Attributes:
        name: what people call the place: ``places[].city``; empty for the whole.
        keyword: of the narrower schema; ``alternatives`` if it lacks one that the other has.
        wide: what the other one says there; None if it says nothing.
        narrow: what the narrower one says.
    """

    name: str
    keyword: str
    wide: JSON
    narrow: JSON


def narrowings(wide: JSON, narrow: JSON) -> list[Narrowing]:
    """Return why the second schema may refuse what the first one admits; nothing if it can't.

    Both are valid and stand for themselves: references lead to other parts of the same schema.
    """
    wide, narrow = without_annotations(wide), without_annotations(narrow)
    if canonical(wide) == canonical(narrow):
        return []
    try:
        found = _Comparison(wide, narrow).compare("", [wide], narrow)
    except (_TooFarError, RecursionError):
        found = [Narrowing("", "allOf", None, None)]
    unique = {canonical(each): each for each in found}.values()
    return sorted(unique, key=lambda each: each.name.count(".") + each.name.count("["))


def without_annotations(schema: JSON) -> JSON:
    """Return a copy that says what is admitted, and no more."""
    if not isinstance(schema, dict):
        return schema
    copied = copy.deepcopy(schema)
    for node in [*nodes(copied, ())]:
        for keyword in ANNOTATIONS & node.schema.keys():
            del node.schema[keyword]
    return copied


class _TooFarError(Exception):
    """The schemas combine too much to be compared."""


_Parts: TypeAlias = tuple[dict[str, JSON], ...]
"""Schemas all of which a value fits."""


_Key: TypeAlias = tuple[frozenset[int], int]
"""By identity, what is compared: all that a value fits, and the schema that it should fit."""


class _Comparison:
    """A walk through two schemas at once.

    What is known of a value is a list of schemas that it fits, all from the wide side; each keyword
    of the narrow side has to follow from them.
    """

    def __init__(self, wide: JSON, narrow: JSON) -> None:
        self._wide = wide
        self._narrow = narrow
        both = (each for each in (wide, narrow) if isinstance(each, dict))
        self._steps = _STEPS * (100 + sum(1 for each in both for _ in nodes(each, ())))
        self._open: dict[_Key, str] = {}
        self._known: dict[_Key, tuple[str, list[Narrowing]]] = {}
        self._held: list[_Key] = []
        # kept with what it was made of: it is known by its identity, and schemas may recur
        self._made: dict[tuple[Any, ...], dict[str, JSON]] = {}
        self._types_found: dict[tuple[int, bool], frozenset[str]] = {}

    def compare(self, name: str, wide: Sequence[JSON], narrow: JSON) -> list[Narrowing]:
        """Return why what fits all the wide schemas may be refused by the narrow one."""
        parts = self._parts(wide, self._wide)
        types = _ALL if parts is None else self._types(parts, self._wide)
        if parts is None or not types or narrow is True:
            return []
        if not isinstance(narrow, dict):
            return [Narrowing(name, "properties", None, narrow)]
        key = frozenset(map(id, parts)), id(narrow)
        if key in self._known:
            place, known = self._known[key]
            # one is enough of what is elsewhere already
            return [each._replace(name=_moved(each.name, place, name)) for each in known[:1]]
        if key in self._open:
            # what recurs in a member holds if it holds here; in the same place it says nothing
            is_inner = self._open[key] != name
            return [] if is_inner else [Narrowing(name, "$ref", None, narrow.get("$ref"))]
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
                    pending.append(lookup(root, schema["$ref"]).target)
                pending += schema.get("allOf", ())
        return tuple(found.values())

    def _alone(self, schema: dict[str, JSON], *without: str) -> dict[str, JSON]:
        """Return a schema without the keywords that say that others apply as well."""
        left_out = without or ("$ref", "allOf")
        if schema.keys().isdisjoint(left_out):
            return schema
        made = {key: each for key, each in schema.items() if key not in left_out}
        return self._made.setdefault((id(schema), *left_out), made)

    def _types(self, parts: _Parts, root: JSON) -> frozenset[str]:
        """Return the types that a value can have, or more."""
        types = _ALL
        for part in parts:
            if "type" in part:
                types &= numeric(part["type"])
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
        found: list[Narrowing],
    ) -> list[Narrowing]:
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
        if len(groups) == 1 or combinator_of(narrow) is None:
            return found
        each_type = [self._made.setdefault((each,), {"type": each}) for each in groups]
        return [n for each in each_type for n in self.compare(name, [*parts, each], narrow)]

    def _refused(
        self, name: str, parts: _Parts, types: frozenset[str], narrow: dict[str, JSON]
    ) -> Iterator[Narrowing]:
        values = _values(parts, types)
        if values is not None and all(
            fit.surely_fits(each, narrow, self._narrow) for each in values
        ):
            return
        walks = {}
        for keyword, value in narrow.items():
            if keyword not in _SPEAKING or types.isdisjoint(_CONCERNED.get(keyword, _ALL)):
                continue
            if keyword in _WALKS:
                walks[_WALKS[keyword]] = True
            elif keyword == "allOf":
                for each in value:
                    yield from self.compare(name, parts, each)
            elif keyword in {"anyOf", "oneOf"}:
                yield from self._alternatives(name, parts, keyword, value)
            elif not self._follows(parts, types, narrow, keyword):
                said = values if keyword in {"enum", "const"} else _said(parts, keyword)
                yield Narrowing(name, keyword, said, value)
        for walk in walks:
            yield from walk(self, name, parts, narrow)

    def reference(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> list[Narrowing]:
        target = lookup(self._narrow, narrow["$ref"]).target
        if target is None:  # only an engine could follow it
            return [Narrowing(name, "$ref", None, narrow["$ref"])]
        return self.compare(name, parts, target)

    def _alternatives(
        self, name: str, parts: _Parts, keyword: str, branches: list[JSON]
    ) -> list[Narrowing]:
        if any(self._is_same(each[keyword], branches) for each in parts if keyword in each):
            return []
        # one alone fits only where no value can fit two
        if keyword == "oneOf" and not self._exclude_each_other(branches):
            return [Narrowing(name, keyword, _said(parts, keyword), branches)]
        tries = []
        for each in branches:
            tries.append(self.compare(name, parts, each))
            if not tries[-1]:
                return []
        # those that are for values of other kinds say nothing of why this one is not taken
        alike = [
            each
            for each in tries
            if not any(n.keyword == "const" or n[:2] == (name, "type") for n in each)
        ]
        if alike:
            return min(alike, key=len)
        return [Narrowing(name, "alternatives", None, None)]

    def _exclude_each_other(self, branches: list[JSON]) -> bool:
        """Tell whether no value fits two, by their types or by a member that tells them apart."""
        cases = [self._parts([each], self._narrow) for each in branches]
        known = [(self._types(each, self._narrow), each) for each in cases if each is not None]
        return all(
            one.isdisjoint(other) or (one == other == {"object"} and _are_told_apart(this, that))
            for (one, this), (other, that) in combinations(known, 2)
        )

    def members(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Narrowing]:
        known = dict.fromkeys(k for each in (*parts, narrow) for k in each.get("properties", ()))
        for member in known:
            wide = [schema for each in parts for schema in _applied(each, member)]
            whole = f"{name}.{member}" if name else member
            for schema in _applied(narrow, member):
                yield from self.compare(whole, wide, schema)
        others = [self._others(each) for each in parts]
        additional = narrow.get("additionalProperties", _ANYTHING)
        found = self.compare(f"{name}[]", others, additional)
        if found and additional is False:
            said = _said(parts, "additionalProperties")
            found = [Narrowing(name, "additionalProperties", said, additional)]
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

    def items(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Narrowing]:
        listed = max(len(each.get("prefixItems", ())) for each in (*parts, narrow))
        for index in range(listed):
            wide = [schema for each in parts for schema in _applied(each, index)]
            for schema in _applied(narrow, index):
                yield from self.compare(f"{name}[{index}]", wide, schema)
        rest = [each.get("items", _ANYTHING) for each in parts]
        yield from self.compare(f"{name}[]", rest, narrow.get("items", _ANYTHING))

    def names(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> list[Narrowing]:
        wide = [each["propertyNames"] for each in parts if "propertyNames" in each]
        text = self._made.setdefault(("string",), {"type": "string"})
        return self.compare(f"names of {name}", [*wide, text], narrow["propertyNames"])

    def required(self, name: str, parts: _Parts, narrow: dict[str, JSON]) -> Iterator[Narrowing]:
        for member in sorted({*narrow["required"]} - _needed(parts)):
            whole = f"{name}.{member}" if name else member
            yield Narrowing(whole, "required", None, member)

    def _follows(
        self, parts: _Parts, types: frozenset[str], narrow: dict[str, JSON], keyword: str
    ) -> bool:
        """Tell whether a keyword follows from what is known of a value."""
        value, needed = narrow[keyword], _needed(parts)
        if keyword == "type":
            return types <= numeric(value)
        if keyword.startswith("unevaluated") or keyword.endswith("Ref"):
            return False  # they depend on what is evaluated beside and around them
        bounds = _BOUNDS.get(keyword, ())
        if any(holds(each[k], value) for each in parts for k, holds in bounds if k in each):
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
            if canonical(one) != canonical(other) or 'Ref": ' in canonical(one):
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


def _moved(name: str, place: str, other: str) -> str:
    """Return the name that something at a place has at another one."""
    return f"{other}{name.removeprefix(place)}".lstrip(".") if name.startswith(place) else name


def _are_told_apart(one: _Parts, other: _Parts) -> bool:
    """Tell whether two objects need the same member with different texts."""
    members = _needed(one) & _needed(other)
    texts = ([_texts_of_member(parts, each) for parts in (one, other)] for each in members)
    return any(ours and theirs and ours.isdisjoint(theirs) for ours, theirs in texts)


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


_SPEAKING = (KEYWORDS.keys() | {"additionalItems", "$recursiveRef"}) - SILENT
"""Keywords that can make a schema narrower."""


def _type_of(value: JSON) -> str:
    return "integer" if fit.has_type(value, ("integer",)) else kind(value)


def _values(parts: _Parts, types: frozenset[str]) -> list[JSON] | None:
    """Return all values that there can be, or more; None if there may be any number of them."""
    values = next((each for each in map(values_of, parts) if each is not None), None)
    if values is None and types <= {"boolean", "null"}:
        values = [True, False, None]
    return None if values is None else [each for each in values if _type_of(each) in types]


def _said(parts: _Parts, keyword: str) -> JSON:
    return next((each[keyword] for each in parts if keyword in each), None)


def _needed(parts: _Parts) -> frozenset[str]:
    return frozenset(name for each in parts for name in each.get("required", ()))


def _applied(schema: JSON, key: str | int) -> list[JSON]:
    """Return the schemas of a member of that name, or of the item at that index."""
    return [reduce(operator.getitem, path, schema) for path in places_of(schema, key)]


_GROUPS = (("contains", "minContains", "maxContains"), ("if", "then", "else"))
"""Keywords that say something only together."""

_COUNTS = frozenset({"minLength", "minItems", "minProperties"})
_Holds: TypeAlias = Callable[[Any, Any], bool]


def _is_multiple(wide: float, narrow: float) -> bool:
    are_whole = isinstance(wide, int) and isinstance(narrow, int)
    return wide == narrow or (are_whole and wide % narrow == 0)


_BOUNDS: dict[str, tuple[tuple[str, _Holds], ...]] = {
    "minimum": (("minimum", operator.ge), ("exclusiveMinimum", operator.ge)),
    "exclusiveMinimum": (("exclusiveMinimum", operator.ge), ("minimum", operator.gt)),
    "maximum": (("maximum", operator.le), ("exclusiveMaximum", operator.le)),
    "exclusiveMaximum": (("exclusiveMaximum", operator.le), ("maximum", operator.lt)),
    "multipleOf": (("multipleOf", _is_multiple),),
    "uniqueItems": (("uniqueItems", operator.ge),),
    **{key: ((key, operator.ge),) for key in _COUNTS},
    **{key: ((key, operator.le),) for key in ("maxLength", "maxItems", "maxProperties")},
}
"""What a keyword follows from: a keyword of the wide side, and how its value compares."""

_CONCERNED = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBERS),
    "multipleOf": _NUMBERS,
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

_Walk: TypeAlias = Callable[[_Comparison, str, _Parts, dict[str, JSON]], Iterable[Narrowing]]
_WALKS: dict[str, _Walk] = {
    "$ref": _Comparison.reference,
    "required": _Comparison.required,
    "propertyNames": _Comparison.names,
    **dict.fromkeys(
        ("properties", "patternProperties", "additionalProperties"), _Comparison.members
    ),
    **dict.fromkeys(("items", "prefixItems"), _Comparison.items),
}
