"""From an annotation to its schema.

=================================  ============================================================
annotation                         schema
=================================  ============================================================
str, int, float, bool, None        ``{"type": …}``
Any, object                        ``{}``
list, Sequence, Iterable, …        ``array``, of ``items`` where they are known
set, frozenset                     the same with ``uniqueItems``
tuple                              ``array``; of a fixed length with ``prefixItems``
dict, Mapping, …                   ``object`` of ``additionalProperties``; ``propertyNames``
                                   where the keys are no plain text
Union                              ``anyOf``
Literal, Enum                      ``enum``, of the type or types of its values
Flag                               an integer, the sum of some of the members
datetime, date, time, UUID, …      ``string`` of a ``format``
timedelta, Decimal, Fraction       a number or text
bytes                              text
dataclass, NamedTuple, TypedDict   ``object`` of ``properties``
pydantic                           what pydantic says
=================================  ============================================================

Annotated, NewType, TypeVar and aliases are treated as the types that they mean. The conversion
accepts whatever a schema admits.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
from collections import deque
from collections.abc import Callable, Container, Iterator
from enum import Enum, Flag
from functools import partial, reduce
from itertools import chain, count
from operator import or_
from types import NoneType
from typing import Any

from sovl_tools.annotations.kind import Schema
from sovl_tools.annotations.kinds import Converters, kind_of
from sovl_tools.annotations.pydantic_models import dump_model, is_model
from sovl_tools.annotations.scalars import enum_value, scalar_text
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import nodes


class SchemaBuilder:
    """Makes the forms of the parameters of one function, or of one type.

    Attributes:
        warnings: what the author should know, since ``warnings`` was last emptied.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._converters = Converters()
        self._definitions = _Definitions()
        self.define = self._definitions.define
        self.hoist = self._definitions.hoist

    def warn(self, message: str) -> None:
        """Note what the author should know although a schema can be made; once is enough."""
        if message not in self.warnings:
            self.warnings.append(message)

    def with_definitions(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema with the ``$defs`` that the schemas made so far refer to."""
        definitions = self._definitions.finished()
        return {**schema, "$defs": definitions} if definitions else schema

    def build(self, annotation: Any) -> Schema:
        """Return the schema of an annotation.

        Raises:
            InexpressibleError: it, or something in it, is none that JSON Schema can describe.
        """
        return kind_of(annotation).describe(self, annotation)

    def default(self, annotation: Any, schema: Schema, value: Any) -> JSON:
        """Return the JSON that becomes a default again; None if it is that, or there is none.

        Exact numbers are written as text, unless the schema has but numbers.
        """
        convert = self._converters.build(annotation)
        try:
            form = _to_json(value, schema)
            return form if _is_same(convert(form), value) else None
        except Exception:  # noqa: BLE001 - it has no JSON, or the code of its class is not up to it
            return None


@dataclasses.dataclass
class _Definition:
    """A type, the references to it, and its schema when that is known."""

    name: str
    references: list[dict[str, JSON]] = dataclasses.field(default_factory=list)
    schema: Schema = dataclasses.field(default_factory=dict)


class _Definitions:
    """The definitions of one schema; types of one name get names of their own."""

    def __init__(self) -> None:
        self._made: dict[Any, _Definition] = {}
        self._foreign: dict[str, JSON] = {}

    def define(self, annotation: Any, name: str, make: Callable[[], Schema]) -> Schema:
        """Return the schema of a type that may refer to itself; ``make`` is called once."""
        try:
            hash(annotation)
        except TypeError:
            annotation = repr(annotation)
        if annotation not in self._made:
            definition = _Definition(re.sub(r"\W+", "_", name).strip("_"))
            self._made[annotation] = definition  # already now, because it may refer to itself
            definition.schema = make()
        definition = self._made[annotation]
        # Names are given at the end; until then types of one name must not look alike.
        reference = {"$ref": f"#/$defs/{definition.name}/{id(definition)}"}
        definition.references.append(reference)
        return reference

    def hoist(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema of another maker without its definitions, which are kept."""
        own: dict[str, JSON] = schema.pop("$defs", {})
        known = [name for name in own if name in self._foreign]
        renamed: dict[str, str] = {}
        if any(self._foreign[name] != own[name] for name in known):
            for name in known:
                renamed[name] = _free(name, {*self._foreign, *own, *renamed.values()})
        self._foreign |= {renamed.get(name, name): each for name, each in own.items()}
        references = {f"#/$defs/{old}": f"#/$defs/{new}" for old, new in renamed.items()}
        for root in (schema, *own.values()) if references else ():
            for node in nodes(root, ()):
                mapping = node.schema.get("discriminator", {}).get("mapping", {})
                for holder, key in ((node.schema, "$ref"), *((mapping, name) for name in mapping)):
                    if holder.get(key) in references:
                        holder[key] = references[holder[key]]
        return schema

    def finished(self) -> dict[str, JSON]:
        """Return the definitions and let all references lead to them.

        A type that is used in one place is described there.
        """
        found = dict(self._foreign)
        for each in self._made.values():
            if len(each.references) > 1:
                name = _free(each.name, found)
                found[name] = each.schema
                for reference in each.references:
                    reference["$ref"] = f"#/$defs/{name}"
        # Inner types first, because a schema is copied to its place.
        for each in reversed(self._made.values()):
            if len(each.references) == 1:
                [reference] = each.references
                added = {key: value for key, value in reference.items() if key != "$ref"}
                reference.clear()
                reference.update(each.schema, **added)
        return found


def _free(name: str, taken: Container[str]) -> str:
    """Return the name, or the first of ``Name2``, ``Name3``, … that is not taken."""
    names = chain([name], (f"{name}{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def _to_json(value: Any, schema: Schema) -> JSON:
    """Return a value as JSON; raises a TypeError or a ValueError if it has none."""
    kind = type(value)
    if kind in _NATIVE or (kind is float and value - value == 0):
        return value
    if isinstance(value, Enum):
        return _member(value)
    if isinstance(value, dict | list | tuple | deque | set | frozenset):
        return _container(value, partial(_to_json, schema=schema))
    if is_model(kind) or dataclasses.is_dataclass(kind):
        return (
            dump_model(value)
            if is_model(kind)
            else _fields(value, partial(_to_json, schema=schema))
        )
    types = [*_types(schema)] if kind.__name__ in _NUMBERS else []
    is_number = "number" in types and ["number", "string"] not in types
    return _NUMBERS[kind.__name__](value) if is_number else scalar_text(value)


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


_NUMBERS: dict[str, Callable[[Any], float]] = {
    "Decimal": float,
    "Fraction": float,
    "timedelta": lambda value: value.total_seconds(),
}


def _types(schema: Schema) -> Iterator[JSON]:
    """Yield what the schema says of types, and what those of its parts say."""
    yield schema.get("type")
    several = (*schema.get("anyOf", ()), *schema.get("prefixItems", ()))
    for each in (*several, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(each, dict):
            yield from _types(each)


def _member(value: Enum) -> JSON:
    """Return a member of an Enum, or a sum of those of a Flag; others it may keep as well."""
    if isinstance(value, Flag):
        members = [each.value for each in type(value).__members__.values()]
        if reduce(or_, (each for each in members if each & value.value == each), 0) != value.value:
            raise ValueError
    return enum_value(value)


def _is_same(made: Any, value: Any) -> bool:
    """Tell whether two values are equal and of the same types, all that they hold included.

    ``==`` alone is not enough: 1 == True, and a default of 1 must not come back as True.
    """
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
