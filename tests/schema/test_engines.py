from __future__ import annotations

import operator
import socket
from collections.abc import Iterable
from functools import reduce
from types import ModuleType
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools.model.errors import SchemaError
from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.problem import MAX_PROBLEMS, Problem, describe, explanations
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


class Case(NamedTuple):
    """A value that a schema refuses for one reason, and what is said about it."""

    schema: Any
    value: Any
    keyword: str
    expected: Any
    words: str
    path: tuple[str | int, ...] = ()


CASES = [
    Case(IS_TEXT, 5, "type", ("string",), "must be a string, not the integer 5"),
    Case(IS_INTEGER, 2.5, "type", ("integer",), "must be an integer, not the number 2.5"),
    Case({"type": "number"}, YES, "type", ("number",), "must be a number, not the boolean true"),
    Case({"type": "null"}, {"a": 1}, "type", ("null",), "must be null, not an object"),
    Case({"type": "object"}, None, "type", ("object",), "must be an object, not null"),
    Case(
        {"type": ["string", "null"]},
        [],
        "type",
        ("string", "null"),
        "must be null or a string, not an array",
    ),
    Case({"enum": [1, None]}, "c", "enum", [1, None], 'must be one of 1, null, not "c"'),
    Case(
        {"enum": ["red", "green"]},
        "gren",
        "enum",
        ["red", "green"],
        'must be one of "red", "green", not "gren"; did you mean "green"?',
    ),
    Case({"const": {"a": 1}}, 4, "const", {"a": 1}, 'must be {"a": 1}, not 4'),
    Case({"const": 1}, YES, "const", 1, "must be 1, not true"),
    Case({"minLength": 2}, "a", "minLength", 2, "must have at least 2 characters, not 1 character"),
    Case(
        {"maxLength": 1},
        "\U0001f600b",
        "maxLength",
        1,
        "must have at most 1 character, not 2 characters",
    ),
    Case(
        {"pattern": "^a"},
        "b",
        "pattern",
        "^a",
        'must match the pattern ^a, which "b" does not',
    ),
    Case({"minimum": 2}, 1, "minimum", 2, "must be at least 2, not 1"),
    Case({"maximum": 2.5}, 3, "maximum", 2.5, "must be at most 2.5, not 3"),
    Case({"exclusiveMinimum": 2}, 2, "exclusiveMinimum", 2, "must be more than 2, not 2"),
    Case({"exclusiveMaximum": 2}, 2, "exclusiveMaximum", 2, "must be less than 2, not 2"),
    Case({"multipleOf": 2}, 3, "multipleOf", 2, "must be a multiple of 2, not 3"),
    Case({"required": ["a", "b"]}, {}, "required", ("a", "b"), "lacks 'a', 'b'"),
    Case(
        {"dependentRequired": {"a": ["b"], "c": ["b", "d"]}},
        {"a": 1, "c": 1},
        "dependentRequired",
        ("b", "d"),
        "lacks 'b', 'd', required because of what else is given",
    ),
    Case(CLOSED, {"xy": 1, "b": 1}, "additionalProperties", ("b",), "must not have 'b'"),
    Case(
        {"additionalProperties": False},
        {"a": 1},
        "additionalProperties",
        ("a",),
        "must not have 'a'",
    ),
    Case(
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"a": 1, "b": 2},
        "unevaluatedProperties",
        ("b",),
        "must not have 'b'",
    ),
    Case({"minItems": 2}, [1], "minItems", 2, "must have at least 2 items, not 1 item"),
    Case({"maxItems": 1}, [1, 2], "maxItems", 1, "must have at most 1 item, not 2 items"),
    Case(
        {"uniqueItems": True},
        [1, 2, 1.0],
        "uniqueItems",
        None,
        "must not have the same item twice",
    ),
    Case(
        {"contains": IS_TEXT},
        [1],
        "contains",
        None,
        "has too few or too many of the items that it must contain",
    ),
    Case(
        {"minProperties": 2},
        {"a": 1},
        "minProperties",
        2,
        "must have at least 2 entries, not 1 entry",
    ),
    Case(
        {"maxProperties": 1},
        {"a": 1, "b": 2},
        "maxProperties",
        1,
        "must have at most 1 entry, not 2 entries",
    ),
    Case(
        {"propertyNames": {"maxLength": 1}},
        {"ab": 1},
        "propertyNames",
        None,
        'has a key that is not allowed: "ab"',
    ),
    Case({"not": IS_TEXT}, "a", "not", IS_TEXT, 'must not be "a"'),
    Case(
        {"anyOf": [IS_TEXT, IS_INTEGER]},
        None,
        "anyOf",
        None,
        "must be an integer or a string, not null",
    ),
    Case(BRANCHED, [], "anyOf", None, "must be an object, not an array"),
    Case(BRANCHED, {"size": 5.5}, "anyOf", None, 'size must be one of "big", "small", not 5.5'),
    Case(
        {"oneOf": [IS_TEXT, IS_INTEGER]},
        None,
        "oneOf",
        None,
        "must be an integer or a string, not null",
    ),
    Case(
        {"oneOf": OVERLAPPING},
        2,
        "oneOf",
        None,
        "fits more than one of the alternatives, but must fit exactly one",
    ),
    Case(
        {"oneOf": OVERLAPPING[:2]},
        2,
        "oneOf",
        None,
        "fits more than one of the alternatives, but must fit exactly one",
    ),
    Case(
        {"allOf": [IS_TEXT, {}]},
        1,
        "type",
        ("string",),
        "must be a string, not the integer 1",
    ),
    Case(
        {"allOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {},
        "required",
        ("a", "b"),
        "lacks 'a', 'b'",
    ),
    Case(
        {"if": IS_TEXT, "then": {"minLength": 2}, "else": {"minimum": 2}},
        1,
        "minimum",
        2,
        "must be at least 2, not 1",
    ),
    Case(
        {"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, "required", ("b",), "lacks 'b'"
    ),
    Case(
        {"$ref": "#/$defs/x", "$defs": {"x": IS_TEXT}},
        1,
        "type",
        ("string",),
        "must be a string, not the integer 1",
    ),
    Case(
        {"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", **IS_TEXT}}},
        1,
        "type",
        ("string",),
        "must be a string, not the integer 1",
    ),
    Case(
        {"items": IS_INTEGER},
        [1, "x"],
        "type",
        ("integer",),
        'must be an integer, not the string "x"',
        (1,),
    ),
    Case(
        {"prefixItems": [IS_INTEGER]},
        ["x"],
        "type",
        ("integer",),
        'must be an integer, not the string "x"',
        (0,),
    ),
    Case(
        {"properties": {"a": {"additionalProperties": {"items": IS_INTEGER}}}},
        {"a": {"b": [1, None]}},
        "type",
        ("integer",),
        "must be an integer, not null",
        ("a", "b", 1),
    ),
    Case(
        {"patternProperties": {"^a": IS_TEXT}},
        {"ab": 1},
        "type",
        ("string",),
        "must be a string, not the integer 1",
        ("ab",),
    ),
    Case(
        {"properties": {"propertyNames": IS_INTEGER}},
        {"propertyNames": "x"},
        "type",
        ("integer",),
        'must be an integer, not the string "x"',
        ("propertyNames",),
    ),
    Case(
        {"additionalProperties": {"items": IS_TEXT}},
        {"0": ["a", "b", 5]},
        "type",
        ("string",),
        "must be a string, not the integer 5",
        ("0", 2),
    ),
    Case(
        {"properties": {"007": {"additionalProperties": False}}},
        {"70": {}, "007": {"x": 1}},
        "additionalProperties",
        ("x",),
        "must not have 'x'",
        ("007",),
    ),
    Case(
        {"additionalProperties": {"additionalProperties": {"properties": {"": IS_TEXT}}}},
        {"a": {"": {"": 5}}},
        "type",
        ("string",),
        "must be a string, not the integer 5",
        ("a", "", ""),
    ),
    Case(
        {"properties": {"a": {}}, "additionalProperties": False},
        {"": None},
        "additionalProperties",
        ("",),
        "must not have ''",
    ),
    Case(NO, 1, "false", None, "is not allowed here"),
    Case({"properties": {"a": False}}, {"a": 1}, "false", None, "is not allowed here", ("a",)),
    Case({"items": False}, [1], "false", None, "is not allowed here", (0,)),
]

