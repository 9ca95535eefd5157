"""What is filled in for arguments that were left out."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeAlias, Union

from sovl_tools.annotations.conversion import is_plain
from sovl_tools.model.document import JSON, copied
from sovl_tools.schema import fit
from sovl_tools.schema.subschemas import SchemaNode
from sovl_tools.signature.signature import REQUIRED, Parameter, Signature

Filling: TypeAlias = Callable[[dict[str, JSON]], None]
"""Adds to the arguments of one call what they lack."""


def filling(schema: dict[str, JSON], signature: Signature, function: Any = None) -> Filling | None:
    """Return what fills in the arguments that were left out; None if there never are any.

    The manifest's defaults win; they are copied for each call, and those that break their own
    schema are left out. ``T | None`` without any default receives None, and so does an annotation
    that nobody can read: no rule finds fault with it. Nothing is filled in within an argument that
    becomes an instance: its class knows best what it lacks. ``function`` is whose names the texts
    of annotations use.
    """
    defaults = _Defaults.of(SchemaNode((), schema, schema, ()))
    if defaults.nested:
        defaults = defaults.within(_hints(signature, function))
    for parameter in _optional(schema, signature, known=(True, None)):
        if parameter.default is REQUIRED and parameter.name not in defaults.containers:
            defaults.scalars.setdefault(parameter.name, None)
    return defaults.fill if defaults else None


def nullable(schema: dict[str, JSON], signature: Signature) -> tuple[str, ...]:
    """Return the arguments for which null means "left out" although their schema refuses it."""
    return tuple(
        parameter.name
        for parameter in _optional(schema, signature)
        if fit.problems(_property(schema, parameter.name), None)
    )


def admitting_null(schema: dict[str, JSON], signature: Signature) -> dict[str, JSON]:
    """Return a schema that admits null for ``T | None`` with a default other than None.

    Such a parameter is told to a model as a ``T`` that may be left out, but None is a value of it.
    """
    changed = {
        parameter.name: {"anyOf": [schema["properties"][parameter.name], {"type": "null"}]}
        for parameter in _optional(schema, signature, is_default_none=False)
        if fit.problems(_property(schema, parameter.name), None)
    }
    return {**schema, "properties": {**schema["properties"], **changed}} if changed else schema


def _optional(
    schema: dict[str, JSON],
    signature: Signature,
    *,
    is_default_none: bool = True,
    known: tuple[bool | None, ...] = (True,),
) -> list[Parameter]:
    """Return the parameters ``T | None`` that need not be given, with or without other defaults.

    ``known`` is what must be known of their annotations: None stands for those that can't be read.
    """
    properties, required = schema.get("properties", {}), schema.get("required", ())
    return [
        parameter
        for parameter in signature.parameters
        if parameter.annotation.optional in known
        and (parameter.default is REQUIRED or parameter.default is None) is is_default_none
        and isinstance(properties.get(parameter.name), dict)
        and parameter.name not in required
    ]


def _property(schema: dict[str, JSON], name: str) -> SchemaNode:
    return SchemaNode(("properties", name), schema["properties"][name], schema, ())


class _Defaults(NamedTuple):
    """The defaults of an object's properties, those of nested objects included."""

    scalars: dict[str, JSON]
    containers: dict[str, JSON]
    nested: dict[str, _Defaults]

    @classmethod
    def of(cls, node: SchemaNode) -> _Defaults:
        found = cls({}, {}, {})
        for name, schema in node.schema.get("properties", {}).items():
            if isinstance(schema, dict):
                child = node._replace(path=(*node.path, "properties", name), schema=schema)
                found._add(name, child)
        return found

    def _add(self, name: str, node: SchemaNode) -> None:
        inner = self.of(node)
        if inner:
            self.nested[name] = inner
        if "default" in node.schema and not fit.problems(node, node.schema["default"]):
            value = node.schema["default"]
            target = self.containers if isinstance(value, dict | list) else self.scalars
            target[name] = value

    def within(self, hints: Mapping[str, Any]) -> _Defaults:
        """Return the defaults without those of objects that become instances."""
        nested = {}
        for name, inner in self.nested.items():
            kinds = _kinds(hints.get(name, Any))
            if all(is_plain(kind) or issubclass(kind, Mapping) for kind in kinds):
                fields = {key: each for kind in kinds for key, each in _fields(kind).items()}
                nested[name] = inner.within(fields)
        return self._replace(nested={name: inner for name, inner in nested.items() if inner})

    def __bool__(self) -> bool:
        return bool(self.scalars or self.containers or self.nested)

    def fill(self, arguments: dict[str, JSON]) -> None:
        """Add to the arguments what they lack; containers are copied for each call."""
        for name, value in self.scalars.items():
            if name not in arguments:
                arguments[name] = value
        for name, value in self.containers.items():
            if name not in arguments:
                arguments[name] = copied(value)
        for name, inner in self.nested.items():
            given = arguments.get(name)
            if isinstance(given, dict):
                inner.fill(given)


def _hints(signature: Signature, function: Any) -> dict[str, Any]:
    """Return the annotations of parameters that are not plainly JSON, as far as names are known."""
    from sovl_tools.annotations.hints import names_of, resolved  # noqa: PLC0415 - seldom needed

    found = {}
    for parameter in signature.parameters:
        if not is_plain(parameter.annotation.source):
            with suppress(Exception):
                found[parameter.name] = resolved(parameter.annotation.source, names_of(function))
    return found


def _kinds(annotation: Any) -> list[type]:
    """Return the classes that an annotation admits; none of what can't be told."""
    with suppress(Exception):
        return [*_classes(annotation)]
    return []


def _classes(annotation: Any) -> Iterator[type]:
    from sovl_tools.annotations.hints import is_alias, value_of  # noqa: PLC0415 - seldom needed

    origin = typing.get_origin(annotation) or annotation
    if is_alias(annotation) or isinstance(annotation, typing.NewType | typing.TypeVar):
        yield from _classes(value_of(annotation))
    elif origin is Annotated:
        yield from _classes(annotation.__origin__)
    elif origin in (Union, UnionType):
        for each in typing.get_args(annotation):
            yield from _classes(each)
    elif isinstance(origin, type):
        yield origin


def _fields(kind: type) -> dict[str, Any]:
    """Return the annotations of a TypedDict's keys; of other classes none."""
    with suppress(Exception):
        return typing.get_type_hints(kind) if typing.is_typeddict(kind) else {}
    return {}
