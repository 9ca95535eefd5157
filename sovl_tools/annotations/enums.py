"""Literals and Enums: one of a few values."""

from __future__ import annotations

import typing
from collections.abc import Iterable
from contextlib import suppress
from enum import Enum, Flag
from functools import partial
from types import NoneType
from typing import Any

from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    UnfitError,
)
from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import Problem
from sovl_tools.schema.messages import describe, shown

_TYPES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (NoneType, "null"),
)
_SCALARS = tuple(kind for kind, _ in _TYPES)
_FEW = 32


def _describe_literal(_: Builder, annotation: Any) -> Schema:
    """Return the schema of a ``Literal``, which may list members of an Enum."""
    return _choice(map(written, typing.get_args(annotation)), "the Literal")


def _describe_enum(_: Builder, kind: Any) -> Schema:
    """Return the schema of an Enum; that of a Flag takes sums of its members as well."""
    members = [*kind.__members__.values()]
    if issubclass(kind, Flag) and members:
        return _flag([member.value for member in members])
    return _choice(map(written, members), kind.__name__)


def _flag(values: Iterable[int]) -> Schema:
    """Return the schema of a Flag: a range, or the few sums of its members if they have gaps."""
    sums, most = {0}, 0
    for value in values:
        most |= value
        if len(sums) <= _FEW:
            sums |= {value | each for each in sums}
    has_gaps = len(sums) <= min(most, _FEW)
    limits: Schema = {"enum": sorted(sums)} if has_gaps else {"minimum": 0, "maximum": most}
    return {"type": "integer", **limits}


def written(value: Any) -> JSON:
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


def _convert_literal(_: Build, annotation: Any) -> Convert:
    values = typing.get_args(annotation)
    members = {value: value for value in values if isinstance(value, Enum)}
    return _chosen(values, members.__getitem__)


def _convert_enum(_: Build, annotation: Any) -> Convert:
    return _chosen(annotation.__members__.values(), annotation)


def _chosen(values: Iterable[Any], otherwise: Convert) -> Convert:
    choices = {(written(each), type(written(each)) is bool): each for each in values}
    if not choices:
        raise ValueError("there is nothing to choose from")
    texts = [text for text, _ in choices]

    def convert(value: Any) -> Any:
        try:
            return choices[value, type(value) is bool]
        except (KeyError, TypeError):
            pass
        with suppress(Exception):
            return otherwise(value)
        words = partial(describe, Problem("enum", (), value, texts))
        raise UnfitError([((), words)], (f"one of {', '.join(map(shown, texts[:20]))}",))

    return convert


LITERAL = Kind(_describe_literal, _convert_literal)
ENUM = Kind(_describe_enum, _convert_enum, is_shared=True)
