"""Literals and Enums: one of a few values."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from enum import Enum, Flag
from types import NoneType
from typing import Any

from sovl_tools.authoring.form import Builder, Form, InexpressibleError, UnwritableError
from sovl_tools.model.document import JSON

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (NoneType, "null"),
)
_SCALARS = tuple(kind for kind, _ in _TYPES)


def literal(_: Builder, annotation: Any) -> Form:
    """Return the form of a ``Literal``, which may list members of an Enum."""
    values = typing.get_args(annotation)
    known = {(type(value), value) for value in values}

    def write(value: Any) -> JSON:
        if (type(value), value) not in known:
            raise UnwritableError
        return _written(value)

    return Form(_choice(map(_written, values), "the Literal"), write)


def enumeration(_: Builder, kind: Any) -> Form:
    """Return the form of an Enum; that of a Flag takes sums of its members as well."""

    def write(value: Any) -> JSON:
        if type(value) is not kind:
            raise UnwritableError
        return _written(value)

    members = [*kind.__members__.values()]
    if issubclass(kind, Flag) and members:
        bits = 0
        for member in members:
            bits |= member.value
        return Form({"type": "integer", "minimum": 0, "maximum": bits}, write)
    return Form(_choice(map(_written, members), kind.__name__), write)


def _written(value: Any) -> JSON:
    """Return the JSON value that stands for a member of an Enum, or of a Literal."""
    if not isinstance(value, Enum):
        return value
    return value.value if isinstance(value.value, _SCALARS) else value.name


def _choice(values: Iterable[JSON], name: str) -> dict[str, JSON]:
    """Return the schema of one of the values; its type is theirs, or a list of several."""
    choices = [*{(_type(value, name), value): value for value in values}.values()]
    if not choices:
        raise InexpressibleError(f"{name} has no members", "give it some")
    types = [*dict.fromkeys(_type(value, name) for value in choices)]
    return {"type": types[0] if len(types) == 1 else types, "enum": choices}


def _type(value: JSON, name: str) -> str:
    is_finite = not isinstance(value, float) or value - value == 0
    found = next((text for kind, text in _TYPES if isinstance(value, kind)), None)
    if found is None or not is_finite:
        raise InexpressibleError(f"the value {value!r:.60} of {name} is no JSON")
    return found
