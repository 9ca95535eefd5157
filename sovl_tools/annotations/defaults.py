"""Defaults in JSON, where that would become them again."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections import deque
from collections.abc import Callable, Iterator
from enum import Enum, Flag
from functools import partial, reduce
from operator import or_
from types import NoneType
from typing import Any

from sovl_tools.annotations import enums
from sovl_tools.annotations.kind import Convert, Schema
from sovl_tools.annotations.pydantic_models import dumped, is_model
from sovl_tools.annotations.scalars import text_of
from sovl_tools.model.document import JSON


def written(value: Any, convert: Convert, schema: Schema) -> JSON:
    """Return the JSON that a converter makes a value of again; None if there is none.

    Exact numbers are written as text, unless the schema has but numbers.
    """
    try:
        form = _form(value, schema)
        return form if _is_same(convert(form), value) else None
    except Exception:  # noqa: BLE001 - it has no JSON, or the code of its class is not up to it
        return None


def native(value: Any) -> JSON:
    """Return a copy of a value that is JSON by itself.

    Raises:
        ValueError: it is not.
    """
    kind = type(value)
    if kind is list:
        return [native(item) for item in value]
    if kind is dict and all(type(key) is str for key in value):
        return {key: native(item) for key, item in value.items()}
    if kind in _NATIVE or (kind is float and value - value == 0):
        return value
    raise ValueError


def _types(schema: Schema) -> Iterator[JSON]:
    """Yield what the schema says of types, and what those of its parts say."""
    yield schema.get("type")
    several = (*schema.get("anyOf", ()), *schema.get("prefixItems", ()))
    for each in (*several, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(each, dict):
            yield from _types(each)


def _form(value: Any, schema: Schema) -> JSON:
    """Return a value as JSON; raises a TypeError or a ValueError if it has none."""
    kind = type(value)
    if kind in _NATIVE or (kind is float and value - value == 0):
        return value
    if isinstance(value, Enum):
        return _member(value)
    if isinstance(value, dict | list | tuple | deque | set | frozenset):
        return _container(value, partial(_form, schema=schema))
    if is_model(kind):
        return dumped(value)
    if dataclasses.is_dataclass(kind):
        return _fields(value, partial(_form, schema=schema))
    return _text_or_number(value, schema)


def _container(value: Any, form: Callable[[Any], JSON]) -> JSON:
    if isinstance(value, dict):
        names = [each if isinstance(each, str) else json.dumps(each) for each in map(form, value)]
        return dict(zip(names, map(form, value.values()), strict=True))
    if isinstance(value, set | frozenset):
        return sorted(map(form, value), key=json.dumps)
    return _fields(value, form) if hasattr(value, "_fields") else [*map(form, value)]


def _fields(value: Any, form: Callable[[Any], JSON]) -> JSON:
    """Return an instance as an object of what its class takes."""
    return {name: form(getattr(value, name)) for name in inspect.signature(type(value)).parameters}


_NATIVE = frozenset({str, int, bool, NoneType})


def _text_or_number(value: Any, schema: Schema) -> JSON:
    number = _NUMBERS.get(type(value).__name__)
    if number is not None:
        types = [*_types(schema)]
        if "number" in types and ["number", "string"] not in types:
            return number(value)
    return text_of(value)


_NUMBERS: dict[str, Callable[[Any], float]] = {
    "Decimal": float,
    "Fraction": float,
    "timedelta": lambda value: value.total_seconds(),
}


def _member(value: Enum) -> JSON:
    """Return a member of an Enum, or a sum of those of a Flag; others it may keep as well."""
    if isinstance(value, Flag):
        members = [each.value for each in type(value).__members__.values()]
        if reduce(or_, (each for each in members if each & value.value == each), 0) != value.value:
            raise ValueError
    return enums.written(value)


def _is_same(made: Any, value: Any) -> bool:
    """Tell whether two values are equal and of the same types, all that they hold included."""
    if type(value) in _NATIVE:
        return type(made) is type(value) and bool(made == value)
    if type(made) is not type(value) or (hasattr(value, "tzinfo") and repr(made) != repr(value)):
        return False  # equal times may be of different zones
    if isinstance(value, set | frozenset):
        return {(type(each), each) for each in made} == {(type(each), each) for each in value}
    parts = [_parts(made), _parts(value)]
    is_equal = isinstance(value, dict | list | tuple | deque) or made == value
    return bool(is_equal) and len(parts[0]) == len(parts[1]) and all(map(_is_same, *parts))


def _parts(value: Any) -> list[Any]:
    """Return what a value holds, also what its class does not look at to compare it."""
    if isinstance(value, dict):
        return [getattr(value, "default_factory", None), *value.keys(), *value.values()]
    if isinstance(value, list | tuple | deque):
        return [getattr(value, "maxlen", None), *value]
    if not dataclasses.is_dataclass(value):
        return []
    names = dict.fromkeys(each.name for each in dataclasses.fields(value))
    return [getattr(value, name) for name in {**names, **getattr(value, "__dict__", {})}]
