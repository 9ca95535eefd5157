"""The server that stands in for the providers of models, and the APIs that it knows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.testing import chat_completions, messages, responses
from sovl_tools.testing.connections import (
    Answer,
    Listener,
    json_answer,
    with_disturbance,
)
from sovl_tools.testing.exchange import Event, Memory, Objection, Request, Turn, json_object
from sovl_tools.testing.script import Failure, Reply

Part: TypeAlias = Sequence[Reply] | Callable[[Request], Reply]
Script: TypeAlias = Part | Mapping[str, Part]


class Prompter:
    """Hands out the replies of a script, one for each request, whatever thread asks."""

    def __init__(self, script: Script) -> None:
        self._lock = threading.Lock()
        self._parts = (
            {provider: _begun(part) for provider, part in script.items()}
            if isinstance(script, Mapping)
            else None
        )
        self._part = None if isinstance(script, Mapping) else _begun(script)

    def reply(self, request: Request) -> Reply | None:
        """Return the reply to a request, None if the script has none left for it."""
        part = self._part if self._parts is None else self._parts.get(request.provider)
        # also around a function of the script, which need not be ready for several threads
        with self._lock:
            if callable(part):
                return part(request)
            return part.popleft() if part else None

    def unused(self) -> list[Reply]:
        """Return the replies that nobody has asked for."""
        parts = [self._part] if self._parts is None else self._parts.values()
        return [reply for part in parts if isinstance(part, deque) for reply in part]


def _begun(part: Part) -> deque[Reply] | Callable[[Request], Reply]:
    return part if callable(part) else deque(part)


class ScriptedServer:
    """Answers on loopback as the script says, in whichever way it is asked.

    Used as a context manager, it listens from the beginning of the block to its end, where it
    closes what is still open and, unless ``strict`` is false or the block has raised, calls
    ``check``. What the API would refuse is answered with its error and uses up no reply.

    Args:
        script: the replies in their order; or a function that makes one of the ``Request``; or
            either of these by provider: ``"openai"`` (Chat Completions), ``"openai-responses"``,
            ``"anthropic"``. One script serves all endpoints, plain and streaming, and each
            attempt of a client that tries again.
        strict: whether the end of the block checks.
        piece: how many characters of a text or of arguments come in one event of a stream.

    Attributes:
        requests: what has been asked, in the order in which it came in.
    """

    def __init__(self, script: Script, *, strict: bool = True, piece: int = 5) -> None:
        self._prompter = Prompter(script)
        self._strict = strict
        self._piece = piece
        self._memory = Memory()
        self._lock = threading.Lock()
        self._problems: list[str] = []
        self.requests: list[Request] = []
        self._listener: Listener | None = None

    def __enter__(self) -> Self:
        self._listener = Listener(self._answer, self._crashed)
        self._listener.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()  # also where the block has raised: no thread outlives it
        self._listener = None
        if self._strict and error is None:
            self.check()

    @property
    def _opened(self) -> Listener:
        if self._listener is None:
            raise RuntimeError("the server listens only within its with block")
        return self._listener

    @property
    def url(self) -> str:
        """Where the server listens, such as ``http://127.0.0.1:54321``."""
        return f"http://127.0.0.1:{self._opened.port}"

    @property
    def openai_url(self) -> str:
        """The ``base_url`` for an ``openai`` client."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The ``base_url`` for an ``anthropic`` client."""
        return self.url

    def check(self) -> None:
        """Check that nothing was refused, that nothing was missing and that all was used.

        Raises:
            AssertionError: with all that is wrong, one line each.
        """
        wrong = [
            f"request {number} to {request.path} was refused: {error}"
            for number, request in enumerate(self.requests, 1)
            for error in request.errors
        ]
        wrong += self._problems
        # a reply that was not used is mostly a request that was expected and not sent
        unused = self._prompter.unused()
        if unused:
            wrong.append(f"{len(unused)} of the replies were not used: {unused[0]!r} is the next")
        if wrong:
            raise AssertionError("\n".join(wrong))

    def _crashed(self, error: BaseException) -> None:
        self._problems.append(f"the server failed: {error!r}")

    def _answer(self, path: str, headers: Mapping[str, str], content: bytes) -> Answer:
        """Return the answer to a request; a function of the script may fail in making it."""
        api = APIS.get(path.partition("?")[0], UNKNOWN)
        asked = Request(api.provider, path, headers, content, json_object(content))
        try:
            objections = list(api.objections(asked, self._memory))
            asked = asked._replace(errors=tuple(each.message for each in objections))
            with self._lock:
                self.requests.append(asked)
            if objections:
                first = objections[0]
                told = Failure(first.status, first.message, first.kind, first.code)
                return json_answer(first.status, api.error(told, first.param))
            reply = self._prompter.reply(asked)
            if reply is None:
                number = len(self.requests)
                return self._failed(
                    api, f"the script has run out: no reply is left for request {number}"
                )
            turn = self._memory.turn(reply, asked.body, prefix=api.prefix, piece=self._piece)
            return with_disturbance(_made(api, turn, self._memory), turn.reply)
        except Exception as error:  # noqa: BLE001 - the test hears of it, whatever it is
            return self._failed(api, f"the server failed: {error!r}")

    def _failed(self, api: API, message: str) -> Answer:
        """Return an error that is no part of the script, and that nobody should try again."""
        self._problems.append(message)
        return json_answer(500, api.error(Failure(500, message), None), {"x-should-retry": "false"})


