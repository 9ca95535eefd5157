"""Anthropic's Messages.

Source: Anthropic's pages "Tool use", "Extended thinking" (blocks with signatures are sent back as
they came), "Streaming messages", and the types of its SDK.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

from sovl_tools.agent.answer import (
    Answer,
    Call,
    Message,
    Prompt,
    Stop,
    Usage,
    check_types,
    request_body,
    to_dict,
)
from sovl_tools.agent.errors import NO_ANSWER, reported_error
from sovl_tools.agent.history import (
    arguments_of,
    calls_of,
    fitted_name,
    items_of,
    output_of,
    with_all_results,
)
from sovl_tools.formats.messages import (
    NOTHING,
    Made,
    anthropic,
    anthropic_picture,
    anthropic_text,
    as_text,
    parts,
    says_something,
)
from sovl_tools.model.document import JSON

NAME = FORMAT = "anthropic"

MOST_TOKENS = 8192
"""How long an answer may be, unless the options say ``max_tokens``: the API requires it."""

_OWN = (NAME,)
_OPENING = "(the conversation begins)"


STREAM = {"stream": True}

method = attrgetter("messages.create")


def body(prompt: Prompt) -> dict[str, Any]:
    """Return what Messages is asked."""
    # User and assistant take turns, and results are said by the user: several in a row are one.
    messages: list[Made] = []
    for message in with_all_results(prompt.messages, _OWN):
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = list(_blocks(message))
        if blocks and messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    # The first has to be the user's, which a policy for trimming may have cut off.
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [anthropic_text(_OPENING)]})
    request: dict[str, Any] = {"max_tokens": MOST_TOKENS, "messages": messages}
    if prompt.instructions:
        request["system"] = prompt.instructions
    return request_body(request, prompt, lambda name: {"type": "tool", "name": name}, _MODES)


_MODES = {"auto": {"type": "auto"}, "required": {"type": "any"}, "none": {"type": "none"}}


def _blocks(message: Message) -> Iterator[Made]:
    """Yield the blocks of a message; the API refuses empty texts, and users who say nothing."""
    own = items_of(message, _OWN)
    if message["role"] == "tool":
        yield from anthropic(output_of(message))["content"]
    elif message["role"] == "user":
        yield from _content_blocks(message["content"]) or [anthropic_text(NOTHING)]
    elif own:
        for block in filter(says_something, own):
            # Models call what no tool could be called, and the API refuses such a name.
            name = {"name": fitted_name(block["name"])} if _is_call(block) else {}
            yield {**block, **name}
    else:
        yield from _content_blocks(message["content"])
        for call in calls_of(message):
            known = {"id": call.id, "name": call.name, "input": arguments_of(call.arguments)}
            yield {"type": "tool_use", **known}


def _content_blocks(content: JSON) -> list[Made]:
    shown = parts(content, anthropic_text, anthropic_picture)
    return [*filter(says_something, [anthropic_text(shown)] if isinstance(shown, str) else shown)]


def parse_answer(response: Any) -> Answer:
    """Return an answer of Messages in our words.

    Raises:
        ProviderError: there is none in it.
    """
    message = to_dict(response)
    blocks = message.get("content")
    if blocks is None:
        raise reported_error(message.get("error") or NO_ANSWER)
    inputs = {index: as_text(each["input"]) for index, each in enumerate(blocks) if _is_call(each)}
    return _answer(blocks, inputs, message, message.get("usage") or {})


def _is_call(block: Made) -> bool:
    return bool(block["type"] == "tool_use")


def _answer(
    blocks: list[Made], inputs: dict[int, str], ending: Made, usage: dict[str, Any]
) -> Answer:
    """Return an answer; ``ending`` says why it ended, and more of it if it was refused."""
    for index, block in enumerate(blocks):
        check_types(block, _TYPES)
        if index in inputs:  # the API wants an object back, also where the model wrote none
            blocks[index] = {**block, "input": arguments_of(inputs[index])}
    calls = tuple(
        Call(each["id"], each["name"], inputs[index])
        for index, each in enumerate(blocks)
        if _is_call(each)
    )
    text = "".join(each["text"] for each in blocks if each["type"] == "text")
    # A refusal may have no block at all, only an explanation.
    text = text or (ending.get("stop_details") or {}).get("explanation") or ""
    stop = _STOPS.get(ending.get("stop_reason")) or ("calls" if calls else "end")
    return Answer(text, calls, stop, tuple(blocks), _usage(usage))


_TYPES = {
    "type": str, "text": str, "thinking": str, "signature": str, "id": str, "name": str,
    "citations": list | None,
}  # fmt: skip
"""Types of what is sent back in blocks."""

_STOPS: dict[str | None, Stop] = {
    "refusal": "refusal",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


def _usage(usage: dict[str, Any]) -> Usage:
    """Return tokens; the API counts those that a cache takes or gives beside the others."""
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    sent = (usage.get("input_tokens") or 0) + cached + written
    return Usage(sent, usage.get("output_tokens") or 0, cached, 1)


_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


class Draft:
    """An answer that is coming in, block by block."""

    def __init__(self) -> None:
        self.text = ""
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._ending: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._is_over = False

    def feed(self, chunk: Any) -> str:
        """Take one event in; return the text that it adds."""
        event = to_dict(chunk)
        kind = event["type"]
        if kind == "message_start":
            self._usage = dict(event["message"].get("usage") or {})
        elif kind == "content_block_start":
            self._blocks[event["index"]] = dict(event["content_block"])
        elif kind == "content_block_delta":
            return self._piece(event["index"], event["delta"])
        elif kind == "message_delta":
            self._ending = event["delta"]
            # Cumulative, and null for what stays as message_start said it.
            self._usage |= {key: each for key, each in event["usage"].items() if each is not None}
        elif kind == "message_stop":
            self._is_over = True
        return ""

    def _piece(self, index: int, delta: dict[str, Any]) -> str:
        block, kind = self._blocks[index], delta["type"]
        if kind == "input_json_delta":
            self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
        elif kind in _TEXTS:
            name = _TEXTS[kind]
            block[name] = (block.get(name) or "") + delta[name]
            if name == "text":
                self.text += delta["text"]
                return str(delta["text"])
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        return ""

    def answer(self) -> Answer | None:
        """Return the answer."""
        if not self._is_over:
            return None
        blocks: list[JSON] = []
        inputs: dict[int, str] = {}
        for index, block in sorted(self._blocks.items()):  # an index may be left out
            # A call without arguments has no pieces, but {} from its beginning.
            if "input" in block:
                inputs[len(blocks)] = self._inputs.get(index) or as_text(block["input"])
            blocks.append(block)
        return _answer(blocks, inputs, self._ending, self._usage)
