"""Arguments that a provider can enforce as they are, narrowed in a few microseconds.

Most tools take a few scalars, choices and lists of them. Nothing of that is lost or exceeds a
limit, so that nobody need look for what is.
"""

from __future__ import annotations

from sovl_tools.formats.dialect import Dialect
from sovl_tools.formats.plainness import WORDS, is_usual
from sovl_tools.model.document import JSON, copied

_ROOT = frozenset(
    {"type", "title", "description", "properties", "required", "additionalProperties"}
)
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_SAID = {
    "string": WORDS | {"pattern", "format", "enum"},
    "integer": WORDS | _NUMERIC,
    "number": WORDS | _NUMERIC,
    "boolean": WORDS,
}
"""What may be said of a scalar, if a dialect keeps it."""

_SCALARS = tuple(_SAID)

_MOST_PROPERTIES, _MOST_VALUES, _MOST_CHARACTERS = 64, 15, 64
"""So small that no sum of them is too large for a provider: 960 values in 61,440 characters."""


def flat(parameters: dict[str, JSON], dialect: Dialect) -> dict[str, JSON] | None:
    """Return what ``narrowed`` makes of flat arguments, without losses; None if they are not.

    Optional properties stay optional; ``required`` is in the order of the properties.
    """
    properties = parameters.get("properties")
    if properties is None or not _ROOT.issuperset(parameters):
        return None
    if parameters.get("additionalProperties", False) is not False:
        return None
    if len(properties) > _MOST_PROPERTIES:
        return None
    made = {}
    for name, each in properties.items():
        found = _value(each, dialect)
        if found is None or not is_usual(name):
            return None
        made[name] = found
    required = parameters.get("required", ())
    named = [name for name in made if name in required]
    if len(named) < len(required):
        return None
    return {**parameters, "properties": made, "required": named, "additionalProperties": False}


def _value(schema: JSON, dialect: Dialect) -> dict[str, JSON] | None:
    """Return the copy of a scalar or of a list of scalars, None for anything else."""
    if type(schema) is not dict:
        return None
    kind = schema.get("type")
    if kind in _SCALARS:
        return schema.copy() if WORDS.issuperset(schema) else _constrained(schema, dialect)
    if kind != "array" or schema.keys() - WORDS != {"items"}:
        return None
    items = _value(schema["items"], dialect)
    return None if items is None or "items" in items else {**schema, "items": items}


def _constrained(schema: dict[str, JSON], dialect: Dialect) -> dict[str, JSON] | None:
    may_stay = _SAID[schema["type"]].issuperset(schema) and all(
        _may_stay(keyword, value, dialect) for keyword, value in schema.items()
    )
    return copied(schema) if may_stay else None


def _may_stay(keyword: str, value: JSON, dialect: Dialect) -> bool:
    if keyword != "enum":
        return keyword == "type" or (keyword in dialect.keeps and dialect.admits(keyword, value))
    if not 0 < len(value) <= _MOST_VALUES:
        return False
    if any(type(each) is not str or len(each) > _MOST_CHARACTERS for each in value):
        return False
    return dialect.minds_case or len({*map(str.lower, value)}) == len(value)
