"""OpenAI's Chat Completions: ``{"type": "function", "function": {…}}``.

Source: OpenAI's guides "Function calling" and "Structured outputs" (supported schemas), and the
types of its SDK (``openai.types.chat.ChatCompletionToolParam``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sovl_tools.formats.demanding import Undoing, demanding, undoing
from sovl_tools.formats.dialect import COMMON_FORMATS, Dialect, UnfitError, is_elaborate
from sovl_tools.formats.easing import OPENAI, Rules
from sovl_tools.formats.measuring import Size, size_of
from sovl_tools.formats.narrowing import Narrowed
from sovl_tools.formats.rooting import ROOT
from sovl_tools.formats.shape import Asked, Loss, Shape
from sovl_tools.formats.strictness import Schema, Strict, schema_of
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

MOST_TOOLS = 128
"""So many tools may stand in one request."""

MOST = Size(properties=5000, values=1000, characters=120_000, longest=15_000, depth=10)
"""How large a strict schema may be."""

_SAYS = {
    "properties": "properties", "values": "values to choose from", "depth": "levels of nesting",
    "characters": "characters of names and values",
    "longest": "characters of values in one long choice",
}  # fmt: skip


def _admits(keyword: str, value: JSON) -> bool:
    if keyword == "format":
        return value in COMMON_FORMATS
    return keyword != "pattern" or not is_elaborate(value)


DIALECT = Dialect(
    frozenset(
        {
            "title", "description", "pattern", "format", "multipleOf", "minimum", "maximum",
            "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
        }
    ),
    _admits,
    tells_by_first=True,
)  # fmt: skip


def _flat(schema: dict[str, JSON], parameters: dict[str, JSON]) -> Schema:
    if len(schema["required"]) == len(schema["properties"]):
        return Schema(schema, is_strict=True)
    return Schema(demanding(schema), (), Undoing(schema, parameters), is_strict=True)


def _whole(found: Narrowed, parameters: dict[str, JSON]) -> Schema:
    made = demanding(found.schema)
    size = size_of(made)
    for name, words in _SAYS.items():
        count, most = getattr(size, name), getattr(MOST, name)
        if count > most:
            raise UnfitError(ROOT, f"it has {count:,} {words}, more than {most:,}")
    return Schema(made, found.losses, undoing(found.schema, parameters), is_strict=True)


STRICT = Strict(DIALECT, _flat, _whole)


def shaped(tool: ToolDefinition, asked: Asked) -> Shape:
    """Return one tool; ``strict`` stands in it only if it is."""
    return nested(tool, asked, OPENAI)


def nested(tool: ToolDefinition, asked: Asked, rules: Rules) -> Shape:
    """Return one tool in the form that compatible servers have taken over."""
    found = schema_of(tool, STRICT if asked.strict else None, rules)
    function: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": found.parameters,
    }
    if found.is_strict:
        function["strict"] = True
    definition = {"type": "function", "function": function}
    return Shape(tool, definition, found.losses, found.undo, found.is_strict)


def gathered(shapes: Sequence[Shape], _: Asked) -> tuple[Any, tuple[Loss, ...]]:
    """Return the definitions as a list, and whether there are too many."""
    losses = too_many(len(shapes), MOST_TOOLS, "OpenAI")
    return [shape.definition for shape in shapes], losses


def too_many(count: int, most: int, provider: str) -> tuple[Loss, ...]:
    """Return that there are more tools than a provider takes in one request, if there are."""
    if count <= most:
        return ()
    message = f"{count} tools, more than the {most} that {provider} takes in one request"
    return (Loss("limit", (), message, "offer fewer tools at a time"),)
