"""Types of which a value may be any.

A scalar whose type is a member stays as it is; otherwise a value becomes the first member that
fits, where those that take any text come last; an object becomes the first that ignores the
fewest of its keys.
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from threading import local
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.annotated import limits_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    ConversionError,
    Convert,
    Kind,
    Schema,
    convert_and_count,
    identity,
    ignore,
    mismatch,
    optional,
)
from sovl_tools.annotations.pydantic_models import has_rules
from sovl_tools.annotations.scalars import scalar_of
from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import compile_schema

_EXACT: dict[Any, tuple[type, ...]] = {
    **{each: (each,) for each in (str, int, bool, NoneType, list, dict)},
    float: (float, int),
    list[Any]: (list,),
    dict[str, Any]: (dict,),
}
"""Types of values that stay as they are beside a member, whatever else may be made of them."""


class _Union(Kind):
    """Unions, however they are written; null is a member like others."""

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        schemas: list[Schema] = []
        for each in typing.get_args(annotation):
            schema = builder.build(each)
            if schema not in schemas:
                schemas.append(schema)
        if {} in schemas:  # what admits anything says all that there is to say
            return {}
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def convert(self, build: Build, annotation: Any) -> Convert:
        exact: set[type] = set()
        limited: list[tuple[tuple[type, ...], Callable[[JSON], bool]]] = []
        members = []
        for each in typing.get_args(annotation):
            # An Annotated is what it describes, unless pydantic makes more of it.
            is_described = typing.get_origin(each) is typing.Annotated and not has_rules(each)
            member = each.__origin__ if is_described else each
            members.append(member)
            with suppress(Exception):  # a member need not be hashable
                types, limits = _EXACT.get(member, ()), limits_of(each) if is_described else {}
                if types and limits:
                    limited.append((types, compile_schema(limits).is_valid))
                else:
                    exact.update(types)
        made = sorted((each for each in members if each is not NoneType), key=_rank)
        converters = sorted(map(build, made), key=lambda convert: convert is identity)
        if len(converters) == 1:
            return optional(converters[0])
        return _Alternatives(frozenset(exact), limited, tuple(converters)).convert


def _rank(annotation: Any) -> int:
    scalar = scalar_of(annotation)
    return 0 if scalar is None else scalar.rank


UNION = _Union()

_Outcomes: TypeAlias = dict[
    tuple[int, int], tuple[Any, Any, tuple[Any, int], ConversionError | None]
]


class _Trials(local):
    """What the unions in one value came to, so that no part of it is tried time and again."""

    outcomes: _Outcomes | None = None


_TRIALS = _Trials()


class _Alternatives(NamedTuple):
    """A union.

    Attributes:
        exact: types of values that stay as they are.
        limited: types of which values stay as they are if they fit.
        converters: what else may be made, in order.
    """

    exact: frozenset[type]
    limited: list[tuple[tuple[type, ...], Callable[[JSON], bool]]]
    converters: tuple[Convert, ...]

    def convert(self, value: Any) -> Any:
        kind = type(value)
        if kind in self.exact or any(kind in types and fits(value) for types, fits in self.limited):
            return value
        if not isinstance(value, dict | list):
            return self._first_fit(value)
        # Within one value, each union remembers its parts; otherwise a union of classes that
        # hold the same union would try each part as often as there are ways to it.
        if _TRIALS.outcomes is not None:
            return self._remembered(value, _TRIALS.outcomes)
        _TRIALS.outcomes = {}
        try:
            return self._first_fit(value)
        finally:
            _TRIALS.outcomes = None

    def _first_fit(self, value: Any) -> Any:
        """Return the first that ignores no key of an object, or else as few as possible."""
        results: list[tuple[Any, int]] = []
        errors: list[ConversionError] = []
        for convert in self.converters:
            if convert is identity and results:  # Any is the last resort
                break
            try:
                results.append(convert_and_count(convert, value))
            except ConversionError as error:
                errors.append(error)
            else:
                if results[-1][1] == 0:
                    break
        if not results:
            # What speaks against the member that fits best, unless all are of another type.
            inner = [error for error in errors if not error.expected]
            if inner:
                # by problems at its top, then by all of them
                raise min(inner, key=lambda e: (sum(len(p) < 2 for p, _ in e.found), len(e.found)))  # noqa: PLR2004 - a part and the value itself
            raise mismatch(value, *(words for error in errors for words in error.expected))
        result, keys = min(results, key=itemgetter(1))
        ignore(keys)
        return result

    def _remembered(self, value: JSON, outcomes: _Outcomes) -> Any:
        key = id(self.converters), id(value)
        if key not in outcomes:
            try:
                outcomes[key] = self, value, convert_and_count(self._first_fit, value), None
            except ConversionError as error:
                outcomes[key] = self, value, (None, 0), error
        *_, (result, keys), refusal = outcomes[key]
        if refusal is not None:
            raise ConversionError(refusal.found, refusal.expected)
        ignore(keys)
        return result
