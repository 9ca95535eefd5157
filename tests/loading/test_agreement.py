from __future__ import annotations

from pathlib import Path

from sovl_tools import ToolRegistry
from sovl_tools.loading.interface import Interface
from sovl_tools.loading.rules.agreement import disagreements
from sovl_tools.model.folder import Manifest
from sovl_tools.signature.signature import Parameter, Signature
from tests.conftest import Write


class Incomparable:
    """A default like those of numerical libraries: comparing it gives no truth."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = object.__hash__


def test_a_default_that_can_not_be_compared_is_left_alone() -> None:
    signature = Signature((Parameter("text", default=Incomparable()),))
    properties = {"text": {"type": "string", "default": "a"}}
    manifest = Manifest({"name": "echo", "parameters": {"properties": properties}}, "")
    assert disagreements(manifest, Interface(signature)) == []


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
