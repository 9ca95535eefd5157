"""Types of which a value may be any."""

from __future__ import annotations

import typing
from collections.abc import Set as AbstractSet
from contextlib import suppress
from types import NoneType, UnionType
from typing import Any

from sovl_tools.annotations.form import Builder, Form, InexpressibleError, UnwritableError, types_of
from sovl_tools.annotations.hints import is_alias, value_of
from sovl_tools.model.document import JSON, kind


def union(builder: Builder, annotation: Any) -> Form:
    """Return the form of a union, however it is written; null is a member like others."""
    members = typing.get_args(annotation)
    forms = [builder.build(each) for each in members]
    schemas: list[JSON] = []
    for form in forms:
        if form.schema not in schemas:
            schemas.append(form.schema)
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}
    made = [form for member, form in zip(members, forms, strict=True) if member is not NoneType]
    kept = {each for member in members for each in _KEPT.get(id(member), ())}

    def write(value: Any) -> JSON:
        if value is None and len(made) < len(forms):
            return None
        written = made[0].write(value) if len(made) == 1 else _unmistakable(value, made, kept)
        if written is None:
            raise UnwritableError  # null is None here, and no member of an Enum
        return written

    return Form(schema, write)


_KEPT = {id(each): (each,) for each in (str, int, bool)} | {id(float): (float, int)}
"""Types of values that stay as they are if the type is a member, whatever the others are."""


def _unmistakable(value: Any, forms: list[Form], kept: AbstractSet[type]) -> JSON:
    """Write a value if its JSON can be that of one member only.

    The text of a date is a text as well.
    """
    for form in forms:
        with suppress(Exception):
            written = form.write(value)
            takers = [each for each in forms if _admits(each, written)]
            if len(takers) == 1 or (type(value) in kept and type(written) is type(value)):
                return written
    raise UnwritableError


def _admits(form: Form, written: JSON) -> bool:
    name = kind(written)
    return not types_of(form.schema).isdisjoint({name, "number"} if name == "integer" else {name})


def without_none(annotation: Any) -> tuple[Any, bool]:
    """Return ``T`` for ``T | None``, and whether it was that; ``Annotated`` stays around it.

    What an alias, a NewType or a type variable stands for counts, if its names are defined.
    """
    inner = None if type(annotation) is type else _not_none(annotation)
    return (annotation, False) if inner is None else (inner, True)


def _not_none(annotation: Any) -> Any:
    """Return ``T`` for ``T | None``; None for anything else."""
    if typing.get_origin(annotation) is typing.Annotated:
        inner = _not_none(annotation.__origin__)
        return None if inner is None else typing.Annotated[(inner, *annotation.__metadata__)]
    if is_alias(annotation) or isinstance(annotation, typing.NewType | typing.TypeVar):
        with suppress(InexpressibleError):
            return _not_none(value_of(annotation))
    members = [each for each in members_of(annotation) if each is not NoneType]
    if len(members) == len(members_of(annotation)) or not members:
        return None
    return typing.Union[tuple(members)]  # noqa: UP007 - there may be any number


def members_of(annotation: Any) -> tuple[Any, ...]:
    """Return the members of a union; the annotation alone if it is none."""
    is_union = typing.get_origin(annotation) in (typing.Union, UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)
