"""Classes that are made of an object: dataclasses, NamedTuples, TypedDicts."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import typing
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from sovl_tools.annotations.annotated import EMPTY, property_of
from sovl_tools.annotations.docstrings import class_documentation
from sovl_tools.annotations.fields import hints_of, is_required
from sovl_tools.annotations.form import Builder, Form, InexpressibleError, UnwritableError, native
from sovl_tools.annotations.hints import evaluated, names_in, resolved
from sovl_tools.model.document import JSON


class _Field(NamedTuple):
    """A key of the object; ``default`` is EMPTY if there is none."""

    hint: Any
    is_required: bool
    default: Any = EMPTY


def instance(builder: Builder, annotation: Any) -> Form:
    """Return the form of a dataclass or a NamedTuple: an object of what the class takes."""
    make = partial(_instance, builder, annotation)
    return builder.define(annotation, _title(annotation), make)


def typed_dict(builder: Builder, annotation: Any) -> Form:
    """Return the form of a TypedDict, which may have further keys."""
    make = partial(_dictionary, builder, annotation)
    return builder.define(annotation, _title(annotation), make)


def _title(annotation: Any) -> str:
    """Return a class's name, and those of its arguments: ``Box_date``."""
    kind = typing.get_origin(annotation) or annotation
    arguments = typing.get_args(annotation)
    return "_".join([kind.__name__, *(getattr(each, "__name__", str(each)) for each in arguments)])


def _instance(builder: Builder, annotation: Any) -> Form:
    kind = typing.get_origin(annotation) or annotation
    parameters = _parameters(kind)
    is_open = any(each.kind is each.VAR_KEYWORD for each in parameters)
    fields = _fields(annotation, parameters)
    schema, forms = _object(builder, kind, fields)
    if not is_open:
        schema["additionalProperties"] = False
    stored = {each.name for each in dataclasses.fields(kind)} if _is_dataclass(kind) else fields

    def write(value: Any) -> JSON:
        if type(value) is not kind or is_open or not forms.keys() <= {*stored}:
            raise UnwritableError
        written = {name: form.write(getattr(value, name)) for name, form in forms.items()}
        made = kind(**{name: copy.deepcopy(getattr(value, name)) for name in forms})
        if made != value or _state(made, stored) != _state(value, stored):
            raise UnwritableError
        return written

    return Form(schema, write)


def _state(value: Any, names: Iterable[str]) -> tuple[Any, ...]:
    """Return all that is stored in an instance, which its class may not look at to compare it."""
    return getattr(value, "__dict__", None), *(getattr(value, name) for name in names)


def _is_dataclass(kind: type) -> bool:
    return dataclasses.is_dataclass(kind)


def _parameters(kind: Any) -> list[inspect.Parameter]:
    try:
        signature = evaluated(inspect.signature, kind, "annotation_format")
    except (ValueError, TypeError) as error:
        reason = f"it can't be told what {kind.__name__} takes"
        raise InexpressibleError(reason, "give it an __init__ with annotations") from error
    return [*signature.parameters.values()]


def _fields(annotation: Any, parameters: list[inspect.Parameter]) -> dict[str, _Field]:
    """Return the parameters that an object's keys can be given for."""
    hints, kind = hints_of(annotation), typing.get_origin(annotation) or annotation
    found = {}
    for each in parameters:
        is_needed = each.default is EMPTY
        if each.kind is each.POSITIONAL_ONLY and is_needed:
            reason = f"the parameter {each.name!r} of {kind.__name__} is positional-only"
            raise InexpressibleError(reason, "remove the '/'")
        if each.kind in {each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY}:
            own = Any if each.annotation is EMPTY else resolved(each.annotation, names_in(kind))
            found[each.name] = _Field(hints.get(each.name, own), is_needed, each.default)
    return found


def _dictionary(builder: Builder, annotation: Any) -> Form:
    kind = typing.get_origin(annotation) or annotation
    fields = {
        name: _Field(hint, is_required(kind, name, hint))
        for name, hint in hints_of(annotation).items()
    }
    schema, forms = _object(builder, kind, fields)
    required = {*schema["required"]}

    def write(value: Any) -> JSON:
        if type(value) is not dict or not required <= value.keys():
            raise UnwritableError
        others = native({name: each for name, each in value.items() if name not in forms})
        known = {name: form.write(value[name]) for name, form in forms.items() if name in value}
        return {**known, **others}

    return Form(schema, write)


def _object(
    builder: Builder, kind: type, fields: Mapping[str, _Field]
) -> tuple[dict[str, JSON], dict[str, Form]]:
    """Return the schema of an object of those fields, and their forms."""
    documentation = class_documentation(kind)
    forms = {}
    for name, field in fields.items():
        text = documentation.parameters.get(name)
        try:
            forms[name] = property_of(builder, field.hint, default=field.default, text=text)
        except InexpressibleError as error:
            raise error.within(f"the field {name!r} of {kind.__name__}") from error
    required = [name for name, field in fields.items() if field.is_required]
    properties = {name: form.schema for name, form in forms.items()}
    schema: dict[str, JSON] = {"type": "object"}
    if documentation.description:
        schema["description"] = documentation.description
    return {**schema, "properties": properties, "required": required}, forms
