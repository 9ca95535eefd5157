"""The answers of OpenAI's Chat Completions, whole and as chunks.

After the reference of ``POST /v1/chat/completions`` and the types of the ``openai`` package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import CREATED, Call, Event, Failure, Memory, Turn, Usage


def body(turn: Turn) -> dict[str, JSON]:
    """Return the answer to a request that doesn't stream."""
    message: dict[str, JSON] = {
        "role": "assistant",
        "content": _content(turn),
        "refusal": turn.reply.refusal,
        "annotations": [],
    }
    if turn.reply.calls:
        message["tool_calls"] = [_call(call) for call in turn.reply.calls]
    choice = {
        "index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(turn),
    }  # fmt: skip
    return {
        **_head(turn, "chat.completion"),
        "choices": [choice],
        "usage": _usage(turn.reply.usage),
    }


def events(turn: Turn) -> Iterator[Event]:
    """Yield the chunks of an answer to a request that streams, the end mark last."""
    first = _content(turn)
    # "" where a string follows, null where none does
    yield _chunk(turn, {"role": "assistant", "content": first and "", "refusal": None})
    for piece in turn.pieces(turn.reply.text):
        yield _chunk(turn, {"content": piece})
    for piece in turn.pieces(turn.reply.refusal or ""):
        yield _chunk(turn, {"refusal": piece})
    for index, call in enumerate(turn.reply.calls):
        # the first chunk of a call has its id and its name; later ones only its index
        begun = _call(call._replace(arguments=""))
        yield _chunk(turn, {"tool_calls": [{"index": index, **begun}]})
        for piece in turn.pieces(call.arguments):
            delta = {"index": index, "function": {"arguments": piece}}
            yield _chunk(turn, {"tool_calls": [delta]})
    yield _chunk(turn, {}, _finish_reason(turn))
    if _wants_usage(turn):
        usage = {"choices": [], "usage": _usage(turn.reply.usage)}
        yield Event(None, {**_head(turn, "chat.completion.chunk"), **usage})
    yield Event(None, "[DONE]")


def broken(_turn: Turn, failure: Failure, _sent: int) -> Iterator[Event]:
    """Yield the event of an error after a number of events of a stream."""
    yield Event(None, error(failure))


def error(failure: Failure) -> dict[str, JSON]:
    """Return the body of an error, which both of OpenAI's APIs share."""
    kind = failure.kind or _KINDS.get(failure.status, "server_error")
    code = failure.code or _CODES.get(failure.status)
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}


_KINDS = {
    **dict.fromkeys((400, 401, 403, 404, 409, 422), "invalid_request_error"),
    429: "requests",
}
_CODES = {429: "rate_limit_exceeded"}


def _head(turn: Turn, kind: str) -> dict[str, JSON]:
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": kind,
        "created": CREATED,
        "model": turn.model,
        "service_tier": "default",
    }


def _content(turn: Turn) -> str | None:
    # an answer without any content is the empty text, and null next to calls or a rejection
    is_told_otherwise = turn.reply.calls or turn.reply.refusal is not None
    return turn.reply.text or (None if is_told_otherwise else "")


def _call(call: Call) -> dict[str, JSON]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _finish_reason(turn: Turn) -> str:
    if turn.reply.is_cut:
        return "length"
    return "tool_calls" if turn.reply.calls else "stop"


def _chunk(turn: Turn, delta: dict[str, Any], finish_reason: str | None = None) -> Event:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    # every chunk has the key if the request includes usage, and the last one the numbers
    usage = {"usage": None} if _wants_usage(turn) else {}
    return Event(None, {**_head(turn, "chat.completion.chunk"), "choices": [choice], **usage})


def _wants_usage(turn: Turn) -> bool:
    return bool((turn.request.body.get("stream_options") or {}).get("include_usage"))


def _usage(usage: Usage) -> dict[str, JSON]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }


def remember(_turn: Turn, _memory: Memory) -> None:
    """Do nothing: Chat Completions has no state."""
