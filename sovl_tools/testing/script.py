"""A scripted model's next actions, the requests to it, and its earlier answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import NamedTuple, TypeAlias

from sovl_tools.model.document import JSON


class Usage(NamedTuple):
    """The numbers of tokens that an answer reports.

    Attributes:
        input: all tokens of the request, the cached ones among them.
        output: all tokens of the answer, including reasoning.
        cached: the input tokens from the cache.
        reasoning: the output tokens of reasoning.
    """

    input: int = 12
    output: int = 8
    cached: int = 0
    reasoning: int = 0


class Call(NamedTuple):
    """A tool call as the model writes it.

    Attributes:
        name: of the tool; it can be one that was not offered.
        arguments: JSON text, or an invalid form of it.
        id: the call's own id; the server numbers the calls that don't have one.
    """

    name: str
    arguments: str
    id: str | None = None


class Pause:
    """A place where the server stops until the test says ``end()``, or the client leaves.

    Attributes:
        reached: set as soon as the server has stopped there.
        abandoned: set if the client closed its connection while it did.
    """

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.abandoned = threading.Event()
        self._over = threading.Event()

    def end(self) -> None:
        """Let the server continue."""
        self._over.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, so long at the most, and return whether it has come."""
        return self._over.wait(seconds)


class Failure(NamedTuple):
    """An error that the API reports, as an HTTP answer or, after some events, in a stream.

    Attributes:
        status: of the HTTP answer.
        message: in the error's body.
        kind: the error's ``type``; None selects the status's default.
        code: OpenAI's ``code``.
        headers: further headers of the HTTP answer, such as ``retry-after``.
        event: how Responses tells it in a stream: ``"error"`` or ``"response.failed"``.
    """

    status: int
    message: str
    kind: str | None = None
    code: str | None = None
    headers: Mapping[str, str] = {}
    event: str = "error"


class Reply(NamedTuple):
    """One answer of the model, and its disturbances.

    Attributes:
        text: its text; "" for none.
        calls: its calls, after the text.
        rejection: the words of its rejection; None without one.
        reasoning: its thoughts before the text; None without any.
        is_cut: whether it ran into the limit of tokens; its last part is then unfinished.
        usage: the tokens that it cost.
        pause: where the server stops.
        pause_after: the number of events that are sent before.
        failure: an error instead of the answer or of the rest of it.
        failure_after: the number of events that are sent before; None for the HTTP answer.
        drop_after: the number of events after which the connection is closed; None for never,
            -1 for before the status.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str | None = None
    reasoning: str | None = None
    is_cut: bool = False
    usage: Usage = Usage()
    pause: Pause | Callable[[], object] | None = None
    pause_after: int = 0
    failure: Failure | None = None
    failure_after: int | None = None
    drop_after: int | None = None

    # short, as it appears in the message about replies that were not used
    def __repr__(self) -> str:
        fields = (
            f"{name}={value!r}"
            for name, value in self._asdict().items()
            if value != self._field_defaults[name]
        )
        return f"Reply({', '.join(fields)})"


Spelled: TypeAlias = Call | tuple[str, JSON] | tuple[str, JSON, str]


def says(
    text: str = "", *, reasoning: str | None = None, cut: bool = False, usage: Usage | None = None
) -> Reply:
    """Answer with a string, which can be empty.

    Args:
        text: the whole of it.
        reasoning: the model's thoughts before the text, as a ``reasoning`` item (Responses) or a
            ``thinking`` block (Messages); Chat Completions does not show it.
        cut: whether the text stops because of the limit of tokens.
        usage: the tokens; a few by default.
    """
    return Reply(text=text, reasoning=reasoning, is_cut=cut, usage=usage or Usage())


def calls(
    *tools: Spelled,
    text: str = "",
    reasoning: str | None = None,
    cut: bool = False,
    usage: Usage | None = None,
) -> Reply:
    """Call tools, all in one answer.

    Args:
        tools: ``(name, arguments)`` or ``(name, arguments, id)`` each; a string for arguments is
            sent unchanged, so that it can be malformed, anything else as JSON.
        text: the model's text before its calls.
        reasoning: the model's thoughts before.
        cut: whether the last call stops because of the limit of tokens; give its arguments as
            the text that is left of them.
        usage: the tokens; a few by default.
    """
    made = []
    for name, arguments, *identity in tools:
        # a string is sent unchanged, so that malformed arguments can be scripted
        sent = arguments if isinstance(arguments, str) else json.dumps(arguments)
        made.append(Call(name, sent, *identity))
    return Reply(text, tuple(made), reasoning=reasoning, is_cut=cut, usage=usage or Usage())


def refuses(refusal: str, *, text: str = "", usage: Usage | None = None) -> Reply:
    """Reject the request, in each provider's own form, after optional text."""
    return Reply(text, refusal=refusal, usage=usage or Usage())


