"""The server: HTTP on loopback, and the endpoints of the providers that it plays."""

from __future__ import annotations

import json
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from types import ModuleType, TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from sovl_tools.model.document import JSON
from sovl_tools.testing import anthropic_messages, chat_completions, responses
from sovl_tools.testing.objections import (
    Objection,
    of_chat_completions,
    of_messages,
    of_responses,
)
from sovl_tools.testing.script import Failure, Memory, Pause, Reply, Request, Turn, json_object

# for ``drop_at``: the connection is closed before the status is sent
UNSENT = -1


class Answer(NamedTuple):
    """An answer of HTTP in the parts that are sent one by one.

    Attributes:
        status: of the answer.
        headers: all but the ones for the body's framing.
        parts: the halves of a whole body, or the events of a stream.
        is_stream: whether there can be more parts than the headers tell.
        pause: where the server stops.
        pause_at: the number of parts that are sent before; at 0 the status is not sent either.
        drop_at: the number of parts after which the connection is closed; None for never.
    """

    status: int
    headers: Mapping[str, str]
    parts: tuple[bytes, ...]
    is_stream: bool = False
    pause: Pause | Callable[[], object] | None = None
    pause_at: int = 0
    drop_at: int | None = None


def json_answer(status: int, body: JSON, headers: Mapping[str, str] | None = None) -> Answer:
    """Return an answer with a JSON document for its body."""
    content = json.dumps(body, ensure_ascii=False).encode(errors="surrogatepass")
    half = len(content) // 2  # in two parts, so that it can break off in its middle
    typed = {"content-type": "application/json", **(headers or {})}
    return Answer(status, typed, (content[:half], content[half:]))


def with_disturbance(answer: Answer, reply: Reply) -> Answer:
    """Return an answer with the pause and the loss of the connection that the script wants.

    An action after more events than there are happens at the end; a whole answer is held
    still before its beginning and breaks off in its middle.
    """
    drop_at = reply.drop_after
    if drop_at is not None and drop_at != UNSENT:
        drop_at = min(drop_at, len(answer.parts)) if answer.is_stream else 1
    pause_at = min(reply.pause_after, len(answer.parts)) if answer.is_stream else 0
    return answer._replace(pause=reply.pause, pause_at=pause_at, drop_at=drop_at)


Respond = Callable[[str, Mapping[str, str], bytes], Answer]

_GLANCE = 0.005
"""Seconds between checks whether the client is still there."""


