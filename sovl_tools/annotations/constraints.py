"""Constraints of the package annotated-types, known by their names without importing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from sovl_tools.annotations.form import Builder, Form, UnwritableError, Write, types_of
from sovl_tools.model.document import JSON

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


def constrained(builder: Builder, form: Form, metadata: Iterable[Any]) -> Form:
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


def _limited(form: Form, keyword: str, value: JSON) -> Form:
    """Return the form with a keyword more; where it is there already, both hold."""
    schema = form.schema
    if schema.get(keyword, value) != value:
        schema.setdefault("allOf", []).append({keyword: value})
    else:
        schema[keyword] = value
    is_bound = keyword in _BOUNDS.values()
    return Form(schema, _numeric(form.write)) if is_bound and _narrow(schema) else form


def _narrow(schema: dict[str, JSON]) -> bool:
    """Leave of a number that may be text the number alone: bounds say nothing about text."""
    found = [_narrow(each) for each in schema.get("anyOf", ())]
    if schema.get("type") == ["number", "string"]:
        schema["type"] = "number"
        return schema.pop("pattern", schema.pop("format", None)) is not None
    return any(found)


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
