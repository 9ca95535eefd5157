"""Classes that are made of an object: dataclasses, NamedTuples, TypedDicts.

A dataclass and a NamedTuple take what their ``__init__`` takes, the latter also from an array in
that order; a TypedDict may have keys that it does not list. Fields are looked at when the first
value comes, so that a class may refer to itself.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

from sovl_tools.annotations.annotated import EMPTY, property_of
from sovl_tools.annotations.docstrings import class_documentation
from sovl_tools.annotations.fields import (
    Meaning,
    hints_of,
    is_required,
    meaning_of,
    tolerant_meaning,
)
from sovl_tools.annotations.hints import evaluated, names_in
from sovl_tools.annotations.kind import (
    MAPPINGS,
    Build,
    Builder,
    Convert,
    InexpressibleError,
    Kind,
    Problems,
    Schema,
    UnfitError,
    called,
    ignore,
    mismatch,
    same,
)
from sovl_tools.annotations.unions import defaulting
from sovl_tools.model.suggestion import nearest


class _Field(NamedTuple):
    """A key of the object; ``default`` is EMPTY if there is none."""

    hint: Any
    is_required: bool
    default: Any = EMPTY


def _origin(annotation: Any) -> Any:
    return typing.get_origin(annotation) or annotation


def _parameters(kind: Any) -> list[inspect.Parameter]:
    try:
        signature = evaluated(inspect.signature, kind, "annotation_format")
    except (ValueError, TypeError) as error:
        reason = f"it can't be told what {kind.__name__} takes"
        raise InexpressibleError(reason, "give it an __init__ with annotations") from error
    return [*signature.parameters.values()]


def _fields(
    annotation: Any, parameters: Iterable[inspect.Parameter], meaning: Meaning
) -> dict[str, _Field]:
    """Return the parameters that an object's keys can be given for."""
    hints, names = hints_of(annotation, meaning), names_in(_origin(annotation))
    found = {}
    for each in parameters:
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            own = Any if each.annotation is EMPTY else each.annotation
            hint = hints[each.name] if each.name in hints else meaning(own, names, {})
            found[each.name] = _Field(hint, each.default is EMPTY, each.default)
    return found


def _keys(annotation: Any, meaning: Meaning) -> dict[str, _Field]:
    """Return the keys that a TypedDict lists."""
    return {
        name: _Field(hint, is_required(_origin(annotation), name, hint))
        for name, hint in hints_of(annotation, meaning).items()
    }


def _is_open(parameters: Iterable[inspect.Parameter]) -> bool:
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


def _describe(make: Callable[[Builder, Any], Schema], builder: Builder, annotation: Any) -> Schema:
    """Return the schema of a class, by its name and those of its arguments: ``Box_date``."""
    arguments = (getattr(each, "__name__", str(each)) for each in typing.get_args(annotation))
    title = "_".join([_origin(annotation).__name__, *arguments])
    return builder.define(annotation, title, partial(make, builder, annotation))


def _instance(builder: Builder, annotation: Any) -> Schema:
    kind = _origin(annotation)
    parameters = _parameters(kind)
    for each in parameters:
        if each.kind is each.POSITIONAL_ONLY and each.default is EMPTY:
            reason = f"the parameter {each.name!r} of {kind.__name__} is positional-only"
            raise InexpressibleError(reason, "remove the '/'")
    schema = _object(builder, kind, _fields(annotation, parameters, meaning_of))
    return schema if _is_open(parameters) else {**schema, "additionalProperties": False}


def _dictionary(builder: Builder, annotation: Any) -> Schema:
    return _object(builder, _origin(annotation), _keys(annotation, meaning_of))


def _object(builder: Builder, kind: type, fields: Mapping[str, _Field]) -> Schema:
    """Return the schema of an object of those fields."""
    documentation = class_documentation(kind)
    properties = {}
    for name, field in fields.items():
        text = documentation.parameters.get(name)
        try:
            properties[name] = property_of(builder, field.hint, default=field.default, text=text)
        except InexpressibleError as error:
            raise error.within(f"the field {name!r} of {kind.__name__}") from error
    required = [name for name, field in fields.items() if field.is_required]
    schema: Schema = {"type": "object"}
    if documentation.description:
        schema["description"] = documentation.description
    return {**schema, "properties": properties, "required": required}


