"""Whole floats become ints where the schema of a parameter, item or field says integer.

JSON has only one kind of number, so ``5.0`` is a valid integer. Python code that counts or indexes
needs an ``int``. Where the schema says number, the float is unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.schema.applicators import kinds
from sovl_tools.schema.subschemas import follow

Convert: TypeAlias = Callable[[JSON], JSON]
"""Returns a valid value with ints in it; changes containers in place."""

_CHANGING = frozenset({float, list, dict})
_COMBINING = ("allOf", "anyOf", "oneOf")
_MOST_STEPS = 20


def integer_converter(schema: dict[str, JSON]) -> Convert | None:
    """Return a function that makes whole floats ints; None if the schema never says integer."""
    return _Converters(schema).of(schema)


class _Converters:
    """The converters of the parts of a schema."""

    def __init__(self, root: dict[str, JSON]) -> None:
        self._root = root
        self._known: dict[int, Convert | None] = {}

    def of(self, part: JSON) -> Convert | None:
        """Return the converter of a subschema's values; None if no value needs one."""
        schema = self._target(part)
        if not isinstance(schema, dict):
            return None
        key = id(schema)
        if key not in self._known:
            # a field or an item can refer back to this schema
            self._known[key] = lambda value: _applied(self._known[key], value)
            types = kinds(schema, self._root) or ()
            is_integer = "integer" in types and "number" not in types
            self._known[key] = _whole if is_integer else self._container(schema)
        return self._known[key]

    def _target(self, schema: JSON) -> JSON:
        """Follow references, and unions of null and one other schema."""
        for _ in range(_MOST_STEPS):
            schema = follow(schema, self._root)
            if not isinstance(schema, dict) or "type" in schema:
                return schema
            inner = [each for keyword in _COMBINING for each in schema.get(keyword, ())]
            inner = [each for each in inner if kinds(each, self._root) != frozenset({"null"})]
            if len(inner) != 1:
                return schema
            schema = inner[0]
        return None

    def _container(self, schema: dict[str, JSON]) -> Convert | None:
        """Return the converter of an object's fields and an array's items."""
        fields = {name: self.of(each) for name, each in schema.get("properties", {}).items()}
        is_open = "patternProperties" not in schema
        others = self.of(schema.get("additionalProperties")) if is_open else None
        listed = [self.of(each) for each in schema.get("prefixItems", ())]
        rest = self.of(schema.get("items"))
        if not any((*fields.values(), others, *listed, rest)):
            return None

        def convert(value: JSON) -> JSON:
            if type(value) is dict:
                for name, item in value.items():
                    if type(item) in _CHANGING:
                        value[name] = _applied(fields.get(name, others), item)
            elif type(value) is list:
                for index, item in enumerate(value):
                    if type(item) in _CHANGING:
                        found = listed[index] if index < len(listed) else rest
                        value[index] = _applied(found, item)
            return value

        return convert


def _whole(value: JSON) -> JSON:
    return int(value) if type(value) is float and value.is_integer() else value


def _applied(convert: Convert | None, value: JSON) -> JSON:
    return value if convert is None else convert(value)
