"""Forms of typing: unions, what ``Annotated`` adds, and names that mean another type.

In a union a scalar whose type is a member stays unchanged; otherwise a value becomes the first
member that matches, where types that take any string are last; an object becomes the first that
ignores the fewest of its keys. Constraints are the package annotated-types', recognised by their
names without importing it.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import cache
from math import inf
from operator import attrgetter
from threading import local
from types import NoneType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.classes import MODEL, has_rules, known_keys
from sovl_tools.annotations.hints import description_of, is_field, origin_of, unqualified, value_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
    identity,
    mismatch,
    optional,
)
from sovl_tools.annotations.scalars import scalar_of
from sovl_tools.model.document import JSON, copied
from sovl_tools.schema.keywords import KEYWORDS


class _Annotated(Kind):
    """Types that ``Annotated`` says more of."""

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        inner, *metadata = typing.get_args(annotation)
        schema = _describe_by_rules(builder, annotation)
        schema = schema or _add_constraints(builder, builder.build(inner), metadata)
        for each in metadata:
            if isinstance(each, dict) and each.keys() <= KEYWORDS:
                schema |= copied(each)
        for each in filter(is_field, metadata):
            given = {"title": each.title, "examples": each.examples}
            schema |= {key: value for key, value in given.items() if value is not None}
        text = description_of(annotation)
        if text is not None:
            schema["description"] = text  # in place: it can be a reference that is completed later
        return schema

    def convert(self, build: Build, annotation: Any) -> Convert:
        if has_rules(annotation):
            with suppress(Exception):
                return MODEL.convert(build, annotation)
        return build(typing.get_args(annotation)[0])


ANNOTATED = _Annotated()


def _describe_by_rules(builder: Builder, annotation: Any) -> Schema | None:
    """Return the schema of a type that pydantic validates by rules; None if it can't."""
    if has_rules(annotation):
        try:
            return MODEL.describe(builder, annotation)
        except InexpressibleError as error:
            if error.is_open:
                raise
    return None


_BOUNDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}
_LENGTHS = {
    "min_length": {"string": "minLength", "array": "minItems", "object": "minProperties"},
    "max_length": {"string": "maxLength", "array": "maxItems", "object": "maxProperties"},
}


def _add_constraints(builder: Builder, schema: Schema, metadata: Iterable[Any]) -> Schema:
    """Return the schema with the constraints in the metadata; other metadata has no effect.

    The author gets a warning if JSON Schema has no keyword for it, or not for this type: no one
    checks it.
    """
    for each in metadata:
        if _is_constraint(each):
            keywords = _keywords(each, schema)
            if not keywords and type(each).__name__ not in {"Unit", "DocInfo"}:
                builder.warn(f"the constraint {each!r:.80} is not checked")
            for keyword, value in keywords.items():
                if keyword in _BOUNDS.values():
                    _narrow(schema, keyword, value)
                if schema.get(keyword, value) != value:  # both apply
                    schema.setdefault("allOf", []).append({keyword: value})
                else:
                    schema[keyword] = value
    return schema


