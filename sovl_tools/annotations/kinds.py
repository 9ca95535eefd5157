"""The table of kinds: which one an annotation is of.

Annotated, NewType, TypeVar and aliases are treated as the types that they mean.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, Literal, Union

from sovl_tools.annotations.annotated import ANNOTATED
from sovl_tools.annotations.classes import DATACLASS, NAMED_TUPLE, TYPED_DICT
from sovl_tools.annotations.containers import CONTAINERS
from sovl_tools.annotations.hints import QUALIFIERS, is_alias, origin_of, text_of, value_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    identity,
)
from sovl_tools.annotations.pydantic_models import MODEL, is_model
from sovl_tools.annotations.scalars import ENUM, LITERAL, scalar_of
from sovl_tools.annotations.unions import UNION


class _Instead(Kind):
    """Annotations that mean another one."""

    def __init__(self, meaning: Callable[[Any], Any]) -> None:
        self._meaning = meaning

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        meaning = self._meaning(annotation)
        if isinstance(annotation, typing.TypeVar) and meaning is Any:
            builder.warn(f"the type variable {annotation.__name__} stands for any type")
        return builder.build(meaning)

    def convert(self, build: Build, annotation: Any) -> Convert:
        return build(self._meaning(annotation))


class _Alias(Kind):
    """What the statement ``type`` makes; it may refer to itself."""

    is_shared = True

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        name = origin_of(annotation).__name__
        return builder.define(annotation, name, lambda: builder.build(value_of(annotation)))

    def convert(self, build: Build, annotation: Any) -> Convert:
        @cache
        def look() -> Convert:
            with suppress(InexpressibleError):
                return build(value_of(annotation))
            return identity

        def convert(value: Any) -> Any:
            return look()(value)  # only now, because it may refer to itself

        return convert


_FIRST = _Instead(lambda annotation: typing.get_args(annotation)[0])
_MEANING = _Instead(value_of)
_ALIAS = _Alias()
# By identity, because what is looked for here may have any idea of being equal.
_FORMS: dict[int, Kind] = {
    id(Union): UNION,
    id(UnionType): UNION,
    id(Annotated): ANNOTATED,
    id(Literal): LITERAL,
    **{id(qualifier): _FIRST for qualifier in QUALIFIERS},
}
_CONTAINERS = {id(origin): kind for origin, kind in CONTAINERS.items()}
# In this order: a model may be a dataclass, and an Enum may be anything.
_CLASSES: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
    (is_model, MODEL),
    (lambda kind: issubclass(kind, Enum), ENUM),
    (lambda kind: issubclass(kind, dict) and hasattr(kind, "__required_keys__"), TYPED_DICT),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), NAMED_TUPLE),
    (dataclasses.is_dataclass, DATACLASS),
)
_OBJECTS: tuple[tuple[type, Kind], ...] = (
    (typing.NewType, _MEANING),
    (typing.TypeVar, _MEANING),
    (dataclasses.InitVar, _Instead(attrgetter("type"))),
)


def kind_of(annotation: Any) -> Kind:
    """Return the kind of an annotation.

    Raises:
        InexpressibleError: it is of none.
    """
    # The most frequent ones first.
    origin = origin_of(annotation)
    if id(origin) in _CONTAINERS:
        return _CONTAINERS[id(origin)]
    found = scalar_of(annotation)
    if found is not None:
        return found
    if id(origin) in _FORMS and annotation is not origin:
        return _FORMS[id(origin)]
    if isinstance(origin, type):
        kinds = (kind for applies, kind in _CLASSES if applies(origin))
    elif is_alias(annotation):
        return _ALIAS
    else:
        kinds = (kind for base, kind in _OBJECTS if isinstance(annotation, base))
    for each in kinds:
        return each
    if isinstance(annotation, typing.ForwardRef):
        reason = f"the reference {annotation.__forward_arg__!r} can't be followed"
        raise InexpressibleError(reason, "use a dataclass, or Any for JSON of any kind")
    advice = "use a JSON type, a date, an Enum, a dataclass, a TypedDict or the like"
    raise InexpressibleError(f"there is no JSON for {text_of(annotation)}", advice)


class Converters:
    """Makes converters for the parameters of one function; each class is looked at once."""

    def __init__(self) -> None:
        self._shared: dict[Any, Convert] = {}

    def build(self, annotation: Any) -> Convert:
        """Return the converter of an annotation; one that is not understood asks for nothing."""
        try:
            kind = kind_of(annotation)
            if not kind.is_shared:
                return kind.convert(self.build, annotation)
            if annotation not in self._shared:
                self._shared[annotation] = kind.convert(self.build, annotation)
            return self._shared[annotation]
        except Exception:  # noqa: BLE001 - an annotation may be anything, and its library as well
            return identity
