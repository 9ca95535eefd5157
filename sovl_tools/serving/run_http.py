"""Runs the application on a socket, until a signal ends it."""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Callable
from ipaddress import ip_address
from types import FrameType

import uvicorn
from starlette.applications import Starlette

from sovl_tools.model.errors import SovlToolsError
from sovl_tools.serving.limits import SHUTDOWN_TIMEOUT
from sovl_tools.serving.security import Security

KEEP_ALIVE = 65
"""How long a connection can be idle between requests, in seconds; longer than most proxies'."""


class ListeningError(SovlToolsError):
    """The server can't listen there, or must not."""


def listen(host: str, port: int, security: Security, *, allow_all: bool = False) -> socket.socket:
    """Return a socket that listens; port 0 is one that is free.

    Raises:
        ListeningError: the address can't be had; or it can be reached from elsewhere, there's no
            token, and ``allow_all`` is not set.
    """
    try:
        found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE | socket.AI_NUMERICSERV
        )
    except (OSError, UnicodeError) as error:
        raise ListeningError(f"there's no address {host!r}: {_reason(error)}") from error
    # most clients try this family first, or have no other
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    family, kind, protocol, _, address = found[0]
    is_local = ip_address(str(address[0]).partition("%")[0]).is_loopback
    if not (is_local or security.tokens or allow_all):
        words = f"on {host} everyone who reaches it could call the tools"
        advice = "demand a token with --token-env NAME, or say --allow-unauthenticated"
        raise ListeningError(f"{words}: {advice}")
    # not create_server: its sockets name no protocol, and then asyncio leaves small answers waiting
    # (it sets TCP_NODELAY only for TCP)
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


async def serve(
    app: Starlette,
    listening: socket.socket,
    *,
    shutdown_timeout: float = SHUTDOWN_TIMEOUT,
    on_start: Callable[[str], object] | None = None,
) -> None:
    """Serve the application that ``make_app`` made until SIGINT or SIGTERM comes.

    Then nothing new is taken, and what is running may end; what has not after
    ``shutdown_timeout`` seconds is answered with 503. A second signal ends all at once. Signals
    are heard in the main thread; to cancel this is to send one.

    Args:
        app: what is served.
        listening: where; it is closed at the end.
        shutdown_timeout: how long calls can take to end, in seconds.
        on_start: called with the URL when requests are answered.
    """
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=math.ceil(shutdown_timeout),
    )
    server = _Server(config, on_start)
    app.state.traffic.end_with(server)
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
    """Ends as its signals say, and doesn't raise them again afterwards."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[str], object] | None) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._on_start is not None:
            for listening in sockets or ():
                self._on_start(url_of(listening))

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at the first signal, and close all connections at the second."""
        del sig, frame
        if self.should_exit:
            self.force_exit = True
            asyncio.get_running_loop().call_soon_threadsafe(self._abort)
        self.should_exit = True

    def _abort(self) -> None:
        for connection in list(self.server_state.connections):
            connection.transport.abort()
