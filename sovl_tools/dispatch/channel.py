"""The way from a worker's call back to the caller's process."""

from __future__ import annotations

import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Protocol, TypeAlias

from sovl_tools.dispatch.reference import Event
from sovl_tools.model.client_requests import REQUEST_KINDS, HostRequest
from sovl_tools.model.errors import RunCancelledError


class Channel(Protocol):
    """The way back to the caller while a call is running."""

    def send(self, kind: str, content: Any) -> None:
        """Send an event, an item of a stream, or word that a stream has begun."""
        ...

    def is_cancelled(self) -> bool:
        """Return whether no one waits for the result anymore."""
        ...


class Notes(Channel):
    """Replaces a channel where there isn't one: what would be sent is kept for the outcome."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def send(self, kind: str, content: Any) -> None:
        """Keep an event."""
        if kind == "event" and len(self.events) < _MAX_EVENTS:
            self.events.append(content)

    def is_cancelled(self) -> bool:
        """Return False: no word of that comes."""
        return False


_MAX_EVENTS = 1_000


class Asking(Channel):
    """The channel to the process that has started this one, which brings answers."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._is_over = False
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._answers: list[Answered] = []

    def send(self, kind: str, content: Any) -> None:
        """Send something, from any thread."""
        with self._lock:  # a tool can have threads
            self._connection.send((kind, content))

    def ask(self, request: HostRequest) -> Any:
        """Send a request to the caller's host, and wait for the answer.

        Raises:
            ToolError: of the request's kind: there's no answer.
            RunCancelledError: the call was cancelled meanwhile.
        """
        with self._asking:
            self.send("ask", request)
            while not self._is_answered(_PAUSE):
                if self._is_over:
                    raise RunCancelledError
            _, value, problem = self._answers.pop()
        if problem is not None:
            raise REQUEST_KINDS[type(request)].error(problem)
        return value

    def is_cancelled(self) -> bool:
        """Return whether no caller waits anymore."""
        self._is_answered(0)
        return self._is_over

    def _is_answered(self, seconds: float) -> bool:
        """Read a message: an answer, or word that no caller waits anymore."""
        with self._lock:
            if not self._is_over and self._connection.poll(seconds):
                word = None
                with suppress(EOFError, OSError):
                    word = self._connection.recv()
                if isinstance(word, list):
                    self._answers.append(word)
                else:
                    self._is_over = True
            return bool(self._answers)

    def end(self) -> None:
        """Stop reading: the next message is another call."""
        with self._lock:
            self._is_over = True


_PAUSE = 0.05
Answered: TypeAlias = list[Any]
"""``["answer", value, problem]``; a list, since a tuple would be the next call."""
