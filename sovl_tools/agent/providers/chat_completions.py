"""OpenAI's Chat Completions, and every server that is compatible with it.

Source: OpenAI's guide "Function calling", its API reference (chat completions) and the types of
its SDK. What compatible servers need back of an answer (``reasoning_details`` of OpenRouter,
``reasoning_content`` of DeepSeek, ``extra_content`` of Gemini's calls) is kept.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from sovl_tools.agent.answer import (
    Answer,
    Call,
    Message,
    Prompt,
    Stop,
    request_body,
    to_dict,
    usage_of,
)
from sovl_tools.agent.errors import NO_ANSWER, reported_error
from sovl_tools.agent.history import (
    arguments_of,
    arguments_piece,
    arguments_text,
    call_ids,
    calls_of,
    id_text,
    items_of,
    output_of,
    with_all_results,
)
from sovl_tools.formats.messages import Made, data_url, openai, parts
from sovl_tools.model.document import JSON

NAME = FORMAT = "openai"

_OWN = (NAME, "openrouter")
_REASONING = ("reasoning_details", "reasoning_content")


STREAM = {"stream_options": {"include_usage": True}, "stream": True}

method = attrgetter("chat.completions.create")


def body(prompt: Prompt) -> dict[str, Any]:
    """Return the body of a request to Chat Completions."""
    system = prompt.instructions
    messages = [{"role": "system", "content": system}] if system else []
    messages += [
        _message(each)
        for each in with_all_results(prompt.messages, _OWN)
        # An empty message of the assistant is rejected.
        if each["role"] != "assistant" or each["content"] or each.get("calls")
    ]
    return request_body(
        {"messages": messages},
        prompt,
        lambda name: {"type": "function", "function": {"name": name}},
    )


def _message(message: Message) -> Made:
    own = items_of(message, _OWN)
    if message["role"] == "user":
        content = parts(
            message["content"],
            lambda text: {"type": "text", "text": text},
            lambda block: {"type": "image_url", "image_url": {"url": data_url(block)}},
        )
        return {"role": "user", "content": content}
    if message["role"] == "tool":
        return openai(output_of(message))
    assistant: Made = dict(own[0]) if own else {"role": "assistant", "content": message["content"]}
    calls: list[Made] = []
    for call in calls_of(message):
        # Compatible servers read the arguments, and reject what isn't an object.
        arguments = call.arguments if arguments_of(call.arguments) else "{}"
        function = {"name": call.name, "arguments": arguments}
        calls.append({"id": call.id, "type": "function", "function": function})
    if own:
        # Some servers want other keys of the call back, such as signatures of reasoning.
        kept = zip(own[0].get("tool_calls", ()), calls, strict=False)
        calls = [{**each, **call} for each, call in kept]
    return {**assistant, "tool_calls": calls} if calls else assistant


def parse_answer(response: Any) -> Answer:
    """Return an answer of Chat Completions in our words.

    Raises:
        ProviderError: it has no answer, as some servers send an error instead.
    """
    response = to_dict(response)
    choices = response.get("choices")
    if not choices:
        raise reported_error(response.get("error") or NO_ANSWER)
    reason, error = choices[0].get("finish_reason"), choices[0].get("error")
    message = {} if reason == "error" else choices[0]["message"]
    answer = _answer(message, reason, response.get("usage"))
    return _sound(answer, reason, error or response.get("error"))


def _sound(answer: Answer, reason: str | None, error: JSON) -> Answer:
    """Return an answer that ended as answers do.

    Raises:
        ProviderError: it ended in an error, or was empty for another reason.
    """
    is_empty = not (answer.calls or answer.text.strip())
    if reason == "error" or (is_empty and reason not in _REASONS):
        ended = f"the provider ended the answer with finish_reason {reason!r}"
        raise reported_error(error or ended)
    return answer


_REASONS = {
    None, "", "stop", "length", "tool_calls", "function_call", "content_filter", "end_turn",
}  # fmt: skip
"""Why an answer can end. Servers have others for what went wrong, such as ``abort``."""


def _answer(message: dict[str, Any], reason: str | None, usage: Any) -> Answer:
    # there are custom calls, too, of tools that the agent never offers
    called = [each for each in message.get("tool_calls") or () if "function" in each]
    ids = call_ids(each.get("id") for each in called)
    called = [{**each, "id": identity} for each, identity in zip(called, ids, strict=True)]
    calls = tuple(_call(each) for each in called)
    refusal = message.get("refusal") or ""
    text = _spoken(message.get("content")) + refusal
    stop: Stop = "calls" if calls else "end"
    # The calls win over finish_reason "stop", which some servers send with them.
    if refusal or reason == "content_filter":
        stop = "refusal"
    elif reason == "length":
        stop = "length"
    # The message itself is kept only if there is something in it that our words do not say.
    # reasoning_content is wanted back with calls, and rejected elsewhere.
    thought = {key: message[key] for key in _REASONING[: 2 if called else 1] if message.get(key)}
    items: tuple[JSON, ...] = ()
    if thought or any("extra_content" in each for each in called):
        kept = {"role": "assistant", "content": _spoken(message.get("content")), **thought}
        items = ({**kept, "tool_calls": called} if called else kept,)
    tokens = usage_of(usage, "prompt_tokens", "completion_tokens")
    return Answer(text, calls, stop, items, tokens)


def _call(called: dict[str, Any]) -> Call:
    function = called["function"]
    return Call(called["id"], function.get("name") or "", arguments_text(function.get("arguments")))


def _spoken(content: JSON) -> str:
    """Return the text of a content, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(each.get("text") or "" for each in content)
    return content or ""


