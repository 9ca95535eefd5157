from __future__ import annotations

import socket
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given

from sovl_tools.model.errors import SchemaError
from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_with
from sovl_tools.schema.problem import MAX_PROBLEMS, describe, explanations, place
from tests.schema.strategies import moderate, schemas, values
from tests.tables import check_each

each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)

YES: Any = True
NO: Any = False
IS_TEXT = {"type": "string"}
IS_INTEGER = {"type": "integer"}
BRANCHED = {
    "anyOf": [
        {"type": "object", "properties": {"size": IS_INTEGER}, "required": ["unit"]},
        {"type": "object", "properties": {"size": {"enum": ["big", "small"]}}},
    ]
}
CLOSED = {"properties": {"a": {}}, "patternProperties": {"^x": {}}, "additionalProperties": False}
OVERLAPPING = [IS_INTEGER, {"minimum": 1}, IS_TEXT]


CASES: list[tuple[Any, Any, str]] = [
    (IS_TEXT, 5, "must be a string, not the integer 5"),
    (IS_INTEGER, 2.5, "must be an integer, not the number 2.5"),
    ({"type": "number"}, YES, "must be a number, not the boolean true"),
    ({"type": "object"}, None, "must be an object, not null"),
    ({"type": ["string", "null"]}, [], "must be null or a string, not an array"),
    ({"enum": [1, None]}, "c", 'must be one of 1, null, not "c"'),
    (
        {"enum": ["red", "green"]},
        "gren",
        'must be one of "red", "green", not "gren"; did you mean "green"?',
    ),
    ({"const": {"a": 1}}, 4, 'must be {"a": 1}, not 4'),
    ({"minLength": 2}, "a", "must have at least 2 characters, not 1 character"),
    ({"pattern": "^a"}, "b", 'must match the pattern ^a, which "b" does not'),
    ({"minimum": 2}, 1, "must be at least 2, not 1"),
    ({"exclusiveMinimum": 2}, 2, "must be more than 2, not 2"),
    ({"required": ["a", "b"]}, {}, "lacks 'a', 'b'"),
    (CLOSED, {"xy": 1, "b": 1}, "must not have 'b'"),
    ({"uniqueItems": True}, [1, 2, 1.0], "must not have the same item twice"),
    ({"contains": IS_TEXT}, [1], "has too few or too many of the items that it must contain"),
    ({"not": IS_TEXT}, "a", 'must not be "a"'),
    ({"oneOf": [IS_TEXT, IS_INTEGER]}, None, "must be an integer or a string, not null"),
    (
        {"oneOf": OVERLAPPING},
        2,
        "matches more than one of the alternatives, but must match exactly one",
    ),
    (
        {"if": IS_TEXT, "then": {"minLength": 2}, "else": {"minimum": 2}},
        1,
        "must be at least 2, not 1",
    ),
    ({"$ref": "#/$defs/x", "$defs": {"x": IS_TEXT}}, 1, "must be a string, not the integer 1"),
    ({"prefixItems": [IS_INTEGER]}, ["x"], '[0] must be an integer, not the string "x"'),
    (NO, 1, "is not allowed here"),
]


@each_engine
@check_each(("schema", "value", "words"), CASES)
def test_a_problem_is_told_in_words_at_its_place(
    engine: ModuleType, schema: Any, value: Any, words: str
) -> None:
    problems = compile_with(engine, schema).problems(value)
    assert [f"{place(each.path)} {describe(each)}".strip() for each in problems] == [words]


@each_engine
@check_each(
    ("schema", "value"),
    [
        (IS_INTEGER, 2.0),
        ({"enum": [1]}, 1.0),
        ({"uniqueItems": True}, [1, True]),
        ({"maxLength": 1}, "\U0001f600"),
        ({"format": "email"}, "no address"),
        ({"contains": IS_TEXT, "minContains": 0}, [1]),
        ({"contentMediaType": "application/json"}, "{"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [IS_TEXT]}, ["a"]),
        (True, None),
    ],
    ids=str,
)
def test_what_fits_has_no_problems(engine: ModuleType, schema: Any, value: Any) -> None:
    validator = compile_with(engine, schema)
    assert validator.is_valid(value)
    assert validator.problems(value) == []


@each_engine
@check_each(
    "schema",
    [
        5,
        {"type": "text"},
        {"required": ["a", "a"]},
        {"pattern": "["},
        {"patternProperties": {"(": {}}},
        {"$ref": "other.json"},
        {"properties": {"a": {"items": {"$ref": "#/properties/b"}}}},
    ],
    ids=str,
)
def test_a_schema_that_makes_no_sense_is_refused(engine: ModuleType, schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        compile_with(engine, schema)
    assert caught.value.reason
    assert "\n" not in caught.value.reason


@each_engine
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": IS_INTEGER}, ["a"] * 2_000),
        (CLOSED, {f"b{number}": 1 for number in range(2_000)}),
        ({"items": {"anyOf": [IS_INTEGER, {"type": "null"}]}}, ["a"] * 2_000),
        ({"anyOf": [{"items": IS_INTEGER}, IS_INTEGER]}, ["a"] * 2_000),
    ],
    ids=["types", "keys", "unions", "branches"],
)
def test_no_more_problems_are_told_than_somebody_could_read(
    engine: ModuleType, schema: Any, value: Any
) -> None:
    validator = compile_with(engine, schema)
    assert 0 < len(validator.problems(value)) <= MAX_PROBLEMS
    told = explanations(validator.problems(value), lambda _: [])
    assert 0 < len(told) <= MAX_PROBLEMS


@each_engine
def test_nothing_is_fetched_for_a_reference(engine: ModuleType) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        with pytest.raises(SchemaError):
            compile_with(engine, {"$ref": f"http://127.0.0.1:{port}/schema.json"})
        with pytest.raises(BlockingIOError):
            server.accept()


@each_engine
@moderate
@given(schema=schemas, value=values)
def test_a_value_is_valid_if_and_only_if_it_has_no_problems(
    engine: ModuleType, schema: Any, value: Any
) -> None:
    validator = compile_with(engine, schema)
    problems = validator.problems(value)
    assert validator.is_valid(value) == (problems == [])
    assert all(describe(problem) for problem in problems)
    assert len({(problem.path, problem.keyword) for problem in problems}) == len(problems)
