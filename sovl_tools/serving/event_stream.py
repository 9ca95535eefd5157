"""The reports of a running call, as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any, NamedTuple, cast

from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.async_runner import serving
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Progress
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult
from sovl_tools.registry import ToolRegistry
from sovl_tools.serving.asks import Ask, Asks
from sovl_tools.serving.limits import PING, PROMPT
from sovl_tools.serving.problems import (
    ProblemAnswer,
    encoded,
    problem_of,
    shortened,
    without_directories,
)
from sovl_tools.serving.reports import Reports
from sovl_tools.serving.traffic import Client


class Event(NamedTuple):
    """A server-sent event: progress, log, ask or item, and at the end result or problem.

    A comment, which keeps the connection open, has no name.

    Attributes:
        name: what happened.
        data: its JSON.
        id: the client sends the last one when it connects again.
    """

    name: str
    data: JSON = None
    id: str = ""

    def encoded(self) -> bytes:
        """Return the event in its form on the wire."""
        if not self.name:
            return b":\n\n"
        head = f"id: {self.id}\n" if self.id else ""
        return b"%bevent: %b\ndata: %b\n\n" % (
            head.encode(), self.name.encode(), encoded(self.data),
        )  # fmt: skip


PING_EVENT = Event("")
"""A comment."""


class Item(NamedTuple):
    """A value of a tool that is a generator."""

    value: JSON


class Calling(NamedTuple):
    """The parts shared by the calls of one server.

    Attributes:
        tooler: makes them.
        registry: the tools.
        asks: the open questions of running calls.
    """

    tooler: Tooler
    registry: ToolRegistry
    asks: Asks


class EventStream(StreamingResponse):
    """Events one by one. When the client leaves, their source is closed."""

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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events; end the call if the client leaves between two, or before the first."""
        async with aclosing(self._events):
            await super().__call__(scope, receive, send)


async def stream_call(
    calling: Calling, name: str, arguments: Arguments, *, client: Client
) -> Response:
    """Return the response that streams a call, or the problem document of an immediate failure.

    Raises:
        BusyError: too many calls are running.
    """
    events = call_events(calling, name, arguments, client=client)
    with serving():  # the call begins here, in a task that remembers it
        first = await anext(events)
    if first.name != "problem":
        return EventStream(first, events)
    await events.aclose()
    return ProblemAnswer(first.data, first.data["status"])


async def call_events(
    calling: Calling, name: str, arguments: Arguments, *, client: Client
) -> AsyncGenerator[Event]:
    """Make a call and yield its events; closing it early cancels the call."""
    async with aclosing(call_reports(calling, name, arguments, client=client)) as reports:
        async for each in reports:
            is_end = isinstance(each, ToolResult)
            yield _ending(each, calling.registry) if is_end else event_of(each)


async def call_reports(
    calling: Calling,
    name: str,
    arguments: Arguments,
    *,
    client: Client,
    reports: Reports[Any] | None = None,
) -> AsyncGenerator[Any]:
    """Make a call and yield its reports, questions and items, and its result at the end.

    None is a pause without an event. Closing it early cancels the call.

    Args:
        calling: the parts shared by calls.
        name: of the tool.
        arguments: of the call.
        client: who calls.
        reports: the queue of the call's reports, and of others that are yielded.
    """
    reports = Reports[Any]() if reports is None else reports
    host = calling.asks.host(reports.keep)
    stream = calling.tooler.stream(name, arguments, host=host, on_event=reports.add)
    items = aiter(stream)

    def begin() -> asyncio.Future[JSON]:
        future = asyncio.ensure_future(anext(items))
        future.add_done_callback(reports.keep)
        return future

    with client.counted():
        item = begin()
        try:
            async with aclosing(reports.follow(PING, first=PROMPT)) as following:
                async for report in following:
                    if report is not item:
                        yield report
                        continue
                    try:
                        value = item.result()
                    except StopAsyncIteration:
                        break
                    # a tool that isn't a generator has its value as the only item, after the result
                    if stream.result is None:
                        yield Item(value)
                    item = begin()
        finally:
            item.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await item
            await items.aclose()
    yield cast("ToolResult", stream.result)


def event_of(report: Any) -> Event:
    """Return the event for a report, a question or an item of a running call."""
    match report:
        case None:
            return PING_EVENT
        case Ask():
            return Event("ask", report.to_json())
        case Item(value):
            return Event("item", value)
        case Progress(done=done, total=total, message=message):
            return Event("progress", {"done": done, "total": total, "message": message})
    return Event("log", {"level": report.level, "message": report.message})


def _ending(result: ToolResult, registry: ToolRegistry) -> Event:
    if result.error is None:
        return Event("result", {"value": result.value, "duration": result.duration})
    document = problem_of(without_directories(result.error, registry))
    where = {} if result.error.place is None else {"place": shortened(result.error.place)}
    return Event("problem", {**document, "duration": result.duration, **where})
