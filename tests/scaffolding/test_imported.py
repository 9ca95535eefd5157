"""Folders made of definitions: every form, hostile ones, and every wrong type at every place."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.formats.foreign import definitions_in
from sovl_tools.scaffolding.files import create_folders
from sovl_tools.scaffolding.imported import ImportedTools, import_tools, stub
from tests.schema.strategies import examples, moderate
from tests.tables import check_each
from tests.test_wrong_types import changes, mutated

TEXT = {"type": "string", "description": "Some text."}
SCHEMA: dict[str, Any] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "text": {**TEXT, "minLength": 1},
        "count": {"type": "integer", "default": 3, "description": "How many."},
        "X-Odd": {"type": ["string", "null"], "description": "No name for Python."},
        "point": {"$ref": "#/definitions/point", "description": "A point."},
        "pair": {"type": "array", "items": [TEXT, TEXT], "description": "Two strings."},
    },
    "required": ["text"],
    "additionalProperties": False,
    "dependencies": {"count": ["text"]},
    "definitions": {"point": {"type": "object", "properties": {"x": TEXT}, "required": ["x"]}},
}
OF_MCP = {
    "name": "echo", "title": "Echo", "description": "Say it again.", "inputSchema": SCHEMA,
    "outputSchema": {"type": "object", "properties": {"said": TEXT}},
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "title": "An echo"},
    "icons": [{"src": "https://example.com/icon.png", "mimeType": "image/png"}],
}  # fmt: skip
OF_GEMINI = {
    "type": "OBJECT",
    "properties": {
        "text": {"type": "STRING", "nullable": True, "minLength": "1", "description": "Some text."}
    },
    "required": ["text"],
    "propertyOrdering": ["text"],
}
NEUTRAL = {"name": "echo", "description": "Say it again.", "parameters": SCHEMA}
FORMS = {
    "neutral": NEUTRAL,
    "openai": {"type": "function", "function": NEUTRAL},
    "openai-responses": {"type": "function", **NEUTRAL, "strict": False},
    "anthropic": {"name": "echo", "description": "Say it again.", "input_schema": SCHEMA},
    "mcp": OF_MCP,
    "mcp-answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [OF_MCP]}},
    "gemini": {"functionDeclarations": [{**NEUTRAL, "parameters": OF_GEMINI}]},
    "gemini-python": {"tools": [{"function_declarations": [{**NEUTRAL, "parameters": OF_GEMINI}]}]},
    "bedrock": {"toolSpec": {"name": "echo", "description": "Say it again.",
                             "inputSchema": {"json": SCHEMA}}},
    "a request": {"model": "m", "tools": [{"type": "function", "function": NEUTRAL}]},
}  # fmt: skip


def imported(document: Any) -> ImportedTools:
    return import_tools(definitions_in(document), stub)


def written(found: ImportedTools, root: Path) -> ToolRegistry:
    create_folders(str(root), {each.name: each.files for each in found.tools})
    return ToolRegistry.from_directory(root)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_becomes_a_sound_folder(form: str, tmp_path: Path) -> None:
    found = imported(FORMS[form])
    assert (found.flaws, found.notes, [each.name for each in found.tools]) == ((), (), ["echo"])
    registry = written(found, tmp_path)
    assert registry.report.diagnostics == ()
    result = Tooler(registry).call_sync("echo", {"text": "hi"})
    assert result.error is not None
    assert result.error.kind == "tool_error"
    assert "echo is imported, but not written yet" in result.error.message


def test_what_mcp_says_is_kept(tmp_path: Path) -> None:
    tool = written(imported(OF_MCP), tmp_path)["echo"]
    assert (tool.title, tool.annotations) == ("Echo", {"read_only": True, "destructive": False})
    assert tool.output_schema == OF_MCP["outputSchema"]
    assert tool.metadata == {"icons": OF_MCP["icons"]}


def test_the_function_takes_what_the_schema_says() -> None:
    (tool,) = imported(OF_MCP).tools
    assert tool.source.startswith(
        "from typing import Any\n\n\n"
        "def echo(\n    text: str,\n    count: int = 3,\n    point: dict | None = None,\n"
        '    pair: list | None = None,\n    **others: Any,\n) -> object:\n    """Say it again."""\n'
    )


def test_schemas_are_brought_to_the_draft_of_manifests() -> None:
    (tool,) = imported(OF_MCP).tools
    schema = tool.document["parameters"]
    assert schema.keys() == {
        "type", "properties", "required", "additionalProperties", "dependentRequired", "$defs",
    }  # fmt: skip
    assert schema["properties"]["point"]["$ref"] == "#/$defs/point"
    assert schema["properties"]["pair"]["prefixItems"] == [TEXT, TEXT]
    (tool,) = imported(FORMS["gemini"]).tools
    assert tool.document["parameters"]["properties"]["text"] == {
        "type": ["string", "null"], "minLength": 1, "description": "Some text.",
    }  # fmt: skip


def test_tools_of_the_provider_are_left_out_with_a_note() -> None:
    found = imported([{"type": "web_search_20250305", "name": "web_search"}, NEUTRAL])
    assert found.notes == ("'web_search' is omitted: the provider brings it",)
    assert [each.name for each in found.tools] == ["echo"]


HOSTILE = [
    "../x", "..", "/etc/passwd", "a\\b", "class", "None", "print", "self", "_hidden", "__init__",
    "x" * 10_000, "Échö", "日本", "a b", "1st", "", "echo", "Echo", "ECHO", "a\0b", "$ref",
    "NotImplementedError", "Any", "object", "a.b.c", "con", "\u202egnp",
]  # fmt: skip


def test_hostile_names_become_names_of_folders_or_are_refused(tmp_path: Path) -> None:
    found = imported([{**NEUTRAL, "name": each} for each in HOSTILE])
    assert [(each.place, each.message) for each in found.flaws] == [((15,), "the name is blank")]
    assert len(found.tools) == len(HOSTILE) - 1
    assert max(map(len, found.notes)) < 200
    registry = written(found._replace(flaws=()), tmp_path / "tools")
    assert len(registry) == len(HOSTILE) - 1
    assert registry.report.diagnostics == ()
    assert [each.name for each in tmp_path.iterdir()] == ["tools"]
    assert "echo_2" in registry


@pytest.mark.parametrize("name", [*HOSTILE, "others", "cls", "lambda", "text"])
def test_hostile_names_of_properties_are_taken(name: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"text": TEXT, name: TEXT, "others": TEXT}}
    registry = written(imported([{**NEUTRAL, "parameters": schema}]), tmp_path)
    # characters that nobody sees are somebody else's, and told
    assert {each.code for each in registry.report.diagnostics} <= {"ST217"}
    result = Tooler(registry).call_sync("echo", {"text": "a", name: "b"})
    assert result.error is not None
    assert result.error.kind == "tool_error"


@check_each(
    ("document", "message"),
    [
        (3, "a definition must be an object, not 'integer'"),
        ({"description": "x"}, "there's no name"),
        ({"name": "a", "parameters": []}, "a schema must be an object, not 'array'"),
        ({"name": "a", "parameters": {"type": "array"}}, "'parameters.type'"),
    ],
)
def test_what_can_not_be_a_tool_is_told_in_one_line(document: Any, message: str) -> None:
    (flaw,) = imported(document).flaws
    assert message in flaw.message
    assert "\n" not in flaw.message


@settings(moderate, max_examples=examples(2000))
@given(change=changes([OF_MCP, FORMS["openai"], FORMS["gemini"]]), with_folders=st.booleans())  # type: ignore[arg-type]
def test_a_wrong_value_in_definitions_is_a_flaw_or_makes_a_sound_folder(
    change: tuple[Any, Any], *, with_folders: bool
) -> None:
    document = mutated([OF_MCP, FORMS["openai"], FORMS["gemini"]], *change)  # type: ignore[arg-type]
    found = imported(document)
    for flaw in found.flaws:
        assert flaw.message
        assert "\n" not in flaw.message
    for tool in found.tools:
        ast.parse(tool.source)
        json.loads(tool.files[f"{tool.name}.json"])
    if with_folders:
        with tempfile.TemporaryDirectory() as directory:
            report = written(found, Path(directory)).report
            assert [each for each in report.diagnostics if each.severity == "error"] == []
