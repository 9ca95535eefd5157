from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import strategies as st

from sovl_tools.dispatch.repair import repair_arguments
from sovl_tools.model.document import MAX_DEPTH
from sovl_tools.model.result import Repair
from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_schema, compile_with
from tests.dispatch.toolbox import properties
from tests.schema.strategies import texts, values
from tests.tables import check_each

each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
BOOLEAN = {"type": "boolean"}
NULL = {"type": "null"}
INTEGERS = {"type": "array", "items": INTEGER}
CIRCLE = {**properties(kind={"const": "circle"}, size=NUMBER), "required": ["kind", "size"]}
SQUARE = {**properties(kind={"const": "square"}, size=INTEGER), "required": ["kind", "size"]}
SHAPE = {"oneOf": [CIRCLE, SQUARE]}
SWAPPED = {"anyOf": [properties(x=INTEGER, y=TEXT), properties(x=TEXT, y=INTEGER)]}
FLAG_OR_COUNT = {"anyOf": [properties(x=INTEGER), properties(x=BOOLEAN)]}


def any_of(*branches: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": list(branches)}


def typed(value: Any) -> str:
    """Return a string that tells 5 from 5.0 and 1 from true."""
    return json.dumps(value, sort_keys=True)


@each_engine
@check_each(
    ("schema", "value", "used"),
    [
        (INTEGER, "5", 5),
        (INTEGER, "007", 7),
        (INTEGER, "5.0", 5),
        (NUMBER, "2.5", 2.5),
        (NUMBER, "5.0", 5.0),
        (BOOLEAN, "true", True),
        (NULL, "null", None),
        (TEXT, 5, "5"),
        (INTEGERS, "[1, 2]", [1, 2]),
        (properties(a=INTEGER), '{"a": "1"}', {"a": 1}),
        (properties(a=INTEGERS), '{"a": "[\\"1\\"]"}', {"a": [1]}),
        ({"type": ["integer", "null"]}, "5", 5),
        ({"enum": ["Red", "green"]}, " RED", "Red"),
        ({"const": "on"}, "On", "on"),
        ({"enum": [1, 2]}, "2", 2),
        ({"enum": ["5", "6"]}, 5, "5"),
        (any_of(INTEGER, NULL), "5", 5),
        (any_of(INTEGER, NUMBER), "5.0", 5),
        (any_of(INTEGER, BOOLEAN), "true", True),
        (any_of({"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 1}), "6", 6),
        ({"allOf": [INTEGER, NUMBER]}, "5", 5),
        (SHAPE, {"kind": "Circle", "size": "5"}, {"kind": "circle", "size": 5}),
        (SHAPE, '{"kind": "square", "size": "5"}', {"kind": "square", "size": 5}),
        (FLAG_OR_COUNT, {"x": "5"}, {"x": 5}),
    ],
    ids=str,
)
def test_a_value_that_is_wrong_in_form_alone_is_repaired(
    engine: ModuleType, schema: dict[str, Any], value: Any, used: Any
) -> None:
    done = repair_arguments({"value": value}, compile_with(engine, properties(value=schema)))
    assert done is not None
    assert typed(done[0]) == typed({"value": used})
    assert done[1]


@each_engine
@check_each(
    ("schema", "value"),
    [
        (INTEGER, "five"),
        (INTEGER, ""),
        (INTEGER, "5.5"),
        (INTEGER, "9" * 65),
        (NUMBER, "9007199254740993.0"),
        (INTEGER, True),
        (NUMBER, "NaN"),
        (NUMBER, "1e999"),
        (BOOLEAN, "yes"),
        (BOOLEAN, 1),
        (TEXT, 5.5),
        (TEXT, ["a"]),
        (INTEGERS, 5),
        (INTEGERS, "1, 2"),
        (INTEGERS, "[1, 2"),
        (INTEGERS, '["a"]'),
        ({"type": "array"}, "[" * MAX_DEPTH + "]" * MAX_DEPTH),
        (properties(a=INTEGER), "{'a': 1}"),
        ({**properties(a=INTEGER), "required": ["b"]}, {"a": "1"}),
        ({**properties(a=INTEGER), "additionalProperties": False}, {"A": 1}),
        ({"type": "integer", "minimum": 1}, "0"),
        ({"enum": ["red", "Red"]}, "RED"),
        ({"enum": ["red"]}, "reed"),
        ({"enum": [1]}, True),
        ({"type": "integer", "enum": [1, 2]}, "3"),
        ({"pattern": "^a"}, "b"),
        (any_of(INTEGER, NULL), "five"),
        (any_of(INTEGER, {"type": "integer", "minimum": 1}), None),
        ({"oneOf": [INTEGER, NUMBER]}, "5"),
        ({"oneOf": [INTEGER, NUMBER]}, 5),
        ({"allOf": [INTEGER, TEXT]}, "5"),
        (SHAPE, {"kind": "oval", "size": "5"}),
        (SHAPE, {"kind": "square", "size": "5.5"}),
        (SWAPPED, {"x": "1", "y": "2"}),
        (any_of({"enum": ["Red"]}, {"enum": ["RED"]}), "red"),
    ],
    ids=str,
)
def test_what_could_only_be_guessed_at_stays_wrong(
    engine: ModuleType, schema: dict[str, Any], value: Any
) -> None:
    assert (
        repair_arguments({"value": value}, compile_with(engine, properties(value=schema))) is None
    )


@check_each("text", ['{"a": "5"}', ' {"a": 5}'])
def test_arguments_that_were_encoded_twice_are_decoded(text: str) -> None:
    done = repair_arguments(text, compile_schema(properties(a=INTEGER)))
    assert done is not None
    assert done[0] == {"a": 5}
    assert done[1][0] == Repair("$", text, {"a": 5})


def test_each_repair_tells_what_stood_where_and_what_is_used() -> None:
    shape = {"kind": "Circle", "size": "5"}
    schema = properties(**{"odd name": INTEGERS, "shape": SHAPE, "same": TEXT})
    done = repair_arguments(
        {"odd name": '["1", 2]', "shape": shape, "same": "5"}, compile_schema(schema)
    )
    assert done is not None
    assert set(map(repr, done[1])) == {
        repr(Repair("$['odd name']", '["1", 2]', [1, 2])),
        repr(Repair("$['odd name'][0]", "1", 1)),
        repr(Repair("$.shape.kind", "Circle", "circle")),
        repr(Repair("$.shape.size", "5", 5)),
    }


fitting: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "text": (TEXT, texts),
    "count": (INTEGER, st.integers(-(10**9), 10**9) | st.integers(-9, 9).map(float)),
    "ratio": (NUMBER, st.integers() | st.floats(allow_nan=False, allow_infinity=False)),
    "loud": (BOOLEAN, st.booleans()),
    "limit": (any_of(INTEGER, NULL), st.none() | st.integers(0, 9)),
    "odd name": ({"type": ["boolean", "null"]}, st.none() | st.booleans()),
    "any": ({}, values),
}


@st.composite
def disguised(draw: st.DrawFn, level: int = 0) -> tuple[dict[str, Any], Any, Any]:
    """Return a schema, a value that matches it, and the same with strings for some of its parts."""
    kind = draw(st.sampled_from([*fitting, "array", "object"] if level < 3 else [*fitting]))
    if kind == "array":
        schema, value, other = _array(draw, level)
    elif kind == "object":
        schema, value, other = _object(draw, level)
    else:
        schema, strategy = fitting[kind]
        value = other = draw(strategy)
    if kind in {"text", "any"} or draw(st.booleans()):
        return schema, value, other
    return schema, value, json.dumps(other)


def _array(draw: st.DrawFn, level: int) -> tuple[dict[str, Any], Any, Any]:
    schema, value, other = draw(disguised(level + 1))
    count = draw(st.integers(0, 2))
    return {"type": "array", "items": schema}, [value] * count, [other] * count


def _object(draw: st.DrawFn, level: int) -> tuple[dict[str, Any], Any, Any]:
    names = draw(st.lists(st.sampled_from(["a", "b", "odd name"]), unique=True))
    parts = {name: draw(disguised(level + 1)) for name in names}
    schema = properties(**{name: part[0] for name, part in parts.items()})
    value = {name: part[1] for name, part in parts.items()}
    return schema, value, {name: part[2] for name, part in parts.items()}
