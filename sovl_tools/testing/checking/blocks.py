"""The blocks of messages to Anthropic, each by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.checking.turns import content_of
from sovl_tools.testing.record import Objection

_ID = "^[a-zA-Z0-9_-]+$"
_ROLES = {
    "tool_use": "assistant",
    "tool_result": "user",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}


def of_blocks(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield what is refused in the blocks of all messages and of the system's."""
    messages = body["messages"]
    if isinstance(body.get("system"), list):
        yield from _of_texts(body["system"], "system")
    for index, message in enumerate(messages):
        is_last = index == len(messages) - 1
        content = content_of(message)
        if not message["content"]:
            if not (is_last and message["role"] == "assistant"):
                yield Objection(
                    f"messages.{index}: all messages must have non-empty content except for the"
                    " optional final assistant message"
                )
            continue
        yield from _of_texts(content, "messages")
        for number, block in enumerate(content):
            yield from _of_block(block, message["role"], f"messages.{index}.content.{number}")
    yield from _of_prefill(messages[-1])


def _of_texts(content: list[dict[str, Any]], place: str) -> Iterator[Objection]:
    texts = [block["text"] for block in content if block["type"] == "text"]
    if not all(texts):
        yield Objection(f"{place}: text content blocks must be non-empty")
    elif not all(text.strip() for text in texts):
        yield Objection(f"{place}: text content blocks must contain non-whitespace text")


def _of_block(block: dict[str, Any], role: str, place: str) -> Iterator[Objection]:
    kind = block["type"]
    if role != _ROLES.get(kind, role):
        yield Objection(f"{place}: `{kind}` blocks can only be in `{_ROLES[kind]}` messages")
    for key in ("id", "tool_use_id"):
        if kind in ("tool_use", "tool_result") and not re.fullmatch(_ID, block.get(key, "_")):
            yield Objection(f"{place}.{kind}.{key}: String should match pattern '{_ID}'")
    if kind == "tool_result" and isinstance(block.get("content"), list):
        yield from _of_result(block, f"{place}.tool_result")


def _of_result(block: dict[str, Any], place: str) -> Iterator[Objection]:
    content = block["content"]
    if block.get("is_error") and any(each["type"] != "text" for each in content):
        yield Objection(f"{place}: all content must be type `text` if `is_error` is true")
    if not all(each["text"] for each in content if each["type"] == "text"):
        yield Objection("messages: text content blocks must be non-empty")


def _of_prefill(message: dict[str, Any]) -> Iterator[Objection]:
    content = content_of(message)
    if message["role"] != "assistant" or not content:
        return
    text = content[-1].get("text", "") if content[-1]["type"] == "text" else ""
    if text != text.rstrip():
        yield Objection("messages: final assistant content cannot end with trailing whitespace")
