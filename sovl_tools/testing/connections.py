"""HTTP on loopback: answers in parts, and connections that all end with the server."""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, cast

from sovl_tools.model.document import JSON
from sovl_tools.testing.script import Pause, Reply

# for ``drop_at``: the connection is closed before the status is sent
UNSENT = -1


class Answer(NamedTuple):
    """An answer of HTTP in the parts that are sent one by one.

    Attributes:
        status: of the answer.
        headers: all but those that say how the body is framed.
        parts: the halves of a whole body, or the events of a stream.
        is_stream: whether there may be more parts than the headers tell.
        pause: where the server stands still.
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

    What is to happen after more events than there are happens at the end; a whole answer stands
    still before its beginning and breaks off in its middle.
    """
    drop_at = reply.drop_after
    if drop_at is not None and drop_at != UNSENT:
        drop_at = min(drop_at, len(answer.parts)) if answer.is_stream else 1
    pause_at = min(reply.pause_after, len(answer.parts)) if answer.is_stream else 0
    return answer._replace(pause=reply.pause, pause_at=pause_at, drop_at=drop_at)


Respond = Callable[[str, Mapping[str, str], bytes], Answer]

# seconds between looks at whether the client is still there, and for a thread to end
_GLANCE = 0.005
_LONGEST_END = 5.0


class Listener:
    """Accepts connections on a port of its own and serves each on a thread.

    Args:
        respond: answers a request, by its path, its headers (in lower case) and its body.
        crashed: hears of errors that nobody expected.

    Attributes:
        closing: set when it is to end.
    """

    def __init__(self, respond: Respond, crashed: Callable[[BaseException], None]) -> None:
        self.respond = respond
        self.closing = threading.Event()
        self._crashed = crashed
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        # closing a socket does not wake up who waits for it; one end of a pair wakes the other
        self._waker, self._woken = socket.socketpair()
        self._lock = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._accepting = threading.Thread(target=self._accept, name="scripted-server", daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        """Begin to accept connections."""
        self._accepting.start()

    def close(self) -> None:
        """Stop accepting, end all connections and wait for their threads."""
        self.closing.set()
        self._waker.close()
        self._accepting.join()
        self._socket.close()
        self._woken.close()
        with self._lock:
            remaining = list(self._open.items())  # their threads take themselves out
        for connection, _ in remaining:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for _, thread in remaining:
            thread.join(_LONGEST_END)

    def _accept(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while selector.select() and not self.closing.is_set():
                self._begin(self._socket.accept()[0])

    def _begin(self, connection: socket.socket) -> None:
        thread = threading.Thread(
            target=self._serve, args=(connection,), name="scripted-answer", daemon=True
        )
        with self._lock:
            self._open[connection] = thread
        thread.start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            _Handler(connection, self)
        except ConnectionError:  # the client has left, as it may
            pass
        except Exception as error:  # noqa: BLE001 - whatever it is, the test has to hear of it
            self._crashed(error)
        finally:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            with self._lock:
                del self._open[connection]


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each event is to arrive by itself

    def __init__(self, connection: socket.socket, listener: Listener) -> None:
        self._listener = listener
        super().__init__(connection, None, cast(Any, None))

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self._listener.respond(self.path, headers, content)
        # what follows a broken answer would be taken for its rest
        if not self._send(answer):
            self.close_connection = True

    do_GET = do_PUT = do_DELETE = do_PATCH = do_POST  # noqa: N815 - likewise

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing; the requests are written down elsewhere."""

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
            # in two chunks, which may cut a character apart; an empty one ends the stream
            half = len(part) // 2
            for chunk in (part[:half], part[half:]) if half else (part,):
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        return True

    def _paused(self, answer: Answer) -> bool:
        """Stand still where the answer wants it; return whether there is anyone to go on for."""
        pause = answer.pause
        if not isinstance(pause, Pause):
            if pause is not None:
                pause()
            return True
        pause.reached.set()
        while not pause.wait(_GLANCE):
            if self._has_left():
                pause.abandoned.set()
            if self._listener.closing.is_set() or pause.abandoned.is_set():
                return False
        return True

    def _has_left(self) -> bool:
        """Tell whether the client has closed its end."""
        # something to read may be the next request of a client that sends without waiting
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection, selectors.EVENT_READ)
            if not selector.select(0):
                return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            return True
