"""The folders that ``scripts/conformance`` serves load, so that the suite finds what it calls."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.client_requests import Answer, Root, Sample

T = TypeVar("T")

TOOLS = Path(__file__).parent / "conformance" / "tools"


def test_every_folder_loads_and_answers() -> None:
    registry = ToolRegistry.from_directory(TOOLS)
    registry.report.raise_if_errors()
    assert {*registry.catalog.tools} == {each.name for each in TOOLS.iterdir()}
    tooler = Tooler(registry)
    arguments = {
        "test_custom_headers": {"region": "north"},
        "test_elicitation": {"message": "Who are you?"},
        "test_sampling": {"prompt": "Say hello"},
        "test_prompt_with_arguments": {"arg1": "a", "arg2": "b"},
        "json_schema_2020_12_tool": {"contactMethod": "email", "email": "ada@example.com"},
    }
    changing = {"test_trigger_tool_change", "test_trigger_prompt_change"}
    for name in sorted({*registry.catalog.tools} - changing):
        result = tooler.call_sync(
            name,
            arguments.get(name, {}),
            on_elicit=lambda _: _done(Answer("decline")),
            on_sample=lambda _: _done(Sample("hello", "none", None, [])),
            on_list_roots=lambda _: _done([Root("file:///home")]),
        )
        assert result.ok == (name != "test_error_handling"), name


def _done(value: T) -> Future[T]:
    answered: Future[T] = Future()
    answered.set_result(value)
    return answered
