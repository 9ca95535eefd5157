from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given

from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_with
from sovl_tools.schema.problem import describe, explained, explanations, place
from tests.schema.strategies import moderate, schemas, values
from tests.tables import check_each

each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
NULL = {"type": "null"}


def an_object(*required: str, **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": list(required)} if required else schema


def closed(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "additionalProperties": False}


def array(items: dict[str, Any], **keywords: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **keywords}


def any_of(*branches: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(branches)}


CIRCLE = an_object("kind", "radius", kind={"const": "circle"}, radius=NUMBER)
SQUARE = an_object("kind", "side", kind={"const": "square"}, side=NUMBER)
POINTS = array(an_object("x", "y", x=NUMBER, y=NUMBER), minItems=3)
POLYGON = an_object("kind", "points", kind={"const": "polygon"}, points=POINTS)
SHAPE = {"oneOf": [CIRCLE, SQUARE, POLYGON]}
EMAIL = an_object("type", "address", type={"type": "string", "enum": ["email"]}, address=TEXT)
PHONE = an_object("type", "number", type={"type": "string", "enum": ["sms", "call"]}, number=TEXT)
MESSAGE = any_of(EMAIL, PHONE)
TEST = an_object("field", "op", "value", field=TEXT, op={"enum": ["=", "<"]}, value={})
ALL = an_object("and", **{"and": array({"$ref": "#/$defs/condition"})})
CONDITION = {"$ref": "#/$defs/condition", "$defs": {"condition": any_of(ALL, TEST)}}
SIZE = any_of({"enum": ["small", "large"]}, {"type": "integer", "minimum": 1})
PLACE = any_of({"required": ["city"]}, {"required": ["lat", "lon"]})
KINDS = 'kind must be one of "circle", "square", "polygon"'


class Case(NamedTuple):
    """A value that matches no branch of a union, and how the union is explained."""

    schema: dict[str, Any]
    value: Any
    words: list[str]


CASES = {
    "the discriminator decides": Case(SHAPE, {"kind": "square", "radius": "x"}, ["lacks 'side'"]),
    "the discriminator decides against deeper branches": Case(
        SHAPE,
        {"kind": "circle", "radius": "r", "points": [{"x": "a"}]},
        ['radius must be a number, not the string "r"'],
    ),
    "everything wrong in a branch is told": Case(
        SHAPE,
        {"kind": "polygon", "points": [{"x": 1, "y": 2}, {"x": "a"}]},
        [
            "points must have at least 3 items, not 2 items",
            "points[1] lacks 'y'",
            'points[1].x must be a number, not the string "a"',
        ],
    ),
    "no branch has the discriminator's value": Case(
        SHAPE,
        {"kind": "sqare", "side": "x"},
        [f'{KINDS}, not "sqare"; did you mean "square"?'],
    ),
    "the discriminator is of another type": Case(SHAPE, {"kind": 5}, [f"{KINDS}, not 5"]),
    "the discriminator is missing": Case(SHAPE, {"side": 3}, ["lacks 'kind'"]),
    "no branch is of the value's type": Case(
        SHAPE, "circle", ['must be an object, not the string "circle"']
    ),
    "unions lie within unions": Case(
        CONDITION,
        {"and": [{"and": {"field": "a"}}, 5]},
        [
            "and[0].and must be an array, not an object",
            "and[1] must be an object, not the integer 5",
        ],
    ),
    "however much is wrong below one key counts once": Case(
        CONDITION,
        {"and": [5] * 10},
        [f"and[{index}] must be an object, not the integer 5" for index in range(10)],
    ),
    "a superfluous key speaks against a branch": Case(
        any_of(closed(an_object(a=INTEGER)), closed(an_object(b=INTEGER))),
        {"b": "x"},
        ['b must be an integer, not the string "x"'],
    ),
    "optional": Case(
        any_of({"type": "integer", "minimum": 1}, NULL), 0, ["must be at least 1, not 0"]
    ),
    "an optional union": Case(
        any_of(NULL, SHAPE),
        {"kind": "circle", "radius": "r"},
        ['radius must be a number, not the string "r"'],
    ),
    "a union of values and types, and neither": Case(
        SIZE, None, ['must be "small", "large" or an integer, not null']
    ),
    "a union of values and types, and nearly a value": Case(
        SIZE, "smal", ['must be one of "small", "large", not "smal"; did you mean "small"?']
    ),
    "either is missing": Case(PLACE, {}, ["lacks 'city' or 'lat' and 'lon'"]),
    "a union next to missing keys": Case(
        {"allOf": [SHAPE, {"required": ["color"]}]},
        {"kind": "circle"},
        ["lacks 'radius', 'color'"],
    ),
}


def told(engine: ModuleType, schema: Any, value: Any) -> list[str]:
    problems = compile_with(engine, schema).problems(value)
    return [f"{place(each.path)} {describe(each)}".strip() for each in explained(problems)]


@each_engine
@check_each("case", CASES.values(), ids=CASES)
def test_a_union_is_explained_by_the_branch_that_fits_best(engine: ModuleType, case: Case) -> None:
    assert told(engine, case.schema, case.value) == case.words


@each_engine
@moderate
@given(schema=schemas, value=values)
def test_whatever_is_wrong_is_explained(engine: ModuleType, schema: Any, value: Any) -> None:
    problems = compile_with(engine, schema).problems(value)
    found = explained(problems)
    assert bool(found) == bool(problems)
    assert explained(found) == found
    assert {(each.path, each.keyword) for each in problems if not each.branches} <= {
        (each.path, each.keyword) for each in found
    } | {(each.path, "type") for each in found}
    lines = explanations(problems, lambda _: ())
    assert len(lines) >= len(found)
    assert all(words for _, words in lines)