each_case = check_each(
    "case", [pytest.param(case, id=f"{case.schema} refuses {case.value}") for case in CASES]
)


def comparable(problem: Problem) -> tuple[str, tuple[str | int, ...], Any]:
    """Return what every engine says alike; the order of types means nothing."""
    expected = set(problem.expected) if problem.keyword == "type" else problem.expected
    return problem.keyword, problem.path, expected


@each_engine
@each_case
def test_a_problem_names_keyword_place_and_expectation(engine: ModuleType, case: Case) -> None:
    problems = engine.compile_schema(case.schema).problems(case.value)
    wanted = Problem(case.keyword, case.path, None, case.expected)
    assert [comparable(each) for each in problems] == [comparable(wanted)]


_odd_keys = st.sampled_from(["", "a", "7", "007", "~0", "a/b"])
_trees = st.recursive(
    st.integers(), lambda inner: st.dictionaries(_odd_keys, inner, max_size=3), max_leaves=8
)


@each_engine
@moderate
@given(tree=_trees)
def test_a_problem_is_where_its_value_is(engine: ModuleType, tree: Any) -> None:
    schema = {"type": "object", "additionalProperties": {"$ref": "#"}}
    problems = engine.compile_schema(schema).problems(tree)
    assert all(isinstance(_value_at(tree, each.path), int) for each in problems)
    assert bool(problems) == bool(_leaves(tree))


def _value_at(tree: Any, path: Iterable[Any]) -> Any:
    return reduce(operator.getitem, path, tree)


def _leaves(tree: Any) -> list[Any]:
    if not isinstance(tree, dict):
        return [tree]
    return [leaf for each in tree.values() for leaf in _leaves(each)]


