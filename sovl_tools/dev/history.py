"""Events that clients can catch up on, and the calls of all clients."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from secrets import token_hex
from threading import Lock
from time import time
from typing import Any, Final

from sovl_tools.dispatch.telemetry import as_json
from sovl_tools.loading.modules import code_digest
from sovl_tools.model.call import CallEvent, ToolCall
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.registry import ToolRegistry
from sovl_tools.reporting.text import cut
from sovl_tools.serving.event_stream import Event

MOST_EVENTS: Final = 1_000
"""The number of events that are kept for clients that connect again."""

MOST_CALLS: Final = 200
"""The number of calls that the history has."""

LONGEST: Final = 2_000
"""The maximum number of characters of a result, and of arguments, in the history."""

KIND: ContextVar[str] = ContextVar("sovl_tools_client", default="page")
"""The client of the current call: ``page``, ``mcp`` or ``http``."""


class EventLog:
    """The last events, in order. Events are added in any thread.

    Attributes:
        session: identifies this log in the ids of its events.
    """

    def __init__(self) -> None:
        self.session = token_hex(4)
        self._events: deque[tuple[int, Event]] = deque(maxlen=MOST_EVENTS)
        self._count = 0
        self._lock = Lock()
        self._listeners: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    @property
    def last(self) -> str:
        """The id of the last event."""
        return f"{self.session}.{self._count}"

    def add(self, name: str, data: JSON) -> None:
        """Add an event, and wake all listeners."""
        with self._lock:
            self._count += 1
            self._events.append((self._count, Event(name, data, self.last)))
            listeners = [*self._listeners.items()]
        for news, loop in listeners:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(news.set)

    def since(self, id_: str) -> list[Event] | None:
        """Return the events after an event; None if the log no longer has all of them."""
        session, _, number = id_.rpartition(".")
        with self._lock:
            oldest = self._count - len(self._events)
            is_ours = session == self.session and number.isdecimal()
            if not is_ours or not oldest <= int(number[:20]) <= self._count:
                return None
            return [event for count, event in self._events if count > int(number[:20])]

    @contextmanager
    def listening(self) -> Iterator[asyncio.Event]:
        """Yield an asyncio event that is set at each new event, for the length of a block."""
        news = asyncio.Event()
        with self._lock:
            self._listeners[news] = asyncio.get_running_loop()
        try:
            yield news
        finally:
            with self._lock:
                del self._listeners[news]


def version_of(tool: ToolDefinition) -> str:
    """Return a hash of a tool's definition and of the modules in its folder."""
    said = [
        code_digest(tool), tool.title, tool.description, tool.parameters, tool.output_schema,
        tool.annotations, tool.execution, tool.tags, tool.examples,
    ]  # fmt: skip
    text = json.dumps(said, default=repr, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class History:
    """The calls of all clients: an observer of a Tooler.

    Args:
        registry: the tools.
        events: gets an event at the start and at the end of each call.
    """

    def __init__(self, registry: ToolRegistry, events: EventLog) -> None:
        self._registry = registry.whole
        self._events = events
        self._versions: dict[str, str] = {}
        self._rows: deque[dict[str, JSON]] = deque(maxlen=MOST_CALLS)
        self._lock = Lock()

    @property
    def rows(self) -> list[dict[str, JSON]]:
        """The last finished calls, newest first."""
        with self._lock:
            return [*reversed(self._rows)]

    def result(self, tool: str, arguments: JSON, version: str) -> str:
        """Return the JSON text of the latest result of a call, "" if the history has none."""
        wanted = {"tool": tool, "arguments": arguments, "version": version, "ok": True}
        return next((str(e["result"]) for e in self.rows if wanted.items() <= e.items()), "")

    def hook(self, call: ToolCall, following: Any) -> Generator[Any, Any, Any]:
        """Record the start of a call."""
        self._versions[call.call_id] = version_of(call.tool)
        row = {"id": call.call_id, "tool": call.name, "client": KIND.get(), "state": "running"}
        self._events.add("call", {**row, "time": time()})
        return (yield following(call))

    def __call__(self, event: CallEvent) -> None:
        """Record the end of a call."""
        tool = self._registry.get(event.tool)
        # a rejected call has no recorded start
        version = self._versions.pop(event.call_id, "") or (version_of(tool) if tool else "")
        row = {
            "id": event.call_id,
            "tool": event.tool,
            "client": KIND.get(),
            "state": "done",
            "time": event.started,
            "ms": milliseconds(event.duration),
            "ok": event.ok,
            "type": event.kind,
            "error": None if event.message is None else cut(event.message, LONGEST),
            "arguments": _arguments(event.arguments),
            "result": cut(as_json(event.value), LONGEST) if event.ok else None,
            "version": version,
        }
        with self._lock:
            self._rows.append(row)
        self._events.add("call", row)


def milliseconds(seconds: float) -> float:
    """Return a duration in milliseconds, with one decimal."""
    return round(seconds * 1000, 1)


def _arguments(given: Any) -> JSON:
    """Return arguments as JSON, also if they were given as text."""
    if isinstance(given, str | bytes):
        with suppress(ValueError, RecursionError):
            given = parse_json(given)
    text = as_json({} if given is None else given)
    return json.loads(text) if len(text) <= LONGEST else cut(text, LONGEST)
