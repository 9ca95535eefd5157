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
    InexpressibleError,
    Kind,
    Schema,
    types_of,
)
from sovl_tools.annotations.pydantic_models import MODEL, described, has_rules
from sovl_tools.model.document import JSON

EMPTY = inspect.Parameter.empty
"""In the place of an annotation or a default that is not there."""


def _describe(builder: Builder, annotation: Any) -> Schema:
    inner, *metadata = typing.get_args(annotation)
    schema = _ruled(builder, annotation) or _constrained(builder, builder.build(inner), metadata)
    for each in metadata:
        schema.update(described(each))
    text = text_of(annotation)
    if text is not None:
        schema["description"] = text
    return schema


def _ruled(builder: Builder, annotation: Any) -> Schema | None:
    """Return the schema of what pydantic makes by rules; None if it makes nothing of it."""
    if has_rules(annotation):
        try:
            schema = MODEL.describe(builder, annotation)
            is_exact = getattr(annotation.__origin__, "__module__", "") == "decimal"
            return _ruled_number(schema) if is_exact else schema
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


def property_of(builder: Builder, hint: Any, *, default: Any, text: str | None) -> Schema:
    """Return the schema of a parameter or a field, with its description and its default.

    A default is left out if its JSON would not become it again.
    """
    schema = builder.build(hint)
    told = text_of(hint) or text
    if told:
        schema["description"] = told
    written = None if default is EMPTY else builder.default(hint, schema, default)
    if written is not None:
        schema["default"] = written
    return schema


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


def _constrained(builder: Builder, schema: Schema, metadata: Iterable[Any]) -> Schema:
    """Return the schema with the constraints in the metadata; others than constraints say nothing.

    One that JSON Schema has no keyword for, or not for this type, is told to the author: nobody
    checks it.
    """
    for each in metadata:
        if type(each).__module__.partition(".")[0] == "annotated_types":
            keywords = [*_bounds(each, schema), *_lengths(each, schema)]
            if not keywords and type(each).__name__ not in _WORDS:
                builder.warn(f"the constraint {each!r:.80} is not checked")
            for keyword, value in keywords:
                _limit(schema, keyword, value)
    return schema


def _bounds(constraint: Any, schema: Schema) -> Iterator[tuple[str, JSON]]:
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


def _lengths(constraint: Any, schema: Schema) -> Iterator[tuple[str, JSON]]:
    for attribute, keywords in _LENGTHS.items():
        length = getattr(constraint, attribute, None)
        for kind in sorted(types_of(schema) & keywords.keys()) if length else ():
            yield keywords[kind], length


def _limit(schema: Schema, keyword: str, value: Any) -> None:
    """Add a keyword to a schema; where it is there already, both hold."""
    if keyword in _BOUNDS.values():
        _narrow(schema, keyword, value)
    if schema.get(keyword, value) != value:
        schema.setdefault("allOf", []).append({keyword: value})
    else:
        schema[keyword] = value


def _narrow(schema: Schema, keyword: str, value: float) -> None:
    """Leave of a number that may be text the number alone: bounds say nothing about text.

    A wider bound of the type's own, that of durations, makes room for the narrower one.
    """
    for each in schema.get("anyOf", ()):
        _narrow(each, keyword, value)
    if schema.get("type") == ["number", "string"]:
        schema["type"] = "number"
        if keyword in schema and abs(value) <= abs(schema[keyword]):
            del schema[keyword]
        schema.pop("pattern", schema.pop("format", None))


def _ruled_number(schema: Schema) -> Schema:
    """Return what pydantic says of a Decimal with bounds as the number alone, for that reason."""
    members = schema.get("anyOf", ())
    numbers = [each for each in members if each.get("type") == "number" and len(each) > 1]
    others = {key: each for key, each in schema.items() if key != "anyOf"}
    return {**numbers[0], **others} if len(numbers) == 1 else schema