def _made(api: API, turn: Turn, memory: Memory) -> Answer:
    """Return the answer that a reply makes, and remember what it tells."""
    failure = turn.reply.failure
    # a plain answer has no midst in which an error could come
    if failure and (turn.reply.failure_after is None or not turn.is_streaming):
        return _error(api, turn, failure)
    api.remember(turn, memory)
    if not turn.is_streaming:
        return json_answer(200, api.body(turn))
    events = {"content-type": "text/event-stream"}
    return Answer(200, events, _parts(api, turn), is_stream=True)


def _error(api: API, turn: Turn, failure: Failure) -> Answer:
    if failure.event == "response.failed" and api.provider == "openai-responses":
        return json_answer(200, responses.failed(turn, failure))
    return json_answer(failure.status, api.error(failure, None), failure.headers)


def _parts(api: API, turn: Turn) -> tuple[bytes, ...]:
    """Return the events of a stream as they are sent, up to where an error breaks it off."""
    # all made before the first is sent, so that an error of the script is an answer of its own
    events = list(api.events(turn))
    after = turn.reply.failure_after
    if turn.reply.failure and after is not None:
        events[after:] = api.broken(turn, turn.reply.failure, min(after, len(events)))
    return tuple(event.encoded() for event in events)


class API(NamedTuple):
    """One way in which a provider's models are asked.

    Attributes:
        provider: the name that the request gets.
        prefix: of the ids of calls.
        body: makes the whole of an answer.
        events: makes the stream of one.
        broken: makes the events that break a stream off.
        error: makes the body of an error.
        objections: yields what the API refuses in a request.
        remember: keeps of an answer what later requests refer to.
    """

    provider: str
    prefix: str
    body: Callable[[Turn], dict[str, JSON]]
    events: Callable[[Turn], Iterator[Event]]
    broken: Callable[[Turn, Failure, int], Iterator[Event]]
    error: Callable[[Failure, str | None], dict[str, JSON]]
    objections: Callable[[Request, Memory], Iterator[Objection]]
    remember: Callable[[Turn, Memory], None]


APIS = {
    "/v1/chat/completions": API(
        "openai",
        "call",
        chat_completions.body,
        chat_completions.events,
        chat_completions.broken,
        chat_completions.error,
        chat_completions.objections,
        lambda _turn, _memory: None,  # Chat Completions has no state
    ),
    "/v1/responses": API(
        "openai-responses",
        "call",
        responses.body,
        responses.events,
        responses.broken,
        responses.error,
        responses.objections,
        responses.remember,
    ),
    "/v1/messages": API(
        "anthropic",
        "toolu",
        messages.body,
        messages.events,
        messages.broken,
        messages.error,
        messages.objections,
        messages.remember,
    ),
}
"""By their paths."""


def _unknown(request: Request, _memory: Memory) -> Iterator[Objection]:
    yield Objection(f"Invalid URL (POST {request.path})", status=404)


UNKNOWN = APIS["/v1/responses"]._replace(provider="", objections=_unknown)
"""What answers on any other path."""
