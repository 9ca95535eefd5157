"""What ``Annotated`` adds to a type: descriptions, constraints, rules of pydantic."""

from __future__ import annotations

import inspect
import typing
from contextlib import suppress
from typing import Any

from sovl_tools.annotations import pydantic_types
from sovl_tools.annotations.constraints import constrained
from sovl_tools.annotations.fields import QUALIFIERS
from sovl_tools.annotations.form import Builder, Form, InexpressibleError
from sovl_tools.model.document import JSON

EMPTY = inspect.Parameter.empty
"""In the place of an annotation or a default that is not there."""


def annotated(builder: Builder, annotation: Any) -> Form:
    """Return the form of an ``Annotated``."""
    inner, *metadata = typing.get_args(annotation)
    form = _ruled(builder, annotation) or constrained(builder, builder.build(inner), metadata)
    for each in metadata:
        form.schema.update(pydantic_types.described(each))
    text = text_of(annotation)
    if text is not None:
        form.schema["description"] = text
    return form


def _ruled(builder: Builder, annotation: Any) -> Form | None:
    """Return the form of what pydantic makes by rules; None if it makes nothing of it."""
    if pydantic_types.has_rules(annotation):
        try:
            return pydantic_types.model(builder, annotation)
        except InexpressibleError as error:
            if error.is_open:
                raise
    return None


def text_of(annotation: Any) -> str | None:
    """Return the description that an annotation itself gives: the last text in ``Annotated``."""
    if type(annotation) is type:
        return None
    while typing.get_origin(annotation) in QUALIFIERS:
        [annotation] = typing.get_args(annotation)
    if typing.get_origin(annotation) is not typing.Annotated:
        return None
    texts = [_text(each) for each in annotation.__metadata__]
    return next((text for text in reversed(texts) if text), None)


def _text(metadata: Any) -> str | None:
    if isinstance(metadata, str):
        return metadata
    name = _ATTRIBUTES.get(type(metadata).__name__, "")
    text = getattr(metadata, name, None)
    return text if isinstance(text, str) else None


_ATTRIBUTES = {
    "Doc": "documentation",
    "DocInfo": "documentation",
    "FieldInfo": "description",
}


def property_of(builder: Builder, hint: Any, *, default: Any, text: str | None) -> Form:
    """Return the form of a parameter or a field, with its description and its default.

    A default is left out if its JSON would not become it again.
    """
    form = builder.build(hint)
    told = text_of(hint) or text
    if told:
        form.schema["description"] = told
    written = None if default is EMPTY else _written(form, default)
    if written is not None:
        form.schema["default"] = written
    return form


def _written(form: Form, default: Any) -> JSON:
    """Return a default as JSON; None if it is that, or can't be written."""
    with suppress(Exception):  # UnwritableError, or what its class raises
        return form.write(default)
    return None
