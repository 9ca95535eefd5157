"""Keywords written as other ones, for a provider that doesn't support them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from sovl_tools.formats.base import Kind
from sovl_tools.formats.meaning import note
from sovl_tools.model.document import JSON, JSON_KINDS, kind


class Said(NamedTuple):
    """A schema that says a keyword in others.

    Attributes:
        schema: the schema.
        note: the part it can't express; None for no such part.
        kind: how that gets lost.
        message: the loss.
    """

    schema: dict[str, JSON]
    note: str | None = None
    kind: Kind = "rewritten"
    message: str = ""


Say: TypeAlias = Callable[[dict[str, JSON], str], Said]
"""Takes a schema and one of its keywords."""

_BOUNDS: dict[str, tuple[str, Callable[[float], int], Callable[..., float]]] = {
    "exclusiveMinimum": ("minimum", lambda bound: math.floor(bound) + 1, max),
    "exclusiveMaximum": ("maximum", lambda bound: math.ceil(bound) - 1, min),
}
_LISTED = frozenset({"string", "integer", "number"})


def as_inclusive(schema: dict[str, JSON], keyword: str) -> Said:
    """Write an exclusive bound as an inclusive one, which is the same only for integers."""
    rest = {key: each for key, each in schema.items() if key != keyword}
    inclusive, nearest, tighter = _BOUNDS[keyword]
    bound, types = schema[keyword], schema.get("type", ())
    is_exact = "integer" in types and "number" not in types and math.isfinite(bound)
    limit = nearest(bound) if is_exact else bound
    rest[inclusive] = tighter(limit, rest.get(inclusive, limit))
    if is_exact:
        return Said(rest)
    message = f"{keyword} is said as {inclusive}"
    return Said(rest, note(keyword, bound), "rewritten", message)


def as_choice(schema: dict[str, JSON], keyword: str) -> Said:
    """Say values as strings and numbers to choose from, and as types."""
    given, types = schema[keyword], schema.get("type", [*JSON_KINDS])
    values = given if keyword == "enum" else [given]
    allowed = [types] if isinstance(types, str) else types
    if keyword == "enum" and {*map(kind, values)} == {*allowed} <= _LISTED:
        return Said(schema)
    rest = {key: each for key, each in schema.items() if key != keyword}
    fitting = [each for each in values if _is_of(allowed, each)]
    found = _alternatives(fitting)
    if len(found) == 1:
        return Said({**rest, **found[0]})
    if found and schema.keys().isdisjoint(("anyOf", "$ref")):
        return Said({**rest, "anyOf": found})
    if values and "type" not in schema:
        rest |= _types_of(values)
    message = f"{keyword} is in the description only"
    return Said(rest, note(keyword, given), "moved", message)


def _is_of(types: list[str], value: JSON) -> bool:
    found = kind(value)
    return found in types or (found == "integer" and "number" in types)


def _alternatives(values: list[JSON]) -> list[dict[str, JSON]]:
    """Return schemas that together admit only the given values; none where that fails."""
    kinds = {kind(value) for value in values}
    switches = {value for value in values if isinstance(value, bool)}
    # a lone true has no other form: no enum takes it, and the type boolean admits false, too
    if len(switches) == 1 or not kinds.isdisjoint({"array", "object"}):
        return []
    plain = [value for value in values if type(value) in (str, int, float)]
    found: list[dict[str, JSON]] = [{**_types_of(plain), "enum": plain}] if plain else []
    if switches:
        found.append({"type": "boolean"})
    if "null" in kinds:
        found.append({"type": "null"})
    return found


def _types_of(values: list[JSON]) -> dict[str, JSON]:
    types = list(dict.fromkeys(map(kind, values)))
    return {"type": types[0] if len(types) == 1 else types}
