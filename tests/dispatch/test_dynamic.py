"""Tools whose schema can be another at each call."""

from __future__ import annotations

import asyncio
import functools
import json
import logging
from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from sovl_tools import AITool, Tooler, ToolRegistry, definition_of, tool
from sovl_tools.model.errors import ResolutionError
from tests.dispatch.toolbox import Call, each_way
from tests.tables import check_each


class Map:
    """Layers that come and go, and how often someone asked for them."""

    def __init__(self, *layers: str) -> None:
        self.layers = list(layers)
        self.asked = 0

    def names(self) -> list[str]:
        self.asked += 1
        return self.layers

    @tool(params={"layer": {"enum": names}})
    def show(self, layer: str) -> str:
        """Show a layer."""
        return f"{layer} is shown"

    @tool(params={"count": {"default": lambda board: len(board.layers), "maximum": 9}})
    async def take(self, count: int) -> list[str]:
        """Take layers."""
        await asyncio.sleep(0)
        return self.layers[:count]


def registry_of(*values: Any) -> ToolRegistry:
    registry = ToolRegistry()
    for value in values:
        registry.register(value)
    return registry


@each_way
def test_a_stale_value_is_refused(call: Call) -> None:
    board = Map("roads", "rivers")
    tooler = Tooler(registry_of(board))
    assert call(tooler, "show", {"layer": "roads"}).value == "roads is shown"
    board.layers = ["rivers", "rails"]
    stale = call(tooler, "show", {"layer": "roads"})
    assert stale.error is not None
    assert stale.error.kind == "invalid_arguments"
    assert stale.error.details[0].message == 'must be one of "rivers", "rails", not "roads"'
    assert call(tooler, "show", {"layer": "rails"}).value == "rails is shown"


@each_way
def test_a_dynamic_default_is_filled_in(call: Call) -> None:
    board = Map("roads", "rivers")
    tooler = Tooler(registry_of(board))
    assert call(tooler, "take", {}).value == ["roads", "rivers"]
    board.layers.append("rails")
    assert call(tooler, "take", {}).value == ["roads", "rivers", "rails"]
    refused = call(tooler, "take", {"count": 10})
    assert refused.error is not None


def test_the_functions_run_once_for_each_call_and_each_definition() -> None:
    board = Map("roads")
    registry = registry_of(board)
    tooler = Tooler(registry)
    registry.filter(name_pattern="*")
    registry.match("roads")
    registry.reload()
    assert board.asked == 0
    assert [each["name"] for each in registry.schemas()] == ["show", "take"]
    assert board.asked == 1
    tooler.call_sync("show", {"layer": "roads"})
    assert board.asked == 2
    tooler.call_sync("show", {"layer": "roads"})
    tooler.call_sync("take", {"count": 1})
    assert board.asked == 3


def test_objects_of_one_class_have_schemas_of_their_own() -> None:
    one, other = Map("roads"), Map("rivers")
    for board, layer in ((one, "roads"), (other, "rivers")):
        assert Tooler(registry_of(board)).call_sync("show", {"layer": layer}).ok


class Picker(AITool):
    name = "pick"
    description = "Pick one."
    choices: tuple[str, ...] = ("a",)

    @property
    def parameters_schema(self) -> dict[str, Any]:
        return {"properties": {"one": lambda picker: {"enum": list(picker.choices)}}}

    def execute(self, one: str) -> str:
        return one


def test_a_class_is_given_to_its_functions() -> None:
    picker = Picker()
    registry = registry_of(picker)
    tooler = Tooler(registry)
    assert tooler.call_sync("pick", {"one": "a"}).value == "a"
    picker.choices = ("b",)
    assert not tooler.call_sync("pick", {"one": "a"}).ok
    assert tooler.call_sync("pick", {"one": "b"}).value == "b"
    assert registry.schemas()[0]["parameters"]["properties"] == {"one": {"enum": ["b"]}}


def function_with(enum: Callable[[], Any], name: str = "choose") -> Callable[..., Any]:
    @tool(name=name, params={"one": {"enum": enum}})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    return choose


def fails() -> list[str]:
    raise OSError("no network")