def fails(
    status: int = 500,
    message: str = "The server had an error while processing your request.",
    *,
    headers: Mapping[str, str] | None = None,
    kind: str | None = None,
    code: str | None = None,
) -> Reply:
    """Answer with an HTTP error in the provider's form.

    A client that tries again takes the next reply of the script.

    Args:
        status: 429 for too many requests, 529 for an overloaded Anthropic.
        message: the message in the error's body.
        headers: such as ``{"retry-after": "1"}``, in seconds, or ``x-should-retry``.
        kind: the error's ``type``; by default the status's default.
        code: OpenAI's ``code``, such as ``rate_limit_exceeded``.
    """
    return Reply(failure=Failure(status, message, kind, code, headers or {}))


def drops(reply: Reply | None = None, *, after: int = 0) -> Reply:
    """Close the connection without an answer, or in the midst of one.

    Args:
        reply: the answer that is begun; None to close before anything is sent.
        after: the number of events of its stream that are sent. A plain answer breaks off half-way.
    """
    if reply is None:
        return Reply(drop_after=-1)
    return reply._replace(drop_after=after)


def interrupts(
    reply: Reply,
    *,
    after: int,
    message: str = "Overloaded",
    kind: str | None = None,
    event: str = "error",
) -> Reply:
    """Break a stream off with an error event; a plain answer is an HTTP error instead.

    Args:
        reply: the answer that is begun.
        after: the number of events of its stream that are sent before.
        message: the error's message.
        kind: the error's ``type``, ``server_error`` or ``overloaded_error`` by default.
        event: how Responses tells it, as an ``"error"`` event or as ``"response.failed"``, which
            a plain answer has it in its ``status``. Other APIs have only one way.
    """
    failure = Failure(500, message, kind, event=event)
    return reply._replace(failure=failure, failure_after=after)


def holds(reply: Reply, pause: Pause | Callable[[], object], *, after: int = 0) -> Reply:
    """Pause before an answer or in the middle of its stream.

    Args:
        reply: the answer.
        pause: a ``Pause``, which the test ends; or a function, which the server calls and which
            must return for it to continue.
        after: the number of events that are sent before; 0 for none, not even the status,
            as always with a plain answer.
    """
    return reply._replace(pause=pause, pause_after=after)


CREATED = 1_700_000_000
"""When everything was made, in seconds since 1970: an answer is the same in every run."""


class Event(NamedTuple):
    """An event of a stream: its name, if the API gives it one, and its data."""

    name: str | None
    data: JSON

    def encoded(self) -> bytes:
        """Return the event in its form on the wire; text that is not ASCII stays unchanged."""
        head = f"event: {self.name}\n" if self.name else ""
        text = (
            self.data if isinstance(self.data, str) else json.dumps(self.data, ensure_ascii=False)
        )
        # lone surrogates as well: clients must cope with any text of a model
        return f"{head}data: {text}\n\n".encode(errors="surrogatepass")


class Request(NamedTuple):
    """A client's request, and its problems.

    Attributes:
        provider: ``"openai"`` (Chat Completions), ``"openai-responses"``, ``"anthropic"``, or ""
            if the path is unknown.
        path: such as ``/v1/messages``.
        headers: by their names in lower case.
        content: the body's bytes.
        body: the object in the bytes; empty without one.
        errors: the API's errors, all of them; the first is the answer.
    """

    provider: str
    path: str
    headers: Mapping[str, str]
    content: bytes
    body: dict[str, JSON]
    errors: tuple[str, ...] = ()

    @property
    def is_streaming(self) -> bool:
        """Whether the answer must be a stream of events."""
        return self.body.get("stream") is True


class Turn(NamedTuple):
    """A reply together with the request that it answers.

    Attributes:
        number: of the answer among the server's answers, from one; it is part of the ids.
        request: of the client.
        reply: the reply; each of its calls has an id.
        piece: the maximum number of characters in a delta.
    """

    number: int
    request: Request
    reply: Reply
    piece: int

    @property
    def model(self) -> str:
        """The request's model; a stored prompt may set it instead."""
        return str(self.request.body.get("model") or "scripted")

    def pieces(self, text: str) -> Iterator[str]:
        """Cut a string into deltas, wherever the cuts may fall."""
        for start in range(0, len(text), self.piece):
            yield text[start : start + self.piece]


def json_object(text: str | bytes) -> dict[str, JSON]:
    """Return the object in a string, an empty one without an object."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


class Memory:
    """The answers so far; any thread can add to it.

    Attributes:
        thoughts: what each thought must be sent back with: the encrypted content of an item of
            reasoning, by its id, or the thinking of a block, by its signature.
        thought_before: the key of the thought that preceded an item or a block, by its id.
    """

    def __init__(self) -> None:
        self._numbers = count(1)
        self.thoughts: dict[str, str] = {}
        self.thought_before: dict[str, str] = {}

    def turn(self, reply: Reply, request: Request, *, prefix: str, piece: int) -> Turn:
        """Return the answer in the making; it has a number, and so has each of its calls."""
        number = next(self._numbers)
        numbered = tuple(
            call._replace(id=call.id or f"{prefix}_{number}_{index}")
            for index, call in enumerate(reply.calls)
        )
        return Turn(number, request, reply._replace(calls=numbered), piece)
