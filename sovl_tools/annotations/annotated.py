"""What ``Annotated`` adds to a type: descriptions, constraints, rules of pydantic.

Constraints are those of the package annotated-types, known by their names without importing it.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from sovl_tools.annotations.fields import QUALIFIERS
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    Form,
    InexpressibleError,
    Kind,
    UnwritableError,
    Write,
    types_of,
)
from sovl_tools.annotations.pydantic_models import MODEL, described, has_rules
from sovl_tools.model.document import JSON

EMPTY = inspect.Parameter.empty
"""In the place of an annotation or a default that is not there."""


def _describe(builder: Builder, annotation: Any) -> Form:
    inner, *metadata = typing.get_args(annotation)
    form = _ruled(builder, annotation) or _constrained(builder, builder.build(inner), metadata)
    for each in metadata:
        form.schema.update(described(each))
    text = text_of(annotation)
    if text is not None:
        form.schema["description"] = text
    return form


def _ruled(builder: Builder, annotation: Any) -> Form | None:
    """Return the form of what pydantic makes by rules; None if it makes nothing of it."""
    if has_rules(annotation):
        try:
            form = MODEL.describe(builder, annotation)
            is_exact = getattr(annotation.__origin__, "__module__", "") == "decimal"
            return _ruled_number(form) if is_exact else form
        except InexpressibleError as error:
            if error.is_open:
                raise
    return None


def _convert(build: Build, annotation: Any) -> Convert:
    if has_rules(annotation):
        with suppress(Exception):
            return MODEL.convert(build, annotation)
    return build(typing.get_args(annotation)[0])


ANNOTATED = Kind(_describe, _convert)


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
_NUMERIC = {"integer", "number"}
_WORDS = {"Unit", "DocInfo"}


def _constrained(builder: Builder, form: Form, metadata: Iterable[Any]) -> Form:
    """Return the form with the constraints in the metadata; others than constraints say nothing.

    One that JSON Schema has no keyword for, or not for this type, is told to the author: nobody
    checks it.
    """
    for each in metadata:
        if type(each).__module__.partition(".")[0] == "annotated_types":
            keywords = [*_bounds(each, form.schema), *_lengths(each, form.schema)]
            if not keywords and type(each).__name__ not in _WORDS:
                builder.warn(f"the constraint {each!r:.80} is not checked")
            for keyword, value in keywords:
                form = _limited(form, keyword, value)
    return form


def _bounds(constraint: Any, schema: dict[str, JSON]) -> Iterator[tuple[str, JSON]]:
    is_numeric = not _NUMERIC.isdisjoint(types_of(schema))
    for attribute, keyword in _BOUNDS.items() if is_numeric else ():
        number = _number(getattr(constraint, attribute, None))
        if number is not None:
            yield keyword, number


def _number(value: Any) -> float | None:
    """Return a bound as a JSON number; None if it is none, as a date."""
    if type(value) is int or value is None or isinstance(value, str):
        return value if type(value) is int else None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number - number == 0 else None


def _lengths(constraint: Any, schema: dict[str, JSON]) -> Iterator[tuple[str, JSON]]:
    for attribute, keywords in _LENGTHS.items():
        length = getattr(constraint, attribute, None)
        for kind in sorted(types_of(schema) & keywords.keys()) if length else ():
            yield keywords[kind], length


def _limited(form: Form, keyword: str, value: Any) -> Form:
    """Return the form with a keyword more; where it is there already, both hold."""
    schema, is_bound = form.schema, keyword in _BOUNDS.values()
    is_narrowed = is_bound and _narrow(schema, keyword, value)
    if schema.get(keyword, value) != value:
        schema.setdefault("allOf", []).append({keyword: value})
    else:
        schema[keyword] = value
    return Form(schema, _numeric(form.write)) if is_narrowed else form


def _narrow(schema: dict[str, JSON], keyword: str, value: float) -> bool:
    """Leave of a number that may be text the number alone: bounds say nothing about text.

    A wider bound of the type's own, that of durations, makes room for the narrower one.
    """
    found = [_narrow(each, keyword, value) for each in schema.get("anyOf", ())]
    if schema.get("type") == ["number", "string"]:
        schema["type"] = "number"
        if keyword in schema and abs(value) <= abs(schema[keyword]):
            del schema[keyword]
        return schema.pop("pattern", schema.pop("format", None)) is not None
    return any(found)


def _ruled_number(form: Form) -> Form:
    """Return what pydantic says of a Decimal with bounds as the number alone, for that reason."""
    members = form.schema.get("anyOf", ())
    numbers = [each for each in members if each.get("type") == "number" and len(each) > 1]
    if len(numbers) != 1:
        return form
    schema = {key: each for key, each in form.schema.items() if key != "anyOf"}
    return Form({**numbers[0], **schema}, _numeric(form.write))


def _numeric(write: Write) -> Write:
    """Write as a number what would be written as its digits."""

    def number(value: Any) -> JSON:
        written = write(value)
        if not isinstance(written, str) or isinstance(value, str):
            return written
        if type(value)(repr(float(value))) != value:
            raise UnwritableError
        return float(value)

    return number
