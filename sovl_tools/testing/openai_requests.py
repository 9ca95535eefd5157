"""The bodies of requests to OpenAI's two APIs, and the tools in them.

After the types of the ``openai`` package and the API's own messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.schemas import OPENAI, faults
from sovl_tools.testing.script import Objection
from sovl_tools.testing.shapes import (
    COUNT,
    FLAG,
    LIST,
    NOTHING,
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


def _typed(kind: str, *keys: str, **others: Shape) -> Fields:
    """Return the shape of a part with its type and strings under the keys, all needed."""
    return Fields({"type": OneOf((kind,)), **dict.fromkeys(keys, TEXT)}, others)


_TEXT_PART = _typed("text", "text", **some("prompt_cache_breakpoint"))
_TEXT_PARTS = Either((TEXT, Many(Tagged("type", {"text": _TEXT_PART}))))
_USER_PARTS = Tagged(
    "type",
    {
        "text": _TEXT_PART,
        "image_url": Fields({"type": TEXT, "image_url": OBJECT}, some("prompt_cache_breakpoint")),
        "input_audio": Fields(
            {"type": TEXT, "input_audio": OBJECT}, some("prompt_cache_breakpoint")
        ),
        "file": Fields({"type": TEXT, "file": OBJECT}, some("prompt_cache_breakpoint")),
    },
)
_SAID_PARTS = Tagged("type", {"text": _TEXT_PART, "refusal": _typed("refusal", "refusal")})
_TOOL_CALL = Tagged(
    "type",
    {
        "function": Fields(
            {"id": TEXT, "type": TEXT, "function": Fields({"name": TEXT, "arguments": TEXT}, {})},
            {},
        ),
        "custom": Fields({"id": TEXT, "type": TEXT, "custom": OBJECT}, {}),
    },
)
_INSTRUCTION = Fields({"role": TEXT, "content": _TEXT_PARTS}, {"name": TEXT})
_MESSAGE = Tagged(
    "role",
    {
        "developer": _INSTRUCTION,
        "system": _INSTRUCTION,
        "user": Fields(
            {"role": TEXT, "content": Either((TEXT, Many(_USER_PARTS)))}, {"name": TEXT}
        ),
        "assistant": Fields(
            {"role": TEXT},
            {
                "content": Either((TEXT, Many(_SAID_PARTS), NOTHING)),
                "refusal": maybe(TEXT),
                "tool_calls": maybe(Many(_TOOL_CALL)),
                "name": TEXT,
                "audio": maybe(OBJECT),
                "function_call": maybe(OBJECT),
                "annotations": maybe(LIST),
            },
        ),
        "tool": Fields({"role": TEXT, "content": _TEXT_PARTS, "tool_call_id": TEXT}, {}),
        "function": Fields({"role": TEXT, "content": maybe(TEXT), "name": TEXT}, {}),
    },
)

_FUNCTION = Fields(
    {"name": TEXT}, {"description": TEXT, "parameters": OBJECT, "strict": maybe(FLAG)}
)
_CHAT_TOOL = Tagged(
    "type",
    {
        "function": Fields({"type": TEXT, "function": _FUNCTION}, {}),
        "custom": Fields({"type": TEXT, "custom": OBJECT}, {}),
    },
)
_MODES = OneOf(("none", "auto", "required"))
_CHAT_CHOICE = Tagged(
    "type",
    {
        "function": Fields({"type": TEXT, "function": Fields({"name": TEXT}, {})}, {}),
        "custom": Fields({"type": TEXT, "custom": OBJECT}, {}),
        "allowed_tools": Fields({"type": TEXT, "allowed_tools": OBJECT}, {}),
    },
)

_SHARED: dict[str, Shape] = {
    "metadata": maybe(OBJECT),
    "parallel_tool_calls": maybe(FLAG),
    "store": maybe(FLAG),
    "stream": maybe(FLAG),
    "temperature": maybe(NUMBER),
    "top_logprobs": maybe(COUNT),
    "top_p": maybe(NUMBER),
    "user": TEXT,
    **some(
        "moderation", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
        "safety_identifier", "service_tier",
    ),
}  # fmt: skip

CHAT = Fields(
    {"model": TEXT, "messages": Many(_MESSAGE)},
    {
        **_SHARED,
        "tools": Many(_CHAT_TOOL),
        "tool_choice": Either((_MODES, _CHAT_CHOICE)),
        "frequency_penalty": maybe(NUMBER),
        "presence_penalty": maybe(NUMBER),
        "max_completion_tokens": maybe(COUNT),
        "max_tokens": maybe(COUNT),
        "n": maybe(COUNT),
        "seed": maybe(COUNT),
        "stream_options": maybe(Fields({}, {"include_usage": FLAG, "include_obfuscation": FLAG})),
        "response_format": OBJECT,
        **some(
            "audio", "function_call", "functions", "logit_bias", "logprobs", "modalities",
            "prediction", "reasoning_effort", "stop", "verbosity", "web_search_options",
        ),
    },
)  # fmt: skip
"""A request to Chat Completions."""

_INPUT_PARTS = Tagged(
    "type",
    {
        "input_text": _typed("input_text", "text", **some("prompt_cache_breakpoint")),
        "input_image": Fields({"type": TEXT}, some("detail", "file_id", "image_url")),
        "input_file": Fields(
            {"type": TEXT}, some("detail", "file_data", "file_id", "file_url", "filename")
        ),
    },
)
_OUTPUT_PARTS = Tagged(
    "type",
    {
        "output_text": _typed("output_text", "text", annotations=LIST, logprobs=maybe(LIST)),
        "refusal": _typed("refusal", "refusal"),
    },
)
_STATUS = OneOf(("in_progress", "completed", "incomplete"))
_ASKED = Fields(
    {"role": TEXT, "content": Either((TEXT, Many(_INPUT_PARTS)))}, {"type": TEXT, "status": _STATUS}
)
_INPUT_MESSAGE = Tagged(
    "role",
    {
        "user": _ASKED,
        "system": _ASKED,
        "developer": _ASKED,
        "assistant": Fields(
            {"role": TEXT, "content": Either((TEXT, Many(_OUTPUT_PARTS)))},
            {"type": TEXT, "id": TEXT, "status": _STATUS, "phase": maybe(TEXT)},
        ),
    },
)
_FURTHER = {"caller": maybe(OBJECT), "namespace": maybe(TEXT)}
_FUNCTION_CALL = Fields(
    {"type": TEXT, "call_id": TEXT, "name": TEXT, "arguments": TEXT},
    {"id": TEXT, "status": _STATUS, "async": maybe(FLAG), **_FURTHER},
)
_FUNCTION_CALL_OUTPUT = Fields(
    {"type": TEXT, "call_id": TEXT, "output": Either((TEXT, Many(_INPUT_PARTS)))},
    {"id": maybe(TEXT), "status": maybe(_STATUS), "name": maybe(TEXT), **_FURTHER},
)
_REASONING = Fields(
    {"type": TEXT, "id": TEXT, "summary": Many(_typed("summary_text", "text"))},
    {"content": Many(_typed("reasoning_text", "text")), "encrypted_content": maybe(TEXT)},
)
_ITEM = Tagged(
    "type",
    {
        "message": _INPUT_MESSAGE,
        "function_call": _FUNCTION_CALL,
        "function_call_output": _FUNCTION_CALL_OUTPUT,
        "reasoning": _REASONING,
        "item_reference": _typed("item_reference", "id"),
        **some(
            "additional_tools", "apply_patch_call", "apply_patch_call_output",
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

_FUNCTION_TOOL = Fields(
    {"type": TEXT, "name": TEXT},
    {
        "parameters": maybe(OBJECT),
        "strict": maybe(FLAG),
        "description": maybe(TEXT),
        "defer_loading": FLAG,
        "allowed_callers": maybe(LIST),
        "output_schema": maybe(OBJECT),
        "async": FLAG,
    },
)
_HOSTED = (
    "apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search",
    "image_generation", "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell",
    "tool_search", "web_search", "web_search_2025_08_26", "web_search_preview",
    "web_search_preview_2025_03_11",
)  # fmt: skip

RESPONSES = Fields(
    {},
    {
        **_SHARED,
        "model": maybe(TEXT),
        "input": Either((TEXT, Many(_ITEM), NOTHING)),
        "instructions": maybe(TEXT),
        "tools": Many(Tagged("type", {"function": _FUNCTION_TOOL, **some(*_HOSTED)})),
        "tool_choice": Either(
            (
                _MODES,
                Tagged(
                    "type",
                    {
                        "function": _typed("function", "name"),
                        "allowed_tools": Fields({"type": TEXT, "mode": TEXT, "tools": LIST}, {}),
                        **some(*_HOSTED),
                    },
                ),
            )
        ),
        "include": maybe(Many(TEXT)),
        "max_output_tokens": maybe(COUNT),
        "max_tool_calls": maybe(COUNT),
        "previous_response_id": maybe(TEXT),
        "reasoning": maybe(OBJECT),
        "text": OBJECT,
        "stream_options": maybe(Fields({}, {"include_obfuscation": FLAG})),
        **some(
            "access_programs", "background", "background_options", "context_management",
            "conversation", "image", "prompt", "truncation",
        ),
    },
)  # fmt: skip
"""A request to Responses."""

NAME = "^[a-zA-Z0-9_-]+$"
MAX_NAME = 64
MAX_TOOLS = 128


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
    if count > MAX_TOOLS:
        yield Objection(
            f"Invalid 'tools': array too long. Expected an array with maximum length {MAX_TOOLS},"
            f" but got an array with length {count} instead.",
            "tools",
            "array_above_max_length",
        )
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
    yield from too_long(name, place, MAX_NAME)
    if not re.fullmatch(NAME, name):
        yield Objection(
            f"Invalid '{place}': string does not match pattern. Expected a string that matches the"
            f" pattern '{NAME}'.",
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
