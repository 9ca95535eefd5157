"""The folders that ``scripts/conformance`` serves load, so that the suite finds what it calls."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.call import Answer, Question

TOOLS = Path(__file__).parent / "conformance" / "tools"


def test_every_folder_loads_and_answers() -> None:
    registry = ToolRegistry.from_directory(TOOLS)
    registry.report.raise_if_errors()
    assert {*registry.catalog.tools} == {each.name for each in TOOLS.iterdir()}
    tooler = Tooler(registry)
    arguments = {
        "test_custom_headers": {"region": "north"},
        "test_elicitation": {"message": "Who are you?"},
        "json_schema_2020_12_tool": {"contactMethod": "email", "email": "ada@example.com"},
    }
    for name in sorted({*registry.catalog.tools} - {"test_trigger_tool_change"}):
        result = tooler.call_sync(name, arguments.get(name, {}), on_elicit=_answer)
        assert result.ok == (name != "test_error_handling"), name


def _answer(question: Question) -> Future[Answer]:
    answered: Future[Answer] = Future()
    answered.set_result(Answer("decline"))
    return answered
