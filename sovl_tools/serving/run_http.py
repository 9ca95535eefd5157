"""Runs the application on a socket, until a signal ends it."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_address
from types import FrameType
from typing import Any, NamedTuple, cast

import h11
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from sovl_tools.model.errors import SovlToolsError
from sovl_tools.serving.limits import SHUTDOWN_TIMEOUT
from sovl_tools.serving.problems import problem
from sovl_tools.serving.security import Security, Traffic

if sys.platform != "win32":
    import resource

KEEP_ALIVE = 65
"""How long a connection may be idle between requests, in seconds; longer than most proxies'."""


class ListeningError(SovlToolsError):
    """The server can't listen there, or must not."""


def listen(host: str, port: int, security: Security, *, allow_all: bool = False) -> socket.socket:
    """Return a socket that listens; port 0 is one that is free.

    Raises:
        ListeningError: the address can't be had; or it can be reached from elsewhere, there is no
            token, and ``allow_all`` is not set.
    """
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (OSError, UnicodeError) as error:
        raise ListeningError(f"there is no address {host!r}: {_reason(error)}") from error
    # most clients try this family first, or have no other
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    family, kind, protocol, _, address = found[0]
    is_local = ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not (is_local or security.tokens or allow_all):
        words = f"on {host} everybody who reaches it could call the tools"
        advice = "demand a token with --token-env NAME, or say --allow-unauthenticated"
        raise ListeningError(f"{words}: {advice}")
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(socket.SOMAXCONN)
    except OSError as error:
        listening.close()
        raise ListeningError(f"can't listen on {host}:{port}: {_reason(error)}") from error
    return listening


def _reason(error: Exception) -> str:
    words = getattr(error, "strerror", None) or str(error)
    return f"{words[:1].lower()}{words[1:]}"


def url_of(listening: socket.socket) -> str:
    """Return the URL of what listens on a socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Proxy(NamedTuple):
    """What is in front of a server.

    Attributes:
        root_path: what it takes away from the front of each path, such as ``/ai``.
        addresses: its addresses or networks, if it says in ``X-Forwarded-For`` who calls.
    """

    root_path: str = ""
    addresses: tuple[str, ...] = ()


NO_PROXY = Proxy()


async def serve(
    app: Starlette,
    listening: socket.socket,
    *,
    shutdown_timeout: float = SHUTDOWN_TIMEOUT,
    proxy: Proxy = NO_PROXY,
    on_start: Callable[[str], object] | None = None,
) -> None:
    """Serve the application that ``make_app`` made until SIGINT or SIGTERM comes.

    Then nothing new is taken, and what is under way may end; what has not after
    ``shutdown_timeout`` seconds is answered with 503. A second signal ends all at once. Signals
    are heard in the main thread; to cancel this is to send one.

    Args:
        app: what is served.
        listening: where; it is closed at the end.
        shutdown_timeout: how long calls may take to end, in seconds.
        proxy: what is in front of it.
        on_start: called with the URL when requests are answered.

    Raises:
        ListeningError: the lifespan of the application failed.
    """
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        root_path=proxy.root_path,
        proxy_headers=bool(proxy.addresses),
        forwarded_allow_ips=[*proxy.addresses],
        server_header=False,
        # the whole backlog is accepted in one go, before anything can be closed in their place
        backlog=16,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=math.ceil(shutdown_timeout),
    )
    server = _Server(config, app.state.traffic, on_start)
    serving = asyncio.ensure_future(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise
    finally:
        listening.close()


class _Server(uvicorn.Server):
    """Ends as its signals say, and does not raise them again afterwards."""

    def __init__(
        self, config: uvicorn.Config, traffic: Traffic, on_start: Callable[[str], object] | None
    ) -> None:
        super().__init__(config)
        self._traffic = traffic
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._traffic.is_ending = False  # of a server that has ended before
        try:
            await super().startup(sockets)
        except SystemExit:
            raise ListeningError("the application did not start; the log says why") from None
        for listening in sockets or ():
            listening.listen(socket.SOMAXCONN)  # which asyncio has made as few as it accepts
            if self._on_start is not None:
                self._on_start(url_of(listening))

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._traffic.end()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Handle signals where that is possible: in the main thread."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        # no method: whose handler is a server's, that server's streams sse-starlette ends at once
        before = {each: signal.signal(each, partial(self.handle_exit)) for each in _SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at the first signal, and with all that is under way at the second."""
        del sig, frame
        if self.should_exit:
            self.force_exit = True
            loop = asyncio.get_running_loop()
            loop.call_soon_threadsafe(self._abort)
        self.should_exit = True

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Protocol(H11Protocol):
    """HTTP/1.1 that gives up connections on which nothing happens that should."""

    since = 0.0
    """The time of the loop at which the connection, or its last answer, was complete."""

    _head: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    @property
    def _limits(self) -> Security:
        app = cast("Starlette", self.config.app)
        return cast("Security", app.state.security)

    @property
    def _cycle(self) -> RequestResponseCycle | None:
        # before the first request there is none, whatever uvicorn's annotation says
        return cast("RequestResponseCycle | None", self.cycle)

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        is_answered = self._cycle is None or self._cycle.response_complete
        return is_answered and not self.transport.is_closing()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; if there are too many, in the place of the one longest idle."""
        super().connection_made(transport)
        self.since = self.loop.time()
        if len(self.connections) > _most_connections(self._limits.max_connections):
            others = [
                each
                for each in self.connections
                if isinstance(each, _Protocol) and each is not self and each.is_idle
            ]
            oldest = min(others, key=lambda each: each.since, default=self)
            oldest.transport.abort()
        self._head = self.loop.call_later(self._limits.head_timeout, self._give_up)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Go on to the next request."""
        super().on_response_complete()
        self.since = self.loop.time()
        self._watch()

    def _watch(self) -> None:
        """Wait only so long for the rest of a head, or of a body that nobody reads any more."""
        is_begun = self.conn.their_state is h11.SEND_BODY or bool(self.conn.trailing_data[0])
        if self._cycle is not None and not (self._cycle.response_complete and is_begun):
            _cancel(self._head)
            self._head = None
        elif self._head is None:
            self._head = self.loop.call_later(self._limits.head_timeout, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        _cancel(self._head)
        _cancel(self._unread)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait only so long for a client that does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(self._limits.write_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on, because the client reads."""
        _cancel(self._unread)
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP with a problem document."""
        self._refuse(400, f"{msg[:1].lower()}{msg[1:].removesuffix('.')}")

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.trailing_data[0]:
            self._refuse(408, "the request did not come in time")
        else:
            self.transport.close()

    def _refuse(self, status: int, detail: str) -> None:
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.abort()  # in the middle of another answer
            return
        answer = problem(status, detail, {"Connection": "close"})
        parts: tuple[Any, ...] = (
            h11.Response(status_code=status, headers=answer.raw_headers),
            h11.Data(data=bytes(answer.body)),
            h11.EndOfMessage(),
        )
        for part in parts:
            self.transport.write(self.conn.send(part))
        self.transport.close()


def _most_connections(wanted: int) -> int:
    """Return how many connections there may be: half of the descriptors are the tools'."""
    if sys.platform == "win32":
        return wanted
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most // 2)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
