"""Parts of a schema that are functions."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition
from sovl_tools.model.errors import ResolutionError
from sovl_tools.schema.dynamic import is_dynamic, resolved, without_functions
from tests.schema.strategies import moderate, schemas
from tests.tables import check_each


def called(function: Callable[[], Any]) -> Any:
    return function()


def colors() -> list[str]:
    return ["red", "blue"]


def parameters(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@moderate
@given(schemas)
def test_a_schema_of_values_stays_as_it_is(schema: Any) -> None:
    assert not is_dynamic(schema)
    assert resolved(schema, called) == schema
    assert without_functions(schema) == schema


@moderate
@given(schemas, st.sampled_from(["enum", "examples"]))
def test_a_function_is_found_and_left_out_wherever_it_stands(schema: Any, key: str) -> None:
    part = {"description": "One.", key: colors}
    whole = parameters(fixed=schema, color=part, items={"type": "array", "prefixItems": [part]})
    assert is_dynamic(whole)
    plain = {"description": "One."}
    assert without_functions(whole) == parameters(
        fixed=schema, color=plain, items={"type": "array", "prefixItems": [plain]}
    )
    found = resolved(whole, called)
    full = {"description": "One.", key: ["red", "blue"]}
    assert found == parameters(
        fixed=schema, color=full, items={"type": "array", "prefixItems": [full]}
    )
    assert json.loads(json.dumps(found)) == found


class Color(StrEnum):
    RED = "red"


@check_each(
    ("key", "value", "words"),
    [
        ("type", "strnig", 'did you mean "string"?'),
        ("minimum", "1", 'must be a number, not the string "1"'),
        ("minLength", -1, "must be at least 0, not -1"),
        ("required", ["a", "a"], 'must not have the same item twice: "a"'),
        ("properties", ["a"], "must be an object, not an array"),
        ("default", float("nan"), "returned nan, which isn't JSON"),
        ("const", b"a", "returned b'a', which isn't JSON"),
    ],
)
def test_what_a_keyword_can_not_have_is_refused(key: str, value: Any, words: str) -> None:
    for schema in ({key: lambda: value}, lambda: {key: value}):
        with pytest.raises(ResolutionError) as caught:
            resolved(parameters(color=schema), called)
        assert caught.value.place == f"properties.color.{key}"
        assert words in caught.value.reason


def fails() -> None:
    raise OSError("no network")


def test_a_function_that_fails_is_told_with_its_place() -> None:
    with pytest.raises(ResolutionError) as caught:
        resolved(parameters(color={"enum": fails}), called)
    words = "the dynamic part properties.color.enum failed: OSError: no network"
    assert str(caught.value) == words
    assert caught.value.__cause__ is not None


class Box:
    def __init__(self) -> None:
        self.calls = 0

    def names(self) -> list[str]:
        self.calls += 1
        return [f"name {self.calls}"]

    def call(self, name: str = "") -> str:
        return name


def definition(box: Box | None, function: Callable[..., Any]) -> ToolDefinition:
    return ToolDefinition(
        "call",
        "Call it.",
        parameters(name={"type": "string", "enum": function}),
        Box().call,
        is_dynamic=True,
        instance=box,
    )


def test_a_definition_calls_its_functions_only_when_it_is_resolved() -> None:
    box = Box()
    dynamic = definition(box, Box.names)
    assert (dynamic.execute(), repr(dynamic), box.calls) == (
        "",
        "<ToolDefinition 'call' from code>",
        0,
    )
    first = dynamic.resolve()
    assert box.calls == 1
    assert first.parameters == parameters(name={"type": "string", "enum": ["name 1"]})
    assert dynamic.to_schema()["parameters"]["properties"]["name"]["enum"] == ["name 2"]
    assert [each.name for each in dynamic.parameter_definitions] == ["name"]
    assert box.calls == 3
