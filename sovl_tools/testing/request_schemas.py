"""The bodies of requests that the providers' APIs accept, as JSON Schemas.

After the types of the ``openai`` and the ``anthropic`` package, and the APIs' own messages. Limits
that depend on the model aren't checked, nor is the content of hosted tools and media.
"""

from __future__ import annotations

from collections.abc import Mapping

from sovl_tools.model.document import JSON

_NO_FIELDS: Mapping[str, JSON] = {}
_FLAG: JSON = {"type": ["boolean", "null"]}
_TEXT: JSON = {"type": "string"}
_SAID: JSON = {"type": "string", "pattern": r"\S"}
_TEXT_OR_NULL: JSON = {"type": ["string", "null"]}
_OBJECT: JSON = {"type": "object"}


def _closed(needed: Mapping[str, JSON], other: Mapping[str, JSON] = _NO_FIELDS) -> JSON:
    """Return the schema of an object that needs some keys, and can have no others than these."""
    return {
        "type": "object",
        "properties": {**needed, **other},
        "required": [*needed],
        "additionalProperties": False,
    }


def _some(*keys: str) -> dict[str, JSON]:
    """Return keys whose values aren't checked."""
    return {key: {} for key in keys}


def _tagged(key: str, variants: Mapping[str, JSON], *unchecked: str) -> JSON:
    """Return the schema of an object whose other keys depend on one; some variants have any."""
    schemas = {**variants, **dict.fromkeys(unchecked, _OBJECT)}
    branches = [
        {
            **schema,
            "properties": {key: {"const": name}, **schema.get("properties", {})},
            "required": [key, *schema.get("required", ())],
        }
        for name, schema in schemas.items()
    ]
    return {"oneOf": branches}


def _many(of: JSON, **bounds: int) -> JSON:
    return {"type": "array", "items": of, **bounds}


def _either(*schemas: JSON) -> JSON:
    return {"anyOf": [*schemas]}


def _tools(function: JSON, **bounds: int) -> JSON:
    """Return the schema of a list of tools, of which only functions are checked."""
    is_function = {"properties": {"type": {"const": "function"}}}
    tool = {"if": is_function, "then": _tagged("type", {"function": function})}
    return _many(tool, maxItems=128, **bounds)


