"""The answers of OpenAI's Responses, whole and as events.

After the reference of ``POST /v1/responses``, its streaming events and the types of the
``openai`` package.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.chat_completions import error as error  # noqa: PLC0414 - one body for both
from sovl_tools.testing.script import CREATED, Call, Event, Failure, Memory, Turn


def body(turn: Turn) -> dict[str, JSON]:
    """Return the answer to a request that doesn't stream."""
    return _response(turn, _status(turn), _items(turn))


def events(turn: Turn) -> Iterator[Event]:
    """Yield the events of an answer to a request that streams, numbered."""
    for number, data in enumerate(_events(turn)):
        yield Event(data["type"], {**data, "sequence_number": number})


def _events(turn: Turn) -> Iterator[dict[str, Any]]:
    begun = _response(turn, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(_items(turn)):
        for data in _item_events(turn, item):
            yield {**data, "output_index": index}
    yield {"type": f"response.{_status(turn)}", "response": body(turn)}


def broken(turn: Turn, failure: Failure, sent: int) -> Iterator[Event]:
    """Yield the event of an error after a number of events of a stream."""
    code = failure.code or failure.kind or "server_error"
    error: dict[str, JSON] = {"code": code, "message": failure.message, "param": None}
    if failure.event == "response.failed":
        error = {"response": failed(turn, failure)}
    yield Event(failure.event, {"type": failure.event, **error, "sequence_number": sent})


def failed(turn: Turn, failure: Failure) -> dict[str, JSON]:
    """Return a response that tells by its status that the model has failed."""
    code = failure.code or failure.kind or "server_error"
    error = {"error": {"code": code, "message": failure.message}, "usage": None}
    return {**_response(turn, "failed", []), **error}


def _items(turn: Turn) -> list[dict[str, Any]]:
    """Return the items of an answer: first thoughts, then text or a rejection, then calls."""
    reply = turn.reply
    made = [] if reply.reasoning is None else [_reasoning(turn, reply.reasoning)]
    is_silent = not reply.calls and reply.reasoning is None
    if reply.text or reply.refusal is not None or is_silent:
        is_refused = reply.refusal is not None
        said = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        refused = {"type": "refusal", "refusal": reply.refusal}
        message = {
            "id": f"msg_{turn.number}",
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [said] * bool(reply.text or not is_refused) + [refused] * is_refused,
        }
        made.append(message)
    made += [_call(turn, index, call) for index, call in enumerate(reply.calls)]
    # a limit of tokens cuts the last item
    if reply.is_cut and made[-1]["type"] != "reasoning":
        made[-1]["status"] = "incomplete"
    return made


def _reasoning(turn: Turn, text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    item = {"id": f"rs_{turn.number}", "type": "reasoning", "summary": summary}
    if "reasoning.encrypted_content" in (turn.request.body.get("include") or ()):
        item["encrypted_content"] = f"encrypted-{turn.number}"
    return item


def _call(turn: Turn, index: int, call: Call) -> dict[str, Any]:
    return {
        "id": f"fc_{turn.number}_{index}",
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments,
    }


def _status(turn: Turn) -> str:
    return "incomplete" if turn.reply.is_cut else "completed"


def _response(turn: Turn, status: str, output: list[dict[str, Any]]) -> dict[str, JSON]:
    asked = turn.request.body
    is_over = status != "in_progress"
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "model": turn.model,
        "output": output,
        "previous_response_id": asked.get("previous_response_id"),
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "usage": _usage(turn) if is_over else None,
    }


def _usage(turn: Turn) -> dict[str, JSON]:
    usage = turn.reply.usage
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


class _Parts(NamedTuple):
    """The key of an item's parts, that of a part's number, and the name of its events."""

    key: str
    number: str
    event: str


_PARTS = {
    "reasoning": _Parts("summary", "summary_index", "reasoning_summary_part"),
    "message": _Parts("content", "content_index", "content_part"),
}
_TEXTS: dict[str, tuple[str, str, dict[str, JSON]]] = {
    "summary_text": ("text", "reasoning_summary_text", {}),
    "output_text": ("text", "output_text", {"logprobs": []}),
    "refusal": ("refusal", "refusal", {}),
}
"""The key of a part's text, the name of its events, and what else is in them."""


def _item_events(turn: Turn, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**item, "status": "in_progress"} if "status" in item else item
    if item["type"] == "function_call":
        yield {"type": "response.output_item.added", "item": {**begun, "arguments": ""}}
        arguments, place = item["arguments"], {"item_id": item["id"]}
        whole = {"name": item["name"], "arguments": arguments}
        yield from _text_events(turn, "function_call_arguments", arguments, place, whole)
    else:
        parts = _PARTS[item["type"]]
        yield {"type": "response.output_item.added", "item": {**begun, parts.key: []}}
        for number, part in enumerate(item[parts.key]):
            key, name, further = _TEXTS[part["type"]]
            place = {"item_id": item["id"], parts.number: number}
            yield {"type": f"response.{parts.event}.added", **place, "part": {**part, key: ""}}
            whole = {key: part[key]}
            yield from _text_events(turn, name, part[key], {**place, **further}, whole)
            yield {"type": f"response.{parts.event}.done", **place, "part": part}
    yield {"type": "response.output_item.done", "item": item}


def _text_events(
    turn: Turn, name: str, text: str, place: dict[str, Any], end: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for piece in turn.pieces(text):
        yield {"type": f"response.{name}.delta", **place, "delta": piece}
    yield {"type": f"response.{name}.done", **place, **end}


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the reasoning that can be sent back: it is stored, or encrypted."""
    thought, *others = _items(turn)
    if thought["type"] != "reasoning":
        return
    sealed = thought.get("encrypted_content", "")
    if sealed or turn.request.body.get("store") is not False:
        memory.thoughts[thought["id"]] = sealed
        memory.thought_before |= {item["id"]: thought["id"] for item in others}
