"""Keywords of JSON Schema that bound a value: which types have them, and which is stricter."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.schema.keywords import BOUNDS

NUMBERS = frozenset({"integer", "number"})

COUNTS = frozenset({"minLength", "minItems", "minProperties"})
LIMITS = {
    "minimum": (1, False),
    "exclusiveMinimum": (1, True),
    "maximum": (-1, False),
    "exclusiveMaximum": (-1, True),
}
"""The bounds of numbers: the sign that makes the stricter one greater; whether exclusive."""
LOOSEST = (-math.inf, False)


def strictness(keyword: str, value: float, *, is_whole: bool) -> tuple[float, bool]:
    """Return a bound's strictness, to compare it with others on the same side."""
    sign, is_exclusive = LIMITS[keyword]
    if is_whole:  # more than 0 is at least 1
        return math.floor(sign * value) + 1 if is_exclusive else math.ceil(sign * value), False
    return sign * value, is_exclusive


def contrary_bound(schema: Mapping[str, JSON], keyword: str, value: JSON) -> str | None:
    """Return the keyword of a schema that contradicts a bound."""
    for lowers, uppers in _OPPOSITES:
        if keyword in lowers:
            return next((each for each in uppers if each in schema and schema[each] < value), None)
        if keyword in uppers:
            return next((each for each in lowers if each in schema and schema[each] > value), None)
    return None


_OPPOSITES = [((lower,), (upper,)) for lower, upper in BOUNDS if lower in COUNTS] + [
    (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))
]
"""Lower bounds, each with the upper bounds of the same thing."""


def _is_multiple(wide: float, narrow: float) -> bool:
    are_whole = isinstance(wide, int) and isinstance(narrow, int)
    return wide == narrow or (are_whole and wide % narrow == 0)


HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "multipleOf": _is_multiple,
    "uniqueItems": operator.ge,
    **dict.fromkeys(COUNTS, operator.ge),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), operator.le),
}
"""How the wide side's value of a keyword compares if the narrow side's follows from it."""

CONCERNED = {
    **dict.fromkeys((*LIMITS, "multipleOf"), NUMBERS),
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
"""The types that a keyword applies to; a keyword that isn't listed applies to all."""
