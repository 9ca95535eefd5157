"""How JSON values become instances of the types that annotations name.

=================================  ============================================================
annotation                         made of
=================================  ============================================================
datetime, date, time               ISO 8601 text; a date alone is its midnight
timedelta                          a number of seconds, or text such as ``PT1H30M``
Decimal, Fraction                  a number, as it is written: 0.1 is a tenth; or text of one
UUID, Path, ipaddress, ZoneInfo    text
re.Pattern                         text of a regular expression
bytes, bytearray                   text, encoded as UTF-8
Enum                               the value of a member, or its name if the value is no scalar
dataclass                          an object of the parameters that the class takes
NamedTuple                         such an object, or an array
TypedDict                          an object; keys that it does not list stay as they are
list, set, tuple, deque, …         an array
dict, Mapping, …                   an object; other keys than texts are read from the text
Union                              a scalar whose type is a member stays as it is; else the
                                   first member that fits, those that take any text last; of an
                                   object, the first that ignores the fewest keys
pydantic                           what pydantic makes of it
=================================  ============================================================

Annotated, NewType, TypeVar and aliases are what they stand for. What is of an annotated type
already stays as it is, and so does what is annotated as anything else. Where something is made,
its parts must be of their own annotated types: ``tuple[int, int]`` refuses ``["a", 1]``.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import InitVar, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union

from sovl_tools.annotations.fields import QUALIFIERS
from sovl_tools.annotations.form import InexpressibleError
from sovl_tools.annotations.hints import is_alias, value_of
from sovl_tools.annotations.pydantic_types import is_model
from sovl_tools.running.containers import ARRAYS, OBJECTS, array_of, object_of, tuple_of
from sovl_tools.running.hints import origin_of
from sovl_tools.running.instances import instance, named_tuple, typed_dict
from sovl_tools.running.pydantic_types import described, model
from sovl_tools.running.scalars import SCALARS, enum_of, literal_of, scalar_of
from sovl_tools.running.unfit import Build, Convert, Form, Problems, UnfitError, same
from sovl_tools.running.unions import defaulting, union_of


def _annotated(build: Build, annotation: Any) -> Convert:
    if described(annotation) is annotation:
        with suppress(Exception):
            return model(build, annotation)
    return _inner(build, annotation)


def _inner(build: Build, annotation: Any) -> Convert:
    return build(typing.get_args(annotation)[0])


_FORMS: dict[Any, Form] = {
    Union: union_of,
    UnionType: union_of,
    Annotated: _annotated,
    Literal: literal_of,
    **dict.fromkeys(ARRAYS, array_of),
    **dict.fromkeys(OBJECTS, object_of),
    **dict.fromkeys(QUALIFIERS, _inner),
    tuple: tuple_of,
}
_CLASSES: tuple[tuple[Callable[[Any], bool], Form], ...] = (
    (is_model, model),
    (lambda kind: issubclass(kind, Enum), enum_of),
    (lambda kind: issubclass(kind, dict) and hasattr(kind, "__required_keys__"), typed_dict),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), named_tuple),
    (is_dataclass, instance),
)
_MEANINGS: dict[Any, Callable[[Any], Any]] = {
    typing.NewType: value_of,
    typing.TypeVar: value_of,
    InitVar: lambda annotation: annotation.type,
    NoneType: lambda _: NoneType,
}


class Builder:
    """Makes converters for the parameters of one function; each class is looked at once."""

    def __init__(self) -> None:
        self._made: dict[Any, Convert] = {}

    def parameter(self, annotation: Any, default: Any) -> Convert | None:
        """Return a parameter's converter, or None if the annotation asks for nothing."""
        convert = defaulting(self.build(annotation), default)
        return None if convert is same else convert

    def build(self, annotation: Any) -> Convert:
        """Return the converter of an annotation; one that is not understood asks for nothing."""
        try:
            return self._built(annotation)
        except Exception:  # noqa: BLE001 - an annotation may be anything, and its library as well
            return same

    def _built(self, annotation: Any) -> Convert:
        origin = origin_of(annotation)
        if origin in SCALARS:
            return scalar_of(origin)
        if origin in _FORMS:
            return _FORMS[origin](self.build, annotation)
        if isinstance(origin, type):
            return self._of_class(origin, annotation)
        if is_alias(annotation):
            return self._of_alias(annotation)
        return self.build(_MEANINGS[type(annotation)](annotation))

    def _of_class(self, kind: Any, annotation: Any) -> Convert:
        if annotation not in self._made:
            makers = (make for applies, make in _CLASSES if applies(kind))
            self._made[annotation] = next(makers, _untouched)(self.build, annotation)
        return self._made[annotation]

    def _of_alias(self, annotation: Any) -> Convert:
        """Return the converter of an alias; it may refer to itself, so it is made when used."""
        if annotation not in self._made:

            @cache
            def look() -> Convert:
                with suppress(InexpressibleError):
                    return self.build(value_of(annotation))
                return same

            def convert(value: Any) -> Any:
                return look()(value)

            self._made[annotation] = convert
        return self._made[annotation]


def _untouched(_: Build, __: Any) -> Convert:
    return same


def converted(
    keywords: Mapping[str, Any], converters: Iterable[tuple[str, Convert]]
) -> tuple[dict[str, Any], Problems]:
    """Return keywords with those of the names converted that are given, and what was wrong."""
    found, problems = {**keywords}, []
    for name, convert in converters:
        if name in found:
            try:
                found[name] = convert(found[name])
            except UnfitError as error:
                problems += error.below(name)
            except RecursionError:
                problems.append(((name,), "is nested too deep"))
    return found, problems
