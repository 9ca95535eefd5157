"""OpenAI's Responses: flat, with ``strict`` always said, because leaving it out means "try".

Source: OpenAI's guide "Function calling" (strict mode) and the types of its SDK
(``openai.types.responses.FunctionToolParam``).
"""

from __future__ import annotations

from sovl_tools.formats.easing import OPENAI
from sovl_tools.formats.openai import STRICT, gathered
from sovl_tools.formats.shape import Asked, Shape
from sovl_tools.formats.strictness import schema_of
from sovl_tools.model.definition import ToolDefinition

__all__ = ["gathered", "shaped"]


def shaped(tool: ToolDefinition, asked: Asked) -> Shape:
    """Return one tool."""
    found = schema_of(tool, STRICT if asked.strict else None, OPENAI)
    definition = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": found.parameters,
        "strict": found.is_strict,
    }
    return Shape(tool, definition, found.losses, found.undo, found.is_strict)
