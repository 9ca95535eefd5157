"""Arguments that are narrowed without looking for what is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from sovl_tools.formats import anthropic, openai
from sovl_tools.formats.dialect import Dialect
from sovl_tools.formats.flatness import flat
from sovl_tools.formats.measuring import size_of
from sovl_tools.formats.narrowing import narrowed
from tests.formats.schemas import moderate, strict_parameters
from tests.validation.strategies import examples

DIALECTS = {"openai": openai.DIALECT, "anthropic": anthropic.DIALECT}
every_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))

TEXT = {"type": "string", "description": "What it is."}
words = st.fixed_dictionaries({}, optional={"description": st.text(), "title": st.text()})
choices = st.lists(st.text(max_size=70), min_size=1, max_size=17, unique=True)
constraints = st.fixed_dictionaries(
    {},
    optional={
        "enum": choices | st.just([1, 2]),
        "pattern": st.sampled_from(["^a$", "(?=a)b"]),
        "format": st.sampled_from(["date", "uri", "regex"]),
        "minimum": st.integers(),
        "multipleOf": st.just(2),
        "default": st.none() | st.text(),
    },
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "null"])
scalars = st.builds(lambda *parts: {"type": parts[0], **parts[1]}, kinds, words) | st.builds(
    lambda *parts: {"type": parts[0], **parts[1], **parts[2]}, kinds, words, constraints
)
lists = st.builds(lambda items, said: {"type": "array", "items": items, **said}, scalars, words)


@st.composite
def nearly_flat(draw: st.DrawFn) -> dict[str, Any]:
    properties = draw(st.dictionaries(st.sampled_from("abcd_-é"), scalars | lists, max_size=5))
    required = draw(st.lists(st.sampled_from([*properties, "a"]), unique=True, max_size=3))
    others: Any = draw(st.sampled_from([{}, {}, {"additionalProperties": False}]))
    return {"type": "object", "properties": properties, "required": required, **others}


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@every_dialect
@settings(moderate, max_examples=examples(1000))
@given(parameters=nearly_flat() | strict_parameters())
def test_what_is_flat_is_what_the_long_way_makes(
    dialect: Dialect, parameters: dict[str, Any]
) -> None:
    found = flat(parameters, dialect)
    event("flat" if found else "not flat")
    assert found is None or narrowed(parameters, dialect) == (found, ())


@every_dialect
@pytest.mark.parametrize(
    "schema",
    [
        of(),
        of(a=TEXT, b={"type": "integer", "title": "B"}, c={"type": "boolean"}),
        of(a=TEXT) | {"additionalProperties": False, "required": ["a"], "description": "All."},
        of(a={"type": "array", "items": TEXT, "description": "Some."}),
        of(a={"type": "string", "enum": ["x", "y"]}, b={"type": "string", "format": "date"}),
        of(**{f"{'a' * 60}{number}": TEXT for number in range(64)}),
    ],
)
def test_scalars_choices_and_lists_are_flat(schema: dict[str, Any], dialect: Dialect) -> None:
    found = flat(schema, dialect)
    assert found == narrowed(schema, dialect).schema
    assert found is not None
    assert all(found["properties"][name] is not each for name, each in schema["properties"].items())


@every_dialect
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        of(a=TEXT) | {"additionalProperties": {}},
        of(a=TEXT) | {"additionalProperties": True},
        of(a=TEXT) | {"required": ["b"]},
        of(a=TEXT) | {"$defs": {}},
        of(a=True),
        of(a={}),
        of(a={"type": "null"}),
        of(a={"type": ["string", "null"]}),
        of(a=of(b=TEXT)),
        of(a={"type": "array"}),
        of(a={"type": "array", "items": True}),
        of(a={"type": "array", "items": {"type": "array", "items": TEXT}}),
        of(a={"type": "array", "items": TEXT, "maxItems": 0}),
        of(a={"type": "string", "minLength": 1}),
        of(a={"type": "string", "format": "regex"}),
        of(a={"type": "integer", "pattern": "a"}),
        of(a={"type": "string", "enum": [1]}),
        of(a={"type": "string", "enum": []}),
        of(a={"type": "string", "enum": ["x" * 65]}),
        of(a={"type": "string", "enum": [str(number) for number in range(16)]}),
        of(**{"a" * 65: TEXT}),
        of(**{"a-b": TEXT}),
        of(é=TEXT),
        of(**{f"a{number}": TEXT for number in range(65)}),
    ],
)
def test_all_else_is_not(schema: dict[str, Any], dialect: Dialect) -> None:
    assert flat(schema, dialect) is None


def test_bounds_are_kept_by_those_who_know_them() -> None:
    schema = of(a={"type": "integer", "minimum": 1})
    assert flat(schema, openai.DIALECT) == schema | {"required": [], "additionalProperties": False}
    assert flat(schema, anthropic.DIALECT) is None


def test_texts_that_differ_in_case_alone_are_looked_at() -> None:
    schema = of(a={"type": "string", "enum": ["a", "A"]})
    assert flat(schema, openai.DIALECT)
    assert flat(schema, anthropic.DIALECT) is None


def test_the_largest_flat_schema_is_within_every_limit() -> None:
    choice = {"type": "string", "enum": [f"{number:064}" for number in range(15)]}
    found = flat(of(**{f"a{number:063}": choice for number in range(64)}), openai.DIALECT)
    assert found is not None
    size = size_of(found)
    assert (size.properties, size.values, size.depth) == (64, 960, 1)
    assert size.characters <= openai.MOST.characters
