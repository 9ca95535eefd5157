"""Schemas and values for property tests."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

_SHARE = float(os.environ.get("EXAMPLES", "0.03"))


def examples(count: int) -> int:
    """Return how many examples to try of so many; ``EXAMPLES=1`` tries them all."""
    return max(1, round(count * _SHARE))


moderate = settings(
    max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

NAMES = ("alpha", "beta", "gamma", "a b")
TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
PATTERNS = ("^a", "[0-9]+$", "^[a-z]*$", "b")

names = st.sampled_from(NAMES)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.text("ab0", max_size=4)
numbers = st.integers(-9, 9) | st.floats(-9, 9).map(lambda number: round(number, 2))
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names | texts, inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value."""

_small = st.integers(0, 4)
_scalar_keywords: dict[str, st.SearchStrategy[Any]] = {
    "enum": st.lists(texts | scalars, min_size=1, max_size=3),
    "minimum": numbers,
    "maximum": numbers,
    "minLength": _small,
    "maxLength": _small,
    "pattern": st.sampled_from(PATTERNS),
    "description": st.just("What it is."),
}


def _containers(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "items": inner,
        "properties": st.dictionaries(names, inner, max_size=3),
        "required": st.lists(names, unique=True, max_size=2),
    }


def _wider(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {
        "const": scalars,
        "exclusiveMinimum": numbers,
        "exclusiveMaximum": numbers,
        "multipleOf": st.integers(1, 4),
        "minItems": _small,
        "maxItems": _small,
        "uniqueItems": st.booleans(),
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "contains": inner,
        "minProperties": _small,
        "maxProperties": _small,
        "additionalProperties": inner,
        "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=1),
        "propertyNames": inner,
        "dependentRequired": st.dictionaries(names, st.lists(names, unique=True), max_size=1),
        "dependentSchemas": st.dictionaries(names, inner, max_size=1),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=2),
        "oneOf": st.lists(inner, min_size=1, max_size=2),
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
    }


_types = st.sampled_from(TYPES)
_type_lists = st.lists(_types, min_size=1, max_size=3, unique=True)


@st.composite
def _schemas(
    draw: st.DrawFn, keywords: dict[str, st.SearchStrategy[Any]], *, typed: bool
) -> dict[str, Any]:
    """Return a schema with a few of the keywords, which need not suit its type."""
    chosen = draw(st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True))
    schema = {keyword: draw(keywords[keyword]) for keyword in chosen}
    if typed or draw(st.booleans()):
        schema["type"] = draw(_types if typed else _types | _type_lists)
    return schema


plain_schemas = st.recursive(
    _schemas(_scalar_keywords, typed=True),
    lambda inner: _schemas(_scalar_keywords | _containers(inner), typed=True),
    max_leaves=4,
)
"""Schemas of the keywords that tools mostly use."""

schemas = st.recursive(
    st.booleans() | _schemas(_scalar_keywords, typed=False),
    lambda inner: _schemas(_scalar_keywords | _containers(inner) | _wider(inner), typed=False),
    max_leaves=4,
)
"""Schemas of nearly all keywords."""


def likely(schema: Any) -> st.SearchStrategy[Any]:
    """Return values that mostly match a plain schema, and now and then any other."""
    return st.one_of(fitting(schema, schema), fitting(schema, schema), values)


def fitting(schema: Any, root: Any) -> st.SearchStrategy[Any]:
    """Return values that mostly match a schema; ``root`` has the definitions."""
    if not isinstance(schema, dict):
        return values
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return st.deferred(lambda: fitting(root["$defs"][name], root))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    if "anyOf" in schema:
        return st.one_of([fitting(each, root) for each in schema["anyOf"]])
    kinds = schema.get("type", [])
    names = [kinds] if isinstance(kinds, str) else kinds
    return st.one_of([_BY_TYPE[kind](schema, root) for kind in names]) if names else values


def _text(schema: dict[str, Any], _: Any) -> st.SearchStrategy[str]:
    if schema.get("format") == "date":
        return st.dates().map(str)
    low = schema.get("minLength", 0)
    alphabet = "a0b" if "pattern" in schema else "aß0\U0001f600 "
    return st.text(alphabet, min_size=low, max_size=max(low, schema.get("maxLength", 4)))


def _number(schema: dict[str, Any], _: Any) -> st.SearchStrategy[float]:
    bounds = [schema[key] for key in ("minimum", "maximum") if key in schema]
    nearby = [bound + step for bound in bounds for step in (-1, 0, 0.5, 1)]
    return st.sampled_from(nearby) | numbers if nearby else numbers


def _integer(schema: dict[str, Any], root: Any) -> st.SearchStrategy[float]:
    return _number(schema, root).filter(lambda number: number == int(number))


def _array(schema: dict[str, Any], root: Any) -> st.SearchStrategy[list[Any]]:
    if "prefixItems" in schema:
        return st.tuples(*[fitting(each, root) for each in schema["prefixItems"]]).map(list)
    return st.lists(fitting(schema.get("items", True), root), max_size=3)


def _object(schema: dict[str, Any], root: Any) -> st.SearchStrategy[dict[str, Any]]:
    known = {name: fitting(each, root) for name, each in schema.get("properties", {}).items()}
    needed = {name: known.get(name, values) for name in schema.get("required", ())}
    rest = {name: known[name] for name in known.keys() - needed.keys()}
    listed = st.fixed_dictionaries(needed, optional=rest)
    others = schema.get("additionalProperties", False)
    if others is False:
        return listed
    more = st.dictionaries(names | st.dates().map(str), fitting(others, root), max_size=2)
    return st.builds(lambda first, second: {**second, **first}, listed, more)


_BY_TYPE: dict[str, Any] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": lambda *_: st.booleans(),
    "null": lambda *_: st.none(),
    "array": _array,
    "object": _object,
}
