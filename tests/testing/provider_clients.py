"""One way to ask with each of the providers' own clients, and to hear what they understood."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import anthropic
import openai

from sovl_tools.testing import ScriptedServer, Usage
from tests.agent import conversations
from tests.agent.conversations import PROVIDERS as PROVIDERS  # noqa: PLC0414 - for the tests here


class Heard(NamedTuple):
    """What a client made of an answer; calls are (id, name, arguments as text or as object)."""

    text: str = ""
    calls: tuple[tuple[str, str, Any], ...] = ()
    refusal: str | None = None
    reasoning: str = ""
    stop: str | None = None
    usage: tuple[int, int, int, int] | Usage | None = None


def client_of(provider: str, server: ScriptedServer, retries: int = 0) -> Any:
    return conversations.client_of(provider, server, is_async=False, retries=retries)


def async_client_of(provider: str, server: ScriptedServer, retries: int = 0) -> Any:
    return conversations.client_of(provider, server, is_async=True, retries=retries)


def errors_of(provider: str) -> Any:
    return anthropic if provider == "anthropic" else openai


def create(provider: str, client: Any, **more: Any) -> Any:
    """Ask; a coroutine if the client is an async one."""
    messages = more.pop("messages", [{"role": "user", "content": "Hello"}])
    if provider == "openai":
        return client.chat.completions.create(model="m", messages=messages, **more)
    if provider == "openai-responses":
        return client.responses.create(model="m", input=messages, **more)
    return client.messages.create(model="m", max_tokens=99, messages=messages, **more)


def ask(provider: str, server: ScriptedServer, *, stream: bool = False, **more: Any) -> Heard:
    with client_of(provider, server) as client:
        if not stream:
            return PLAIN[provider](create(provider, client, **more))
        with create(provider, client, stream=True, **with_usage(provider), **more) as events:
            return STREAMED[provider](list(events))


async def ask_async(
    provider: str, server: ScriptedServer, *, stream: bool = False, **more: Any
) -> Heard:
    async with async_client_of(provider, server) as client:
        if not stream:
            return PLAIN[provider](await create(provider, client, **more))
        events = await create(provider, client, stream=True, **with_usage(provider), **more)
        async with events:
            return STREAMED[provider]([event async for event in events])


def with_usage(provider: str) -> dict[str, Any]:
    return {"stream_options": {"include_usage": True}} if provider == "openai" else {}


def _chat(answer: Any) -> Heard:
    choice = answer.choices[0]
    calls = tuple(
        (call.id, call.function.name, call.function.arguments)
        for call in choice.message.tool_calls or ()
    )
    usage = _chat_usage(answer.usage)
    text, refusal = choice.message.content or "", choice.message.refusal
    return Heard(text, calls, refusal, stop=choice.finish_reason, usage=usage)


def _chat_usage(usage: Any) -> tuple[int, int, int, int]:
    cached = usage.prompt_tokens_details.cached_tokens
    reasoning = usage.completion_tokens_details.reasoning_tokens
    return usage.prompt_tokens, usage.completion_tokens, cached, reasoning


def _chat_streamed(chunks: list[Any]) -> Heard:
    *told, last = chunks
    assert not last.choices
    deltas = [chunk.choices[0].delta for chunk in told]
    calls: dict[int, list[str]] = {}
    for call in (call for delta in deltas for call in delta.tool_calls or ()):
        if call.id:
            calls[call.index] = [call.id, call.function.name, ""]
        calls[call.index][2] += call.function.arguments
    refusal = "".join(delta.refusal or "" for delta in deltas)
    return Heard(
        "".join(delta.content or "" for delta in deltas),
        tuple((identity, name, text) for identity, name, text in calls.values()),
        refusal or None,
        stop=told[-1].choices[0].finish_reason,
        usage=_chat_usage(last.usage),
    )


def _response(answer: Any) -> Heard:
    parts = [part for item in answer.output if item.type == "message" for part in item.content]
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    calls = tuple(
        (item.call_id, item.name, item.arguments)
        for item in answer.output
        if item.type == "function_call"
    )
    thoughts = [item.summary for item in answer.output if item.type == "reasoning"]
    usage = answer.usage
    cached = usage.input_tokens_details.cached_tokens
    reasoning = usage.output_tokens_details.reasoning_tokens
    return Heard(
        answer.output_text,
        calls,
        refusals[0] if refusals else None,
        "".join(part.text for summary in thoughts for part in summary),
        answer.incomplete_details.reason if answer.incomplete_details else answer.status,
        (usage.input_tokens, usage.output_tokens, cached, reasoning),
    )


def _response_streamed(events: list[Any]) -> Heard:
    assert [event.sequence_number for event in events] == [*range(len(events))]
    final = _response(events[-1].response)
    items = [event.item for event in events if event.type == "response.output_item.done"]
    assert items == events[-1].response.output
    arguments = _joined(events, "response.function_call_arguments.delta")
    assert arguments == "".join(call[2] for call in final.calls)
    return final._replace(
        text=_joined(events, "response.output_text.delta"),
        refusal=_joined(events, "response.refusal.delta") or None,
        reasoning=_joined(events, "response.reasoning_summary_text.delta"),
    )


def _joined(events: Iterable[Any], kind: str) -> str:
    return "".join(event.delta for event in events if event.type == kind)


def _message_usage(usage: Any) -> tuple[int, int, int, int]:
    cached = usage.cache_read_input_tokens
    thinking = usage.output_tokens_details.thinking_tokens
    return usage.input_tokens + cached, usage.output_tokens, cached, thinking


def _message(answer: Any) -> Heard:
    return Heard(
        "".join(block.text for block in answer.content if block.type == "text"),
        tuple(
            (each.id, each.name, each.input) for each in answer.content if each.type == "tool_use"
        ),
        answer.stop_details.explanation if answer.stop_details else None,
        "".join(block.thinking for block in answer.content if block.type == "thinking"),
        answer.stop_reason,
        _message_usage(answer.usage),
    )


def _message_streamed(events: list[Any]) -> Heard:
    assert [events[0].type, events[-1].type] == ["message_start", "message_stop"]
    blocks: list[tuple[Any, list[str]]] = []
    for event in events:
        if event.type == "content_block_start":
            blocks.append((event.content_block, []))
        elif event.type == "content_block_delta":
            blocks[event.index][1].append(_piece(event.delta))
    ending = next(event for event in events if event.type == "message_delta")
    whole = {kind: [] for kind in ("text", "tool_use", "thinking")}  # type: dict[str, list[Any]]
    for block, pieces in blocks:
        whole[block.type].append((block, "".join(pieces)))
    return Heard(
        "".join(text for _, text in whole["text"]),
        tuple((block.id, block.name, _object(text)) for block, text in whole["tool_use"]),
        ending.delta.stop_details.explanation if ending.delta.stop_details else None,
        "".join(text for _, text in whole["thinking"]),
        ending.delta.stop_reason,
        _message_usage(ending.usage),
    )


def _piece(delta: Any) -> str:
    keys = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}
    return getattr(delta, keys[delta.type]) if delta.type in keys else ""


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}


PLAIN: dict[str, Callable[[Any], Heard]] = {
    "openai": _chat,
    "openai-responses": _response,
    "anthropic": _message,
}
STREAMED: dict[str, Callable[[list[Any]], Heard]] = {
    "openai": _chat_streamed,
    "openai-responses": _response_streamed,
    "anthropic": _message_streamed,
}
