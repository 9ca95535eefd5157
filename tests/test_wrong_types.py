"""Every wrong type at every place of a manifest, a procedure, a configuration and a lock.

Nothing raises, each finding has its place, and the neighbours are as they were.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import example, given, settings
from hypothesis import strategies as st

from sovl_tools import SovlToolsError, ToolDefinition, Tooler, ToolRegistry
from tests.conftest import code_of, manifest_of
from tests.procedures.workshop import add, manager_of
from tests.schema.strategies import examples, moderate

FORMATS = (
    "json-schema", "openai", "openai-responses", "anthropic", "gemini", "openrouter", "mcp",
    "openapi", "prompt",
)  # fmt: skip
ABSENT = object()
"""Stands for no value at all: the key or item goes."""
Place: TypeAlias = tuple[str | int, ...]

WRONG: list[Any] = [
    ABSENT, None, True, False, 0, 1, -1, 2.5, 1e300, 10**30, "", " ", "x", "hello there", "0",
    "\u200b", "\ud800", "a\0b", [], [1], [None], [[]], [""], ["x", "x"], [1, "x y"], [{}], ["x", 1],
    {}, {"": 0}, {"x": 1}, {"x": None}, {"type": 1}, {"type": "object"}, {"$ref": 1},
    {"$ref": "#/nowhere"}, {"properties": []}, {"items": [{}]}, {"enum": "x"},
]  # fmt: skip

TEXT: dict[str, Any] = {"type": "string", "description": "Some text."}
NUMBER: dict[str, Any] = {"type": "number", "description": "A number."}
PROPERTIES: dict[str, Any] = {
    "text": {**TEXT, "minLength": 1, "maxLength": 90, "pattern": "^[a-z ]*$", "title": "Text"},
    "kind": {"enum": ["a", "b"], "default": "a", "description": "Which kind."},
    "count": {
        "type": "integer", "minimum": 0, "maximum": 9, "multipleOf": 1, "default": 0,
        "description": "How many.",
    },
    "many": {
        "type": "array", "items": {"type": "integer"}, "minItems": 0, "uniqueItems": True,
        "default": [], "description": "Numbers.",
    },
    "either": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A string or none."},
    "point": {
        "$ref": "#/$defs/point", "description": "A point.",
    },
    "nested": {
        "type": "object", "description": "Nested.", "required": ["a"],
        "properties": {"a": TEXT, "b": {"allOf": [{"type": "string"}], "description": "B."}},
        "additionalProperties": {"type": "number"}, "patternProperties": {"^z": {"type": "null"}},
        "dependentRequired": {"b": ["a"]}, "propertyNames": {"maxLength": 9},
        "if": {"required": ["b"]}, "then": {"minProperties": 1}, "else": {}, "not": {"const": 1},
    },
}  # fmt: skip
MANIFEST: dict[str, Any] = {
    "$schema": "urn:sovl-tools:schema:tool",
    "name": "subject",
    "title": "Subject",
    "description": "Does something.",
    "parameters": {
        "type": "object",
        "properties": PROPERTIES,
        "required": ["text"],
        "additionalProperties": False,
        "$defs": {"point": {"type": "object", "properties": {"x": NUMBER}}},
    },
    "examples": [
        {
            "input": {"text": "a"}, "output": "a", "output_is": "value", "description": "One.",
            "output_match": "exact",
        },
        {"input": '{"text": "b"}'},
    ],
    "tags": ["one", "two"],
    "activation_phrases": ["do something", "please do"],
    "enabled": True,
    "category": "tests",
    "version": "1.0",
    "instructions": "Use it well.",
    "output_schema": {"type": "string", "description": "What comes out."},
    "annotations": {
        "read_only": True, "destructive": False, "idempotent": True, "open_world": False,
    },
    "execution": {
        "mode": "thread", "timeout": 5, "max_concurrency": 2, "max_result_bytes": 10000,
    },
    "requires": {"env": ["PATH"], "packages": ["json"]},
    "reload": ["*.csv"],
    "metadata": {"free": [1]},
    "x-own": {"anything": True},
}  # fmt: skip
MODULE = """\
def subject(text, kind="a", count=0, many=(), either=None, point=None, nested=None):
    return text
"""

STEPS: list[dict[str, Any]] = [
    {
        "action": "tool", "tool": "add", "arguments": {"a": 1, "b": "{{ inputs.n }}"},
        "name": "Add", "when": "true", "save_as": "sum", "timeout": 5,
        "on_error": {"retry": 1, "delay": 0, "backoff": 1, "then": "continue"},
    },
    {"action": "set", "values": {"twice": "{{ sum * 2 }}"}},
    {"action": "if", "condition": "twice > 1", "then": [{"action": "wait", "seconds": 0}]},
    {
        "action": "for_each", "items": "{{ [1, 2] }}", "as": "item", "at_once": 1,
        "steps": [{"action": "set", "values": {"last": "{{ item }}"}}], "result": "{{ item }}",
        "save_as": "all",
    },
    {"action": "parallel", "branches": {"left": [{"action": "set", "values": {"l": 1}}]}},
    {"action": "procedure", "procedure": "other", "inputs": {}},
    {"action": "return", "value": "{{ twice }}"},
    {"action": "fail", "message": "never"},
]  # fmt: skip
PROCEDURE: dict[str, Any] = {
    "name": "sample",
    "description": "A sample.",
    "inputs": {
        "type": "object",
        "properties": {"n": {"type": "integer", "default": 2}},
        "required": [],
    },
    "steps": STEPS,
    "output": {"sum": "{{ sum }}"},
    "tags": ["one"],
    "timeout": 20,
}
OTHER: dict[str, Any] = {
    "name": "other",
    "description": "Another.",
    "steps": [{"action": "return", "value": 1}],
}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in a JSON document, the root's first."""
    yield place
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*place, key))


