"""What a tool says of itself, by the field in which it is said."""

from __future__ import annotations

from collections.abc import Iterator

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.schema.dynamic import without_functions
from sovl_tools.schema.subschemas import nodes


def texts(tool: ToolDefinition) -> dict[str, list[str]]:
    """Return the texts in which a tool is found, by field.

    ``parameters`` has names and descriptions at any depth, ``choices`` what an enum offers.
    Functions in the schema are not called, so what they would say is not there.
    """
    told, choices = _of_schema(tool)
    return {
        "name": [tool.name],
        "title": [tool.title or ""],
        "phrases": [*tool.activation_phrases],
        "tags": [*tool.tags],
        "category": [tool.category or ""],
        "description": [tool.description],
        "parameters": told,
        "choices": choices,
        "examples": [text for each in tool.examples for text in _of_example(each)],
    }


def _of_schema(tool: ToolDefinition) -> tuple[list[str], list[str]]:
    schema = without_functions(tool.parameters) if tool.is_dynamic else tool.parameters
    told: list[str] = []
    choices: list[str] = []
    for node in nodes(schema, ()):
        found = node.schema
        told += [found.get("title", ""), found.get("description", ""), *found.get("properties", ())]
        choices += [each for each in found.get("enum", ()) if isinstance(each, str)]
    return told, choices


def _of_example(example: JSON) -> Iterator[str]:
    if isinstance(example, dict):
        yield from _strings(example.get("description"))
        yield from _strings(example.get("input"))


def _strings(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _strings(each)
