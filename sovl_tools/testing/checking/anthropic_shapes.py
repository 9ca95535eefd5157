"""The body of a request to Messages, after the types of the ``anthropic`` package."""

from __future__ import annotations

from sovl_tools.testing.checking.shapes import (
    COUNT,
    FLAG,
    LIST,
    NUMBER,
    OBJECT,
    TEXT,
    Either,
    Fields,
    Many,
    OneOf,
    Shape,
    Tagged,
    maybe,
    some,
)

_CACHE = {
    "cache_control": maybe(Fields({"type": OneOf(("ephemeral",))}, {"ttl": OneOf(("5m", "1h"))}))
}

_TEXT = Fields({"type": TEXT, "text": TEXT}, {**_CACHE, "citations": maybe(LIST)})
_SHOWN: dict[str, Shape] = {
    "text": _TEXT,
    "image": Fields({"type": TEXT, "source": OBJECT}, {**_CACHE, "transformations": maybe(OBJECT)}),
    "document": Fields(
        {"type": TEXT, "source": OBJECT},
        {**_CACHE, "citations": maybe(OBJECT), "context": maybe(TEXT), "title": maybe(TEXT)},
    ),
    **some("search_result"),
}
_RESULT = Tagged("type", {**_SHOWN, **some("tool_reference", "browser_state")})
_BLOCKS = Tagged(
    "type",
    {
        **_SHOWN,
        "tool_use": Fields(
            {"type": TEXT, "id": TEXT, "name": TEXT, "input": OBJECT},
            {**_CACHE, "caller": OBJECT, "toolset_name": maybe(TEXT)},
        ),
        "tool_result": Fields(
            {"type": TEXT, "tool_use_id": TEXT},
            {
                **_CACHE,
                "content": Either((TEXT, Many(_RESULT))),
                "is_error": FLAG,
                "toolset_name": maybe(TEXT),
            },
        ),
        "thinking": Fields({"type": TEXT, "thinking": TEXT, "signature": TEXT}, {}),
        "redacted_thinking": Fields({"type": TEXT, "data": TEXT}, {}),
        **some(
            "bash_code_execution_tool_result", "code_execution_tool_result", "container_upload",
            "server_tool_use", "text_editor_code_execution_tool_result", "tool_search_tool_result",
            "web_fetch_tool_result", "web_search_tool_result",
        ),
    },
)  # fmt: skip
_MESSAGE = Fields(
    {"role": OneOf(("user", "assistant", "system")), "content": Either((TEXT, Many(_BLOCKS)))}, {}
)

CUSTOM_TOOL = Fields(
    {"name": TEXT, "input_schema": OBJECT},
    {
        **_CACHE,
        "type": maybe(TEXT),
        "description": TEXT,
        "strict": FLAG,
        "input_examples": Many(OBJECT),
        "defer_loading": FLAG,
        "allowed_callers": LIST,
        "eager_input_streaming": maybe(FLAG),
    },
)
"""A tool that the client runs; others have a dated type and are not looked at."""

_CHOICE = Tagged(
    "type",
    {
        **dict.fromkeys(
            ("auto", "any"), Fields({"type": TEXT}, {"disable_parallel_tool_use": FLAG})
        ),
        "none": Fields({"type": TEXT}, {}),
        "tool": Fields({"type": TEXT, "name": TEXT}, {"disable_parallel_tool_use": FLAG}),
    },
)
_THINKING = Tagged(
    "type",
    {
        "enabled": Fields({"type": TEXT, "budget_tokens": COUNT}, {"display": maybe(TEXT)}),
        "adaptive": Fields({"type": TEXT}, {"display": maybe(TEXT)}),
        "disabled": Fields({"type": TEXT}, {}),
    },
)

MESSAGES = Fields(
    {"model": TEXT, "messages": Many(_MESSAGE), "max_tokens": COUNT},
    {
        **_CACHE,
        "metadata": Fields({}, {"user_id": maybe(TEXT)}),
        "stop_sequences": Many(TEXT),
        "stream": FLAG,
        "system": Either((TEXT, Many(Tagged("type", {"text": _TEXT})))),
        "temperature": NUMBER,
        "thinking": _THINKING,
        "tool_choice": _CHOICE,
        "tools": Many(OBJECT),
        "top_k": COUNT,
        "top_p": NUMBER,
        **some(
            "container", "context_management", "diagnostics", "inference_geo", "mcp_servers",
            "output_config", "service_tier", "speed", "user_profile_id",
        ),
    },
)  # fmt: skip
"""A request to Messages, but for the inside of its tools."""
