from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_with
from sovl_tools.schema.problem import Problem, describe, explanations
from tests.tables import check_each

each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)


@check_each(
    ("keyword", "expected", "value", "words"),
    [
        (
            "type",
            ("array",),
            ' ["a"]',
            '" [\\"a\\"]"; give the array itself, not JSON text of it',
        ),
        (
            "type",
            ("null", "object"),
            "{}",
            'the string "{}"; give the object itself, not JSON text of it',
        ),
        ("enum", ["red", "blue"], "RED ", '"red", "blue", not "RED "; did you mean "red"?'),
        ("enum", [1, 2], "2", '1, 2, not "2"; did you mean 2?'),
        ("enum", ["1", "2"], 2, '"1", "2", not 2; did you mean "2"?'),
        ("enum", ["[]", 1], [], '"[]", 1, not []'),
        ("maximum", 1e6, 10**7, "must be at most 1000000, not 10000000"),
        ("uniqueItems", None, [1, "a", "b", "a"], 'must not have the same item twice: "a"'),
        ("uniqueItems", None, [{"a": 1, "b": 2}, {"b": 2, "a": 1}], 'twice: {"b": 2, "a": 1}'),
        ("not", {"required": ["a", "b"]}, {}, "must not have 'a' and 'b' together"),
        ("not", {"enum": ["root"]}, "root", 'must not be "root"'),
    ],
    ids=str,
)
def test_words_say_what_is_there_and_what_would_be_right(
    keyword: str, expected: Any, value: Any, words: str
) -> None:
    assert describe(Problem(keyword, (), value, expected)).endswith(words)


USER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "first_name": {"type": "string"},
        "age": {"type": "integer"},
        "card": {"type": "string"},
        "file": {"type": "string"},
    },
    "additionalProperties": False,
}


@each_engine
@check_each(
    ("required", "value", "lines"),
    [
        (
            ["first_name"],
            {"firstName": "x", "ages": 3, "colour": "red"},
            [
                ("ages", "is not a parameter; did you mean 'age'?"),
                ("colour", "is not a parameter"),
                ("firstName", "is not a parameter; did you mean 'first_name'?"),
                ("first_name", "is required"),
            ],
        ),
        (
            ["file"],
            {"path": "x"},
            [("file", "is required"), ("path", "is not a parameter; did you mean 'file'?")],
        ),
        (
            ["file", "age"],
            {"path": "x"},
            [("age", "is required"), ("file", "is required"), ("path", "is not a parameter")],
        ),
        ([], {"age": 5, "Age": 6}, [("Age", "is not a parameter")]),
        (
            ["file"],
            {"age": 5, "ages": 6},
            [("ages", "is not a parameter"), ("file", "is required")],
        ),
        (
            [],
            {"card": "x", "age": "y"},
            [
                ("age", 'must be an integer, not the string "y"'),
                ("first_name", "is required because of what else is given"),
            ],
        ),
    ],
    ids=[
        "near",
        "the only one",
        "one of several",
        "given already",
        "given already and one missing",
        "dependent",
    ],
)
def test_what_is_missing_and_what_is_superfluous_is_told_at_its_place(
    engine: ModuleType, required: list[str], value: Any, lines: list[tuple[str, str]]
) -> None:
    user = {**USER, "required": required, "dependentRequired": {"card": ["first_name"]}}
    schema = {"properties": {"user": {"anyOf": [user, {"type": "null"}]}}}
    problems = compile_with(engine, schema).problems({"user": value})
    known = [*USER["properties"], "ages"]
    told = explanations(problems, lambda path: known if path == ("user",) else ())
    assert told == [(("user", name), words) for name, words in lines]
