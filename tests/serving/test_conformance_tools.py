"""The folders that ``scripts/conformance`` serves load, so that the suite finds what it calls."""

from __future__ import annotations

from pathlib import Path

from sovl_tools import Tooler, ToolRegistry

TOOLS = Path(__file__).parent / "conformance" / "tools"


def test_every_folder_loads_and_answers() -> None:
    registry = ToolRegistry.from_directory(TOOLS)
    registry.report.raise_if_errors()
    assert {*registry.catalog.tools} == {each.name for each in TOOLS.iterdir()}
    tooler = Tooler(registry)
    for name in sorted({*registry.catalog.tools} - {"test_trigger_tool_change"}):
        arguments = {"region": "north"} if name == "test_custom_headers" else {}
        if name == "json_schema_2020_12_tool":
            arguments = {"contactMethod": "email", "email": "ada@example.com"}
        assert tooler.call_sync(name, arguments).ok == (name != "test_error_handling"), name
