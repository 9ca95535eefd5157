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

Annotated, NewType, TypeVar and aliases are what they stand for. What a schema admits is what
the arguments of a call are converted from.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from types import UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union

from sovl_tools.annotations.annotated import annotated
from sovl_tools.annotations.choices import enumeration, literal
from sovl_tools.annotations.containers import ARRAYS, OBJECTS, array, fixed_array, mapping
from sovl_tools.annotations.definitions import Definitions
from sovl_tools.annotations.fields import QUALIFIERS
from sovl_tools.annotations.form import Builder, Form, InexpressibleError
from sovl_tools.annotations.hints import Names, is_alias, resolved, value_of
from sovl_tools.annotations.instances import instance, typed_dict
from sovl_tools.annotations.pydantic_types import is_model, model
from sovl_tools.annotations.scalars import json_scalar, scalar
from sovl_tools.annotations.unions import union
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import InferenceError, UnresolvedReferenceError
from sovl_tools.model.interface import Annotation

_Make: TypeAlias = Callable[[Builder, Any], Form]


def _inner(builder: Builder, annotation: Any) -> Form:
    return builder.build(typing.get_args(annotation)[0])


_CONTAINERS = frozenset({*ARRAYS, *OBJECTS})
# By identity, because what is looked for here may have any idea of being equal.
_FORMS: dict[int, _Make] = {
    id(Union): union,
    id(UnionType): union,
    id(Annotated): annotated,
    id(Literal): literal,
    **{id(origin): array for origin in ARRAYS},
    **{id(origin): mapping for origin in OBJECTS},
    **{id(qualifier): _inner for qualifier in QUALIFIERS},
    id(tuple): fixed_array,
}
_CLASSES: tuple[tuple[Callable[[Any], bool], _Make], ...] = (
    (is_model, model),
    (lambda kind: issubclass(kind, Enum), enumeration),
    (lambda kind: issubclass(kind, dict) and hasattr(kind, "__required_keys__"), typed_dict),
    (lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"), instance),
    (dataclasses.is_dataclass, instance),
)
_ADVICE = "use a JSON type, a date, an Enum, a dataclass, a TypedDict or the like"


def schema_of(annotation: Any) -> dict[str, JSON]:
    """Return the JSON Schema of one type, with ``$defs`` where types refer to themselves.

    Raises:
        InferenceError: there is no JSON for the type, or for one in it.
        UnresolvedReferenceError: it uses a name that is not defined.
    """
    builder = SchemaBuilder()
    with blaming():
        schema = builder.build(resolved(annotation, Names({}))).schema
    return builder.with_definitions(schema)


@contextmanager
def blaming(function: str = "", parameter: str | None = None) -> Iterator[None]:
    """Say of what can't be described which parameter of which function it is.

    Whatever else is raised comes of an annotation, which may be anything, or of its library.
    """
    try:
        yield
    except InexpressibleError as error:
        raise _refusal(error, function, parameter) from _cause(error)
    except RecursionError as error:
        raise _refusal(InexpressibleError("it is nested too deep"), function, parameter) from error
    except Exception as error:
        reason = f"its annotation can't be read, {type(error).__name__}: {error}"
        raise _refusal(InexpressibleError(reason), function, parameter) from error


def _cause(error: BaseException | None) -> BaseException | None:
    """Return what the author's own code raised, if it did."""
    while isinstance(error, InexpressibleError):
        error = error.__cause__
    return error


def _refusal(error: InexpressibleError, function: str, parameter: str | None) -> InferenceError:
    kind = UnresolvedReferenceError if error.is_open else InferenceError
    return kind(function, parameter, error.reason, error.advice)


class SchemaBuilder:
    """Makes the forms of the parameters of one function, or of one type.

    Attributes:
        warnings: what the author should know, since ``warnings`` was last emptied.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._definitions = Definitions()
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

    def build(self, annotation: Any) -> Form:
        """Return the form of an annotation.

        Raises:
            InexpressibleError: it, or something in it, is none that JSON Schema can describe.
        """
        found = json_scalar(annotation)
        if found is not None:
            return found
        origin = typing.get_origin(annotation) or annotation
        if id(origin) in _FORMS and (annotation is not origin or origin in _CONTAINERS):
            return _FORMS[id(origin)](self, annotation)
        if isinstance(origin, type):
            return self._of_class(origin, annotation)
        if is_alias(annotation):
            make = partial(self._meant, annotation)
            return self.define(annotation, origin.__name__, make)
        return self._of_other(annotation)

    def _of_class(self, kind: type, annotation: Any) -> Form:
        found = scalar(kind)
        if found is not None:
            return found
        for applies, make in _CLASSES:
            if applies(kind):
                return make(self, annotation)
        raise InexpressibleError(f"there is no JSON for {Annotation(annotation).text}", _ADVICE)

    def _meant(self, annotation: Any) -> Form:
        return self.build(value_of(annotation))

    def _of_other(self, annotation: Any) -> Form:
        if isinstance(annotation, typing.TypeVar):
            self._check_variable(annotation)
        if isinstance(annotation, typing.NewType | typing.TypeVar):
            return self._meant(annotation)
        if isinstance(annotation, dataclasses.InitVar):
            return self.build(annotation.type)
        if isinstance(annotation, typing.ForwardRef):
            reason = f"the reference {annotation.__forward_arg__!r} can't be followed"
            raise InexpressibleError(reason, "use a dataclass, or Any for JSON of any kind")
        raise InexpressibleError(f"there is no JSON for {Annotation(annotation).text}", _ADVICE)

    def _check_variable(self, variable: typing.TypeVar) -> None:
        if value_of(variable) is Any:
            self.warn(f"the type variable {variable.__name__} stands for any type")
