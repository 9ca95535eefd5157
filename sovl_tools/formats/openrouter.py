"""OpenRouter: OpenAI's form, for models of every provider.

A request is passed on, so that a schema has to suit them all. Source: OpenRouter's API reference
(tools) and its guide "Tool calling".
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from sovl_tools.formats.base import Loss, Options, Shape, as_list
from sovl_tools.formats.form import Form, convert_tool
from sovl_tools.formats.openai import nested
from sovl_tools.formats.providers import OPENROUTER
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.schema.dynamic import said

_FORM = Form(OPENROUTER, nested)

_DEFAULTS = "sovl_tools.authoring.aitool"
"""The module of the method that a subclass may override."""


def convert(tool: ToolDefinition, options: Options) -> Shape:
    """Return one tool; what a subclass of ``AITool`` says of itself is kept."""
    try:
        own = _own(tool)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - it is the code of the tool's author
        message = f"get_openrouter_tool_definition failed: {said(error)}"
        found = convert_tool(tool, _FORM, is_strict=options.strict)
        return found._replace(losses=(Loss("dropped", (), message), *found.losses))
    if own is None:
        return convert_tool(tool, _FORM, is_strict=options.strict)
    is_strict = own["function"].get("strict") is True
    message = "not strict: its own definition is not"
    losses = (Loss("loose", (), message),) if options.strict and not is_strict else ()
    return Shape(tool, own, losses, is_strict=is_strict)


def _own(tool: ToolDefinition) -> Any:
    """Return what a subclass says of itself, None if it says nothing."""
    make = getattr(tool.instance, "get_openrouter_tool_definition", None)
    if make is None or getattr(make, "__module__", "") == _DEFAULTS:
        return None
    own = json.loads(json.dumps(make()))
    if not isinstance(own, dict) or not isinstance(own.get("function"), dict):
        raise TypeError("it returned no object with a 'function'")
    if own["function"].get("name") != tool.name:
        raise ValueError(f"it names {own['function'].get('name')!r}, not {tool.name!r}")
    return own


# some models get more than they take
collect = partial(as_list, most=OPENROUTER.tools, provider="OpenAI, to which it may be passed on,")
