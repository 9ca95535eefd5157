"""The calls under way: how many there may be, and whether their clients still wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from anyio import CancelScope

from sovl_tools.model.errors import SovlToolsError

CLIENT: Final = "sovl_tools.client"
"""The key of a request's ``Client`` in its ASGI scope."""


class BusyError(SovlToolsError):
    """As many calls are under way as there may be."""


class Traffic:
    """What is under way in one application, or over one pair of pipes.

    Attributes:
        clients: those whose requests aren't answered yet.
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
            BusyError: there are too many already.
        """
        if self._calls >= self._max_calls:
            raise BusyError(f"{self._max_calls:,} calls are under way; try again later")
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1

    def end(self) -> None:
        """Let calls finish, and end the streams that wait for news, which never end otherwise."""
        self.is_ending = True
        for client in self.clients:
            if not client.calls:
                client.leave()


class Client:
    """The client of one request, which may leave before it has the answer.

    Attributes:
        calls: the number of its calls under way.
        left: set when it leaves.
    """

    def __init__(self, traffic: Traffic) -> None:
        self.calls = 0
        self.left = asyncio.Event()
        self._traffic = traffic
        self._scopes: set[CancelScope] = set()

    def leave(self) -> None:
        """Cancel the client's calls: there is nobody to answer any more."""
        self.left.set()
        for scope in self._scopes:
            scope.cancel()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a call for as long as a block.

        Raises:
            BusyError: too many calls are under way.
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
            BusyError: too many calls are under way.
        """
        with self.counted(), CancelScope() as scope:
            self._scopes.add(scope)
            if self.left.is_set():
                scope.cancel()
            try:
                yield scope
            finally:
                self._scopes.discard(scope)
