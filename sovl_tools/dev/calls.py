"""Calls of tools and runs of procedures as server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext, redirect_stdout
from contextvars import ContextVar
from secrets import token_urlsafe
from time import perf_counter
from typing import Any, NamedTuple, TextIO, cast
from urllib.parse import unquote

from sovl_tools.dev.history import milliseconds
from sovl_tools.dev.tools import Row
from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.telemetry import LONGEST, as_json, shortened
from sovl_tools.model.call import Progress
from sovl_tools.model.context import ToolCaller
from sovl_tools.model.document import JSON, pointer
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.host import Host
from sovl_tools.model.result import ToolResult
from sovl_tools.procedures import errors
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.outline import step_ids
from sovl_tools.procedures.procedure import Procedure
from sovl_tools.procedures.run import environment
from sovl_tools.serving.event_stream import Calling, Event, call_reports, event_of
from sovl_tools.serving.limits import PING
from sovl_tools.serving.problems import problem_of, without_directories
from sovl_tools.serving.reports import Reports
from sovl_tools.serving.traffic import Client

_PRINTING: ContextVar[Callable[[str], object] | None] = ContextVar("printing", default=None)


class _Tee:
    """An output stream that also reports its text to the running call."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    def write(self, text: str) -> int:
        tell = _PRINTING.get()
        if tell is not None and text:
            tell(text)
        return self._output.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._output, name)


def telling_what_is_printed() -> AbstractContextManager[object]:
    """Report printed text to running calls during a block; it's also printed."""
    return redirect_stdout(cast("TextIO", _Tee(sys.stdout)))


def _listening(reports: Reports[Any]) -> Reports[Any]:
    """Return the reports, which from now on also get the text printed in this context."""
    _PRINTING.set(lambda text: reports.keep(Event("log", {"level": "print", "message": text})))
    return reports


async def call_events(
    calling: Calling, row: Row, arguments: Arguments, *, client: Client
) -> AsyncGenerator[Event]:
    """Make a call and yield its events; closing it early cancels the call."""
    name, reports = row.candidate.name, _listening(Reports())
    following = call_reports(calling, name, arguments, client=client, reports=reports)
    async with aclosing(following):
        async for each in following:
            if isinstance(each, ToolResult):
                version = row.values["version"]
                yield Event("result", {**_result(each, calling), "version": version})
            else:
                yield _event(each)


def _event(report: Any) -> Event:
    if isinstance(report, Event):
        return report
    found = event_of(report)
    if isinstance(report, Progress):
        return Event(found.name, {"progress": report.done, **found.data})
    return found._replace(data={"value": found.data}) if found.name == "item" else found


def _result(result: ToolResult, calling: Calling) -> dict[str, JSON]:
    ms = milliseconds(result.duration)
    if result.error is None:
        content = [_part(each.to_json()) for each in result.content]
        return {"ok": True, "value": result.value, "content": content, "ms": ms, "place": None}
    error = without_directories(result.error, calling.registry)
    found = [
        {"pointer": unquote(each["pointer"][1:]), "message": each["detail"]}
        for each in problem_of(error).get("errors", ())
    ]
    failure = _failure(error.kind, error.message, found)
    failure["error"]["exception"] = error.error_type
    return {**failure, "ms": ms, "place": error.place}


def _failure(type_: str, message: str, found: Sequence[JSON] = ()) -> dict[str, JSON]:
    return {"ok": False, "error": {"type": type_, "message": message, "errors": [*found]}}


_KEYS = {"mimeType": "media_type", "blob": "data"}


def _part(block: dict[str, JSON]) -> dict[str, JSON]:
    """Return a content block of the Model Context Protocol with the page's keys."""
    flat = {**block, **block.get("resource", {})}
    return {_KEYS.get(key, key): value for key, value in flat.items() if key != "resource"}


def _media(value: JSON) -> Iterator[JSON]:
    """Yield the images and sounds in the value of a run."""
    if isinstance(value, dict):
        if value.get("type") in {"image", "audio"} and {"data", "mimeType"} <= value.keys():
            yield _part(value)
            return
        value = [*value.values()]
    for each in value if isinstance(value, list) else ():
        yield from _media(each)


_MARKS = re.compile(r"\[\d+\]|~\d+")
_STATES = {"succeeded": "done", "known": "done", "continued": "failed"}


