from __future__ import annotations

import logging
from typing import Any

import pytest

from sovl_tools import LogMessage, Progress, ToolContext, Tooler, ToolRegistry, ToolResult
from sovl_tools.model.context import State
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import TEXT, Call, Shelf, catalog_of, each_way, tool, tooler
from tests.patience import PATIENCE
from tests.tables import check_each


@each_way
def test_a_context_is_injected_by_annotation(call: Call) -> None:
    def describe(context: ToolContext) -> list[str]:
        return [context.tool.name, context.call_id]

    assert call(tooler(describe), "describe", call_id="mine").value == ["describe", "mine"]


@each_way
def test_a_context_may_be_optional_written_as_text_and_asked_for_twice(call: Call) -> None:
    def count(first: ToolContext | None = None, *, second: "ToolContext") -> bool:  # noqa: UP037
        return isinstance(first, ToolContext) and isinstance(second, ToolContext)

    assert call(tooler(count), "count").value is True


def test_the_context_of_a_folder_is_no_part_of_its_schema(write: Write) -> None:
    code = (
        "from sovl_tools import ToolContext\n\n\n"
        "def echo(text: str, context: ToolContext) -> str:\n"
        "    context.log('info', text)\n    return context.call_id\n"
    )
    registry = ToolRegistry.from_directory(write("echo", code=code))
    assert not registry.report.diagnostics
    assert registry["echo"].to_schema()["parameters"] == manifest_of("echo")["parameters"]
    tooler = Tooler(registry)
    assert tooler.call_sync("echo", {"text": "a"}, call_id="mine").value == "mine"
    result = tooler.call_sync("echo", {"text": "a", "context": "b"})
    assert result.error is not None
    assert result.error.kind == "invalid_arguments"


@each_way
def test_progress_and_messages_reach_the_listener_of_the_call(call: Call) -> None:
    def work(context: ToolContext) -> None:
        context.report_progress(1, 2, "half")
        context.log("warning", "careful")

    general: list[Any] = []
    own: list[Any] = []
    dispatcher = tooler(work, on_event=general.append)
    assert call(dispatcher, "work", call_id="a", on_event=own.append).ok
    assert call(dispatcher, "work", call_id="b").ok
    assert own == [
        Progress("work", "a", 1, 2, "half"),
        LogMessage("work", "a", "warning", "careful"),
    ]
    assert [each.call_id for each in general] == ["b", "b"]


@each_way
def test_messages_go_to_the_log_where_nobody_listens(
    call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    def work(context: ToolContext) -> None:
        context.report_progress(1)
        context.log("warning", "careful")

    with caplog.at_level(logging.INFO, "sovl_tools.tools"):
        assert call(tooler(work), "work").ok
    found = [(each.levelname, each.getMessage()) for each in caplog.records]
    assert found == [("WARNING", "work: careful")]


@each_way
def test_state_is_kept_from_call_to_call_and_by_tool(call: Call) -> None:
    def count(context: ToolContext) -> int:
        context.state["calls"] = context.state.get("calls", 0) + 1
        return int(context.state["calls"])

    dispatcher = tooler(count, tool(count, name="other"))
    assert [call(dispatcher, "count").value for _ in range(3)] == [1, 2, 3]
    assert call(dispatcher, "other").value == 1


@each_way
def test_state_outlives_the_code_that_kept_it(call: Call) -> None:
    def first(context: ToolContext) -> None:
        context.state["seen"] = ["first"]

    def second(context: ToolContext) -> list[str]:
        context.state["seen"].append("second")
        return list(context.state["seen"])

    shelf = Shelf(catalog_of(tool(first, name="note")))
    dispatcher = Tooler(shelf)
    assert call(dispatcher, "note").ok
    shelf.catalog = catalog_of(tool(second, name="note"))
    assert call(dispatcher, "note").value == ["first", "second"]


class Own:
    pass


@check_each(
    ("value", "place"),
    [
        (Own(), "state['key'] is of type Own"),
        ([1, {"a": Own()}], "state['key'][1]['a'] is of type Own"),
        ({Own: 1}, "a key of state['key'] is of type type"),
        ({1, Own}, "is of type type"),
    ],
)
def test_state_keeps_values_of_built_in_types_only(value: Any, place: str) -> None:
    state = State()
    with pytest.raises(TypeError, match="only values of built-in types outlive a reload") as caught:
        state["key"] = value
    assert place in str(caught.value)
    assert "key" not in state


@each_way
def test_a_tool_calls_another_through_its_context(call: Call) -> None:
    def echo(text: str) -> str:
        return text

    def sync_caller(context: ToolContext) -> str:
        return str(context.tooler.call_sync("echo", {"text": "sync"}).value)

    async def async_caller(context: ToolContext) -> str:
        return str((await context.tooler.call("echo", {"text": "async"})).value)

    dispatcher = tooler(tool(echo, TEXT), sync_caller, async_caller)
    assert call(dispatcher, "sync_caller").value == "sync"
    assert call(dispatcher, "async_caller").value == "async"


def told(result: ToolResult) -> Any:
    return result.value if result.error is None else result.error.message


@each_way
def test_tools_that_call_one_another_in_a_circle_are_stopped(call: Call) -> None:
    async def first(context: ToolContext) -> Any:
        return told(await context.tooler.call("second"))

    def second(context: ToolContext) -> Any:
        return told(context.tooler.call_sync("first"))

    words = "tools can't call each other in a circle: "
    dispatcher = tooler(first, second)
    assert call(dispatcher, "first").value == f"{words}first → second → first"
    assert call(dispatcher, "second").value == f"{words}second → first → second"


@each_way
def test_a_chain_of_tools_has_an_end(call: Call) -> None:
    def make(number: int) -> Any:
        def step(context: ToolContext) -> Any:
            result = context.tooler.call_sync(f"step_{number + 1}")
            return result.value if result.error is None else result.error.message

        return tool(step, name=f"step_{number}")

    dispatcher = tooler(*map(make, range(30)))
    chain = " → ".join(f"step_{number}" for number in range(16 + 1))
    value = call(dispatcher, "step_0").value
    assert value == f"tools can't call each other so deep: {chain}"


@check_each("limit", [None, PATIENCE])
async def test_six_sync_tools_that_call_each_other_finish(limit: float | None) -> None:
    def make(number: int) -> Any:
        def step(context: ToolContext) -> Any:
            if number == 5:
                return [5]
            below = context.tooler.call_sync(f"step_{number + 1}", timeout=limit)
            assert below.ok, below.error
            return [number, *below.value]

        return tool(step, name=f"step_{number}")

    dispatcher = tooler(*map(make, range(6)), max_threads=2)
    results = await dispatcher.call_many([("step_0", None)] * 6)
    assert [result.value for result in results] == [[0, 1, 2, 3, 4, 5]] * 6
