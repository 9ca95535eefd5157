"""What each format keeps, changes and loses of JSON Schema.

Every row is the outcome of an export: a tool with one property that has the keyword.
"""

from __future__ import annotations

from typing import Any

from sovl_tools.formats.base import Options, format_of
from sovl_tools.model.definition import ToolDefinition

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
LIST: dict[str, Any] = {"type": "array", "items": TEXT}
OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {"b": TEXT},
    "additionalProperties": False,
}

COLUMNS = (
    ("openai", "openai", False),
    ("openai strict", "openai", True),
    ("anthropic", "anthropic", False),
    ("anthropic strict", "anthropic", True),
    ("gemini", "gemini", False),
)
"""Headings, formats, and whether they are strict; the others are as openai, or keep everything."""

PROBES: dict[str, dict[str, Any]] = {
    "optional property": TEXT,
    "`default`": {**TEXT, "default": "x"},
    "`examples`": {**TEXT, "examples": ["x"]},
    "`enum`": {**TEXT, "enum": ["x", "y"]},
    "`const`": {**TEXT, "const": "x"},
    "several types": {"type": ["string", "null"]},
    "no type": {"description": "Anything."},
    "`minimum`, `maximum`": {**NUMBER, "minimum": 1, "maximum": 9},
    "`exclusiveMinimum`": {**NUMBER, "exclusiveMinimum": 1},
    "`multipleOf`": {**NUMBER, "multipleOf": 2},
    "`minLength`, `maxLength`": {**TEXT, "minLength": 1, "maxLength": 9},
    "`pattern`": {**TEXT, "pattern": "^a+$"},
    "`pattern` that looks ahead": {**TEXT, "pattern": "^(?=a)"},
    "`format` date, uuid, …": {**TEXT, "format": "date"},
    "`format` uri": {**TEXT, "format": "uri"},
    "other `format`": {**TEXT, "format": "iri"},
    "`minItems`, `maxItems`": {**LIST, "minItems": 2, "maxItems": 9},
    "`uniqueItems`": {**LIST, "uniqueItems": True},
    "array without `items`": {"type": "array"},
    "`prefixItems`": {"type": "array", "prefixItems": [TEXT, NUMBER], "items": False},
    "`contains`": {**LIST, "contains": {"const": "x"}},
    "object without word on others": {"type": "object", "properties": {"b": TEXT}},
    "`additionalProperties`: a schema": {"type": "object", "additionalProperties": TEXT},
    "`patternProperties`": {"type": "object", "patternProperties": {"^a": TEXT}},
    "`propertyNames`": {**OBJECT, "propertyNames": {"maxLength": 9}},
    "`minProperties`": {**OBJECT, "minProperties": 1},
    "`dependentRequired`": {**OBJECT, "dependentRequired": {"b": ["b"]}},
    "`anyOf`": {"anyOf": [TEXT, NUMBER]},
    "`oneOf` that excludes by type": {"oneOf": [TEXT, NUMBER]},
    "other `oneOf`": {"oneOf": [{**TEXT, "pattern": "a"}, {**TEXT, "pattern": "b"}]},
    "`allOf` of several schemas": {"allOf": [TEXT, {"minLength": 1}]},
    "`not`": {**TEXT, "not": {"const": "x"}},
    "`if`, `then`": {**TEXT, "if": {"const": "x"}, "then": {"maxLength": 1}},
    "`$ref` to a definition": {"$ref": "#/$defs/text"},
    "`$ref` with a description": {"$ref": "#/$defs/text", "description": "A text."},
    "recursion": {"$ref": "#/$defs/node"},
    "name with a space": TEXT,
}
"""What one optional property is, by the words for it."""

_DEFINITIONS = {
    "text": {"type": "string"},
    "node": {**OBJECT, "properties": {"next": {"$ref": "#/$defs/node"}}},
}
_WORDS = {
    "dropped": "dropped",
    "moved": "in words",
    "rewritten": "rewritten",
    "loose": "not strict",
    "limit": "**refused**",
    "name": "**refused**",
    "doubt": "may be ignored",
}


def _unused() -> None:
    raise NotImplementedError


def probe(words: str, schema: dict[str, Any]) -> ToolDefinition:
    """Return a tool with one property."""
    name = "a b" if words == "name with a space" else "a"
    parameters: dict[str, Any] = {
        "type": "object",
        "properties": {name: schema},
        "required": [],
        "additionalProperties": False,
    }
    if "$ref" in schema:
        parameters["$defs"] = _DEFINITIONS
    return ToolDefinition("probe", "Probe.", parameters, _unused)


def outcome(tool: ToolDefinition, name: str, *, strict: bool) -> str:
    """Return what a format does with a tool, in a word or two."""
    shape = format_of(name).convert(tool, Options(strict=strict))
    kinds = list(dict.fromkeys(_WORDS[each.kind] for each in shape.losses))
    if kinds:
        return ", ".join(kinds)
    return "or null" if shape.undo is not None and strict else "kept"


def table() -> str:
    """Return the table in Markdown: what is not kept, and what all formats keep below it."""
    rows = {
        words: [_cell(words, schema, name, strict=strict) for _, name, strict in COLUMNS]
        for words, schema in PROBES.items()
    }
    head = ["", *(heading for heading, _, _ in COLUMNS)]
    lines = [head, ["---"] * len(head)]
    lines += [[words, *cells] for words, cells in rows.items() if any(cells)]
    kept = [words for words, cells in rows.items() if not any(cells)]
    return "\n".join(
        [*(f"| {' | '.join(line)} |" for line in lines), "", f"All keep: {', '.join(kept)}."]
    )


def _cell(words: str, schema: dict[str, Any], name: str, *, strict: bool) -> str:
    found = outcome(probe(words, schema), name, strict=strict)
    is_kept = found == "kept" or (found == "or null" and words != "optional property")
    return "" if is_kept else found
