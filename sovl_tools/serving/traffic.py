"""Counts the running calls, and cancels those whose clients have left."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import uvicorn
from anyio import CancelScope

from sovl_tools.model.errors import SovlToolsError

CLIENT: Final = "sovl_tools.client"
"""The key of a request's ``Client`` in its ASGI scope."""


class BusyError(SovlToolsError):
    """The maximum number of calls is running."""


class Traffic:
    """The open requests and running calls of one application.

    Args:
        max_calls: the maximum number of calls at a time.

    Attributes:
        clients: the clients of the requests that aren't answered yet.
        is_ending: whether the server is shutting down.
    """

    def __init__(self, max_calls: int) -> None:
        self.clients: set[Client] = set()
        self.is_ending = False
        self._max_calls = max_calls
        self._calls = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call for as long as a block.

        Raises:
            BusyError: the maximum number of calls is running.
        """
        if self._calls >= self._max_calls:
            raise BusyError(f"{self._max_calls:,} calls are running; try again later")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def end(self) -> None:
        """Let calls finish, and end the streams of notifications, which never end otherwise."""
        self.is_ending = True
        for client in self.clients:
            if not client.calls:
                client.leave()

    def end_with(self, server: uvicorn.Server) -> None:
        """Call ``end`` when uvicorn shuts down: it ends the lifespan only after the last stream."""
        shutdown = server.shutdown

        async def end_first(sockets: list[socket.socket] | None = None) -> None:
            self.end()
            await shutdown(sockets)

        server.shutdown = end_first  # type: ignore[method-assign]


class Client:
    """The client of one request, which can disconnect before it has the answer.

    Attributes:
        calls: the number of its running calls.
        left: set when it disconnects.
    """

    def __init__(self, traffic: Traffic) -> None:
        self.calls = 0
        self.left = asyncio.Event()
        self._traffic = traffic
        self._scopes: set[CancelScope] = set()

    def leave(self) -> None:
        """Cancel the client's calls: no client waits for their results."""
        self.left.set()
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call for as long as a block.

        Raises:
            BusyError: the maximum number of calls is running.
        """
        with self._traffic.counted():
            self.calls += 1
            try:
                yield
            finally:
                self.calls -= 1

    @contextmanager
    def call(self) -> Iterator[CancelScope]:
        """Count a call, and cancel it when the client leaves.

        Raises:
            BusyError: the maximum number of calls is running.
        """
        with self.counted(), CancelScope() as scope:
            self._scopes.add(scope)
            if self.left.is_set():
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.discard(scope)
