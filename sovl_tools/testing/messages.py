"""Answers of Anthropic's Messages, whole and as events.

After the reference of ``POST /v1/messages``, its guide to streaming and the types of the
``anthropic`` package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Call, Failure
from sovl_tools.testing.turn import Event, Turn


class Block(NamedTuple):
    """A block of content: as a whole, and as it is begun and carried on in a stream."""

    whole: dict[str, JSON]
    begun: dict[str, JSON]
    deltas: list[dict[str, JSON]]


def body(turn: Turn) -> dict[str, JSON]:
    """Return the answer to a request that doesn't stream."""
    content = [block.whole for block in blocks(turn)]
    return {**_message(turn), "content": content, **_ending(turn), "usage": _usage(turn)}


def events(turn: Turn) -> Iterator[Event]:
    """Yield the events of an answer to a request that streams; a ``ping`` is among them."""
    usage = {**_usage(turn), "output_tokens": 1}
    yield _event("message_start", message={**_message(turn), "usage": usage})
    yield _event("ping")
    for index, block in enumerate(blocks(turn)):
        yield _event("content_block_start", index=index, content_block=block.begun)
        for delta in block.deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=_ending(turn), usage=_usage(turn))
    yield _event("message_stop")


def broken(_turn: Turn, failure: Failure, _sent: int) -> Iterator[Event]:
    """Yield what tells of an error after so many events of a stream."""
    kind = failure.kind or "overloaded_error"
    yield Event("error", error(failure._replace(kind=kind)))


def error(failure: Failure, _param: str | None = None) -> dict[str, JSON]:
    """Return the body of an error; it has a type and a message and no more."""
    kind = failure.kind or _KINDS.get(failure.status, "api_error")
    told = {"type": kind, "message": failure.message}
    return {"type": "error", "error": told, "request_id": "req_scripted"}


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


def blocks(turn: Turn) -> list[Block]:
    """Return the blocks of an answer: what is thought, then said, then called."""
    made = [] if turn.reply.reasoning is None else [_thinking(turn, turn.reply.reasoning)]
    made += [_text(turn)] if turn.reply.text else []
    return made + [_tool_use(turn, call) for call in turn.reply.calls]


def _thinking(turn: Turn, text: str) -> Block:
    whole = {"type": "thinking", "thinking": text, "signature": f"signature-{turn.number}"}
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in turn.pieces(text)]
    deltas.append({"type": "signature_delta", "signature": whole["signature"]})
    return Block(whole, {**whole, "thinking": "", "signature": ""}, deltas)


def _text(turn: Turn) -> Block:
    whole = {"type": "text", "text": turn.reply.text, "citations": None}
    deltas = [{"type": "text_delta", "text": piece} for piece in turn.pieces(turn.reply.text)]
    return Block(whole, {**whole, "text": ""}, deltas)


def _tool_use(turn: Turn, call: Call) -> Block:
    begun: dict[str, JSON] = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    pieces = ["", *turn.pieces(call.arguments)]
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
    return Block({**begun, "input": _object(call.arguments)}, begun, deltas)


def _object(text: str) -> dict[str, JSON]:
    """Return the object that a text holds; a plain answer cannot show anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


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
    return {
        "stop_reason": _stop_reason(turn),
        "stop_sequence": None,
        "stop_details": None if refusal is None else details,
    }


def _stop_reason(turn: Turn) -> str:
    if turn.reply.refusal is not None:
        return "refusal"
    if turn.reply.is_cut:
        return "max_tokens"
    return "tool_use" if turn.reply.calls else "end_turn"


def _usage(turn: Turn) -> dict[str, JSON]:
    usage = turn.reply.usage
    return {
        "input_tokens": usage.input - usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }


def _event(name: str, **data: JSON) -> Event:
    return Event(name, {"type": name, **data})
