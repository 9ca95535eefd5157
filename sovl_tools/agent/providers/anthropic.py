"""Anthropic's Messages.

Source: Anthropic's pages "Tool use", "Extended thinking" (blocks with signatures are sent back as
they came), "Streaming messages", and the types of its SDK.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from sovl_tools.agent.answer import (
    Answer,
    Call,
    Message,
    Prompt,
    Stop,
    Usage,
    request_body,
    to_dict,
)
from sovl_tools.agent.errors import NO_ANSWER, reported_error
from sovl_tools.agent.history import (
    arguments_of,
    arguments_piece,
    arguments_text,
    call_ids,
    calls_of,
    items_of,
    output_of,
    with_all_results,
    with_calls,
)
from sovl_tools.formats.messages import (
    NOTHING,
    Made,
    anthropic,
    anthropic_picture,
    anthropic_text,
    parts,
    says_something,
)
from sovl_tools.model.document import JSON

NAME = FORMAT = "anthropic"

MOST_TOKENS = 8192
"""The maximum length of an answer without the option ``max_tokens``: the API requires it."""

_OWN = (NAME,)
_OPENING = "(the conversation begins)"


STREAM = {"stream": True}

method = attrgetter("messages.create")


def body(prompt: Prompt) -> dict[str, Any]:
    """Return the body of a request to Messages."""
    # User and assistant alternate, and results are the user's messages: several in a row become
    # one.
    messages: list[Made] = []
    for message in with_all_results(prompt.messages, _OWN):
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = list(_blocks(message))
        if blocks and messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    # The first must be the user's, which a policy for trimming can have cut off.
    if messages and messages[0]["role"] != "user":
        messages.insert(0, {"role": "user", "content": [anthropic_text(_OPENING)]})
    request: dict[str, Any] = {"max_tokens": MOST_TOKENS, "messages": messages}
    if prompt.instructions:
        request["system"] = prompt.instructions
    return request_body(request, prompt, lambda name: {"type": "tool", "name": name}, _MODES)


_MODES = {"auto": {"type": "auto"}, "required": {"type": "any"}, "none": {"type": "none"}}


def _blocks(message: Message) -> Iterator[Made]:
    """Yield the blocks of a message; the API rejects empty strings, and empty user messages."""
    own = items_of(message, _OWN)
    if message["role"] == "tool":
        yield from anthropic(output_of(message))["content"]
    elif message["role"] == "user":
        yield from _content_blocks(message["content"]) or [anthropic_text(NOTHING)]
    elif own:
        yield from with_calls(filter(says_something, own), calls_of(message), _is_call, "id")
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
        ProviderError: it has no answer.
    """
    message = to_dict(response)
    blocks = message.get("content")
    if blocks is None:
        raise reported_error(message.get("error") or NO_ANSWER)
    calls = ((index, each) for index, each in enumerate(blocks) if _is_call(each))
    inputs = {index: arguments_text(each.get("input")) for index, each in calls}
    return _answer(blocks, inputs, message, message.get("usage") or {})


def _is_call(block: Made) -> bool:
    return bool(block["type"] == "tool_use")


def _answer(
    blocks: list[Made], inputs: dict[int, str], ending: Made, usage: dict[str, Any]
) -> Answer:
    """Return an answer; ``ending`` has the reason of its end, and more of it if it was rejected."""
    for index, text in inputs.items():  # the API wants an object back, also where there wasn't one
        blocks[index] = {**blocks[index], "input": arguments_of(text)}
    called = [index for index, each in enumerate(blocks) if _is_call(each)]
    ids = call_ids(blocks[index].get("id") for index in called)
    for index, identity in zip(called, ids, strict=True):
        blocks[index]["id"] = identity
    calls = tuple(
        Call(blocks[index]["id"], blocks[index].get("name", ""), inputs[index]) for index in called
    )
    text = "".join(each["text"] for each in blocks if each["type"] == "text")
    # A rejection can have no block at all, only an explanation.
    text = text or (ending.get("stop_details") or {}).get("explanation") or ""
    stop = _STOPS.get(ending.get("stop_reason")) or ("calls" if calls else "end")
    return Answer(text, calls, stop, tuple(blocks), _usage(usage))


_STOPS: dict[str | None, Stop] = {
    "refusal": "refusal",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


def _usage(usage: dict[str, Any]) -> Usage:
    """Return tokens; the API counts tokens of caches separately."""
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    sent = (usage.get("input_tokens") or 0) + cached + written
    return Usage(sent, usage.get("output_tokens") or 0, cached, 1)


_TEXTS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


@dataclass
class _BlockDraft:
    """A block of a stream so far; ``pieces`` are the pieces of a call's input."""

    index: JSON
    block: dict[str, Any]
    pieces: str = ""
    is_open: bool = True


class Draft:
    """An answer that is coming in, block by block."""

    def __init__(self, _offered: Collection[str] = ()) -> None:
        self.text = ""
        self._blocks: list[_BlockDraft] = []
        self._ending: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._is_over = False

    def feed(self, chunk: Any) -> str:
        """Take one event in; return the text that it adds."""
        event = to_dict(chunk)
        kind, index = event["type"], event.get("index")
        if kind == "message_start":
            self._usage = dict(event["message"].get("usage") or {})
        elif kind == "content_block_start":
            self._blocks.append(_BlockDraft(index, dict(event["content_block"])))
        elif kind == "content_block_delta":
            return self._piece(self._open(index)[-1], event["delta"])
        elif kind == "content_block_stop":
            for each in self._open(index)[-1:]:
                each.is_open = False
        elif kind == "message_delta":
            self._ending = event["delta"]
            # Cumulative, and null for what stays as message_start said it.
            usage = event.get("usage") or {}
            self._usage |= {key: each for key, each in usage.items() if each is not None}
        elif kind == "message_stop":
            self._is_over = True
        elif kind == "error":
            raise reported_error(event.get("error"))
        return ""

    def _open(self, index: JSON) -> list[_BlockDraft]:
        """Return the open blocks of an index; some servers number every block 0, or none."""
        blocks = [each for each in self._blocks if each.is_open]
        return [each for each in blocks if None in (index, each.index) or index == each.index]

    def _piece(self, draft: _BlockDraft, delta: dict[str, Any]) -> str:
        block, kind = draft.block, delta["type"]
        if kind == "input_json_delta":
            draft.pieces += arguments_piece(delta.get("partial_json"))
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
        # A call without arguments has no pieces, but {} from its beginning.
        inputs = {
            place: each.pieces or arguments_text(each.block.get("input"))
            for place, each in enumerate(self._blocks)
            if "input" in each.block or _is_call(each.block)
        }
        return _answer([each.block for each in self._blocks], inputs, self._ending, self._usage)
