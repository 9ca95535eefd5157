"""Why no value satisfies a schema, where that is certain."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from sovl_tools.model.document import Path, kind
from sovl_tools.schema.applicators import numeric, values_of
from sovl_tools.schema.bounds import LIMITS, NUMBERS, strictness
from sovl_tools.schema.keywords import BOUNDS
from sovl_tools.schema.parts import Part, Parts, applying, is_valid
from sovl_tools.schema.problem import shown
from sovl_tools.schema.subschemas import SchemaNode

_OF_SIZE = {"minLength": "string", "minItems": "array", "minProperties": "object"}
_LIMITING = frozenset({"enum", "const", *LIMITS, *chain.from_iterable(BOUNDS)})
_NARROWING = _LIMITING | {"type", "pattern"}
_COMBINING = frozenset({"allOf", "$ref"})
_NEGATED = frozenset({"not", "if", "then", "else", "dependentSchemas", "contains"})


class Contradiction(NamedTuple):
    """Why no value satisfies a schema.

    Attributes:
        path: from the root of the schema to a keyword that contradicts another.
        reason: a clause, such as ``minimum 5 is above maximum 1``.
    """

    path: Path
    reason: str


def contradiction(node: SchemaNode) -> Contradiction | None:
    """Return why no value satisfies a schema; None if one might, or if that is intended.

    Below ``not``, ``if`` and the like a schema without values has a meaning.
    """
    speaks = node.schema.keys() & (_LIMITING | _COMBINING)
    has_forbidden = False in node.schema.get("properties", {}).values()
    is_reference = speaks == {"$ref"} and node.schema.keys() <= {"$ref", "description", "default"}
    if is_reference or not (speaks or has_forbidden) or node.is_below(_NEGATED):
        return None
    own = node.path[len(node.base) :]
    parts = applying([Part(node.schema, own, node.root)])
    if parts is None:
        return Contradiction((*own, "allOf"), "a schema of 'allOf' admits no value")
    found = next(chain(_types(parts), _values(parts), _bounds(parts), _required(parts)), None)
    if found is None:
        return None
    part, keyword, reason = found
    is_here = part.path is not None and part.path[: len(own)] == own
    path = (*part.path, keyword) if part.path is not None and is_here else (*own, "$ref")
    return Contradiction(path, reason)


_Found = tuple[Part, str, str]
"""The part and the keyword that contradict another, and how."""


def _admitted(parts: Parts) -> frozenset[str] | None:
    """Return the types that all parts admit; None if none of them names any."""
    known = [numeric(each.schema["type"]) for each in parts if "type" in each.schema]
    return reduce(frozenset.intersection, known) if known else None


def _types(parts: Parts) -> Iterator[_Found]:
    if _admitted(parts) == frozenset():
        named = [each for each in parts if "type" in each.schema]
        said = " and ".join(dict.fromkeys(shown(each.schema["type"]) for each in named))
        yield named[-1], "type", f"no value has both the type {said}"


def _values(parts: Parts) -> Iterator[_Found]:
    for each in parts:
        if each.schema.get("enum") == []:
            yield each, "enum", "'enum' lists no value"
            return
    listing = next((each for each in parts if values_of(each.schema)), None)
    values = values_of(listing.schema) if listing is not None else None
    if listing is None or not values:
        return
    others = {key for part in parts for key in part.schema} & _NARROWING
    types = _admitted(parts) if others <= {"type", "enum"} and len(parts) == 1 else None
    if types is not None and kind(values[0]) in types:  # as nearly always
        return
    for value in values:
        if all(is_valid(value, each) is not False for each in parts):
            return
    keyword = "const" if "const" in listing.schema else "enum"
    others = {"enum"} if len(parts) > 1 and others == {keyword} else others - {keyword}
    others_said = " and ".join(map(repr, sorted(others))) or "the rest of the schema"
    subject = shown(values[0]) if len(values) == 1 else f"no value of {keyword!r}"
    verb = "contradicts" if len(values) == 1 else "satisfies"
    yield listing, keyword, f"{subject} {verb} {others_said}"


def _bounds(parts: Parts) -> Iterator[_Found]:
    types = _admitted(parts)
    if types is None or types <= NUMBERS:
        yield from _numbers(parts, is_whole=types is not None and "number" not in types)
    for lower, concerned in _OF_SIZE.items():
        upper = lower.replace("min", "max")
        least = max(((each.schema.get(lower, 0), each) for each in parts), key=itemgetter(0))
        most = [each.schema[upper] for each in parts if upper in each.schema]
        if most and least[0] > min(most) and types in (None, {concerned}):
            yield least[1], lower, f"{lower} {least[0]} is above {upper} {min(most)}"


def _numbers(parts: Parts, *, is_whole: bool) -> Iterator[_Found]:
    limits: dict[int, tuple[tuple[float, bool], float, str, Part]] = {}
    for part in parts:
        for keyword in LIMITS.keys() & part.schema.keys():
            value, sign = part.schema[keyword], LIMITS[keyword][0]
            strict = strictness(keyword, value, is_whole=is_whole)
            if sign not in limits or limits[sign][0] < strict:
                limits[sign] = strict, value, keyword, part
    if len(limits) > 1:
        (low, is_above), least, lower, part = limits[1]
        (high, is_below), most, upper, _ = limits[-1]
        room = -high - low  # the sign of an upper bound is turned
        if room < 0 or (room == 0 and (is_above or is_below)):
            word = "is above" if least > most else "leaves no value below"
            yield part, lower, f"{lower} {least} {word} {upper} {most}"


def _required(parts: Parts) -> Iterator[_Found]:
    types = _admitted(parts)
    if types not in (None, {"object"}):
        return
    for part in parts:
        for name in part.schema.get("required", ()):
            if any(each.schema is False for other in parts for each in other.applied(name)):
                reason = f"{name!r} is required, but its schema is false, which admits no value"
                yield part, "required", reason
