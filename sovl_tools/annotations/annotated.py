"""What ``Annotated`` adds to a type: descriptions, constraints, rules of pydantic.

Constraints are those of the package annotated-types, known by their names without importing it.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from sovl_tools.annotations.hints import description_of
from sovl_tools.annotations.kind import (
    Build,
    Builder,
    Convert,
    InexpressibleError,
    Kind,
    Schema,
)
from sovl_tools.annotations.pydantic_models import MODEL, has_rules, is_field
from sovl_tools.annotations.scalars import scalar_of
from sovl_tools.model.document import JSON


class _Annotated(Kind):
    """Types that ``Annotated`` says more of."""

    def describe(self, builder: Builder, annotation: Any) -> Schema:
        inner, *metadata = typing.get_args(annotation)
        schema = _describe_by_rules(builder, annotation)
        schema = schema or _add_constraints(builder, builder.build(inner), metadata)
        for each in filter(is_field, metadata):
            given = {"title": each.title, "examples": each.examples}
            schema |= {key: value for key, value in given.items() if value is not None}
        text = description_of(annotation)
        if text is not None:
            schema["description"] = text  # in place: it may be a reference that is completed later
        return schema

    def convert(self, build: Build, annotation: Any) -> Convert:
        if has_rules(annotation):
            with suppress(Exception):
                return MODEL.convert(build, annotation)
        return build(typing.get_args(annotation)[0])


ANNOTATED = _Annotated()


def _describe_by_rules(builder: Builder, annotation: Any) -> Schema | None:
    """Return the schema of what pydantic makes by rules; None if it makes nothing of it."""
    if not has_rules(annotation):
        return None
    try:
        schema = MODEL.describe(builder, annotation)
    except InexpressibleError as error:
        if error.is_open:
            raise
        return None
    members = schema.get("anyOf", ())
    numbers = [each for each in members if each.get("type") == "number" and len(each) > 1]
    if getattr(annotation.__origin__, "__module__", "") == "decimal" and len(numbers) == 1:
        # A number with bounds, or text: only the number, because bounds say nothing about text.
        return {**numbers[0], **{key: each for key, each in schema.items() if key != "anyOf"}}
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


def _add_constraints(builder: Builder, schema: Schema, metadata: Iterable[Any]) -> Schema:
    """Return the schema with the constraints in the metadata; others than constraints say nothing.

    The author is warned of one that JSON Schema has no keyword for, or not for this type: nobody
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
                if schema.get(keyword, value) != value:  # both hold
                    schema.setdefault("allOf", []).append({keyword: value})
                else:
                    schema[keyword] = value
    return schema


def _is_constraint(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "annotated_types"


def limits_of(annotation: Any) -> Schema:
    """Return the constraints of what is one JSON value, as keywords; ``{}`` of anything else."""
    inner, *metadata = typing.get_args(annotation)
    scalar = scalar_of(inner)
    schema = {} if scalar is None else dict(scalar.schema)
    constraints = filter(_is_constraint, metadata) if schema else ()
    return {key: value for each in constraints for key, value in _keywords(each, schema).items()}


def _keywords(constraint: Any, schema: Schema) -> dict[str, JSON]:
    """Return what a constraint is in JSON Schema, for values of the types in the schema."""
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