def _is_constraint(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "annotated_types"


def _keywords(constraint: Any, schema: Schema) -> dict[str, JSON]:
    """Return a constraint as JSON Schema, for values of the types in the schema."""
    types, found = _types_of(schema), {}
    if not types.isdisjoint({"integer", "number"}):
        for attribute, keyword in _BOUNDS.items():
            bound: Any = getattr(constraint, attribute, None)
            if type(bound) is not int:
                try:
                    bound = None if isinstance(bound, str) else float(bound)
                except (TypeError, ValueError, OverflowError):  # None, or such as a date
                    continue
            if bound is not None and bound - bound == 0:
                found[keyword] = bound
    for attribute, keywords in _LENGTHS.items():
        length = getattr(constraint, attribute, None)
        if length:
            found |= {keywords[each]: length for each in sorted(types & keywords.keys())}
    return found


def _types_of(schema: Schema) -> set[str]:
    """Return the JSON types that a schema admits; all of them where it does not say."""
    if "anyOf" in schema:
        return {name for each in schema["anyOf"] for name in _types_of(each)}
    types = schema.get("type", ("integer", "number", "string", "array", "object"))
    return {types} if isinstance(types, str) else {*types}


def _narrow(schema: Schema, keyword: str, value: float) -> None:
    """Reduce a number that can be text to the number: bounds don't apply to text.

    A wider bound of the type itself, as durations have, gives way to the narrower one.
    """
    for each in schema.get("anyOf", ()):
        _narrow(each, keyword, value)
    if schema.get("type") == ["number", "string"]:
        schema["type"] = "number"
        if keyword in schema and abs(value) <= abs(schema[keyword]):
            del schema[keyword]
        schema.pop("pattern", schema.pop("format", None))


_EXACT: dict[Any, tuple[type, ...]] = {
    **{each: (each,) for each in (str, int, bool, NoneType, list, dict)},
    float: (float, int),
    list[Any]: (list,),
    dict[str, Any]: (dict,),
}
"""Types of values that stay unchanged next to a member, even if it could convert them."""


class _Union(Kind):
    """Unions, however they are written; null is a member like others."""

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        schemas: list[Schema] = []
        for each in typing.get_args(annotation):
            schema = builder.build(each)
            if schema not in schemas:
                schemas.append(schema)
        if {} in schemas:  # an unrestricted schema makes the rest redundant
            return {}
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def convert(self, build: Build, annotation: Any) -> Convert:
        exact: set[type] = set()
        members: list[Any] = []
        for each in typing.get_args(annotation):
            # An Annotated is described by its type, unless pydantic changes more.
            is_described = typing.get_origin(each) is typing.Annotated and not has_rules(each)
            members.append(typing.get_args(each)[0] if is_described else each)
            with suppress(TypeError):  # a member need not be hashable
                exact.update(_EXACT.get(members[-1], ()))
        made = sorted(
            (each for each in members if each is not NoneType),
            key=lambda each: getattr(scalar_of(each), "rank", 0),
        )
        if len(made) == 1:
            return optional(build(made[0]))
        every = tuple((known_keys(each), build(each)) for each in made)
        return _Alternatives(frozenset(exact), every).convert


UNION = _Union()

_Outcomes: TypeAlias = dict[tuple[int, int], tuple[Any, Any, Any, ConversionError | None]]


class _Trials(local):
    """The results of the unions in one value, so that no part of it is tried repeatedly."""

    outcomes: _Outcomes | None = None


_TRIALS = _Trials()


class _Alternatives(NamedTuple):
    """A union.

    Attributes:
        exact: types of values that stay unchanged.
        members: what else can be made, in order, with the keys that an object can have.
    """

    exact: frozenset[type]
    members: tuple[tuple[Collection[str] | None, Convert], ...]

    def convert(self, value: Any) -> Any:
        if type(value) in self.exact:
            return value
        if not isinstance(value, dict | list):
            return self._first_fit(value)
        # Within one value, each union remembers its parts; otherwise a union of classes that
        # contain the same union would try each part once for each way to it.
        if _TRIALS.outcomes is not None:
            return self._remembered(value, _TRIALS.outcomes)
        _TRIALS.outcomes = {}
        try:
            return self._first_fit(value)
        finally:
            _TRIALS.outcomes = None

    def _first_fit(self, value: Any) -> Any:
        """Return the first member that matches; of objects, that ignores the fewest keys."""
        errors: list[ConversionError] = []
        for _, convert in sorted(self.members, key=lambda member: _ignored(value, *member)):
            try:
                return convert(value)
            except ConversionError as error:
                errors.append(error)
        # The problems of the member that matches best, unless all have another type.
        inner = [error for error in errors if not error.expected]
        if inner:
            # by problems at its top, then by all of them
            raise min(inner, key=lambda e: (sum(len(p) < 2 for p, _ in e.found), len(e.found)))  # noqa: PLR2004 - a part and the value itself
        raise mismatch(value, *(words for error in errors for words in error.expected))

    def _remembered(self, value: JSON, outcomes: _Outcomes) -> Any:
        key = id(self.members), id(value)
        if key not in outcomes:
            try:
                outcomes[key] = self, value, self._first_fit(value), None
            except ConversionError as error:
                outcomes[key] = self, value, None, error
        *_, result, refusal = outcomes[key]
        if refusal is not None:
            raise ConversionError(refusal.found, refusal.expected)
        return result


def _ignored(value: Any, known: Collection[str] | None, convert: Convert) -> float:
    """Return the number of keys of a value that a member doesn't know; Any is the last resort."""
    if convert is identity:
        return inf
    return 0 if known is None or not isinstance(value, dict) else len(value.keys() - {*known})


class _Instead(Kind):
    """Annotations that mean another."""

    def __init__(self, meaning: Callable[[Any], Any]) -> None:
        self._meaning = meaning

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        meaning = self._meaning(annotation)
        if isinstance(annotation, typing.TypeVar) and meaning is Any:
            builder.warn(f"the type variable {annotation.__name__} represents any type")
        return builder.build(meaning)

    def convert(self, build: Build, annotation: Any) -> Convert:
        return build(self._meaning(annotation))


class _Alias(Kind):
    """The type of a ``type`` statement; it can refer to itself."""

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


ALIAS = _Alias()
NAMED, QUALIFIED = _Instead(value_of), _Instead(unqualified)
INIT_VAR = _Instead(attrgetter("type"))
