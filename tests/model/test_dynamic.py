"""Parts of a schema that are functions."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sovl_tools import ToolDefinition
from sovl_tools.model.dynamic import is_dynamic, resolved, without_functions
from sovl_tools.model.errors import ResolutionError
from tests.validation.strategies import moderate, schemas


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
@given(schemas, st.sampled_from(["enum", "examples", "oneOf"]))
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


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("default", 3),
        ("default", None),
        ("description", "How many."),
        ("const", {"a": [1]}),
        ("items", {"type": "string"}),
    ],
)
def test_a_value_may_be_of_any_kind_where_no_list_is_needed(key: str, value: Any) -> None:
    assert resolved(parameters(count={key: lambda: value}), called) == parameters(
        count={key: value}
    )


@pytest.mark.parametrize(
    "value", [["red"], ("red",), {"red"}, {"red": 1}.keys(), (each for each in ["red"])], ids=type
)
def test_whatever_can_be_gone_through_is_a_list(value: Any) -> None:
    found = resolved(parameters(color={"enum": lambda: value}), called)
    assert found["properties"]["color"] == {"enum": ["red"]}


@pytest.mark.parametrize("value", ["red", b"red", {"red": 1}, None, 5, MappingProxyType({})])
def test_what_is_no_list_is_refused_with_its_place(value: Any) -> None:
    schema = parameters(color={"items": [{"enum": lambda: value}]})
    with pytest.raises(ResolutionError) as caught:
        resolved(schema, called)
    assert caught.value.place == "properties.color.items[0].enum"
    assert caught.value.reason == f"returned {type(value).__name__}, not a list"


def test_a_whole_property_and_all_properties_may_be_functions() -> None:
    whole = {"type": "string", "enum": colors}
    for schema in (parameters(color=lambda: whole), {"properties": lambda: {"color": whole}}):
        found = resolved(schema, called)
        assert found["properties"]["color"] == {"type": "string", "enum": ["red", "blue"]}
        assert is_dynamic(schema)
    assert whole["enum"] is colors
    assert without_functions(parameters(color=lambda: whole)) == parameters(color={})
    assert without_functions({"properties": lambda: whole}) == {}


@pytest.mark.parametrize("name", ["enum", "required", "properties", "examples"])
def test_a_property_may_have_the_name_of_a_keyword(name: str) -> None:
    schema = parameters(**{name: lambda: {"type": "string"}})
    assert resolved(schema, called) == parameters(**{name: {"type": "string"}})
    assert without_functions(schema) == parameters(**{name: {}})


@pytest.mark.parametrize("schema", [parameters(color=colors), colors, {"properties": colors}])
def test_in_the_place_of_a_schema_there_must_be_one(schema: Any) -> None:
    with pytest.raises(ResolutionError, match="returned list, not a schema"):
        resolved(schema, called)


def test_what_is_required_may_be_told_by_a_function() -> None:
    found = resolved({**parameters(color={}), "required": lambda: ("color",)}, called)
    assert found["required"] == ["color"]


def fails() -> None:
    raise OSError("no network")


def leaves() -> None:
    sys.exit(3)


def interrupts() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "reason"),
    [(fails, "failed: OSError: no network"), (leaves, "failed: SystemExit: 3")],
)
def test_a_function_that_fails_is_told_with_its_place(function: Any, reason: str) -> None:
    with pytest.raises(ResolutionError) as caught:
        resolved(parameters(color={"enum": function}), called)
    assert str(caught.value) == f"the dynamic part properties.color.enum {reason}"
    assert caught.value.__cause__ is not None


def test_only_the_user_interrupts() -> None:
    with pytest.raises(KeyboardInterrupt):
        resolved(parameters(color={"enum": interrupts}), called)


def test_what_a_function_keeps_is_not_shared() -> None:
    kept = [["red"]]
    found = resolved(parameters(color={"enum": lambda: kept}), called)
    found["properties"]["color"]["enum"][0].append("blue")
    assert kept == [["red"]]


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


def test_a_resolved_definition_is_its_own() -> None:
    first = definition(Box(), Box.names).resolve()
    assert not first.is_dynamic
    assert first.resolve() is first
    assert first.name == "call"


def test_the_instance_is_given_where_there_is_one_and_nothing_elsewhere() -> None:
    given: list[tuple[object, ...]] = []

    def names(*arguments: object) -> Iterator[str]:
        given.append(arguments)
        yield "a"

    box = Box()
    for owner in (box, None):
        definition(owner, names).resolve()
    assert given == [(box,), ()]
