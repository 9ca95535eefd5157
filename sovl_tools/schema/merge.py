"""One schema that says what several say together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import BOUNDS

_GROUPS = (
    frozenset({"if", "then", "else"}),
    frozenset({"contains", "minContains", "maxContains"}),
    frozenset({"items", "prefixItems"}),
)
"""Keywords that depend on one another."""

_SEE_OTHERS = frozenset({"unevaluatedProperties", "unevaluatedItems", "$ref", "$dynamicRef"})


class _ConflictError(Exception):
    """Two schemas that can't be merged."""


def merged(schemas: Iterable[JSON]) -> dict[str, JSON] | None:
    """Return one schema that means the same as ``allOf`` of the schemas; None if there isn't one.

    References aren't followed: a schema with one can't be merged. The result is a new dictionary,
    which shares values with the schemas.
    """
    found: dict[str, JSON] = {}
    try:
        for schema in schemas:
            if schema is True:
                continue
            if not isinstance(schema, dict):
                return None
            found = _both(found, schema) if found and schema else {**found, **schema}
    except _ConflictError:
        return None
    return found


def _both(first: dict[str, JSON], second: dict[str, JSON]) -> dict[str, JSON]:
    # some keywords change their meaning next to those of the other schema
    if not (_SEE_OTHERS.isdisjoint(first) and _SEE_OTHERS.isdisjoint(second)):
        raise _ConflictError
    for group in _GROUPS:
        if group.isdisjoint(second):
            continue
        ours, others = group & first.keys(), group & second.keys()
        if ours and others and (ours | others != {"items"}):
            raise _ConflictError
    _check_closed(first, second)
    _check_closed(second, first)
    found = dict(first)
    for keyword, value in second.items():
        if keyword not in found:
            found[keyword] = value
        elif repr(found[keyword]) != repr(value):  # 1 and true are equal in Python
            if keyword not in _JOINED:
                raise _ConflictError
            found[keyword] = _JOINED[keyword](found[keyword], value)
    return found


def _check_closed(closed: dict[str, JSON], other: dict[str, JSON]) -> None:
    """Raise an error if the other schema allows properties that a closed one rejects."""
    if "additionalProperties" not in closed:
        return
    names = {*other.get("properties", ())} - {*closed.get("properties", ())}
    if names or "patternProperties" in other or "patternProperties" in closed:
        raise _ConflictError


def _types(first: JSON, second: JSON) -> JSON:
    ours, others = _listed(first), _listed(second)
    found = [each for each in ours if _covers(others, each)]
    found += [each for each in others if each not in found and _covers(ours, each)]
    if not found:
        raise _ConflictError
    return found[0] if len(found) == 1 else found


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else [value]


def _covers(types: Sequence[JSON], kind: JSON) -> bool:
    return kind in types or (kind == "integer" and "number" in types)


def _properties(first: dict[str, JSON], second: dict[str, JSON]) -> JSON:
    found = dict(first)
    for name, schema in second.items():
        found[name] = _whole(found[name], schema) if name in found else schema
    return found


def _whole(first: JSON, second: JSON) -> JSON:
    found = merged([first, second])
    if found is None:
        raise _ConflictError
    return found


def _common(first: list[JSON], second: list[JSON]) -> list[JSON]:
    allowed = {repr(each) for each in second}
    found = [each for each in first if repr(each) in allowed]
    if not found:
        raise _ConflictError
    return found


def _united(first: list[JSON], second: list[JSON]) -> list[JSON]:
    return [*first, *(each for each in second if each not in first)]


_JOINED: dict[str, Callable[[Any, Any], JSON]] = {
    "type": _types,
    "properties": _properties,
    "items": _whole,
    "required": _united,
    "enum": _common,
    "description": lambda first, second: f"{first}\n\n{second}",
    "title": lambda first, _: first,
    "examples": _united,
    **dict.fromkeys((lower for lower, _ in BOUNDS), max),
    **dict.fromkeys((upper for _, upper in BOUNDS), min),
    "uniqueItems": lambda first, second: first or second,
}