@each_way
@pytest.mark.parametrize(
    ("enum", "reason"),
    [
        (fails, "the dynamic part properties.one.enum failed: OSError: no network"),
        (lambda: None, "the dynamic part properties.one.enum must be an array, not null"),
    ],
    ids=["raises", "nothing"],
)
def test_a_part_that_can_not_be_had_leaves_that_tool_out_and_no_other(
    call: Call, enum: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    registry = registry_of(function_with(enum), Map("roads"))
    result = call(Tooler(registry), "choose", {"one": "a"})
    assert result.error is not None
    assert result.error.kind == "unavailable"
    assert result.error.message == f"tool 'choose' is not available: {reason}"
    assert call(Tooler(registry), "show", {"layer": "roads"}).ok
    with caplog.at_level(logging.WARNING, "sovl_tools"):
        assert [each["name"] for each in registry.schemas()] == ["show", "take"]
    assert [each.getMessage() for each in caplog.records] == [f"tool choose is omitted: {reason}"]
    with pytest.raises(ResolutionError):
        registry["choose"].to_schema()


def test_a_tool_comes_back_when_its_part_can_be_had_again() -> None:
    values: list[Any] = [["a"]]
    registry = registry_of(function_with(lambda: values[0]))
    tooler = Tooler(registry)
    kinds = []
    for value in (["a"], 5, ["a"], ["b"]):
        values[0] = value
        result = tooler.call_sync("choose", {"one": "a"})
        kinds.append(result.error.kind if result.error else result.value)
    assert kinds == ["a", "unavailable", "a", "invalid_arguments"]


@each_way
@pytest.mark.parametrize(
    ("part", "reason"),
    [
        ({"enum": lambda: [b"a"]}, "properties.one.enum[0] returned b'a', which isn't JSON"),
        (
            {"description": lambda: 5},
            "properties.one.description must be a string, not the integer 5",
        ),
    ],
    ids=["enum", "description"],
)
def test_a_part_that_makes_no_schema_leaves_the_tool_out(
    call: Call, part: Any, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    @tool(params={"one": part})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    registry = registry_of(choose, Map("roads"))
    result = call(Tooler(registry), "choose", {"one": "a"})
    assert result.error is not None
    words = f"tool 'choose' is not available: the dynamic part {reason}"
    assert (result.error.kind, result.error.message) == ("unavailable", words)
    with caplog.at_level(logging.WARNING, "sovl_tools"):
        assert [each["name"] for each in registry.schemas()] == ["show", "take"]


def test_a_pattern_that_does_not_compile_makes_the_tool_unavailable() -> None:
    @tool(params={"one": lambda: {"pattern": "("}})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    result = Tooler(registry_of(choose)).call_sync("choose", {"one": "a"})
    assert result.error is not None
    assert result.error.kind == "unavailable"
    assert result.error.message.startswith("tool 'choose' is not available: its parameters can't")


class Color(Enum):
    RED = "red"


@check_each(
    "part",
    [
        {"enum": Color},
        {"enum": lambda: list(Color)},
        {"enum": lambda: Color},
        lambda: {"enum": Color},
    ],
    ids=["class", "members", "class by a function", "fragment"],
)
def test_an_enum_is_its_values(part: Any) -> None:
    @tool(params={"one": part})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    registry = registry_of(choose)
    (schema,) = registry.schemas()
    assert json.loads(json.dumps(schema))["parameters"]["properties"]["one"]["enum"] == ["red"]
    tooler = Tooler(registry)
    assert tooler.call_sync("choose", {"one": "red"}).value == "red"
    assert not tooler.call_sync("choose", {"one": "RED"}).ok


@each_way
def test_a_default_in_a_fragment_that_a_function_makes_is_filled_in(call: Call) -> None:
    @tool(params={"one": lambda: {"type": "string", "default": "d"}})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    registry = registry_of(choose)
    assert registry.schemas()[0]["parameters"]["required"] == []
    assert call(Tooler(registry), "choose", {}).value == "d"
    assert call(Tooler(registry), "choose", {"one": "e"}).value == "e"


@each_way
@pytest.mark.parametrize(
    "part", [{"default": lambda: 5}, lambda: {"type": "string", "default": 5}], ids=["value", "all"]
)
def test_a_default_that_breaks_its_schema_supplies_nothing(call: Call, part: Any) -> None:
    @tool(params={"one": part})
    def choose(one: str) -> str:
        """Choose one."""
        return one

    result = call(Tooler(registry_of(choose)), "choose", {})
    assert result.error is not None
    assert result.error.kind == "invalid_arguments"
    assert [each.message for each in result.error.details] == ["is required"]
    assert call(Tooler(registry_of(choose)), "choose", {"one": "e"}).value == "e"


@each_way
@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"width": 3}, "preprocess returned 'width', which isn't a parameter"),
        ({5: 3}, "preprocess returned the key 5, which isn't a string"),
    ],
)
def test_what_preprocess_adds_for_nobody_is_told(
    call: Call, more: dict[Any, Any], words: str
) -> None:
    @tool(preprocess=lambda arguments: {**arguments, **more})
    def cut(text: str) -> str:
        """Cut a string."""
        return text

    result = call(Tooler(registry_of(cut)), "cut", {"text": "a"})
    assert result.error is not None
    assert result.error.message == words


def test_what_preprocess_adds_may_be_taken_by_whoever_takes_anything() -> None:
    def wide(text: str, **more: Any) -> str:
        """Say it."""
        return f"{text}{more}"

    @functools.wraps(forecast)
    def wrapper(*args: Any, days: int, **more: Any) -> str:
        return forecast(*args, **more) * days

    added = {"text": {"size": 1}, "city": {"days": 2}}
    for function, value in ((wide, "a{'size': 1}"), (wrapper, "aa")):
        first = next(iter(definition_of(tool(function)).parameters["properties"]))
        supply: Callable[..., Any] = functools.partial(dict, **added[first])
        marked = tool(preprocess=supply)(function)
        result = Tooler(registry_of(marked)).call_sync(function.__name__, {first: "a"})
        assert result.value == value


def forecast(city: str) -> str:
    """Tell the weather."""
    return city


def test_a_tool_that_is_gone_is_forgotten() -> None:
    registry = registry_of(Map("roads"))
    tooler = Tooler(registry)
    assert tooler.call_sync("show", {"layer": "roads"}).ok
    assert tooler.call_sync("take", {}).ok
    registry.unregister("show")
    gone = tooler.call_sync("show", {"layer": "roads"})
    assert gone.error is not None
    assert gone.error.kind == "unknown_tool"
    registry.register(Map("rails"))
    assert not tooler.call_sync("show", {"layer": "roads"}).ok
    assert tooler.call_sync("show", {"layer": "rails"}).ok
    assert tooler.call_sync("take", {}).value == ["roads"]
