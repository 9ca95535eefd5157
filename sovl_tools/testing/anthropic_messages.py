"""Anthropic's Messages: its answers, whole and as events, and its checks of requests.

After the reference of ``POST /v1/messages``, its guide to streaming and the types of the
``anthropic`` package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.testing.anthropic_requests import MESSAGES, check_tools
from sovl_tools.testing.script import (
    Event,
    Failure,
    Memory,
    Objection,
    Request,
    Turn,
    json_object,
    unpaired,
)
from sovl_tools.testing.shapes import check_for_anthropic, is_object

PROVIDER = "anthropic"
PREFIX = "toolu"


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


def error(failure: Failure, _param: str | None = None) -> dict[str, JSON]:
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


def objections(request: Request, memory: Memory) -> Iterator[Objection]:
    """Yield the problems of a request; the rules need a body of the right shape."""
    wrong: list[Objection] = []
    if not (request.headers.get("x-api-key") or request.headers.get("authorization")):
        wrong.append(Objection("x-api-key header is required", status=401))
    if "anthropic-version" not in request.headers:
        wrong.append(Objection("anthropic-version: header is required"))
    if not is_object(request):
        wrong.append(Objection("The request body is not valid JSON: expected an object"))
    wrong += [] if wrong else check_for_anthropic(MESSAGES, request.body)
    yield from wrong
    if not wrong:
        yield from check_tools(request.body)
        yield from _check_history(request.body, memory)


def _check_history(body: dict[str, JSON], memory: Memory) -> Iterator[Objection]:
    if not body["messages"]:
        yield Objection("messages: at least one message is required")
        return
    if body["messages"][0]["role"] == "assistant":
        yield Objection('messages: first message must use the "user" role')
    yield from _check_blocks(body)
    turns = _turns_of(body["messages"])
    yield from _check_results(turns)
    yield from _check_thinking(turns, body, memory)


def remember(turn: Turn, memory: Memory) -> None:
    """Keep the thinking of an answer, which its tool uses must be sent back with."""
    made = [block.whole for block in _blocks(turn)]
    thinking = [block for block in made if block["type"] == "thinking"]
    for block in thinking:
        memory.thoughts[block["signature"]] = block["thinking"]
    for block in made:
        if thinking and block["type"] == "tool_use":
            memory.thinking[block["id"]] = thinking


_ID = "^[a-zA-Z0-9_-]+$"
_ROLES = {
    "tool_use": "assistant",
    "tool_result": "user",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
}


def _check_blocks(body: dict[str, JSON]) -> Iterator[Objection]:
    """Yield the problems of the blocks of all messages and of the system's."""
    messages = body["messages"]
    if isinstance(body.get("system"), list):
        yield from _check_texts(body["system"], "system")
    for index, message in enumerate(messages):
        is_last = index == len(messages) - 1
        content = _content_of(message)
        if not message["content"]:
            if not (is_last and message["role"] == "assistant"):
                yield Objection(
                    f"messages.{index}: all messages must have non-empty content except for the"
                    " optional final assistant message"
                )
            continue
        yield from _check_texts(content, "messages")
        for number, block in enumerate(content):
            yield from _check_block(block, message["role"], f"messages.{index}.content.{number}")


def _check_texts(content: list[dict[str, Any]], place: str) -> Iterator[Objection]:
    texts = [block["text"] for block in content if block["type"] == "text"]
    if not all(texts):
        yield Objection(f"{place}: text content blocks must be non-empty")
    elif not all(text.strip() for text in texts):
        yield Objection(f"{place}: text content blocks must contain non-whitespace text")


