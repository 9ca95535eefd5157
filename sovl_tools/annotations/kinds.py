"""The table of kinds: which one an annotation is of.

Annotated, NewType, TypeVar and aliases are what they stand for.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union

from sovl_tools.annotations.annotated import ANNOTATED
from sovl_tools.annotations.classes import DATACLASS, NAMED_TUPLE, TYPED_DICT
from sovl_tools.annotations.containers import CONTAINERS
from sovl_tools.annotations.enums import ENUM, LITERAL
from sovl_tools.annotations.fields import QUALIFIERS
from sovl_tools.annotations.hints import is_alias, text_of, value_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    same,
)
from sovl_tools.annotations.pydantic_models import MODEL, is_model
from sovl_tools.annotations.scalars import scalar_of
from sovl_tools.annotations.unions import UNION


def _standing(meaning: Callable[[Any], Any]) -> Kind:
    """Return the kind of what stands for another annotation."""
    return Kind(
        lambda builder, annotation: builder.build(meaning(annotation)),
        lambda build, annotation: build(meaning(annotation)),
    )


def _describe_alias(builder: Builder, annotation: Any) -> Schema:
    name = (typing.get_origin(annotation) or annotation).__name__
    return builder.define(annotation, name, lambda: builder.build(value_of(annotation)))


def _convert_alias(build: Build, annotation: Any) -> Convert:
    """Return the converter of an alias; it may refer to itself, so it is made when used."""

    @cache
    def look() -> Convert:
        with suppress(InexpressibleError):
            return build(value_of(annotation))
        return same

    def convert(value: Any) -> Any:
        return look()(value)

    return convert


def _describe_variable(builder: Builder, variable: Any) -> Schema:
    meaning = value_of(variable)
    if meaning is Any:
        builder.warn(f"the type variable {variable.__name__} stands for any type")
    return builder.build(meaning)


_FIRST = _standing(lambda annotation: typing.get_args(annotation)[0])
_NEW_TYPE = _standing(value_of)
_INIT_VAR = _standing(lambda annotation: annotation.type)
_VARIABLE = Kind(_describe_variable, _NEW_TYPE.convert)
_ALIAS = Kind(_describe_alias, _convert_alias, is_shared=True)
# By identity, because what is looked for here may have any idea of being equal.
_FORMS: dict[int, Kind] = {
    id(Union): UNION,
    id(UnionType): UNION,
    id(Annotated): ANNOTATED,
    id(Literal): LITERAL,
    **{id(qualifier): _FIRST for qualifier in QUALIFIERS},
}
_CONTAINERS = {id(origin): kind for origin, kind in CONTAINERS.items()}
_CLASSES: tuple[tuple[Callable[[Any], bool], Kind], ...] = (
    (is_model, MODEL),
    (lambda kind: issubclass(kind, Enum), ENUM),
    (lambda kind: issubclass(kind, dict) and hasattr(kind, "__required_keys__"), TYPED_DICT),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), NAMED_TUPLE),
    (dataclasses.is_dataclass, DATACLASS),
)
_OBJECTS: tuple[tuple[type, Kind], ...] = (
    (typing.NewType, _NEW_TYPE),
    (typing.TypeVar, _VARIABLE),
    (dataclasses.InitVar, _INIT_VAR),
)


def kind_of(annotation: Any) -> Kind:
    """Return the kind of an annotation.

    Raises:
        InexpressibleError: it is of none.
    """
    found = scalar_of(annotation)
    if found is not None:
        return found
    origin = typing.get_origin(annotation) or annotation
    if id(origin) in _CONTAINERS:
        return _CONTAINERS[id(origin)]
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
    raise _unknown(annotation)


def _unknown(annotation: Any) -> InexpressibleError:
    if isinstance(annotation, typing.ForwardRef):
        reason = f"the reference {annotation.__forward_arg__!r} can't be followed"
        return InexpressibleError(reason, "use a dataclass, or Any for JSON of any kind")
    advice = "use a JSON type, a date, an Enum, a dataclass, a TypedDict or the like"
    return InexpressibleError(f"there is no JSON for {text_of(annotation)}", advice)
