"""Tools whose schema can be another at each call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from sovl_tools import AITool, Tooler, ToolRegistry, tool
from sovl_tools.model.errors import ResolutionError
from tests.dispatch.toolbox import Call, each_way


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
