"""OpenAI's Responses: its answers, whole and as events, and its checks of requests.

After the reference of ``POST /v1/responses``, its streaming events and the types of the
``openai`` package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from sovl_tools.model.document import JSON
from sovl_tools.testing import openai_requests
from sovl_tools.testing.chat_completions import error as error  # noqa: PLC0414 - one body for both
from sovl_tools.testing.openai_requests import RESPONSES, Function, misnamed, too_long
from sovl_tools.testing.script import (
    CREATED,
    Call,
    Event,
    Failure,
    Memory,
    Objection,
    Request,
    Turn,
)
from sovl_tools.testing.shapes import check_for_openai, unreadable_for_openai

PROVIDER = "openai-responses"
PREFIX = "call"
ENCRYPTED = "reasoning.encrypted_content"


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
        for data in _STREAMED[item["type"]](turn, item):
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
    if ENCRYPTED in (turn.request.get("include") or ()):
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
    asked = turn.request
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


_MAX_ID = 64
_OF_MODEL = ("function_call", "custom_tool_call", "reasoning")
_Items = list[dict[str, Any]]
# the required keys of a request, and their alternatives
_INSTEAD = {"model": ("prompt",), "input": ("prompt", "previous_response_id", "conversation")}


def objections(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield the problems of a request; the rules need a body of the right shape."""
    wrong = [*unreadable_for_openai(request)]
    if not wrong:
        for key, others in _INSTEAD.items():
            if all(request.body.get(each) is None for each in (key, *others)):
                words = f"Missing required parameter: '{key}'."
                wrong.append(Objection(words, key, "missing_required_parameter"))
        wrong += check_for_openai(RESPONSES, request.body)
    yield from wrong
    if not wrong:
        yield from _check_tools(request.body)
        yield from _check_history(request.body, memory)


def _check_tools(body: dict[str, JSON]) -> Iterator[Objection]:
    tools = body.get("tools", ())
    functions = [
        Function(tool, f"tools[{index}]")
        for index, tool in enumerate(tools)
        if tool["type"] == "function"
    ]
    words = "Tool choice 'function' named '{}' not found in 'tools' parameter."
    yield from openai_requests.objections(body, functions, words)
    if body.get("tool_choice") == "required" and not tools:
        yield Objection(
            "Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice"
        )


def _check_history(body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    """Yield contradictions; what an answer or a conversation is continued by isn't known here."""
    told = body["input"] if isinstance(body.get("input"), list) else []
    for index, item in enumerate(told):
        yield from _check_item(item, f"input[{index}]", memory)
    is_continued = body.get("conversation") or body.get("previous_response_id")
    if not is_continued and all(each.get("type") != "item_reference" for each in told):
        yield from _check_pairs(told)
        yield from _check_reasoning(told, memory)


def _check_item(item: dict[str, Any], place: str, memory: Memory) -> Iterator[Objection]:
    kind = item.get("type", "message")
    if kind in ("function_call", "function_call_output"):
        yield from too_long(item["call_id"], f"{place}.call_id", _MAX_ID)
    if kind == "function_call":
        yield from misnamed(item["name"], f"{place}.name")
    if kind == "reasoning" and item["id"] not in memory.reasoning:
        yield Objection(
            f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to"
            " false. Try again with `store` set to true, or remove this item from your input.",
            "input",
            status=404,
        )
    elif kind == "reasoning" and item.get("encrypted_content") != memory.reasoning[item["id"]]:
        yield Objection(
            f"The encrypted content for item {item['id']} could not be verified. Reason: Encrypted"
            " content could not be decrypted or parsed.",
            code="invalid_encrypted_content",
        )


def _check_pairs(told: _Items) -> Iterator[Objection]:
    """Yield the calls without an output, and the outputs without a call before them."""
    waiting: list[str] = []
    for item in told:
        if item.get("type") == "function_call":
            waiting.append(item["call_id"])
        elif item.get("type") != "function_call_output":
            continue
        elif item["call_id"] in waiting:
            waiting.remove(item["call_id"])
        else:
            yield Objection(
                f"No tool call found for function call output with call_id {item['call_id']}.",
                "input",
            )
    for identity in waiting:
        yield Objection(f"No tool output found for function call {identity}.", "input")


def _check_reasoning(told: _Items, memory: Memory) -> Iterator[Objection]:
    """Yield items that followed reasoning and are sent without it, and the other way round."""
    known: set[str] = set()
    for item, follower in pairwise([*told, {}]):
        known.add(item.get("id", ""))
        needed = memory.reasons.get(item.get("id", ""))
        if needed is not None and needed not in known:
            yield Objection(
                f"Item '{item['id']}' of type '{item['type']}' was provided without its required"
                f" 'reasoning' item: '{needed}'.",
                "input",
            )
        is_of_model = follower.get("role") == "assistant" or follower.get("type") in _OF_MODEL
        if item.get("type") == "reasoning" and not is_of_model:
            yield Objection(
                f"Item '{item['id']}' of type 'reasoning' was provided without its required"
                " following item.",
                "input",
            )


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the reasoning that can be sent back: it is stored, or encrypted."""
    thought, *others = _items(turn)
    if thought["type"] != "reasoning":
        return
    sealed = thought.get("encrypted_content")
    if sealed is not None or turn.request.get("store") is not False:
        memory.reasoning[thought["id"]] = sealed
        memory.reasons.update({item["id"]: thought["id"] for item in others})
