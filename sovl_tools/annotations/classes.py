"""Classes that are made of an object: dataclasses, NamedTuples, TypedDicts.

A dataclass and a NamedTuple take what their ``__init__`` takes, the latter also from an array in
that order; a TypedDict may have keys that it does not list. Fields are looked at when the first
value comes, so that a class may refer to itself.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from operator import attrgetter
from typing import Any, NamedTuple

from sovl_tools.annotations.docstrings import class_documentation
from sovl_tools.annotations.hints import (
    Resolve,
    field_hints,
    is_required,
    names_in,
    origin_of,
    read_annotations,
    resolved,
    resolved_or_any,
)
from sovl_tools.annotations.kind import (
    EMPTY,
    MAPPINGS,
    Build,
    Builder,
    ConversionError,
    Convert,
    InexpressibleError,
    Kind,
    Problem,
    Schema,
    call_type,
    convert_all,
    identity,
    ignore,
    mismatch,
    optional,
)
from sovl_tools.model.suggestion import as_hint, nearest


class _Field(NamedTuple):
    """A key of the object; ``default`` is EMPTY if there is none."""

    hint: Any
    is_required: bool
    default: Any = EMPTY


def _is_typed_dict(kind: Any) -> bool:
    return hasattr(kind, "__required_keys__")


def _parameters(kind: Any) -> list[inspect.Parameter]:
    if _is_typed_dict(kind):
        return []  # its signature is that of dict
    try:
        signature = read_annotations(inspect.signature, kind, "annotation_format")
    except (ValueError, TypeError) as error:
        reason = f"it can't be told what {kind.__name__} takes"
        raise InexpressibleError(reason, "give it an __init__ with annotations") from error
    return [*signature.parameters.values()]


def _fields_of(
    annotation: Any, parameters: Iterable[inspect.Parameter], resolve: Resolve
) -> dict[str, _Field]:
    """Return the keys of a TypedDict, or the parameters that an object's keys can be given for."""
    kind, hints = origin_of(annotation), field_hints(annotation, resolve)
    if _is_typed_dict(kind):
        return {name: _Field(hint, is_required(kind, name, hint)) for name, hint in hints.items()}
    names, found = names_in(kind), {}
    for each in parameters:
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            # An __init__ of its own may take what is no field.
            own = Any if each.annotation is EMPTY else each.annotation
            hint = hints[each.name] if each.name in hints else resolve(own, names, {})
            found[each.name] = _Field(hint, each.default is EMPTY, each.default)
    return found


def _is_open(kind: Any, parameters: Iterable[inspect.Parameter]) -> bool:
    """Tell whether the object may have other keys as well."""
    if _is_typed_dict(kind):
        return getattr(kind, "__closed__", None) is not True
    return any(each.kind is each.VAR_KEYWORD for each in parameters)


def _schema(builder: Builder, annotation: Any) -> Schema:
    kind = origin_of(annotation)
    parameters, documentation = _parameters(kind), class_documentation(kind)
    for each in parameters:
        if each.kind is each.POSITIONAL_ONLY and each.default is EMPTY:
            reason = f"the parameter {each.name!r} of {kind.__name__} is positional-only"
            raise InexpressibleError(reason, "remove the '/'")
    fields, properties = _fields_of(annotation, parameters, resolved), {}
    for name, field in fields.items():
        text = documentation.parameters.get(name)
        try:
            properties[name] = builder.build_property(field.hint, default=field.default, text=text)
        except InexpressibleError as error:
            raise error.within(f"the field {name!r} of {kind.__name__}") from error
    schema: Schema = {"type": "object"}
    if documentation.description:
        schema["description"] = documentation.description
    schema["properties"] = properties
    schema["required"] = [name for name, field in fields.items() if field.is_required]
    return schema if _is_open(kind, parameters) else {**schema, "additionalProperties": False}


class _Maker:
    """Makes instances of a class of objects."""

    def __init__(self, build: Build, annotation: Any) -> None:
        self._build = build
        self._annotation = annotation
        self._class = origin_of(annotation)
        self._parameters = _parameters(self._class)
        self._is_open = _is_open(self._class, self._parameters)

    @cached_property
    def _fields(self) -> dict[str, _Field]:
        return _fields_of(self._annotation, self._parameters, resolved_or_any)

    @cached_property
    def _required(self) -> list[str]:
        return [name for name, field in self._fields.items() if field.is_required]

    @cached_property
    def _converters(self) -> dict[str, Convert]:
        build = self._build
        return {
            name: optional(build(each.hint)) if each.default is None else build(each.hint)
            for name, each in self._fields.items()
        }

    def instance(self, value: Any) -> Any:
        return (
            value if isinstance(value, self._class) else call_type(self._class, **self.keys(value))
        )

    def from_array(self, value: Any) -> Any:
        """Convert an array of the fields in their order, or what ``instance`` does."""
        if type(value) not in {list, tuple}:
            return self.instance(value)
        names = [*self._fields]
        if len(value) > len(names):
            message = f"must have at most {len(names)} items, not {len(value)}"
            raise ConversionError([((), message)])
        try:
            return self.instance(dict(zip(names, value, strict=False)))
        except ConversionError as error:
            # The caller gave an array, so the places are indices and not names.
            places = {name: index for index, name in enumerate(names)}
            raise ConversionError(
                ((*(places[str(part)] for part in path[:1]), *path[1:]), words)
                for path, words in error.found
            ) from error

    def dictionary(self, value: Any) -> dict[str, Any]:
        """Convert the listed keys of an object; all others stay as they are."""
        found = self.keys(value)
        ignore(len(found.keys() - self._fields))
        return found

    def keys(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, MAPPINGS):
            raise mismatch(value, "an object")
        problems: list[Problem] = [
            ((name,), "is required") for name in self._required if name not in value
        ]
        if not self._is_open and not value.keys() <= self._fields.keys():
            unknown = [name for name in value if name not in self._fields]
            problems += [((name,), partial(self._unknown, name, value)) for name in unknown]
        converters = self._converters
        parts = [(name, converters.get(name, identity), each) for name, each in value.items()]
        return dict(zip(value, convert_all(parts, problems), strict=True))

    def _unknown(self, name: str, value: Any) -> str:
        near = nearest(str(name), self._fields.keys() - value)
        return f"is not a field of {self._class.__name__}{as_hint(near)}"


class _Class(Kind):
    """Classes that are made of an object; ``converter`` finds how, in what makes instances."""

    is_shared = True

    def __init__(self, converter: Callable[[_Maker], Convert]) -> None:
        self._converter = converter

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        # A generic class has the names of its arguments in its own: Box_date.
        arguments = (getattr(each, "__name__", str(each)) for each in typing.get_args(annotation))
        title = "_".join([origin_of(annotation).__name__, *arguments])
        return builder.define(annotation, title, partial(_schema, builder, annotation))

    def convert(self, build: Build, annotation: Any) -> Convert:
        return self._converter(_Maker(build, annotation))


DATACLASS = _Class(attrgetter("instance"))
NAMED_TUPLE = _Class(attrgetter("from_array"))
TYPED_DICT = _Class(attrgetter("dictionary"))