class Listener(ThreadingTCPServer):
    """Accepts connections on its own port and serves each on a thread.

    Args:
        respond: answers a request, by its path, its headers (in lower case) and its body.
        crashed: hears of errors that no one expected.

    Attributes:
        closing: set when it must end.
    """

    request_queue_size = 128

    def __init__(self, respond: Respond, crashed: Callable[[BaseException | None], None]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.respond = respond
        self.closing = threading.Event()
        self._crashed = crashed
        self._open: set[Any] = set()
        self._accepting = threading.Thread(target=self.serve_forever, args=(_GLANCE,), daemon=True)
        self._accepting.start()

    def close(self) -> None:
        """Stop accepting, end all connections and wait for their threads."""
        self.closing.set()
        self.shutdown()
        self._accepting.join()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection on a thread."""
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        super().shutdown_request(request)
        self._open.discard(request)

    def handle_error(self, _request: Any, _address: Any) -> None:
        """Tell of an error, unless the client has left, as it may."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            self._crashed(error)


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    server: Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each event is its own packet

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.respond(self.path, headers, content)
        # what follows a broken answer would be taken for its rest
        if not self._send(answer):
            self.close_connection = True

    do_GET = do_PUT = do_DELETE = do_PATCH = do_POST  # noqa: N815 - likewise

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write nothing; the requests are recorded elsewhere."""

    def _send(self, answer: Answer) -> bool:
        """Send an answer and return whether the connection can be used again."""
        if answer.drop_at == UNSENT or not (answer.pause_at or self._paused(answer)):
            return False
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.is_stream:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(sum(map(len, answer.parts))))
        self.end_headers()
        for sent, part in enumerate((*answer.parts, b"")):
            if sent and sent == answer.pause_at and not self._paused(answer):
                return False
            if sent == answer.drop_at:
                return False
            if not answer.is_stream:
                self.wfile.write(part)
                continue
            # one chunk each; an empty one ends the stream
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        return True

    def _paused(self, answer: Answer) -> bool:
        """Pause where the answer wants it; return whether the client is still there."""
        pause = answer.pause
        if not isinstance(pause, Pause):
            if pause is not None:
                pause()
            return True
        pause.reached.set()
        while not pause.wait(_GLANCE):
            if self._has_left():
                pause.abandoned.set()
            if self.server.closing.is_set() or pause.abandoned.is_set():
                return False
        return True

    def _has_left(self) -> bool:
        """Return whether the client has closed its end."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        try:
            # something to read can be the next request of a client that sends without waiting
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            return True


Part: TypeAlias = Sequence[Reply] | Callable[[Request], Reply]
Script: TypeAlias = Part | Mapping[str, Part]


def _begun(part: Part) -> deque[Reply] | Callable[[Request], Reply]:
    return part if callable(part) else deque(part)


class ScriptedServer:
    """Answers on loopback as the script says, in any of the three APIs.

    Used as a context manager, it listens from the beginning of the block to its end, where it
    closes open connections and, unless ``strict`` is false or the block has raised, calls
    ``check``. A request the API would reject gets its error and uses up no reply.

    Args:
        script: the replies in their order; or a function that makes a reply from a ``Request``; or
            either of these by provider: ``"openai"`` (Chat Completions), ``"openai-responses"``,
            ``"anthropic"``. One script serves all endpoints, plain and streaming, and each
            attempt of a client that tries again.
        strict: whether the end of the block checks.
        piece: the number of characters of a string or of arguments in one event of a stream.

    Attributes:
        requests: the requests so far, in their order.
    """

    def __init__(self, script: Script, *, strict: bool = True, piece: int = 5) -> None:
        parts = script if isinstance(script, Mapping) else dict.fromkeys(("",), script)
        self._parts = {provider: _begun(part) for provider, part in parts.items()}
        self._strict = strict
        self._piece = piece
        self._memory = Memory()
        self._lock = threading.Lock()
        self._problems: list[str] = []
        self.requests: list[Request] = []
        self._listener: Listener | None = None

    def __enter__(self) -> Self:
        self._listener = Listener(self._answer, self._crashed)
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
        return f"http://127.0.0.1:{self._opened.server_address[1]}"

    @property
    def openai_url(self) -> str:
        """The ``base_url`` for an ``openai`` client."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The ``base_url`` for an ``anthropic`` client."""
        return self.url

    def check(self) -> None:
        """Check that no request was rejected, and that no reply was missing or unused.

        Raises:
            AssertionError: with all that is wrong, one line each.
        """
        wrong = [
            f"request {number} to {request.path} was rejected: {error}"
            for number, request in enumerate(self.requests, 1)
            for error in request.errors
        ]
        wrong += self._problems
        # a reply that was not used is mostly a request that was expected and not sent
        parts = self._parts.values()
        unused = [reply for part in parts if isinstance(part, deque) for reply in part]
        if unused:
            wrong.append(f"{len(unused)} of the replies were not used: {unused[0]!r} is the next")
        if wrong:
            raise AssertionError("\n".join(wrong))

    def _crashed(self, error: BaseException | None) -> None:
        self._problems.append(f"the server failed: {error!r}")

    def _answer(self, path: str, headers: Mapping[str, str], content: bytes) -> Answer:
        """Return the answer to a request; a function of the script may fail in making it."""
        api = APIS.get(path.partition("?")[0])
        asked = Request(api.provider if api else "", path, headers, content, json_object(content))
        form = api.answers if api else responses  # which has the words for any other path
        try:
            objections = [Objection(f"Invalid URL (POST {path})", 404)]
            if api:
                objections = list(api.objections(asked, self._memory))
            asked = asked._replace(errors=tuple(each.message for each in objections))
            with self._lock:
                self.requests.append(asked)
            if api is None or objections:
                message, status = objections[0]
                return json_answer(status, form.error(Failure(status, message)))
            reply = self._reply(asked)
            if reply is None:
                number = len(self.requests)
                return self._failed(
                    form, f"the script has run out: no reply is left for request {number}"
                )
            turn = self._memory.turn(reply, asked, prefix=api.prefix, piece=self._piece)
            return with_disturbance(_made(form, turn, self._memory), turn.reply)
        except Exception as error:  # noqa: BLE001 - the test gets it
            return self._failed(form, f"the server failed: {error!r}")

    def _reply(self, request: Request) -> Reply | None:
        """Return the script's reply to a request; None if it doesn't have one left for it."""
        part = self._parts.get(request.provider, self._parts.get("", deque()))
        with self._lock:  # a function of the script need not be ready for several threads
            if callable(part):
                return part(request)
            return part.popleft() if part else None

    def _failed(self, form: ModuleType, message: str) -> Answer:
        """Return an error that isn't a part of the script, and that no one should try again."""
        self._problems.append(message)
        return json_answer(500, form.error(Failure(500, message)), {"x-should-retry": "false"})


def _made(form: ModuleType, turn: Turn, memory: Memory) -> Answer:
    """Return the answer of a reply, and remember its ids."""
    failure, after, is_streaming = (
        turn.reply.failure, turn.reply.failure_after, turn.request.is_streaming,
    )  # fmt: skip
    # a plain answer has no middle in which an error could occur
    if failure and (after is None or not is_streaming):
        if failure.event == "response.failed" and form is responses:
            return json_answer(200, responses.failed(turn, failure))
        return json_answer(failure.status, form.error(failure), failure.headers)
    form.remember(turn, memory)
    if not is_streaming:
        return json_answer(200, form.body(turn))
    # all made before the first is sent, so that an error of the script is its own answer
    events = list(form.events(turn))
    if failure and after is not None:
        events[after:] = form.broken(turn, failure, min(after, len(events)))
    parts = tuple(event.encoded() for event in events)
    return Answer(200, {"content-type": "text/event-stream"}, parts, is_stream=True)


class API(NamedTuple):
    """One API of a provider.

    Attributes:
        provider: the name that its requests get.
        prefix: of the ids of calls.
        answers: the module that makes answers, ``body`` and ``events``, and errors.
        objections: yields what the API rejects in a request.
    """

    provider: str
    prefix: str
    answers: ModuleType
    objections: Callable[[Request, Memory], Iterator[Objection]]


APIS = {
    "/v1/chat/completions": API("openai", "call", chat_completions, of_chat_completions),
    "/v1/responses": API("openai-responses", "call", responses, of_responses),
    "/v1/messages": API("anthropic", "toolu", anthropic_messages, of_messages),
}
"""By their paths."""
