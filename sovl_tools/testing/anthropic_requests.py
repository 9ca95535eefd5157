"""The body of a request to Messages, its tools, and the tool that it wants called.

After the types of the ``anthropic`` package, the guide to tool use, and the API's own messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.schema.engine import compile_schema
from sovl_tools.testing.schemas import ANTHROPIC, faults, over_limits
from sovl_tools.testing.script import Objection
from sovl_tools.testing.shapes import (
    COUNT,
    FLAG,
    LIST,
    OBJECT,
    TEXT,
    Either,
    Fields,
    Many,
    OneOf,
    Shape,
    Tagged,
    check_for_anthropic,
    maybe,
    some,
)

_CACHE = {
    "cache_control": maybe(Fields({"type": OneOf(("ephemeral",))}, {"ttl": OneOf(("5m", "1h"))}))
}

_TEXT = Fields({"text": TEXT}, {**_CACHE, "citations": maybe(LIST)})
_SHOWN: dict[str, Shape] = {"text": _TEXT, **some("image", "document", "search_result")}
_RESULT = Tagged("type", {**_SHOWN, **some("tool_reference", "browser_state")})
_BLOCKS = Tagged(
    "type",
    {
        **_SHOWN,
        "tool_use": Fields(
            {"id": TEXT, "name": TEXT, "input": OBJECT},
            {**_CACHE, **some("caller", "toolset_name")},
        ),
        "tool_result": Fields(
            {"tool_use_id": TEXT},
            {
                **_CACHE,
                "content": Either((TEXT, Many(_RESULT))),
                "is_error": FLAG,
                **some("toolset_name"),
            },
        ),
        "thinking": Fields({"thinking": TEXT, "signature": TEXT}),
        "redacted_thinking": Fields({"data": TEXT}),
        **some(
            "bash_code_execution_tool_result", "code_execution_tool_result", "container_upload",
            "server_tool_use", "text_editor_code_execution_tool_result", "tool_search_tool_result",
            "web_fetch_tool_result", "web_search_tool_result",
        ),
    },
)  # fmt: skip
_MESSAGE = Fields(
    {"role": OneOf(("user", "assistant", "system")), "content": Either((TEXT, Many(_BLOCKS)))}
)

_CUSTOM_TOOL = Fields(
    {"name": TEXT, "input_schema": OBJECT},
    {
        **_CACHE,
        "type": maybe(TEXT),
        "description": TEXT,
        "strict": FLAG,
        "input_examples": Many(OBJECT),
        "defer_loading": FLAG,
        **some("allowed_callers", "eager_input_streaming"),
    },
)
"""A tool that the client runs; others have a dated type and are not checked."""

_FREE = Fields({}, some("disable_parallel_tool_use"))
_CHOICE = Tagged(
    "type",
    {
        "auto": _FREE,
        "any": _FREE,
        "none": Fields({}),
        "tool": Fields({"name": TEXT}, some("disable_parallel_tool_use")),
    },
)

MESSAGES = Fields(
    {"model": TEXT, "messages": Many(_MESSAGE), "max_tokens": COUNT},
    {
        **_CACHE,
        "stream": FLAG,
        "system": Either((TEXT, Many(Tagged("type", {"text": _TEXT})))),
        "thinking": OBJECT,
        "tool_choice": _CHOICE,
        "tools": Many(OBJECT),
        **some(
            "container", "context_management", "diagnostics", "inference_geo", "mcp_servers",
            "metadata", "output_config", "service_tier", "speed", "stop_sequences", "temperature",
            "top_k", "top_p", "user_profile_id",
        ),
    },
)  # fmt: skip
"""A request to Messages, but for the inside of its tools."""

_NAME = "^[a-zA-Z0-9_-]{1,128}$"


def check_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield the problems of a request's tools and of its tool choice."""
    tools = body.get("tools", [])
    for index, tool in enumerate(tools):
        if tool.get("type") in (None, "custom"):
            yield from _check_tool(tool, f"tools.{index}.custom")
        elif not isinstance(tool.get("name"), str):
            yield Objection(f"tools.{index}.name: Field required")
    names = [tool.get("name") for tool in tools]
    if any(names.count(name) > 1 for name in names):
        yield Objection("tools: Tool names must be unique.")
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield Objection("All tools have defer_loading set. At least one tool must be non-deferred.")
    strict = [tool.get("input_schema") for tool in tools if tool.get("strict") is True]
    yield from (Objection(message) for message in over_limits(strict))
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not tools and choice["type"] != "none":
        yield Objection("tool_choice: tool_choice may only be specified while providing tools.")
    elif choice["type"] == "tool" and choice["name"] not in names:
        yield Objection(f"tool_choice: Tool '{choice['name']}' not found in provided tools")


def _check_tool(tool: dict[str, Any], place: str) -> Iterator[Objection]:
    # fields of the wrong type are reported separately, as the next checks rely on their types
    wrong = list(check_for_anthropic(_CUSTOM_TOOL, tool))
    yield from (Objection(f"{place}.{each.message}") for each in wrong)
    if wrong:
        return
    if not re.fullmatch(_NAME, tool["name"]):
        yield Objection(f"{place}.name: String should match pattern '{_NAME}'")
    if tool.get("defer_loading") and tool.get("cache_control"):
        yield Objection(
            f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set."
            " Tools with defer_loading cannot use prompt caching."
        )
    schema = tool["input_schema"]
    wrong = [
        Objection(f"{place}.{fault}")
        for fault in faults(ANTHROPIC, schema, strict=tool.get("strict") is True)
    ]
    yield from wrong
    for index, example in enumerate(() if wrong else tool.get("input_examples", ())):
        if not compile_schema(schema).is_valid(example):
            yield Objection(
                f"{place}.input_examples.{index}: the example does not match the input_schema"
            )
