"""The requests to a model and its answers, in terms that no provider owns."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.registry import ToolRegistry

Stop: TypeAlias = Literal["end", "calls", "length", "refusal"]
"""Why an answer ended: it was complete, calls tools, got too long, or the model refused."""

Message: TypeAlias = dict[str, Any]
"""One message of a conversation; see ``messages``."""


class Call(NamedTuple):
    """A call that a model requests.

    Attributes:
        id: the provider's name for it, which its result refers to.
        name: the tool's, as the model wrote it.
        arguments: JSON text, as the model wrote it.
    """

    id: str
    name: str
    arguments: str


class Usage(NamedTuple):
    """Tokens, as the provider counts them, and the number of requests.

    Attributes:
        input_tokens: of the request, including tokens from a cache.
        output_tokens: of the answer, including reasoning.
        cached_tokens: the input tokens that came from a cache.
        requests: the number of answers.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    requests: int = 0


class Answer(NamedTuple):
    """One answer of a model.

    Attributes:
        text: its text; for a rejection, the words of the rejection.
        calls: the tools that it wants called, in order.
        stop: why it ended.
        items: the provider's own form of it, which is sent back unchanged.
        usage: its tokens, as one request.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Stop = "end"
    items: tuple[JSON, ...] = ()
    usage: Usage = Usage(requests=1)


class Prompt(NamedTuple):
    """A request to a model.

    Attributes:
        model: its name.
        system: the strings of the system prompt, in order.
        messages: the conversation.
        tools: the offered tools, in the provider's format.
        choice: ``"auto"``, ``"required"``, ``"none"`` or the name of the tool that it must call.
        options: further parameters of the request, which win over ours.
        registry: where the tools are from.
        offered: the names of the tools.
    """

    model: str
    system: tuple[str, ...]
    messages: list[Message]
    tools: list[JSON]
    choice: str
    options: Mapping[str, Any]
    registry: ToolRegistry
    offered: tuple[str, ...]

    @property
    def instructions(self) -> str:
        """The system prompt as one string, with blank lines between its parts."""
        return "\n\n".join(text for text in self.system if text.strip())


class Draft(Protocol):
    """An answer that is coming in; it's made with the names of the tools that were offered.

    Attributes:
        text: the text so far.
    """

    text: str

    def feed(self, chunk: Any) -> str:
        """Take one event of the stream in; return the text that it adds, "" for none."""
        ...

    def answer(self) -> Answer | None:
        """Return the answer when the stream has ended; None if it ended too early."""
        ...


class Adapter(Protocol):
    """The adapter of one provider: a module with these.

    Attributes:
        FORMAT: the format of tool definitions.
        STREAM: the keyword arguments that request a stream.
        Draft: an answer that is going to be streamed.
    """

    FORMAT: str
    STREAM: dict[str, Any]
    Draft: Callable[[Collection[str]], Draft]

    def method(self, client: Any) -> Callable[..., Any]:
        """Return the method of the client, sync or async."""
        ...

    def body(self, prompt: Prompt) -> dict[str, Any]:
        """Return the keyword arguments of the client's method."""
        ...

    def parse_answer(self, response: Any) -> Answer:
        """Return the method's return value, in our terms."""
        ...


def to_dict(response: Any) -> dict[str, Any]:
    """Return an object of an SDK, or any other, as the JSON that the provider sent.

    Raises:
        TypeError: it isn't an object, as SDKs pass on bodies that aren't their JSON.
    """
    document = _as_json(response)
    if not isinstance(document, dict):
        raise TypeError(f"it must be a JSON object, not {response!r:.80}")
    return document


def _as_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, list) or type(value) is tuple:
        return [_as_json(each) for each in value]
    if type(value).__module__ == "builtins":
        return value
    # exclude_unset, because null is rejected where the provider omitted a key; extra fields
    # of compatible servers are in it. The SDKs don't validate, so that a dump may warn.
    if hasattr(value, "model_dump"):
        dumped = value.model_dump(mode="json", exclude_unset=True, warnings=False)
        if isinstance(dumped, dict):
            return dumped
    # Objects of no SDK, such as SimpleNamespace in a fake client.
    names = (name for name in dir(value) if not name.startswith("_"))
    attributes = ((name, getattr(value, name)) for name in names)
    return {name: _as_json(each) for name, each in attributes if not callable(each)}


def check_answer(answer: Answer | None) -> Answer:
    """Return an answer whose strings are strings and whose numbers are numbers.

    Raises:
        TypeError: they are something else.
        ConnectionError: there isn't one.
    """
    if answer is None:
        raise ConnectionError("the stream ended before the answer did")
    for text in (answer.text, *(part for call in answer.calls for part in call)):
        if not isinstance(text, str):
            raise TypeError(f"there must be a string instead of {text!r:.80}")
    for number in answer.usage:
        if not isinstance(number, int | float):
            raise TypeError(f"there must be a number of tokens instead of {number!r:.80}")
    return answer


MODES: Mapping[str, JSON] = {"auto": "auto", "required": "required", "none": "none"}


def request_body(
    body: dict[str, Any],
    prompt: Prompt,
    named: Callable[[str], JSON],
    modes: Mapping[str, JSON] = MODES,
) -> dict[str, Any]:
    """Return a request with the model, the tools and the options of a prompt.

    ``named`` and ``modes`` say in the provider's way which tool must be called, or whether any.
    The options win. Clients reject arguments unknown to them, which servers may support all the
    same; so those go into the body of the request.
    """
    body = sendable({"model": prompt.model, **body})
    if prompt.tools:
        choice = modes[prompt.choice] if prompt.choice in modes else named(prompt.choice)
        body = {**body, "tools": prompt.tools, "tool_choice": choice}
    # The SDKs' own arguments, which each request can take.
    known = {*body, "extra_body", "extra_headers", "extra_query", "timeout"}
    accepted = {key: each for key, each in prompt.options.items() if key in known}
    others = {key: each for key, each in prompt.options.items() if key not in known}
    extra = {**others, **(accepted.pop("extra_body", None) or {})}
    return {**body, **accepted, **({"extra_body": extra} if extra else {})}


def usage_of(usage: Mapping[str, Any] | None, sent: str, received: str) -> Usage:
    """Return the tokens of an answer from OpenAI, whose APIs call the same by two names."""
    usage = usage or {}
    cached = (usage.get(f"{sent}_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get(sent) or 0, usage.get(received) or 0, cached, 1)


def sendable(value: JSON) -> JSON:
    """Return a value as it can be sent, which is itself unless there is something odd in it.

    Numbers that aren't any become null, and halves of characters that were cut apart, as a model
    leaves them at the end of an answer that is too long, question marks.
    """
    try:
        # Tried first, since nearly every value can be sent and copies of long ones cost.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:  # which UnicodeEncodeError is, too
        return _cleaned(value)
    return value


def _cleaned(value: JSON) -> JSON:
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