def _is_complete(arguments: str) -> bool:
    """Return whether a string is a whole JSON object, or JSON text of one."""
    if not arguments.rstrip().endswith(("}", '"')):  # or each piece would cost a check them all
        return False
    try:
        return isinstance(json.loads(arguments), dict | str)
    except (ValueError, RecursionError):
        return False


@dataclass
class _CallDraft:
    """A call that is coming in.

    Attributes:
        is_repeat: whether it began with the name of the call before it, and so can be none.
    """

    index: JSON
    id: str
    name: str
    arguments: str = ""
    extra_content: JSON = None
    is_repeat: bool = False

    @property
    def is_sure(self) -> bool:
        """Whether it's a new call, and not the same name again, or empty."""
        return bool(self.arguments.strip() or (self.name and not self.is_repeat))

    def as_json(self) -> Made:
        """Return the call as in an answer that isn't streamed."""
        function = {"name": self.name, "arguments": self.arguments}
        extra = {"extra_content": self.extra_content} if self.extra_content else {}
        return {"type": "function", "id": self.id, "function": function, **extra}


class Draft:
    """An answer that is coming in, in pieces of a message."""

    def __init__(self, offered: Collection[str] = ()) -> None:
        self.text = ""
        self._offered = offered
        self._refusal = ""
        self._spoken = ""
        self._reasoning = ""
        self._details: list[JSON] = []
        self._calls: list[_CallDraft] = []
        self._reason: str | None = None
        self._error: JSON = None
        self._usage: dict[str, Any] = {}

    def feed(self, chunk: Any) -> str:
        """Take one event in; return the text that it adds."""
        event = to_dict(chunk)
        if event.get("error"):
            raise reported_error(event["error"])
        self._usage = event.get("usage") or self._usage
        text = ""
        # The event with the usage has no choice.
        for choice in (event.get("choices") or ())[:1]:
            self._reason = choice.get("finish_reason") or self._reason
            self._error = choice.get("error") or self._error
            text += self._piece(choice.get("delta") or {})
        return text

    def _piece(self, delta: dict[str, Any]) -> str:
        self._details += delta.get("reasoning_details") or ()
        self._reasoning += delta.get("reasoning_content") or ""
        for each in delta.get("tool_calls") or ():
            self._call(each)
        spoken, refusal = _spoken(delta.get("content")), delta.get("refusal") or ""
        self._spoken += spoken
        self._refusal += refusal
        self.text += spoken + refusal
        return f"{spoken}{refusal}"

    def _call(self, piece: dict[str, Any]) -> None:
        """Take in a piece of a call."""
        function = piece.get("function") or {}
        name, arguments = function.get("name") or "", arguments_piece(function.get("arguments"))
        index, identity = piece.get("index"), id_text(piece.get("id"))
        call = self._continued(index, identity, name, arguments)
        joined = name if call is None else self._joined(call, name)
        if call is None or joined is None:
            is_repeat = call is not None and name == call.name
            call = _CallDraft(index, identity, name, is_repeat=is_repeat)
            self._calls.append(call)
        else:
            call.name = joined
        call.id = call.id or identity
        if call.arguments.strip() == "{}" and arguments.strip():  # it was for those to come
            call.arguments = ""
        call.arguments += arguments
        call.extra_content = piece.get("extra_content") or call.extra_content

    def _continued(
        self, index: JSON, identity: str, name: str, arguments: str
    ) -> _CallDraft | None:
        """Return the call that a piece continues, unless its name says otherwise.

        The index isn't enough: some servers number every call 0, others have no index. Nor does
        a new id without a name, which some send in every piece.
        """
        near = [each for each in self._calls if None in (index, each.index) or index == each.index]
        same = [each for each in near if identity and each.id == identity]
        if not near:
            return None
        last = (same or near)[-1]
        if identity and last.id and not same:
            is_over = arguments.strip() and _is_complete(last.arguments)
            return None if name or is_over else last
        return last

    def _joined(self, call: _CallDraft, name: str) -> str | None:
        """Return a call's name after another piece of it; None if that begins another call.

        Some servers send a name in pieces, and some repeat it in each piece.
        """
        whole, is_known = call.name + name, call.name in self._offered
        if not (call.name and name):
            return whole
        if call.arguments.strip():
            is_other = name != call.name or _is_complete(call.arguments)
            return None if is_other else name
        if name == call.name and is_known:
            return name
        if any(each.startswith(whole) for each in self._offered):
            return whole
        if is_known:
            return None
        return name if name == call.name else whole

    def answer(self) -> Answer | None:
        """Return the answer."""
        # "[DONE]" is not passed on by the SDK, so that only a reason tells the end.
        if self._reason is None:
            return None
        message = {
            "content": self._spoken,
            "refusal": self._refusal,
            "reasoning_details": self._details,
            "reasoning_content": self._reasoning,
            "tool_calls": [each.as_json() for each in self._calls if each.is_sure],
        }
        return _sound(_answer(message, self._reason, self._usage), self._reason, self._error)
