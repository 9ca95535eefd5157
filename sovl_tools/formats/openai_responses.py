"""OpenAI's Responses: flat, with ``strict`` always said, because leaving it out means "try".

Source: OpenAI's guide "Function calling" (strict mode) and the types of its SDK
(``openai.types.responses.FunctionToolParam``).
"""

from __future__ import annotations

from sovl_tools.formats.base import Options, Shape
from sovl_tools.formats.form import Form, convert_tool
from sovl_tools.formats.openai import collect
from sovl_tools.formats.providers import OPENAI
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

__all__ = ["collect", "convert"]


def _define(tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool) -> dict[str, JSON]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
        "strict": is_strict,
    }


_FORM = Form(OPENAI, _define)


def convert(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool."""
    return convert_tool(tool, _FORM, is_strict=options.strict)
