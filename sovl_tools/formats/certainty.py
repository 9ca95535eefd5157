"""Values that certainly fit a schema, told without any schema engine."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.schema.references import lookup


def certainly_fits(value: JSON, schema: JSON, root: dict[str, JSON]) -> bool:
    """Return whether a value certainly fits; False says only that it takes more than a glance.

    References are looked up in ``root``.
    """
    return _Fitting(root).fits(value, schema)


class _Fitting(NamedTuple):
    """Tells that a value certainly fits a schema.

    Attributes:
        root: the schema in which references are looked up.
        followed: the schemas that references have led to on the way.
    """

    root: dict[str, JSON]
    followed: tuple[int, ...] = ()

    def fits(self, value: JSON, schema: JSON) -> bool:
        """Return False if the value does not fit, and also if that takes more than a glance."""
        if not isinstance(schema, dict):
            return schema is True
        if not all(k in _SEEN or _CHECKS.get(k, _never)(value, each) for k, each in schema.items()):
            return False
        choices = schema.get("anyOf", (True,))
        return (
            any(self.fits(value, each) for each in choices)
            and all(self.fits(part, each) for part, each in _parts(value, schema))
            and ("$ref" not in schema or self._fits_there(value, schema["$ref"]))
        )

    def _fits_there(self, value: JSON, reference: str) -> bool:
        target = lookup(self.root, reference).target
        if target is None or id(target) in self.followed:
            return False
        return self._replace(followed=(*self.followed, id(target))).fits(value, target)


def _parts(value: JSON, schema: dict[str, JSON]) -> Iterator[tuple[JSON, JSON]]:
    """Yield values, each with a schema that it has to fit."""
    yield from ((value, each) for each in schema.get("allOf", ()))
    if isinstance(value, dict):
        named, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        yield from ((each, named.get(name, others)) for name, each in value.items())
    elif isinstance(value, list):
        yield from ((each, schema.get("items", True)) for each in value)


_SEEN = frozenset(
    {
        "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
        "$comment", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions", "properties",
        "additionalProperties", "items", "allOf", "anyOf", "$ref",
    }
)  # fmt: skip
_TYPES: dict[type, set[str]] = {
    str: {"string"},
    bool: {"boolean"},
    int: {"integer", "number"},
    float: {"number"},
    list: {"array"},
    dict: {"object"},
    type(None): {"null"},
}
_FORMATS = {
    "date": r"[1-9]\d{3}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])",
    "email": r"[a-z0-9_]+(\.[a-z0-9_]+)*@[a-z0-9]+(\.[a-z0-9]+)+",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
}
"""What matches only texts that are in a format."""


def _never(_: JSON, __: JSON) -> bool:
    return False


def _is_one_of(value: JSON, values: Sequence[JSON]) -> bool:
    return repr(value) in map(repr, values)


def _is_of_type(value: JSON, types: JSON) -> bool:
    return not _TYPES[type(value)].isdisjoint([types] if isinstance(types, str) else types)


def _matches(value: JSON, pattern: str) -> bool:
    try:
        return not isinstance(value, str) or re.search(pattern, value) is not None
    except re.error:
        return False


def _is_in_format(value: JSON, name: str) -> bool:
    return name in _FORMATS and isinstance(value, str) and bool(re.fullmatch(_FORMATS[name], value))


def _is_multiple(value: JSON, divisor: float) -> bool:
    """Tell of whole numbers alone; for others it depends on how somebody calculates."""
    if type(value) not in (int, float):
        return True
    return type(value) is int and type(divisor) is int and value % divisor == 0


def _are_unlike(value: JSON, wanted: JSON) -> bool:
    """Tell whether no two items could be taken for one; 1, 1.0 and true may be."""
    if not wanted or not isinstance(value, list) or len(value) < _SEVERAL:
        return True
    return all(map(_is_exact, value)) and len({*value}) == len(value)


def _is_exact(value: JSON) -> bool:
    """Tell whether a value is the same for whoever keeps numbers as floats of 64 bits."""
    return type(value) in _SCALARS and (type(value) is not int or abs(value) < _INEXACT)


_SEVERAL = 2
_SCALARS = frozenset({str, int, float, bool, type(None)})
_INEXACT = 2**53


def _bounded(
    measure: Callable[[Any], Any], keeps: Callable[[Any, Any], bool], *types: type
) -> Callable[[JSON, JSON], bool]:
    return lambda value, bound: type(value) not in types or keeps(measure(value), bound)


_CHECKS: dict[str, Callable[[JSON, Any], bool]] = {
    "type": _is_of_type,
    "enum": _is_one_of,
    "const": lambda value, other: _is_one_of(value, [other]),
    "format": _is_in_format,
    "pattern": _matches,
    "required": lambda value, names: not isinstance(value, dict) or value.keys() >= {*names},
    "minimum": _bounded(operator.pos, operator.ge, int, float),
    "maximum": _bounded(operator.pos, operator.le, int, float),
    "exclusiveMinimum": _bounded(operator.pos, operator.gt, int, float),
    "exclusiveMaximum": _bounded(operator.pos, operator.lt, int, float),
    "minLength": _bounded(len, operator.ge, str),
    "maxLength": _bounded(len, operator.le, str),
    "minItems": _bounded(len, operator.ge, list),
    "maxItems": _bounded(len, operator.le, list),
    "minProperties": _bounded(len, operator.ge, dict),
    "maxProperties": _bounded(len, operator.le, dict),
    "uniqueItems": _are_unlike,
    "multipleOf": _is_multiple,
}
"""What tells that a value keeps to a keyword; one with other keywords is never certain."""
