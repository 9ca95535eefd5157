"""The table of kinds: which one an annotation is of, its schema and its converter.

=================================  ============================================================
annotation                         schema
=================================  ============================================================
str, int, float, bool, None        ``{"type": …}``
Any, object                        ``{}``
list, Sequence, Iterable, …        ``array``, with ``items`` where they are known
set, frozenset                     the same with ``uniqueItems``
tuple                              ``array``; of a fixed length with ``prefixItems``
dict, Mapping, …                   ``object`` of ``additionalProperties``; ``propertyNames``
                                   where the keys aren't plain text
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
accepts all values that a schema admits.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import typing
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum, Flag
from functools import partial, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from sovl_tools.annotations.classes import (
    DATACLASS,
    MODEL,
    NAMED_TUPLE,
    TYPED_DICT,
    dump_model,
    is_model,
)
from sovl_tools.annotations.containers import CONTAINERS
from sovl_tools.annotations.forms import ALIAS, ANNOTATED, INIT_VAR, NAMED, QUALIFIED, UNION
from sovl_tools.annotations.hints import (
    description_of,
    is_alias,
    is_qualified,
    is_typed_dict,
    origin_of,
    text_of,
)
from sovl_tools.annotations.kind import (
    EMPTY,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    identity,
)
from sovl_tools.annotations.scalars import ENUM, LITERAL, OWN, enum_value, scalar_of
from sovl_tools.model.document import JSON
from sovl_tools.schema.subschemas import free_name, nodes

# By identity, because the object can define any equality.
_FORMS: dict[int, Kind] = {
    id(Union): UNION,
    id(UnionType): UNION,
    id(Annotated): ANNOTATED,
    id(Literal): LITERAL,
}
_CONTAINERS = {id(origin): kind for origin, kind in CONTAINERS.items()}
# In this order: a model can be a dataclass, and an Enum can be anything.
_CLASSES: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
    (is_model, MODEL),
    (lambda kind: issubclass(kind, Enum), ENUM),
    (is_typed_dict, TYPED_DICT),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), NAMED_TUPLE),
    (dataclasses.is_dataclass, DATACLASS),
)
_OTHERS: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
    (is_alias, ALIAS),
    (is_qualified, QUALIFIED),
    (
        lambda annotation: isinstance(annotation, typing.NewType | typing.TypeVar),
        NAMED,
    ),
    (lambda annotation: isinstance(annotation, dataclasses.InitVar), INIT_VAR),
)


def kind_of(annotation: Any) -> Kind:
    """Return the kind of an annotation.

    Raises:
        InexpressibleError: it has no kind.
    """
    # The most frequent ones first.
    if id(annotation) in OWN:
        return OWN[id(annotation)]
    origin = origin_of(annotation)
    if id(origin) in _CONTAINERS:
        return _CONTAINERS[id(origin)]
    found = scalar_of(annotation)
    if found is not None:
        return found
    if id(origin) in _FORMS and annotation is not origin:
        return _FORMS[id(origin)]
    table, subject = (_CLASSES, origin) if isinstance(origin, type) else (_OTHERS, annotation)
    for applies, kind in table:
        if applies(subject):
            return kind
    if isinstance(annotation, typing.ForwardRef):
        reason = f"the reference {annotation.__forward_arg__!r} can't be followed"
        raise InexpressibleError(reason, "use a dataclass, or Any for JSON of any kind")
    advice = "use a JSON type, a date, an Enum, a dataclass, a TypedDict or the like"
    raise InexpressibleError(f"there's no JSON for {text_of(annotation)}", advice)


class Converters:
    """Makes converters for the parameters of one function; each class is checked once."""

    def __init__(self) -> None:
        self._shared: dict[Any, Convert] = {}

    def build(self, annotation: Any) -> Convert:
        """Return the converter of an annotation; an unknown annotation needs none."""
        try:
            kind = kind_of(annotation)
            if not kind.is_shared:
                return kind.convert(self.build, annotation)
            if annotation not in self._shared:
                self._shared[annotation] = kind.convert(self.build, annotation)
            return self._shared[annotation]
        except Exception:  # noqa: BLE001 - an annotation can be any object, and its library as well
            return identity


@dataclasses.dataclass
class _Definition:
    """A type, the references to it, and its schema as soon as it is made."""

    name: str
    references: list[dict[str, JSON]] = dataclasses.field(default_factory=list)
    schema: Schema = dataclasses.field(default_factory=dict)


class SchemaBuilder:
    """Makes the forms of the parameters of one function, or of one type.

    Attributes:
        warnings: warnings for the author, since ``warnings`` was last emptied.
        with_none: whether a field whose default is None shows null, too, which means the same as
            omitting it.
    """

    def __init__(self, *, with_none: bool = False) -> None:
        self.with_none = with_none
        self.warnings: list[str] = []
        self._converters = Converters()
        self._made: dict[Any, _Definition] = {}
        self._foreign: dict[str, JSON] = {}

    def warn(self, message: str) -> None:
        """Record a warning for the author although a schema can be made; once is enough."""
        if message not in self.warnings:
            self.warnings.append(message)

    def build(self, annotation: Any) -> Schema:
        """Return the schema of an annotation.

        Raises:
            InexpressibleError: it, or a part of it, can't be described by JSON Schema.
        """
        return kind_of(annotation).describe(self, annotation)

    def build_property(self, hint: Any, *, default: Any, text: str | None) -> Schema:
        """Return the schema of a parameter or a field, with its description and its default.

        A default is omitted if its JSON would not become it again. Exact numbers are written as
        text, unless the schema has but numbers.
        """
        schema = self.build(hint)
        description = description_of(hint) or text
        if description:
            schema["description"] = description
        if default is not EMPTY and default is not None:
            # it can have no JSON, or its class's code can fail
            with suppress(Exception):
                written = _to_json(default, schema, with_none=self.with_none)
                if written is not None and is_same(self._converters.build(hint)(written), default):
                    schema["default"] = written
        return schema

    def define(self, annotation: Any, name: str, make: Callable[[], Schema]) -> Schema:
        """Return the schema of a type that may refer to itself; ``make`` is called once.

        Types of one name get different names.
        """
        try:
            hash(annotation)
        except TypeError:
            annotation = repr(annotation)
        if annotation not in self._made:
            definition = _Definition(re.sub(r"\W+", "_", name).strip("_"))
            self._made[annotation] = definition  # already now, because it may refer to itself
            try:
                definition.schema = make()
            except BaseException:
                del self._made[annotation]
                raise
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
                renamed[name] = free_name(name, {*self._foreign, *own, *renamed.values()})
        self._foreign |= {renamed.get(name, name): each for name, each in own.items()}
        references = {f"#/$defs/{old}": f"#/$defs/{new}" for old, new in renamed.items()}
        for root in (schema, *own.values()) if references else ():
            for node in nodes(root, ()):
                mapping = node.schema.get("discriminator", {}).get("mapping", {})
                for holder, key in ((node.schema, "$ref"), *((mapping, name) for name in mapping)):
                    if holder.get(key) in references:
                        holder[key] = references[holder[key]]
        return schema

    def with_definitions(self, schema: dict[str, JSON]) -> dict[str, JSON]:
        """Return a schema with the ``$defs`` of those made so far; all references lead to them.

        A type that is used in one place is described there.
        """
        found = dict(self._foreign)
        for each in self._made.values():
            if len(each.references) > 1:
                name = free_name(each.name, found)
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
        return {**schema, "$defs": found} if found else schema


def _to_json(value: Any, schema: Schema, *, with_none: bool) -> JSON:
    """Return a value as JSON; raises a TypeError or a ValueError if it doesn't have one."""
    kind = type(value)
    if kind in _NATIVE:
        return value
    form, made = partial(_to_json, schema=schema, with_none=with_none), value
    if isinstance(value, Enum):
        made = _member(value)
    elif isinstance(value, dict):
        names = [each if isinstance(each, str) else json.dumps(each) for each in map(form, value)]
        made = dict(zip(names, map(form, value.values()), strict=True))
    elif isinstance(value, set | frozenset):
        made = sorted(map(form, value), key=json.dumps)
    elif is_model(kind):
        made = dump_model(value, with_none=with_none)
    elif dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):  # all that the class takes
        taken = inspect.signature(kind).parameters
        held = {name: (getattr(value, name), each.default) for name, each in taken.items()}
        made = {
            name: form(own)
            for name, (own, default) in held.items()
            if with_none or own is not None or default is not None
        }
    elif isinstance(value, list | tuple | deque):
        made = [*map(form, value)]
    elif not (kind is float and value - value == 0):
        types = [*_types(schema)] if kind.__name__ in _NUMBERS else []
        is_number = "number" in types and ["number", "string"] not in types
        scalar = scalar_of(kind)
        if scalar is None:
            raise TypeError
        made = _NUMBERS[kind.__name__](value) if is_number else scalar.write(value)
    return made


