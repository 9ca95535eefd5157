"""Answers of OpenAI's Responses, whole and as events.

After the reference of ``POST /v1/responses``, its streaming events and the types of the
``openai`` package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing.chat_completions import error as error  # noqa: PLC0414 - one body for both
from sovl_tools.testing.script import Call, Failure
from sovl_tools.testing.turn import CREATED, Event, Turn

ENCRYPTED = "reasoning.encrypted_content"


def body(turn: Turn) -> dict[str, JSON]:
    """Return the answer to a request that doesn't stream."""
    return _response(turn, _status(turn), items(turn))


def events(turn: Turn) -> Iterator[Event]:
    """Yield the events of an answer to a request that streams, numbered."""
    return _numbered(_events(turn))


def _numbered(unnumbered: Iterator[dict[str, Any]]) -> Iterator[Event]:
    for number, data in enumerate(unnumbered):
        yield Event(data["type"], {**data, "sequence_number": number})


def _events(turn: Turn) -> Iterator[dict[str, Any]]:
    begun = _response(turn, "in_progress", [])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(items(turn)):
        for data in _STREAMED[item["type"]](turn, item):
            yield {**data, "output_index": index}
    yield {"type": f"response.{_status(turn)}", "response": body(turn)}


def broken(turn: Turn, failure: Failure, sent: int) -> Iterator[Event]:
    """Yield what tells of an error after so many events of a stream."""
    code = failure.code or failure.kind or "server_error"
    told: dict[str, JSON] = {"code": code, "message": failure.message, "param": None}
    if failure.event == "response.failed":
        told = {"response": failed(turn, failure)}
    yield Event(failure.event, {"type": failure.event, **told, "sequence_number": sent})


def failed(turn: Turn, failure: Failure) -> dict[str, JSON]:
    """Return a response that tells by its status that the model has failed."""
    code = failure.code or failure.kind or "server_error"
    told = {"error": {"code": code, "message": failure.message}, "usage": None}
    return {**_response(turn, "failed", []), **told}


def items(turn: Turn) -> list[dict[str, Any]]:
    """Return the items of an answer: what is thought, then said or refused, then called."""
    reply = turn.reply
    made = [] if reply.reasoning is None else [_reasoning(turn, reply.reasoning)]
    is_silent = not reply.calls and reply.reasoning is None
    if reply.text or reply.refusal is not None or is_silent:
        made.append(_message(turn))
    made += [_call(turn, index, call) for index, call in enumerate(reply.calls)]
    if reply.is_cut and made[-1]["type"] != "reasoning":
        made[-1]["status"] = "incomplete"
    return made


def _reasoning(turn: Turn, text: str) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    item = {"id": f"rs_{turn.number}", "type": "reasoning", "summary": summary}
    if ENCRYPTED in (turn.request.get("include") or ()):
        item["encrypted_content"] = f"encrypted-{turn.number}"
    return item


def _message(turn: Turn) -> dict[str, Any]:
    said = {"type": "output_text", "text": turn.reply.text, "annotations": [], "logprobs": []}
    refused = {"type": "refusal", "refusal": turn.reply.refusal}
    is_refused = turn.reply.refusal is not None
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [said] * bool(turn.reply.text or not is_refused) + [refused] * is_refused,
    }


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
    asked = turn.request
    is_over = status != "in_progress"
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": asked.get("instructions"),
        "max_output_tokens": asked.get("max_output_tokens"),
        "metadata": asked.get("metadata") or {},
        "model": turn.model,
        "output": output,
        "parallel_tool_calls": asked.get("parallel_tool_calls") is not False,
        "previous_response_id": asked.get("previous_response_id"),
        "store": asked.get("store") is not False,
        "temperature": 1.0,
        "tool_choice": asked.get("tool_choice") or "auto",
        "tools": asked.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
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


def _reasoning_events(turn: Turn, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _item_event("added", {**item, "summary": []})
    for index, part in enumerate(item["summary"]):
        place = {"item_id": item["id"], "summary_index": index}
        begun = {**part, "text": ""}
        yield {"type": "response.reasoning_summary_part.added", **place, "part": begun}
        for piece in turn.pieces(part["text"]):
            yield {"type": "response.reasoning_summary_text.delta", **place, "delta": piece}
        whole = {**place, "text": part["text"]}
        yield {"type": "response.reasoning_summary_text.done", **whole}
        yield {"type": "response.reasoning_summary_part.done", **place, "part": part}
    yield _item_event("done", item)


def _message_events(turn: Turn, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _item_event("added", {**item, "status": "in_progress", "content": []})
    for index, part in enumerate(item["content"]):
        key, name, further = _PARTS[part["type"]]
        place = {"item_id": item["id"], "content_index": index}
        yield {"type": "response.content_part.added", **place, "part": {**part, key: ""}}
        for piece in turn.pieces(part[key]):
            yield {"type": f"response.{name}.delta", **place, "delta": piece, **further}
        yield {"type": f"response.{name}.done", **place, key: part[key], **further}
        yield {"type": "response.content_part.done", **place, "part": part}
    yield _item_event("done", item)


_PARTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "output_text": ("text", "output_text", {"logprobs": []}),
    "refusal": ("refusal", "refusal", {}),
}


def _call_events(turn: Turn, item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield _item_event("added", {**item, "status": "in_progress", "arguments": ""})
    name, place = "response.function_call_arguments", {"item_id": item["id"]}
    for piece in turn.pieces(item["arguments"]):
        yield {"type": f"{name}.delta", **place, "delta": piece}
    yield {"type": f"{name}.done", **place, "name": item["name"], "arguments": item["arguments"]}
    yield _item_event("done", item)


def _item_event(what: str, item: dict[str, Any]) -> dict[str, Any]:
    return {"type": f"response.output_item.{what}", "item": item}


_STREAMED: dict[str, Callable[[Turn, dict[str, Any]], Iterator[dict[str, Any]]]] = {
    "reasoning": _reasoning_events,
    "message": _message_events,
    "function_call": _call_events,
}
