"""What a call reports while it runs, as server-sent events."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress
from typing import NamedTuple, cast

from starlette.responses import Response, StreamingResponse
from starlette.types import Send

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.async_runner import serving
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.limits import MOST_REPORTS, PING, PROMPT
from sovl_tools.serving.problems import ProblemAnswer, encoded, problem_of, without_directories
from sovl_tools.serving.traffic import Client


class Event(NamedTuple):
    """A server-sent event: ``progress``, ``log``, ``item`` and, last, ``result`` or ``problem``.

    A comment, which keeps the connection open, has no name.
    """

    name: str
    data: JSON = None

    def encoded(self) -> bytes:
        """Return the event as it is sent."""
        if not self.name:
            return b":\n\n"
        return b"event: %b\ndata: %b\n\n" % (self.name.encode(), encoded(self.data))


_PING = Event("")


class EventStream(StreamingResponse):
    """Events as they come. When the client leaves, what makes them is closed."""

    media_type = "text/event-stream"

    def __init__(self, first: Event, events: AsyncGenerator[Event]) -> None:
        async def chunks() -> AsyncGenerator[bytes]:
            yield first.encoded()
            async for event in events:
                yield event.encoded()

        # a proxy that gathers chunks would keep them from the client
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(chunks(), headers=headers)
        self._events = events

    async def stream_response(self, send: Send) -> None:
        """Send the events, and end the call even if the client leaves between two of them."""
        async with aclosing(self._events):
            await super().stream_response(send)


async def stream_call(
    tooler: Tooler, name: str, arguments: Arguments, *, registry: ToolRegistry, client: Client
) -> Response:
    """Return the answer that streams a call, or the problem document of one that fails at once.

    Raises:
        BusyError: too many calls are under way.
    """
    events = call_events(tooler, name, arguments, registry=registry, client=client)
    with serving():  # the call begins here, in a task that remembers it
        first = await anext(events)
    if first.name != "problem":
        return EventStream(first, events)
    await events.aclose()
    return ProblemAnswer(first.data, first.data["status"])


async def call_events(
    tooler: Tooler, name: str, arguments: Arguments, *, registry: ToolRegistry, client: Client
) -> AsyncGenerator[Event]:
    """Make a call and yield its events; closing it early cancels the call."""
    reports = _Reports()
    stream = tooler.stream(name, arguments, on_event=reports.add)
    with client.counted():
        items, pause = aiter(stream), PROMPT
        item: asyncio.Future[JSON] = asyncio.ensure_future(anext(items))
        try:
            while True:
                news = asyncio.ensure_future(reports.news.wait())
                done, _ = await asyncio.wait({item, news}, timeout=pause, return_when=_FIRST)
                news.cancel()
                for report in reports.taken():
                    yield report
                if item in done:
                    try:
                        value = item.result()
                    except StopAsyncIteration:
                        break
                    # a tool that is no generator has its value as the only item, after the result
                    if stream.result is None:
                        yield Event("item", value)
                    item = asyncio.ensure_future(anext(items))
                elif not done:
                    yield _PING
                pause = PING
        finally:
            item.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await item
            await items.aclose()
    result = cast("ToolResult", stream.result)
    if result.error is None:
        yield Event("result", result.value)
    else:
        yield Event("problem", problem_of(without_directories(result.error, registry)))


_FIRST = asyncio.FIRST_COMPLETED


class _Reports:
    """What a running call says, from the tool's thread to the loop.

    Attributes:
        news: set when there is something.
    """

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self._waiting: deque[Event] = deque(maxlen=MOST_REPORTS)
        self._is_told = False
        self._loop = asyncio.get_running_loop()

    def add(self, report: Progress | LogMessage) -> None:
        """Take a report, in any thread."""
        if isinstance(report, Progress):
            data = {"done": report.done, "total": report.total, "message": report.message}
            event = Event("progress", data)
        else:
            event = Event("log", {"level": report.level, "message": report.message})
        self._waiting.append(event)
        # once, so that a tool that reports all the time does not fill the loop
        if not self._is_told:
            self._is_told = True
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self.news.set)

    def taken(self) -> Iterator[Event]:
        """Yield what has been reported, the oldest first."""
        self.news.clear()
        self._is_told = False
        while self._waiting:
            yield self._waiting.popleft()