class Run:
    """A run of a procedure, optionally step by step.

    Attributes:
        id: identifies the run; it can't be guessed.
        reports: events that aren't sent yet.
        is_stepping: whether each step waits for ``next``.
    """

    def __init__(self, procedure: Procedure, *, is_stepping: bool) -> None:
        self.id = token_urlsafe(16)
        self.reports = _listening(Reports())
        self.is_stepping = is_stepping
        self.task: asyncio.Future[JSON] | None = None
        self._ids = step_ids(procedure)
        self._waiting: list[asyncio.Future[None]] = []
        self._counts = Counter[str]()

    def next(self) -> bool:
        """Let one step run; return False if no step is waiting."""
        while self._waiting:
            waiting = self._waiting.pop(0)
            if not waiting.done():
                waiting.set_result(None)
                return True
        return False

    def resume(self) -> None:
        """Continue without stops."""
        self.is_stepping = False
        while self.next():
            pass

    def stop(self) -> None:
        """End the run."""
        if self.task is not None:
            self.task.cancel()

    async def gate(self, step: environment.StepStarted) -> None:
        """Wait until the step can run."""
        if self.is_stepping:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            self.reports.keep(Event("waiting", {"run": self.id, "step": self.step_of(step.key)}))
            await waiting

    def step_of(self, key: str) -> str | None:
        """Return the id of a step; for a step of an inner procedure, of the step around it."""
        return self._ids.get(_MARKS.sub("", key.partition("/")[0]))

    def hear(self, event: environment.Event) -> None:
        """Report an event of the run, in any thread."""
        if isinstance(event, environment.RunStarted) or "/" in getattr(event, "key", ""):
            return
        told: Any = event
        match event:
            case environment.StepStarted():
                told = self._step(event.key, state="running")
            case environment.StepRetried(message=message, attempt=attempt):
                told = self._step(event.key, state="running", message=message, attempt=attempt)
            case environment.StepEnded(state=state, message=message, duration=duration):
                self._counts[str(self.step_of(event.key))] += 1
                text = as_json(event.value)
                told = self._step(
                    event.key,
                    state=_STATES.get(state, state),
                    ms=milliseconds(duration),
                    value=json.loads(text) if len(text) <= LONGEST else shortened(text),
                    message=message,
                )
        self.reports.keep(told)

    def _step(self, key: str, **more: JSON) -> Event:
        step = self.step_of(key)
        return Event("step", {"step": step, "count": self._counts[str(step)], **more})


class _Asking(NamedTuple):
    """Calls tools, and sends their questions to the page."""

    tooler: ToolCaller
    host: Host

    async def call(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        return await self.tooler.call(name, arguments, **{"host": self.host, **options})

    def call_sync(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        return self.tooler.call_sync(name, arguments, **{"host": self.host, **options})


async def run_events(
    calling: Calling, run: Run, path: str, inputs: Mapping[str, JSON], *, client: Client
) -> AsyncGenerator[Event]:
    """Run the procedure in a file and yield its events; closing it early ends the run."""
    reports, started = run.reports, perf_counter()
    tooler = _Asking(calling.tooler, calling.asks.host(reports.keep))
    manager = ProcedureManager(calling.registry, tooler)
    gate = run.gate if run.is_stepping else None
    yield Event("started", {"run": run.id})
    run.task = asyncio.ensure_future(manager.run(path, inputs, on_event=run.hear, gate=gate))
    run.task.add_done_callback(lambda _: reports.end())
    try:
        # a shutdown must not wait for a run that waits for the user
        with client.counted() if gate is None else nullcontext():
            async for each in reports.follow(PING):
                yield _event(each)
    finally:
        run.stop()
    result = {**await _outcome(run, run.task), "ms": milliseconds(perf_counter() - started)}
    yield Event("result", {**result, "place": None})


async def _outcome(run: Run, task: asyncio.Future[JSON]) -> dict[str, JSON]:
    try:
        value = await task
    except asyncio.CancelledError:
        return _failure("cancelled", "the run was stopped")
    except errors.InputError as error:
        found = [{"pointer": pointer(path), "message": words} for path, words in error.problems]
        return _failure("invalid_arguments", str(error), found)
    except errors.StepError as error:
        return {**_failure("tool_error", str(error)), "step": run.step_of(error.key)}
    except (SovlToolsError, OSError) as error:
        return _failure("unavailable", str(error))
    return {"ok": True, "value": value, "content": [*_media(value)]}
