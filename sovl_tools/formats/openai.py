"""OpenAI's formats, and OpenRouter's, which passes requests on to every provider.

Chat Completions: ``{"type": "function", "function": {…}}``, as compatible servers have taken it
over; ``strict`` is in it only if it is true. Responses: flat, with ``strict`` always said, because
omitting it means "try". OpenRouter takes the form of Chat Completions, and schemas that suit
all providers. Source: OpenAI's guides "Function calling" and "Structured outputs" (supported
schemas), the types of its SDK (``openai.types.chat.ChatCompletionToolParam``,
``openai.types.responses.FunctionToolParam``); OpenRouter's API reference (tools) and its guide
"Tool calling".
"""

from __future__ import annotations

import json
from functools import partial
from typing import TypeAlias

from sovl_tools.formats.base import Format, Loss, Options, Shape, as_list
from sovl_tools.formats.form import Form, convert_tool
from sovl_tools.formats.providers import OPENAI, OPENROUTER
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON

_Object: TypeAlias = dict[str, JSON]


def _nested(tool: ToolDefinition, schema: _Object, mark: _Object) -> _Object:
    function = {"name": tool.name, "description": tool.description, "parameters": schema, **mark}
    return {"type": "function", "function": function}


def _flat(tool: ToolDefinition, schema: _Object, mark: _Object) -> _Object:
    function = _nested(tool, schema, {"strict": False, **mark})["function"]
    return {"type": "function", **function}


_collect = partial(as_list, most=OPENAI.tools, provider=OPENAI.name)

CHAT_COMPLETIONS = Format(partial(convert_tool, Form(OPENAI, _nested)), _collect)
RESPONSES = Format(partial(convert_tool, Form(OPENAI, _flat)), _collect)

_ROUTED = Form(OPENROUTER, _nested)
_DEFAULTS = "sovl_tools.authoring.aitool"
"""The module of the method that a subclass may override."""


def _route(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool; the definition of a subclass of ``AITool`` wins."""
    make = getattr(tool.instance, "get_openrouter_tool_definition", None)
    if make is None or getattr(make, "__module__", "") == _DEFAULTS:
        return convert_tool(_ROUTED, tool, options)
    own = json.loads(json.dumps(make()))
    if own["function"]["name"] != tool.name:
        raise ValueError(f"it names {own['function']['name']!r}, not {tool.name!r}")
    is_strict = own["function"].get("strict") is True
    message = "not strict: its own definition is not"
    losses = (Loss("loose", (), message),) if options.strict and not is_strict else ()
    return Shape(tool, own, losses, is_strict=is_strict)


# some models get more than they take
_ROUTED_TO = "OpenAI, to which it can be passed on,"
ROUTER = Format(_route, partial(as_list, most=OPENROUTER.tools, provider=_ROUTED_TO))