def mutated(document: dict[str, Any], place: Place, value: Any) -> Any:
    """Return the document with another value at a place."""
    if not place:
        return None if value is ABSENT else value
    copied = copy.deepcopy(document)
    parent: Any = copied
    for key in place[:-1]:
        parent = parent[key]
    if value is ABSENT:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    return copied


def changes(document: dict[str, Any]) -> st.SearchStrategy[tuple[Place, Any]]:
    return st.tuples(st.sampled_from(list(places(document))), st.sampled_from(WRONG))


@contextmanager
def tools_with(manifest: Any) -> Iterator[Path]:
    """Write a tools directory with a manifest and with a healthy neighbour on either side."""
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        for name in ("a_neighbour", "z_neighbour"):
            phrases = [f"ask {name}"]
            sound = json.dumps(manifest_of(name, activation_phrases=phrases))
            _write(root / name, sound, code_of(name))
        _write(root / "subject", json.dumps(manifest), MODULE)
        yield root


def _write(folder: Path, manifest: str, code: str) -> None:
    folder.mkdir()
    (folder / f"{folder.name}.json").write_text(manifest)
    (folder / f"{folder.name}.py").write_text(code)


def assert_placed(registry: ToolRegistry, root: Path) -> None:
    """Each finding is about the subject and has a place in one of its files."""
    for each in registry.report.diagnostics:
        assert each.tool == "subject", each
        assert not each.code.startswith("ST0"), each
        assert each.path.startswith(str(root / "subject")), each
        assert each.line >= 1, each
        assert each.column >= 1, each
        assert str(each)


def assert_serves(registry: ToolRegistry) -> None:
    """All that reads every tool of a registry works, and the neighbours answer."""
    tooler = Tooler(registry)
    for name in ("a_neighbour", "z_neighbour"):
        assert tooler.call_sync(name, {"text": "hi"}).value == "hi"
        assert registry.match(f"please ask {name}")[0].tool == name
        assert name in {found.tool for found in registry.search(name)}
    for format_name in FORMATS:
        assert "a_neighbour" in str(registry.definitions(format_name))
    registry.prompt_instructions()
    registry.filter(tags=["one"], category="tests")
    result = tooler.call_sync("subject", {"text": "a"})
    assert result.ok or result.error is not None


@settings(moderate, max_examples=examples(1000))
@given(change=changes(MANIFEST))
@example(change=(("activation_phrases",), [1, "x y"]))
@example(change=(("activation_phrases",), "hello there"))
@example(change=((), [1]))
@example(change=(("execution", "max_concurrency"), 1e300))
@example(change=(("execution", "retry"), 2.0))
def test_a_wrong_value_in_a_manifest_is_a_finding_there_and_nowhere_else(
    change: tuple[Place, Any],
) -> None:
    with tools_with(mutated(MANIFEST, *change)) as root:
        registry = ToolRegistry.from_directory(root)
        assert_placed(registry, root)
        assert_serves(registry)
        assert not registry.reload()
        assert_placed(registry, root)


@settings(moderate, max_examples=examples(1000))
@given(change=changes(MANIFEST))
@example(change=(("parameters", "properties", "text"), {"enum": ["\ud800"]}))
@example(change=(("execution",), True))
def test_a_wrong_value_in_a_definition_is_refused_as_it_is_in_a_manifest(
    change: tuple[Place, Any],
) -> None:
    document = mutated(MANIFEST, *change)
    keys = {field.name for field in fields(ToolDefinition)}
    given = (
        {key: value for key, value in document.items() if key in keys}
        if isinstance(document, dict)
        else {}
    )
    registry = ToolRegistry()
    try:
        registry.register(ToolDefinition(**{**given, "function": _subject}))
    except (TypeError, SovlToolsError):
        return
    result = Tooler(registry).call_sync("subject", {"text": "a"})
    assert result.ok or result.error is not None
    for format_name in FORMATS:
        registry.definitions(format_name)


def _subject(**arguments: Any) -> Any:
    return arguments["text"]


@settings(moderate, max_examples=examples(1000))
@given(change=changes(PROCEDURE))
def test_a_wrong_value_in_a_procedure_is_a_diagnostic(change: tuple[Place, Any]) -> None:
    document = mutated(PROCEDURE, *change)
    with tempfile.TemporaryDirectory() as directory:
        for name, content in (("sample", document), ("other", OTHER)):
            (Path(directory) / f"{name}.json").write_text(json.dumps(content))
        manager = manager_of(add)
        manager.add(Path(directory) / "other.json")
        sample = str(Path(directory) / "sample.json")
        for each in manager.check(sample):
            assert each.path.startswith(sample), each
            assert each.line >= 1, each
            assert each.column >= 1, each
        assert manager.run_sync("other") == 1
