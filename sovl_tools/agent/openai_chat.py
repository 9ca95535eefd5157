"""OpenAI's Chat Completions, and every server that is compatible with it.

Source: OpenAI's guide "Function calling", its API reference (chat completions) and the types of
its SDK. What compatible servers need back of an answer (``reasoning_details`` of OpenRouter,
``extra_content`` of Gemini's calls) is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from secrets import token_hex
from typing import Any

from sovl_tools.agent.answer import Answer, Call, Message, Prompt, Stop, Usage, joined, plain
from sovl_tools.agent.blocks import Made, as_one_text, data_url, parts
from sovl_tools.agent.errors import ProviderError
from sovl_tools.agent.messages import calls_of, whole
from sovl_tools.model.document import JSON

NAME = FORMAT = "openai"


def method(client: Any) -> Callable[..., Any]:
    """Return ``client.chat.completions.create``."""
    create: Callable[..., Any] = client.chat.completions.create
    return create


def body(prompt: Prompt) -> dict[str, Any]:
    """Return what Chat Completions is asked."""
    system = joined(prompt.system)
    messages = [{"role": "system", "content": system}] if system else []
    messages += [_message(each) for each in whole(prompt.messages)]
    made: dict[str, Any] = {"model": prompt.model, "messages": messages}
    if prompt.tools:
        made |= {"tools": prompt.tools, "tool_choice": _choice(prompt.choice)}
    return made | dict(prompt.options)


def streamed(body: dict[str, Any]) -> dict[str, Any]:
    """Return what asks for a stream that tells its usage."""
    return {"stream_options": {"include_usage": True}, **body, "stream": True}


def _choice(choice: str) -> JSON:
    if choice in {"auto", "required", "none"}:
        return choice
    return {"type": "function", "function": {"name": choice}}


def _message(message: Message) -> Made:
    if message["role"] == "user":
        return {"role": "user", "content": parts(message["content"], _text, _picture)}
    if message["role"] == "tool":
        content = as_one_text(message["content"])
        return {"role": "tool", "tool_call_id": message["id"], "content": content}
    if message.get("provider") == NAME:
        own: Made = message["items"][0]
        return own
    made: Made = {"role": "assistant", "content": message["content"]}
    calls = [_called(each) for each in calls_of(message)]
    return {**made, "tool_calls": calls} if calls else made


def _called(call: Call) -> Made:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _text(text: str) -> Made:
    return {"type": "text", "text": text}


def _picture(block: Made) -> Made:
    return {"type": "image_url", "image_url": {"url": data_url(block)}}


def answered(response: Any) -> Answer:
    """Return an answer of Chat Completions in our words.

    Raises:
        ProviderError: there is none in it, as some servers put an error in its place.
    """
    made = plain(response)
    choices = made.get("choices")
    if not choices:
        error = made.get("error")
        said = error.get("message") if isinstance(error, dict) else None
        raise ProviderError(said or "there is no answer in the response", "overloaded")
    message, reason = choices[0]["message"], choices[0].get("finish_reason")
    return _answer(message, reason, made.get("usage") or {})


def _answer(message: dict[str, Any], reason: str | None, usage: dict[str, Any]) -> Answer:
    called = [each for each in message.get("tool_calls") or () if "function" in each]
    for each in called:
        each["id"] = each.get("id") or f"call_{token_hex(8)}"
    calls = tuple(
        Call(each["id"], each["function"]["name"], each["function"].get("arguments") or "{}")
        for each in called
    )
    text = message.get("content") or message.get("refusal") or ""
    stop = _stop(reason, is_refusal=bool(message.get("refusal")), has_calls=bool(calls))
    return Answer(text, calls, stop, tuple(_own(message, called)), _usage(usage))


def _own(message: dict[str, Any], called: list[Any]) -> Iterable[JSON]:
    """Yield the message if there is something in it that our words do not say."""
    details = message.get("reasoning_details")
    if details or any("extra_content" in each for each in called):
        made = {"role": "assistant", "content": message.get("content") or ""}
        made |= {"tool_calls": called} if called else {}
        yield made | ({"reasoning_details": details} if details else {})


def _stop(reason: str | None, *, is_refusal: bool, has_calls: bool) -> Stop:
    if is_refusal or reason == "content_filter":
        return "refusal"
    if reason == "length":
        return "length"
    return "calls" if has_calls else "end"


def _usage(usage: dict[str, Any]) -> Usage:
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0), cached, 1)


def draft() -> Draft:
    """Return the beginning of an answer."""
    return Draft()


class Draft:
    """An answer that is coming in, in pieces of a message."""

    def __init__(self) -> None:
        self.text = ""
        self._refusal = ""
        self._details: list[JSON] = []
        self._calls: dict[Any, dict[str, Any]] = {}
        self._reason: str | None = None
        self._usage: dict[str, Any] = {}

    def feed(self, chunk: Any) -> str:
        """Take one event in; return the text that it adds."""
        made = plain(chunk)
        if made.get("error"):
            raise ProviderError(str(made["error"]), "overloaded")
        self._usage = made.get("usage") or self._usage
        text = ""
        for choice in made.get("choices", ())[:1]:
            self._reason = choice.get("finish_reason") or self._reason
            text += self._piece(choice.get("delta") or {})
        return text

    def _piece(self, delta: dict[str, Any]) -> str:
        self._details += delta.get("reasoning_details") or ()
        for each in delta.get("tool_calls") or ():
            self._call(each)
        refusal = delta.get("refusal") or ""
        self._refusal += refusal
        text: str = (delta.get("content") or "") + refusal
        self.text += text
        return text

    def _call(self, piece: dict[str, Any]) -> None:
        """Take a piece of a call in; servers that number none send each in one piece."""
        key = piece.get("index")
        key = piece.get("id") or len(self._calls) if key is None else key
        known = self._calls.setdefault(key, {"type": "function", "function": {"arguments": ""}})
        function = piece.get("function") or {}
        known["function"]["arguments"] += function.get("arguments") or ""
        if function.get("name"):
            known["function"]["name"] = function["name"]
        known |= {name: piece[name] for name in ("id", "extra_content") if piece.get(name)}

    def answer(self) -> Answer:
        """Return the answer."""
        if self._reason is None:
            raise ConnectionError("the stream ended before the answer did")
        message = {
            "content": self.text if not self._refusal else "",
            "refusal": self._refusal,
            "reasoning_details": self._details,
            "tool_calls": list(self._calls.values()),
        }
        return _answer(message, self._reason, self._usage)