class _Shape(NamedTuple):
    """What an object must look like; one that is open may have other keys as well."""

    fields: dict[str, Convert]
    required: tuple[str, ...]
    is_open: bool


class _Instances:
    """A class that is made of an object."""

    def __init__(
        self, build: Build, kind: Any, look: Callable[[], dict[str, _Field]], *, is_open: bool
    ) -> None:
        self._build = build
        self._kind = kind
        self._look = look
        self._is_open = is_open

    @cached_property
    def _shape(self) -> _Shape:
        fields = self._look()
        return _Shape(
            {
                name: defaulting(self._build(each.hint), each.default)
                for name, each in fields.items()
            },
            tuple(name for name, each in fields.items() if each.is_required),
            self._is_open,
        )

    def convert(self, value: Any) -> Any:
        if isinstance(value, self._kind):
            return value
        return called(self._kind, **self.fields_of(value))

    def from_array(self, value: Any) -> Any:
        """Convert an array of the fields in their order, or what ``convert`` does."""
        if type(value) not in {list, tuple}:
            return self.convert(value)
        names = [*self._shape.fields]
        if len(value) > len(names):
            raise UnfitError([((), f"must have at most {len(names)} items, not {len(value)}")])
        try:
            return self.convert(dict(zip(names, value, strict=False)))
        except UnfitError as error:
            raise UnfitError(
                [
                    ((*(names.index(str(part)) for part in path[:1]), *path[1:]), words)
                    for path, words in error.problems
                ]
            ) from error

    def fields_of(self, value: Any) -> dict[str, Any]:
        """Return the converted fields of an object."""
        if not isinstance(value, MAPPINGS):
            raise mismatch(value, "an object")
        fields, required, is_open = self._shape
        found, wrong = {}, []
        for name, each in value.items():
            try:
                found[name] = fields.get(name, same)(each)
            except UnfitError as error:
                wrong += error.below(name)
        strange = [] if is_open else [name for name in value if name not in fields]
        missing = [name for name in required if name not in value]
        if wrong or strange or missing:
            absent: Problems = [((name,), "is required") for name in missing]
            others = fields.keys() - value
            unknown: Problems = [
                ((name,), partial(self._unknown, name, others)) for name in strange
            ]
            raise UnfitError([*absent, *unknown, *wrong])
        return found

    def keys_of(self, value: Any) -> dict[str, Any]:
        """Return an object with its listed keys converted and all others as they are."""
        found = self.fields_of(value)
        ignore(len(found.keys() - self._shape.fields))
        return found

    def _unknown(self, name: str, others: set[str]) -> str:
        near = nearest(str(name), others)
        hint = f"; did you mean {near!r}?" if near else ""
        return f"is not a field of {self._kind.__name__}{hint}"


def _instances(build: Build, annotation: Any) -> _Instances:
    kind = _origin(annotation)
    parameters = _parameters(kind)
    look = partial(_fields, annotation, parameters, tolerant_meaning)
    return _Instances(build, kind, look, is_open=_is_open(parameters))


def _convert_dictionary(build: Build, annotation: Any) -> Convert:
    look = partial(_keys, annotation, tolerant_meaning)
    return _Instances(build, _origin(annotation), look, is_open=True).keys_of


_describe_instance = partial(_describe, _instance)
DATACLASS = Kind(
    _describe_instance,
    lambda build, annotation: _instances(build, annotation).convert,
    is_shared=True,
)
NAMED_TUPLE = Kind(
    _describe_instance,
    lambda build, annotation: _instances(build, annotation).from_array,
    is_shared=True,
)
TYPED_DICT = Kind(partial(_describe, _dictionary), _convert_dictionary, is_shared=True)
