"""OpenAI's Chat Completions: its answers, whole and as chunks, and its checks of requests.

After the reference of ``POST /v1/chat/completions`` and the types of the ``openai`` package.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing import openai_requests
from sovl_tools.testing.openai_requests import CHAT, Function, empty, misnamed, too_long
from sovl_tools.testing.script import (
    CREATED,
    Call,
    Event,
    Failure,
    Memory,
    Objection,
    Request,
    Turn,
    Usage,
    unpaired,
)
from sovl_tools.testing.shapes import check_for_openai, unreadable_for_openai

PROVIDER = "openai"
PREFIX = "call"


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


def error(failure: Failure, param: str | None = None) -> dict[str, JSON]:
    """Return the body of an error, which both of OpenAI's APIs share."""
    kind = failure.kind or _KINDS.get(failure.status, "server_error")
    code = failure.code or _CODES.get(failure.status)
    return {"error": {"message": failure.message, "type": kind, "param": param, "code": code}}


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
    return bool((turn.request.get("stream_options") or {}).get("include_usage"))


def _usage(usage: Usage) -> dict[str, JSON]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
    }


_MAX_ID = 40
_NO_SUCH_CHOICE = (
    "Invalid value for 'tool_choice': no function named '{}' was specified in the 'tools'"
    " parameter."
)


def objections(request: Request, _memory: Memory) -> Iterator[Objection]:
    """Yield the problems of a request; the rules need a body of the right shape."""
    # a body of the wrong shape gets no further: the next checks rely on it
    wrong = [*unreadable_for_openai(request)]
    if not wrong:
        if not request.body.get("model"):
            wrong.append(Objection("you must provide a model parameter"))
        wrong += check_for_openai(CHAT, request.body)
    yield from wrong
    if not wrong:
        yield from _check_tools(request.body)
        messages = request.body["messages"]
        if not messages:
            yield empty("messages")
        for index, message in enumerate(messages):
            if message["role"] == "assistant":
                yield from _check_assistant(message, index)
        yield from _check_pairs(messages)


def _check_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    tools = body.get("tools", ())
    functions = [
        Function(tool["function"], f"tools[{index}].function")
        for index, tool in enumerate(tools)
        if tool["type"] == "function"
    ]
    if "tools" in body and not tools:
        yield empty("tools")
    yield from openai_requests.objections(body, functions, _NO_SUCH_CHOICE)
    for key in ("tool_choice", "parallel_tool_calls"):
        if not tools and body.get(key) is not None and body[key] != "none":
            yield Objection(f"'{key}' is only allowed when 'tools' are specified.", key)
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield Objection(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        )


def _check_assistant(message: dict[str, Any], index: int) -> Iterator[Objection]:
    calls = message.get("tool_calls")
    if calls == []:
        yield empty(f"messages[{index}].tool_calls")
    for number, call in enumerate(calls or ()):
        place = f"messages[{index}].tool_calls[{number}]"
        yield from too_long(call["id"], f"{place}.id", _MAX_ID)
        if call["type"] == "function":
            yield from misnamed(call["function"]["name"], f"{place}.function.name")
    members = (calls, message.get("content"), message.get("refusal"), message.get("audio"))
    if all(each is None for each in (*members, message.get("function_call"))):
        yield Objection(
            "Invalid value for 'content': expected a string, got null.",
            f"messages.[{index}].content",
        )


def _check_pairs(messages: list[dict[str, Any]]) -> Iterator[Objection]:
    """Yield the calls that are not answered directly behind them, and answers to none."""
    # answers can be in any order, but must follow the calls directly
    starts = [i for i, each in enumerate(messages) if not i or each["role"] != "tool"]
    for start, end in pairwise([*starts, len(messages)]):
        calls = [call["id"] for call in messages[start].get("tool_calls") or ()]
        answers = {
            index: each["tool_call_id"]
            for index, each in enumerate(messages[start:end], start)
            if each["role"] == "tool"
        }
        waiting, strays = unpaired(calls, answers)
        for index, identity in strays.items():
            yield Objection(_STRAY.format(identity), f"messages.[{index}].role")
        if waiting:
            yield Objection(_UNANSWERED.format(", ".join(waiting)), f"messages.[{end}].role")


_STRAY = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with"
    " 'tool_calls'. There's no call '{}' before it."
)
_UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each"
    " 'tool_call_id'. The following tool_call_ids did not have response messages: {}"
)


def remember(_turn: Turn, _memory: Memory) -> None:
    """Do nothing: Chat Completions has no state."""
