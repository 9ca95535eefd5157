from __future__ import annotations

from pathlib import Path

from sovl_tools import ToolRegistry
from tests.conftest import Write, manifest_of


def test_a_default_that_no_manifest_can_hold_is_not_missed_there(
    write: Write, tmp_path: Path
) -> None:
    code = r"def echo(text: str, end: str = '\ud800', mark: int = 1) -> str: return text"
    end = {"type": "string", "description": "What comes last."}
    mark = {"type": "integer", "description": "How loud."}
    text = {"type": "string", "description": "What to say."}
    properties = {"text": text, "end": end, "mark": mark}
    parameters = {"type": "object", "properties": properties, "required": ["text"]}
    manifest = {"name": "echo", "description": "Say it.", "parameters": parameters}
    write("echo", manifest=manifest, code=code)
    report = ToolRegistry.from_directory(tmp_path / "tools").report
    told = [(each.code, each.message.partition(": ")[2]) for each in report.diagnostics]
    assert told == [("ST413", "the default of 'mark'")]


def test_what_the_decorator_says_need_not_be_json(write: Write, tmp_path: Path) -> None:
    code = """
from decimal import Decimal
from sovl_tools import tool

@tool(params={"text": {"x-limit": Decimal(1), "x-kinds": {1, 2}, "enum": ("a", "b")}})
def echo(text: str, mark: int = 1) -> str:
    return text
"""
    text = {"type": "string", "description": "What to say.", "enum": ["a"]}
    properties = {"text": text, "mark": {"type": "string", "description": "How loud."}}
    parameters = {"type": "object", "properties": properties, "required": ["text"]}
    write("echo", manifest_of("echo", parameters=parameters), code)
    report = ToolRegistry.from_directory(tmp_path / "tools").report
    assert {each.code for each in report.diagnostics} == {"ST408"}
