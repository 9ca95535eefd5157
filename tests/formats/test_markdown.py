"""A catalogue for people."""

from __future__ import annotations

from sovl_tools import ToolDefinition
from tests.formats.tools import shaped


def test_each_argument_is_a_row_of_a_table() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    choice = {"enum": ["a|b", "c"], "description": "One\nor the other."}
    schema = {"type": "object", "properties": {"größe": inner, "way": choice}, "required": ["way"]}
    text: str = shaped("markdown", ToolDefinition("pick", "Pick.", schema, print)).definition
    lines = text.splitlines()
    assert "| `größe` | object | optional |  |" in lines
    assert '| `way` | string | required | One or the other. One of: "a\\|b", "c". |' in lines
    assert lines[-3:] == ["In `größe`:", "", "- x (string, optional)"]