_NAME: JSON = {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"}
_CALL_ID: JSON = {"type": "string", "maxLength": 40}
_TEXT_PART = _closed({"text": _TEXT}, _some("prompt_cache_breakpoint"))
_REFUSAL = _closed({"refusal": _TEXT})
_TEXT_PARTS = _either(_TEXT, _many(_tagged("type", {"text": _TEXT_PART})))
_USER_PARTS = _many(_tagged("type", {"text": _TEXT_PART}, "image_url", "input_audio", "file"))
_SAID_PARTS = _many(_tagged("type", {"text": _TEXT_PART, "refusal": _REFUSAL}))
_FUNCTION_CALL = _closed({"id": _CALL_ID, "function": _closed({"name": _NAME, "arguments": _TEXT})})
_INSTRUCTION = _closed({"content": _TEXT_PARTS}, {"name": _TEXT})
_ASSISTANT: JSON = {
    **_closed(
        {},
        {
            "content": _either(_TEXT_OR_NULL, _SAID_PARTS),
            "refusal": _TEXT_OR_NULL,
            "tool_calls": _many(
                _tagged("type", {"function": _FUNCTION_CALL}, "custom"), minItems=1
            ),
            **_some("name", "audio", "function_call", "annotations"),
        },
    ),
    # null is for an answer that has something else
    "if": {"properties": {"content": {"const": None}}},
    "then": {"anyOf": [{"required": [each]} for each in ("tool_calls", "refusal", "audio")]},
}
_MESSAGE = _tagged(
    "role",
    {
        "developer": _INSTRUCTION,
        "system": _INSTRUCTION,
        "user": _closed({"content": _either(_TEXT, _USER_PARTS)}, {"name": _TEXT}),
        "assistant": _ASSISTANT,
        "tool": _closed({"content": _TEXT_PARTS, "tool_call_id": _TEXT}),
    },
)
_FUNCTION = {
    "description": _TEXT_OR_NULL,
    "parameters": {"type": ["object", "null"]},
    "strict": _FLAG,
}
_MODES: JSON = {"enum": ["none", "auto", "required", None]}
_SHARED = {
    "stream": _FLAG,
    **_some(
        "metadata", "moderation", "parallel_tool_calls", "prompt_cache_key", "prompt_cache_options",
        "prompt_cache_retention", "safety_identifier", "service_tier", "store", "temperature",
        "top_logprobs", "top_p", "user",
    ),
}  # fmt: skip

CHAT = _closed(
    {"model": _SAID, "messages": _many(_MESSAGE, minItems=1)},
    {
        **_SHARED,
        "tools": _tools(_closed({"function": _closed({"name": _NAME}, _FUNCTION)}), minItems=1),
        "tool_choice": _either(_MODES, _OBJECT),
        "stream_options": {"type": ["object", "null"]},
        **_some(
            "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
            "max_completion_tokens", "max_tokens", "modalities", "n", "prediction",
            "presence_penalty", "reasoning_effort", "response_format", "seed", "stop", "verbosity",
            "web_search_options",
        ),
    },
)  # fmt: skip
"""A request to Chat Completions."""

_LONG_ID: JSON = {"type": "string", "maxLength": 64}
_INPUT_PARTS = _many(_tagged("type", {"input_text": _TEXT_PART}, "input_image", "input_file"))
_OUTPUT_TEXT = _closed({"text": _TEXT}, _some("annotations", "logprobs"))
_OUTPUT_PARTS = _many(_tagged("type", {"output_text": _OUTPUT_TEXT, "refusal": _REFUSAL}))
_STATUS: JSON = {"enum": ["in_progress", "completed", "incomplete"]}
_ASKED = _closed({"content": _either(_TEXT, _INPUT_PARTS)}, {"status": _STATUS, **_some("type")})
_ANSWERED = _closed(
    {"content": _either(_TEXT, _OUTPUT_PARTS)},
    {"id": _TEXT, "status": _STATUS, **_some("type", "phase")},
)
_SUMMARY = _many(_tagged("type", {"summary_text": _closed({"text": _TEXT})}))
_ITEM = _tagged(
    "type",
    {
        "function_call": _closed(
            {"call_id": _LONG_ID, "name": _NAME, "arguments": _TEXT},
            {"id": _TEXT, "status": _STATUS, **_some("async", "caller", "namespace")},
        ),
        "function_call_output": _closed(
            {"call_id": _LONG_ID, "output": _either(_TEXT, _INPUT_PARTS)},
            _some("id", "status", "name", "caller", "namespace"),
        ),
        "reasoning": _closed(
            {"id": _TEXT, "summary": _SUMMARY},
            {"encrypted_content": _TEXT_OR_NULL, **_some("content")},
        ),
    },
    "item_reference", "additional_tools", "apply_patch_call", "apply_patch_call_output",
    "code_interpreter_call", "compaction", "compaction_trigger", "computer_call",
    "computer_call_output", "custom_tool_call", "custom_tool_call_output", "file_search_call",
    "image_generation_call", "local_shell_call", "local_shell_call_output", "mcp_approval_request",
    "mcp_approval_response", "mcp_call", "mcp_list_tools", "program", "program_output",
    "shell_call", "shell_call_output", "tool_search_call", "tool_search_output", "web_search_call",
)  # fmt: skip
_INPUT_MESSAGE = _tagged(
    "role", {"user": _ASKED, "system": _ASKED, "developer": _ASKED, "assistant": _ANSWERED}
)
_FUNCTION_TOOL = _closed(
    {"name": _NAME},
    {**_FUNCTION, **_some("defer_loading", "allowed_callers", "output_schema", "async")},
)

RESPONSES: JSON = {
    **_closed(
        {},
        {
            **_SHARED,
            "model": _TEXT_OR_NULL,
            "input": _either(
                _TEXT_OR_NULL,
                _many(
                    {
                        "if": {"required": ["role"]},
                        "then": _INPUT_MESSAGE,
                        "else": _ITEM,
                    }
                ),
            ),
            "instructions": _TEXT_OR_NULL,
            "tools": _tools(_FUNCTION_TOOL),
            "tool_choice": _either(_MODES, _OBJECT),
            "previous_response_id": _TEXT_OR_NULL,
            **_some(
                "access_programs", "background", "background_options", "context_management",
                "conversation", "image", "include", "max_output_tokens", "max_tool_calls", "prompt",
                "reasoning", "stream_options", "text", "truncation",
            ),
        },
    ),
    # a stored prompt can have the model
    "if": {"required": ["prompt"]},
    "else": {"properties": {"model": _SAID}, "required": ["model"]},
}  # fmt: skip
"""A request to Responses."""

_CACHE: dict[str, JSON] = _some("cache_control")
_USE_ID: JSON = {"type": "string", "pattern": "^[a-zA-Z0-9_-]+$"}
_BLOCK = _closed({"text": _SAID}, {**_CACHE, **_some("citations")})
_SHOWN = ("image", "document", "search_result")
_RESULT: JSON = {
    **_closed(
        {"tool_use_id": _USE_ID},
        {
            **_CACHE,
            "content": _either(
                _TEXT,
                _many(
                    _tagged("type", {"text": _BLOCK}, *_SHOWN, "tool_reference", "browser_state")
                ),
            ),
            "is_error": {"type": "boolean"},
            **_some("toolset_name"),
        },
    ),
    "if": {"properties": {"is_error": {"const": True}}, "required": ["is_error"]},
    "then": {"properties": {"content": _either(_TEXT, _many(_tagged("type", {"text": _BLOCK})))}},
}
_USE = _closed(
    {"id": _USE_ID, "name": _TEXT, "input": _OBJECT}, {**_CACHE, **_some("caller", "toolset_name")}
)
_HOSTED = (
    "bash_code_execution_tool_result", "code_execution_tool_result", "server_tool_use",
    "text_editor_code_execution_tool_result", "tool_search_tool_result", "web_fetch_tool_result",
    "web_search_tool_result",
)  # fmt: skip
_USER_BLOCKS = _tagged(
    "type", {"text": _BLOCK, "tool_result": _RESULT}, *_SHOWN, "container_upload"
)
_ANSWER_BLOCKS = _tagged(
    "type",
    {
        "text": _BLOCK,
        "tool_use": _USE,
        "thinking": _closed({"thinking": _TEXT, "signature": _TEXT}),
        "redacted_thinking": _closed({"data": _TEXT}),
    },
    *_HOSTED,
)
_FROM_USER = _closed({"content": _either(_SAID, _many(_USER_BLOCKS, minItems=1))})

CUSTOM_TOOL = _closed(
    {"name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,128}$"}, "input_schema": _OBJECT},
    {
        **_CACHE,
        "description": _TEXT,
        "strict": {"type": "boolean"},
        "input_examples": _many(_OBJECT),
        **_some("type", "defer_loading", "allowed_callers", "eager_input_streaming"),
    },
)
"""A tool that the client runs; others have a dated type."""

MESSAGES = _closed(
    {
        "model": _TEXT,
        "max_tokens": {"type": "integer"},
        "messages": _many(
            _tagged(
                "role",
                {
                    "user": _FROM_USER,
                    "system": _FROM_USER,
                    "assistant": _closed({"content": _either(_TEXT, _many(_ANSWER_BLOCKS))}),
                },
            ),
            minItems=1,
        ),
    },
    {
        **_CACHE,
        "stream": {"type": "boolean"},
        "system": _either(_TEXT, _many(_tagged("type", {"text": _BLOCK}))),
        "thinking": _OBJECT,
        "tool_choice": _OBJECT,
        "tools": _many(
            {
                "if": {"properties": {"type": {"enum": ["custom", None]}}},
                "then": CUSTOM_TOOL,
                "else": {"required": ["name"]},
            }
        ),
        **_some(
            "container", "context_management", "diagnostics", "inference_geo", "mcp_servers",
            "metadata", "output_config", "service_tier", "speed", "stop_sequences", "temperature",
            "top_k", "top_p", "user_profile_id",
        ),
    },
)  # fmt: skip
"""A request to Messages."""
