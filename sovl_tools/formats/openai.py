"""OpenAI's Chat Completions: ``{"type": "function", "function": {…}}``.

Source: OpenAI's guides "Function calling" and "Structured outputs" (supported schemas), and the
types of its SDK (``openai.types.chat.ChatCompletionToolParam``).
"""

from __future__ import annotations

from functools import partial

from sovl_tools.formats.base import Options, Shape, as_list
from sovl_tools.formats.form import Form, convert_tool
from sovl_tools.formats.providers import OPENAI
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON


def nested(tool: ToolDefinition, schema: dict[str, JSON], *, is_strict: bool) -> dict[str, JSON]:
    """Return a definition as compatible servers have taken it over."""
    function: dict[str, JSON] = {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
    }
    if is_strict:
        function["strict"] = True
    return {"type": "function", "function": function}


_FORM = Form(OPENAI, nested)


def convert(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool; ``strict`` is in it only if it is true."""
    return convert_tool(tool, _FORM, is_strict=options.strict)


collect = partial(as_list, most=OPENAI.tools, provider=OPENAI.name)
