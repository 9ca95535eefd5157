from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from sovl_tools.schema import python_engine as python
from sovl_tools.schema import rust_engine as rust
from sovl_tools.schema.engine import compile_with
from sovl_tools.schema.problem import explanations
from tests.tables import check_each

each_engine = pytest.mark.parametrize(
    "engine", [pytest.param(rust, id="rust"), pytest.param(python, id="python")]
)


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