@each_engine
@each_case
def test_a_problem_is_told_in_words(engine: ModuleType, case: Case) -> None:
    problems = engine.compile_schema(case.schema).problems(case.value)
    assert [describe(each) for each in problems] == [case.words]


@check_each(
    ("schema", "value"),
    [
        ({"contains": IS_TEXT, "minContains": 2}, ["a"]),
        ({"contains": IS_TEXT, "maxContains": 1}, ["a", "b"]),
        ({"contains": False}, [1]),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2]),
        ({"unevaluatedItems": IS_TEXT}, [1]),
        ({"propertyNames": False}, {"a": 1}),
        ({"prefixItems": [True], "items": False}, [1, 2, 3]),
        ({"properties": {"a": False}, "additionalProperties": IS_INTEGER}, {"a": 1, "b": "x"}),
        ({"patternProperties": {"^a": False}}, {"ab": 1}),
        ({"properties": {"default": False}}, {"default": 1}),
        ({"not": {}}, "a"),
        ({"unevaluatedProperties": IS_TEXT}, {"a": 1}),
        ({"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False}, {"f(x)": 1}),
        ({"anyOf": [False, IS_TEXT]}, 2),
        ({"anyOf": [{"unevaluatedProperties": False}, IS_TEXT]}, {"a": 1}),
        ({"type": "string", "minLength": 3, "pattern": "^z"}, "a"),
        ({"allOf": [{"minimum": 3}, {"minimum": 5}]}, 1),
    ],
    ids=str,
)
def test_the_engines_say_the_same(schema: Any, value: Any) -> None:
    said = [
        [
            (*comparable(each), describe(each))
            for each in engine.compile_schema(schema).problems(value)
        ]
        for engine in (rust, python)
    ]
    assert said[0] == said[1] != []


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
    validator = engine.compile_schema(schema)
    assert validator.is_valid(value)
    assert validator.problems(value) == []


@each_engine
@check_each(
    "schema",
    [
        5,
        None,
        [],
        {"type": "text"},
        {"minLength": -1},
        {"required": ["a", "a"]},
        {"pattern": "["},
        {"patternProperties": {"(": {}}},
        {"$ref": "#/$defs/absent"},
        {"$ref": "#absent"},
        {"$dynamicRef": "#absent"},
        {"$ref": "other.json"},
        {"$dynamicRef": "urn:absent"},
        {"properties": {"a": {"items": {"$ref": "#/properties/b"}}}},
    ],
    ids=str,
)
def test_a_schema_that_makes_no_sense_is_refused(engine: ModuleType, schema: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        engine.compile_schema(schema)
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
    validator = engine.compile_schema(schema)
    assert 0 < len(validator.problems(value)) <= MAX_PROBLEMS
    told = explanations(validator.problems(value), lambda _: [])
    assert 0 < len(told) <= MAX_PROBLEMS


@each_engine
@pytest.mark.parametrize(
    ("schema", "value", "count"),
    [
        ({"items": IS_INTEGER}, [1] * 20_000 + ["a"], 1),
        ({"items": IS_INTEGER}, ["a"] * 700 + [1] * 20_000 + ["a"] * 7, 707),
        ({"contains": {"const": "a"}}, [1] * 20_000 + ["a"], 0),
        ({"required": ["z"]}, {**dict.fromkeys(map(str, range(20_000))), "z": 1}, 0),
        ({"const": [[1] * 20_000, 2]}, [[1] * 20_000, 2], 0),
        ({"minItems": 30_000, "items": {"type": "null"}}, [1] * 20_000, MAX_PROBLEMS),
        ({"properties": {"b": IS_INTEGER}}, {"a": [1] * 20_000, "b": "c"}, 1),
    ],
    ids=["last", "both ends", "contains", "required", "const", "too short", "beside"],
)
def test_a_value_is_looked_at_as_a_whole_unless_its_beginning_says_enough(
    engine: ModuleType, schema: Any, value: Any, count: int
) -> None:
    found = engine.compile_schema(schema).problems(value)
    assert len(found) == count
    assert all(each.keyword != "contains" for each in found)


@each_engine
def test_a_reference_to_itself_ends(engine: ModuleType) -> None:
    engine.compile_schema({"$ref": "#"}).is_valid(5)


@each_engine
def test_nothing_is_fetched_for_a_reference(engine: ModuleType) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        port = server.getsockname()[1]
        with pytest.raises(SchemaError):
            engine.compile_schema({"$ref": f"http://127.0.0.1:{port}/schema.json"})
        with pytest.raises(BlockingIOError):
            server.accept()


@each_engine
@moderate
@given(schema=schemas, value=values)
def test_a_value_is_valid_if_and_only_if_it_has_no_problems(
    engine: ModuleType, schema: Any, value: Any
) -> None:
    validator = engine.compile_schema(schema)
    problems = validator.problems(value)
    assert validator.is_valid(value) == (problems == [])
    assert all(describe(problem) for problem in problems)
    assert len({(problem.path, problem.keyword) for problem in problems}) == len(problems)
