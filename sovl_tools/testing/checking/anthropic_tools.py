"""The tools of a request to Anthropic, and which of them it wants to have called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import compile_schema
from sovl_tools.testing.checking.anthropic_schemas import faults, over_limits
from sovl_tools.testing.checking.anthropic_shapes import CUSTOM_TOOL
from sovl_tools.testing.checking.wording import of_anthropic
from sovl_tools.testing.record import Objection

NAME = "^[a-zA-Z0-9_-]{1,128}$"


def of_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield what is refused in the tools of a request."""
    tools = body.get("tools", [])
    for index, tool in enumerate(tools):
        if tool.get("type") in (None, "custom"):
            yield from _of_tool(tool, f"tools.{index}.custom")
        elif not isinstance(tool.get("name"), str):
            yield Objection(f"tools.{index}.name: Field required")
    names = [tool.get("name") for tool in tools]
    if any(names.count(name) > 1 for name in names):
        yield Objection("tools: Tool names must be unique.")
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield Objection("All tools have defer_loading set. At least one tool must be non-deferred.")
    strict = [tool.get("input_schema") for tool in tools if tool.get("strict") is True]
    yield from (Objection(message) for message in over_limits(strict))


def _of_tool(tool: dict[str, Any], place: str) -> Iterator[Objection]:
    wrong = list(of_anthropic(CUSTOM_TOOL, tool))
    yield from (Objection(f"{place}.{each.message}") for each in wrong)
    if wrong:
        return
    if not re.fullmatch(NAME, tool["name"]):
        yield Objection(f"{place}.name: String should match pattern '{NAME}'")
    if tool.get("defer_loading") and tool.get("cache_control"):
        yield Objection(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set."
            " Tools with defer_loading cannot use prompt caching."
        )
    schema = tool["input_schema"]
    wrong = [
        Objection(f"{place}.{fault}") for fault in faults(schema, strict=tool.get("strict") is True)
    ]
    yield from wrong or _of_examples(tool, place)


def _of_examples(tool: dict[str, Any], place: str) -> Iterator[Objection]:
    examples = tool.get("input_examples", ())
    if not examples:
        return
    validator = compile_schema(tool["input_schema"])
    for index, example in enumerate(examples):
        if not validator.is_valid(example):
            yield Objection(
                f"{place}.input_examples.{index}: the example does not match the input_schema"
            )


def of_choice(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield that a request wants a tool called that it doesn't offer, or cannot have."""
    choice = body.get("tool_choice")
    if choice is None:
        return
    tools = body.get("tools", ())
    if not tools and choice["type"] != "none":
        yield Objection("tool_choice: tool_choice may only be specified while providing tools.")
    elif choice["type"] == "tool" and choice["name"] not in [tool.get("name") for tool in tools]:
        yield Objection(f"tool_choice: Tool '{choice['name']}' not found in provided tools")
    is_forced = choice["type"] in ("any", "tool")
    if is_forced and body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        yield Objection("Thinking may not be enabled when tool_choice forces tool use.")
