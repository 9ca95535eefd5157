"""What the report of a load is asked for."""

from __future__ import annotations

from sovl_tools import ToolRegistry
from sovl_tools.model.diagnostic import Deferred
from tests.conftest import Write, manifest_of


def test_whoever_asks_for_errors_does_not_wait_for_warnings(write: Write) -> None:
    tools = write("sound", manifest_of("sound", tags=[])).parent
    write("broken", code="def broken(text: str) -> str\n")
    registry = ToolRegistry.from_directory(tools)
    assert [each.tool for each in registry.report.errors] == ["broken"]
    [sound] = [each for each in registry.catalog.candidates if each.name == "sound"]
    diagnostics = sound.diagnostics
    assert isinstance(diagnostics, Deferred)
    assert diagnostics._make is not None