_NATIVE = frozenset({str, int, bool, NoneType})


_NUMBERS: dict[str, Callable[[Any], float]] = {
    "Decimal": float,
    "Fraction": float,
    "timedelta": lambda value: value.total_seconds(),
}


def _types(schema: Schema) -> Iterator[JSON]:
    """Yield the schema's description of types, then of their parts."""
    yield schema.get("type")
    several = (*schema.get("anyOf", ()), *schema.get("prefixItems", ()))
    for each in (*several, schema.get("items"), schema.get("additionalProperties")):
        if isinstance(each, dict):
            yield from _types(each)


def _member(value: Enum) -> JSON:
    """Return a member of an Enum, or a sum of a Flag's, which may keep other bits as well."""
    if isinstance(value, Flag):
        members = [each.value for each in type(value).__members__.values()]
        if reduce(or_, (each for each in members if each & value.value == each), 0) != value.value:
            raise ValueError
    return enum_value(value)


def is_same(made: Any, value: Any) -> bool:
    """Return whether two values are equal and have the same types, with all their parts.

    ``==`` isn't enough: 1 == True, and a default of 1 must not become True.
    """
    if type(value) in _NATIVE:
        return type(made) is type(value) and bool(made == value)
    if type(made) is not type(value) or (hasattr(value, "tzinfo") and repr(made) != repr(value)):
        return False  # equal times can be of different zones
    if isinstance(value, set | frozenset):
        return {(type(each), each) for each in made} == {(type(each), each) for each in value}
    parts = [_parts(made), _parts(value)]
    is_equal = isinstance(value, dict | list | tuple | deque) or made == value
    return bool(is_equal) and len(parts[0]) == len(parts[1]) and all(map(is_same, *parts))


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | deque):
        return [*value]
    fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
    return [getattr(value, each.name) for each in fields]
