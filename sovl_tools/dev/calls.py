"""Calls from the page, as events: what a call reports, prints and asks, and its result."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TextIO, cast

from sovl_tools.dev.history import milliseconds
from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.model.call import Progress
from sovl_tools.model.content import Audio, EmbeddedResource, Image, Text, base64
from sovl_tools.model.document import JSON, parse_json_path, pointer
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.serving.event_stream import Calling, Event, call_reports, event_of
from sovl_tools.serving.problems import without_directories
from sovl_tools.serving.reports import Reports
from sovl_tools.serving.traffic import Client

_LISTENER: ContextVar[Callable[[str], object] | None] = ContextVar("printing", default=None)


class Printed(NamedTuple):
    """What a running tool has printed."""

    text: str


class _Tee:
    """An output that also tells the call that writes to it."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def write(self, text: str) -> int:
        listener = _LISTENER.get()
        if listener is not None and text:
            listener(text)
        return self._output.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


@contextmanager
def telling_what_is_printed() -> Iterator[None]:
    """Let calls hear during a block what their tools print; it's printed all the same."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast("Any", _Tee(sys.stdout)), cast("Any", _Tee(sys.stderr))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class Prints:
    """Reports what is printed in this context, such as in the task of a request, by lines."""

    def __init__(self, reports: Reports[Any]) -> None:
        self._reports = reports
        self._begun = ""
        _LISTENER.set(self._add)

    def _add(self, text: str) -> None:
        lines, newline, rest = f"{self._begun}{text}".rpartition("\n")
        self._begun = rest
        if newline:
            self._reports.add(Printed(lines + newline))

    def rest(self) -> Iterator[Printed]:
        """Yield the last line, if it hasn't been ended."""
        if self._begun:
            yield Printed(self._begun)


async def call_events(
    calling: Calling, name: str, arguments: Arguments, *, client: Client, version: str
) -> AsyncGenerator[Event]:
    """Make a call and yield its events; closing it early cancels the call."""
    reports = Reports[Any]()
    prints = Prints(reports)
    following = call_reports(calling, name, arguments, client=client, reports=reports)
    async with aclosing(following):
        async for each in following:
            for line in prints.rest() if isinstance(each, ToolResult) else ():
                yield page_event(line, calling)
            yield page_event(each, calling, version=version)


def page_event(report: Any, calling: Calling, **more: JSON) -> Event:
    """Return what a call reports as the event that the page reads; ``more`` is in the result."""
    match report:
        case Event():
            return report
        case Printed(text):
            return Event("log", {"level": "print", "message": text})
        case Progress(done=done, total=total, message=message):
            return Event("progress", {"progress": done, "total": total, "message": message})
        case ToolResult():
            return Event("result", {**_result(report, calling), **more})
    return event_of(report)


def _result(result: ToolResult, calling: Calling) -> dict[str, JSON]:
    ms = milliseconds(result.duration)
    if result.error is None:
        content = [_content(each) for each in result.content]
        return {"ok": True, "value": result.value, "content": content, "ms": ms, "place": None}
    error = without_directories(result.error, calling.registry)
    return {"ok": False, "error": error_of(error), "ms": ms, "place": error.place}


def error_of(error: Failure) -> dict[str, JSON]:
    """Return why a call failed; bad arguments have the places of their fields."""
    errors = []
    for each in error.details:
        try:
            path = pointer(parse_json_path(each.path))
        except ValueError:  # a secret was taken out of it
            path = ""
        errors.append({"pointer": path, "message": each.message})
    exception = {"exception": error.error_type} if error.error_type else {}
    return {"type": error.kind, "message": error.message, "errors": errors, **exception}


def _content(part: Text | Image | Audio | EmbeddedResource) -> Mapping[str, JSON]:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case EmbeddedResource(uri=uri, content=content, media_type=media_type):
            found = {"type": "resource", "uri": uri, "media_type": media_type}
            if isinstance(content, str):
                return {**found, "text": content}
            return {**found, "data": base64(content)}
    kind = "image" if isinstance(part, Image) else "audio"
    return {"type": kind, "media_type": part.media_type, "data": base64(part.data)}