def _check_block(block: dict[str, Any], role: str, place: str) -> Iterator[Objection]:
    kind = block["type"]
    if role != _ROLES.get(kind, role):
        yield Objection(f"{place}: `{kind}` blocks can only be in `{_ROLES[kind]}` messages")
    # the key that a kind does not have passes as "_"
    for key in ("id", "tool_use_id"):
        if kind in ("tool_use", "tool_result") and not re.fullmatch(_ID, block.get(key, "_")):
            yield Objection(f"{place}.{kind}.{key}: String should match pattern '{_ID}'")
    content = block.get("content") if kind == "tool_result" else None
    if not isinstance(content, list):
        return
    if block.get("is_error") and any(each["type"] != "text" for each in content):
        yield Objection(
            f"{place}.tool_result: all content must be type `text` if `is_error` is true"
        )
    yield from _check_texts(content, "messages")


def _check_results(turns: list[Part]) -> Iterator[Objection]:
    """Yield tool uses without a result, and results without a tool use."""
    nobody = Part(0, "", [])
    for before, turn in pairwise([nobody, *turns, nobody]):
        uses = [block["id"] for block in before.of_type("tool_use")]
        results = {
            number: block["tool_use_id"]
            for number, block in enumerate(turn.blocks)
            if block["type"] == "tool_result"
        }
        for number, identity in unpaired(uses, results)[1].items():
            words = _STRAY.format(identity)
            yield Objection(f"messages.{turn.start}.content.{number}: {words}")
        # results must be first in the turn behind the tool uses, before any text
        first = takewhile(lambda block: block["type"] == "tool_result", turn.blocks)
        missing, _ = unpaired(uses, dict(enumerate(block["tool_use_id"] for block in first)))
        if missing:
            words = _UNANSWERED.format(", ".join(missing))
            yield Objection(f"messages.{before.start}: {words}")


_UNANSWERED = (
    "`tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use`"
    " block must have a corresponding `tool_result` block in the next message."
)
_STRAY = (
    "unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must have"
    " a corresponding `tool_use` block in the previous message."
)


Blocks = list[dict[str, Any]]


class Part(NamedTuple):
    """The turn of one side.

    Attributes:
        start: the index of its first message.
        role: whose turn it is.
        blocks: all its content.
    """

    start: int
    role: str
    blocks: Blocks

    def of_type(self, kind: str) -> Blocks:
        """Return the blocks of a type."""
        return [block for block in self.blocks if block["type"] == kind]


def _turns_of(messages: list[dict[str, Any]]) -> list[Part]:
    """Return the turns; the system's belong to the user's before them."""
    turns: list[Part] = []
    for index, message in enumerate(messages):
        role = "user" if message["role"] == "system" else message["role"]
        if turns and turns[-1].role == role:
            turns[-1].blocks.extend(_content_of(message))
        else:
            turns.append(Part(index, role, _content_of(message)))
    return turns


def _content_of(message: dict[str, Any]) -> Blocks:
    """Return the blocks of a message; a string is one block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _check_thinking(
    turns: list[Part], body: dict[str, JSON], memory: Memory
) -> Iterator[Objection]:
    """Yield thinking that was changed, and a last tool use whose thinking is not there.

    Thinking of earlier turns can be omitted, and all of it where the request disables it.
    """
    spoken = [turn for turn in turns if turn.role == "assistant"]
    for turn in spoken:
        for number, block in enumerate(turn.blocks):
            if block["type"] == "thinking" and block["thinking"] != memory.thoughts.get(
                block["signature"]
            ):
                place = f"messages.{turn.start}.content.{number}"
                yield Objection(f"{place}: Invalid `signature` in `thinking` block")
    if not spoken or body.get("thinking", {}).get("type") == "disabled":
        return
    turn = spoken[-1]
    wanted = [memory.thinking.get(block["id"], []) for block in turn.of_type("tool_use")]
    # all tool uses of one answer have the same thinking before them
    needed = next((blocks for blocks in wanted if blocks), [])
    if needed and turn.blocks[: len(needed)] != needed:
        yield Objection(
            f"messages.{turn.start}.content.0: `thinking` or `redacted_thinking` blocks in the"
            " latest assistant message must be there, and must remain as they were in the original"
            " response."
        )
