"""Types of which a value may be any.

A scalar whose type is a member stays as it is; otherwise a value becomes the first member that
fits, where those that take any text come last; an object becomes the first that ignores the
fewest of its keys.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from contextlib import suppress
from operator import itemgetter
from threading import local
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    Kind,
    Schema,
    UnfitError,
    counted,
    ignore,
    mismatch,
    same,
)
from sovl_tools.annotations.pydantic_models import has_rules
from sovl_tools.annotations.scalars import rank_of
from sovl_tools.model.document import JSON

_EXACT: dict[Any, tuple[type, ...]] = {
    **{each: (each,) for each in (str, int, bool, NoneType, list, dict)},
    float: (float, int),
    list[Any]: (list,),
    dict[str, Any]: (dict,),
}


def _exact(members: Iterable[Any]) -> frozenset[type]:
    """Return types of values that stay as they are, whatever else may be made of them."""
    found: set[type] = set()
    for each in members:
        with suppress(Exception):  # a member need not be hashable
            found.update(_EXACT.get(each, ()))
    return frozenset(found)


def _describe(builder: Builder, annotation: Any) -> Schema:
    """Return the schema of a union, however it is written; null is a member like others."""
    schemas: list[Schema] = []
    for each in typing.get_args(annotation):
        schema = builder.build(each)
        if schema not in schemas:
            schemas.append(schema)
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _convert(build: Build, annotation: Any) -> Convert:
    members = [_described(each) for each in typing.get_args(annotation)]
    made = [each for each in members if each is not NoneType]
    converters = sorted(map(build, sorted(made, key=rank_of)), key=lambda convert: convert is same)
    if len(converters) > 1:
        return _Alternatives(_exact(members), tuple(converters)).convert
    return _optional(converters[0])


def _described(annotation: Any) -> Any:
    """Return what an ``Annotated`` describes, or itself where pydantic makes more of it."""
    if typing.get_origin(annotation) is not typing.Annotated or has_rules(annotation):
        return annotation
    return annotation.__origin__


UNION = Kind(_describe, _convert)


def defaulting(convert: Convert, default: Any) -> Convert:
    """Return the converter of a parameter, which takes its default of None, whatever it says."""
    return _optional(convert) if default is None else convert


def _optional(convert: Convert) -> Convert:
    return same if convert is same else lambda value: None if value is None else convert(value)


_Outcomes: TypeAlias = dict[tuple[int, int], tuple[Any, Any, tuple[Any, int], UnfitError | None]]


class _Trials(local):
    """What the unions in one value came to, so that no part of it is tried time and again."""

    outcomes: _Outcomes | None = None


_TRIALS = _Trials()


class _Alternatives(NamedTuple):
    """A union: types of values that stay as they are, and what else may be made, in order."""

    exact: frozenset[type]
    converters: tuple[Convert, ...]

    def convert(self, value: Any) -> Any:
        if type(value) in self.exact:
            return value
        if not isinstance(value, dict | list):
            return self._tried(value)
        if _TRIALS.outcomes is not None:
            return self._remembered(value, _TRIALS.outcomes)
        _TRIALS.outcomes = {}
        try:
            return self._tried(value)
        finally:
            _TRIALS.outcomes = None

    def _tried(self, value: Any) -> Any:
        """Return the first that ignores no key of an object, or else as few as possible."""
        results: list[tuple[Any, int]] = []
        errors: list[UnfitError] = []
        for convert in self.converters:
            if convert is same and results:
                break
            try:
                results.append(counted(convert, value))
            except UnfitError as error:
                errors.append(error)
            else:
                if results[-1][1] == 0:
                    break
        if not results:
            raise _nearest(errors, value)
        result, keys = min(results, key=itemgetter(1))
        ignore(keys)
        return result

    def _remembered(self, value: JSON, outcomes: _Outcomes) -> Any:
        key = id(self.converters), id(value)
        if key not in outcomes:
            try:
                outcomes[key] = self, value, counted(self._tried, value), None
            except UnfitError as error:
                outcomes[key] = self, value, (None, 0), error
        *_, (result, keys), unfit = outcomes[key]
        if unfit is not None:
            raise UnfitError(unfit.problems, unfit.expected)
        ignore(keys)
        return result


def _nearest(errors: list[UnfitError], value: Any) -> UnfitError:
    """Return what speaks against the member that fits best: least at the top, then below."""
    inner = [error for error in errors if not error.expected]
    if inner:
        return min(inner, key=lambda error: error.distance)
    return mismatch(value, *(words for error in errors for words in error.expected))
