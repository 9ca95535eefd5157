"""The bodies of requests to OpenAI's two APIs, and the tools in them.

After the types of the ``openai`` package and the API's own messages. Keys that can be anything
here, and parts and items of such types, are known by their names only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.schemas import OPENAI, faults
from sovl_tools.testing.script import Objection
from sovl_tools.testing.shapes import (
    FLAG,
    LIST,
    NOTHING,
    OBJECT,
    TEXT,
    Either,
    Fields,
    Many,
    OneOf,
    Tagged,
    maybe,
    some,
)

_CACHED = some("prompt_cache_breakpoint")
_TEXT_PART = Fields({"text": TEXT}, _CACHED)
_REFUSAL = Fields({"refusal": TEXT})
_TEXT_PARTS = Either((TEXT, Many(Tagged("type", {"text": _TEXT_PART}))))
_USER_PARTS = Tagged("type", {"text": _TEXT_PART, **some("image_url", "input_audio", "file")})
_SAID_PARTS = Tagged("type", {"text": _TEXT_PART, "refusal": _REFUSAL})
_TOOL_CALL = Tagged(
    "type",
    {
        "function": Fields({"id": TEXT, "function": Fields({"name": TEXT, "arguments": TEXT})}),
        "custom": Fields({"id": TEXT, "custom": OBJECT}),
    },
)
_INSTRUCTION = Fields({"content": _TEXT_PARTS}, {"name": TEXT})
_MESSAGE = Tagged(
    "role",
    {
        "developer": _INSTRUCTION,
        "system": _INSTRUCTION,
        "user": Fields({"content": Either((TEXT, Many(_USER_PARTS)))}, {"name": TEXT}),
        "assistant": Fields(
            {},
            {
                "content": Either((TEXT, Many(_SAID_PARTS), NOTHING)),
                "refusal": maybe(TEXT),
                "tool_calls": maybe(Many(_TOOL_CALL)),
                **some("name", "audio", "function_call", "annotations"),
            },
        ),
        "tool": Fields({"content": _TEXT_PARTS, "tool_call_id": TEXT}),
        "function": Fields({"content": maybe(TEXT), "name": TEXT}),
    },
)

_FUNCTION = Fields(
    {"name": TEXT}, {"description": TEXT, "parameters": OBJECT, "strict": maybe(FLAG)}
)
_MODES = OneOf(("none", "auto", "required"))
_SHARED = {
    "stream": maybe(FLAG),
    **some(
        "metadata", "moderation", "parallel_tool_calls", "prompt_cache_key", "prompt_cache_options",
        "prompt_cache_retention", "safety_identifier", "service_tier", "store", "temperature",
        "top_logprobs", "top_p", "user",
    ),
}  # fmt: skip

CHAT = Fields(
    {"model": TEXT, "messages": Many(_MESSAGE)},
    {
        **_SHARED,
        "tools": Many(
            Tagged("type", {"function": Fields({"function": _FUNCTION}), **some("custom")})
        ),
        "tool_choice": Either(
            (
                _MODES,
                Tagged(
                    "type",
                    {
                        "function": Fields({"function": Fields({"name": TEXT})}),
                        **some("custom", "allowed_tools"),
                    },
                ),
            )
        ),
        "stream_options": maybe(Fields({}, some("include_usage", "include_obfuscation"))),
        **some(
            "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
            "max_completion_tokens", "max_tokens", "modalities", "n", "prediction",
            "presence_penalty", "reasoning_effort", "response_format", "seed", "stop", "verbosity",
            "web_search_options",
        ),
    },
)  # fmt: skip
"""A request to Chat Completions."""

_INPUT_PARTS = Tagged(
    "type",
    {"input_text": Fields({"text": TEXT}, _CACHED), **some("input_image", "input_file")},
)
_OUTPUT_PARTS = Tagged(
    "type",
    {
        "output_text": Fields({"text": TEXT}, {"annotations": LIST, "logprobs": maybe(LIST)}),
        "refusal": _REFUSAL,
    },
)
_STATUS = OneOf(("in_progress", "completed", "incomplete"))
_ASKED = Fields({"content": Either((TEXT, Many(_INPUT_PARTS)))}, {"status": _STATUS})
_INPUT_MESSAGE = Tagged(
    "role",
    {
        "user": _ASKED,
        "system": _ASKED,
        "developer": _ASKED,
        "assistant": Fields(
            {"content": Either((TEXT, Many(_OUTPUT_PARTS)))},
            {"id": TEXT, "status": _STATUS, **some("phase")},
        ),
    },
)
_ITEM = Tagged(
    "type",
    {
        "message": _INPUT_MESSAGE,
        "function_call": Fields(
            {"call_id": TEXT, "name": TEXT, "arguments": TEXT},
            {"id": TEXT, "status": _STATUS, **some("async", "caller", "namespace")},
        ),
        "function_call_output": Fields(
            {"call_id": TEXT, "output": Either((TEXT, Many(_INPUT_PARTS)))},
            {"id": maybe(TEXT), "status": maybe(_STATUS), **some("name", "caller", "namespace")},
        ),
        "reasoning": Fields(
            {"id": TEXT, "summary": Many(Tagged("type", {"summary_text": Fields({"text": TEXT})}))},
            {"content": LIST, "encrypted_content": maybe(TEXT)},
        ),
        **some(
            "item_reference", "additional_tools", "apply_patch_call", "apply_patch_call_output",
            "code_interpreter_call", "compaction", "compaction_trigger", "computer_call",
            "computer_call_output", "program", "program_output",
            "custom_tool_call", "custom_tool_call_output", "file_search_call",
            "image_generation_call", "local_shell_call", "local_shell_call_output",
            "mcp_approval_request", "mcp_approval_response", "mcp_call", "mcp_list_tools",
            "shell_call", "shell_call_output", "tool_search_call", "tool_search_output",
            "web_search_call",
        ),
    },
    fallback="message",
)  # fmt: skip
_HOSTED = some(
    "apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search",
    "image_generation", "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell",
    "tool_search", "web_search", "web_search_2025_08_26", "web_search_preview",
    "web_search_preview_2025_03_11",
)  # fmt: skip
_FUNCTION_TOOL = Fields(
    {"name": TEXT},
    {
        "description": maybe(TEXT),
        "parameters": maybe(OBJECT),
        "strict": maybe(FLAG),
        **some("defer_loading", "allowed_callers", "output_schema", "async"),
    },
)
_CHOICE = Tagged("type", {"function": Fields({"name": TEXT}), **some("allowed_tools"), **_HOSTED})

RESPONSES = Fields(
    {},
    {
        **_SHARED,
        "model": maybe(TEXT),
        "input": Either((TEXT, Many(_ITEM), NOTHING)),
        "instructions": maybe(TEXT),
        "tools": Many(Tagged("type", {"function": _FUNCTION_TOOL, **_HOSTED})),
        "tool_choice": Either((_MODES, _CHOICE)),
        "include": maybe(Many(TEXT)),
        "previous_response_id": maybe(TEXT),
        **some(
            "access_programs", "background", "background_options", "context_management",
            "conversation", "image", "max_output_tokens", "max_tool_calls", "prompt", "reasoning",
            "stream_options", "text", "truncation",
        ),
    },
)  # fmt: skip
"""A request to Responses."""

_NAME = "^[a-zA-Z0-9_-]+$"
_MAX_NAME = 64
_MAX_TOOLS = 128


class Function(NamedTuple):
    """A tool that is a function: its definition, and where that is in the request."""

    definition: dict[str, JSON]
    place: str


def objections(
    body: dict[str, JSON], functions: list[Function], no_such_choice: str
) -> Iterator[Objection]:
    """Yield the problems of a request's tools, which have the right shape.

    Args:
        body: the request.
        functions: the request's function tools.
        no_such_choice: the words for a choice that isn't among them.
    """
    count = len(body.get("tools", ()))
    if count > _MAX_TOOLS:
        words = f"array with maximum length {_MAX_TOOLS}, but got an array with length {count}"
        message = f"Invalid 'tools': array too long. Expected an {words} instead."
        yield Objection(message, "tools", "array_above_max_length")
    for function in functions:
        name, schema = function.definition["name"], function.definition.get("parameters")
        yield from misnamed(name, f"{function.place}.name")
        is_strict = function.definition.get("strict") is True
        # a function without parameters has no schema to check
        for fault in () if schema is None else faults(OPENAI, schema, strict=is_strict):
            yield Objection(
                f"Invalid schema for function '{name}': {fault}.",
                f"{function.place}.parameters",
                "invalid_function_parameters",
            )
    names = [function.definition["name"] for function in functions]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Objection(f"Duplicate function name '{name}' in 'tools'.", "tools", "invalid_value")
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and choice["type"] == "function":
        # Chat Completions has the name in an object within
        name = choice.get("function", choice)["name"]
        if name not in names:
            yield Objection(no_such_choice.format(name), "tool_choice")


def misnamed(name: str, place: str) -> Iterator[Objection]:
    """Yield that a name is empty, too long or has other characters in it."""
    yield from too_long(name, place, _MAX_NAME)
    if not re.fullmatch(_NAME, name):
        yield Objection(
            f"Invalid '{place}': string does not match pattern. Expected a string that matches the"
            f" pattern '{_NAME}'.",
            place,
            "invalid_value",
        )


def too_long(text: str, place: str, most: int) -> Iterator[Objection]:
    """Yield that a string has too many characters."""
    if len(text) > most:
        yield Objection(
            f"Invalid '{place}': string too long. Expected a string with maximum length {most}, but"
            f" got a string with length {len(text)} instead.",
            place,
            "string_above_max_length",
        )


def empty(place: str) -> Objection:
    """Return that there must be something in an array."""
    return Objection(
        f"Invalid '{place}': empty array. Expected an array with minimum length 1, but got an empty"
        " array instead.",
        place,
        "empty_array",
    )
