"""The answers of Anthropic's Messages, whole and as events.

After the reference of ``POST /v1/messages``, its guide to streaming and the types of the
``anthropic`` package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Event, Failure, Memory, Turn, json_object


class Block(NamedTuple):
    """A block of content: as a whole, and as its start and continuation in a stream."""

    whole: dict[str, JSON]
    begun: dict[str, JSON]
    deltas: list[dict[str, JSON]]


def body(turn: Turn) -> dict[str, JSON]:
    """Return the answer to a request that doesn't stream."""
    content = [block.whole for block in _blocks(turn)]
    return {**_message(turn), "content": content, **_ending(turn), "usage": _usage(turn)}


def events(turn: Turn) -> Iterator[Event]:
    """Yield the events of an answer to a request that streams; a ``ping`` is among them."""
    # at the start their number is unknown; the numbers that count are at the end
    usage = {**_usage(turn), "output_tokens": 1}
    yield _event("message_start", message={**_message(turn), "usage": usage})
    yield _event("ping")
    for index, block in enumerate(_blocks(turn)):
        yield _event("content_block_start", index=index, content_block=block.begun)
        for delta in block.deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=_ending(turn), usage=_usage(turn))
    yield _event("message_stop")


def broken(_turn: Turn, failure: Failure, _sent: int) -> Iterator[Event]:
    """Yield the event of an error after a number of events of a stream."""
    kind = failure.kind or "overloaded_error"
    yield Event("error", error(failure._replace(kind=kind)))


def error(failure: Failure) -> dict[str, JSON]:
    """Return the body of an error; it has a type and a message and no more."""
    kind = failure.kind or _KINDS.get(failure.status, "api_error")
    error = {"type": kind, "message": failure.message}
    return {"type": "error", "error": error, "request_id": "req_scripted"}


_KINDS = {
    **dict.fromkeys((400, 409, 422), "invalid_request_error"),
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _blocks(turn: Turn) -> list[Block]:
    """Return the blocks of an answer: first thoughts, then text, then calls."""
    found: list[Block] = []
    whole: dict[str, JSON]
    reasoning, text = turn.reply.reasoning, turn.reply.text
    if reasoning is not None:
        whole = {"type": "thinking", "thinking": reasoning, "signature": f"signature-{turn.number}"}
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in turn.pieces(reasoning)]
        deltas.append({"type": "signature_delta", "signature": whole["signature"]})
        found.append(Block(whole, {**whole, "thinking": "", "signature": ""}, deltas))
    if text:
        whole = {"type": "text", "text": text, "citations": None}
        deltas = [{"type": "text_delta", "text": piece} for piece in turn.pieces(text)]
        found.append(Block(whole, {**whole, "text": ""}, deltas))
    for call in turn.reply.calls:
        begun: dict[str, JSON] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
        # a stream begins with an empty piece, as the API's do
        pieces = ["", *turn.pieces(call.arguments)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        # a plain answer can only be an object
        whole = {**begun, "input": json_object(call.arguments)}
        found.append(Block(whole, begun, deltas))
    return found


def _message(turn: Turn) -> dict[str, JSON]:
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _ending(turn: Turn) -> dict[str, JSON]:
    refusal = turn.reply.refusal
    details = {"type": "refusal", "category": None, "explanation": refusal}
    reason = "tool_use" if turn.reply.calls else "end_turn"
    if refusal is not None or turn.reply.is_cut:
        reason = "max_tokens" if refusal is None else "refusal"
    return {
        "stop_reason": reason,
        "stop_sequence": None,
        "stop_details": None if refusal is None else details,
    }


def _usage(turn: Turn) -> dict[str, JSON]:
    usage = turn.reply.usage
    return {
        "input_tokens": usage.input - usage.cached,  # unlike at OpenAI, without the cached ones
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def _event(name: str, **data: JSON) -> Event:
    return Event(name, {"type": name, **data})


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the thinking of an answer, which its tool uses must be sent back with."""
    thought, *others = [block.whole for block in _blocks(turn)] or [{}]
    if thought.get("type") == "thinking":
        memory.thoughts[thought["signature"]] = thought["thinking"]
        uses = [each["id"] for each in others if each["type"] == "tool_use"]
        memory.thought_before |= dict.fromkeys(uses, thought["signature"])
