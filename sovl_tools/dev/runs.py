"""Procedures on the page: their steps, and runs of them, also step by step."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from secrets import token_urlsafe
from time import perf_counter
from typing import Any, NamedTuple

from sovl_tools.dev.calls import Prints, page_event
from sovl_tools.dev.history import milliseconds
from sovl_tools.dispatch.telemetry import LONGEST, as_json, shortened
from sovl_tools.model.context import ToolCaller
from sovl_tools.model.document import JSON, pointer
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.host import Host
from sovl_tools.model.result import ToolResult
from sovl_tools.procedures.errors import InputError, ProcedureError, StepError
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.outline import Outline, mermaid, outline_steps
from sovl_tools.procedures.procedure import Procedure, Step
from sovl_tools.procedures.run.environment import (
    Event as RunEvent,
)
from sovl_tools.procedures.run.environment import (
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.serving.event_stream import Calling, Event
from sovl_tools.serving.limits import PING
from sovl_tools.serving.reports import Reports
from sovl_tools.serving.traffic import Client

_MARKS = re.compile(r"\[\d+\]|~\d+")
_STATES = {"succeeded": "done", "known": "done", "continued": "failed"}


def described(procedure: Procedure) -> dict[str, JSON]:
    """Return the inputs, the steps and the flowchart of a procedure."""
    steps = _boxes(procedure.steps, outline_steps(procedure), "")
    return {"inputs": procedure.inputs, "steps": steps, "mermaid": mermaid(procedure)}


def _boxes(steps: Sequence[Step], outlines: Sequence[Outline], prefix: str) -> list[JSON]:
    boxes = []
    for number, (step, outline) in enumerate(zip(steps, outlines, strict=True), 1):
        id_ = f"{prefix}{number}"
        pairs = enumerate(zip(step.blocks.values(), outline.blocks, strict=True), 1)
        branches = [
            {"label": block.caption or None, "steps": _boxes(inner, block.steps, f"{id_}.{place}.")}
            for place, (inner, block) in pairs
        ]
        title = outline.title.removesuffix(f" → {step.save_as}")
        boxes.append(
            {
                "id": id_,
                "kind": step.action,
                "title": title,
                "result_name": step.save_as,
                "note": "; ".join(outline.notes) or None,
                "branches": branches,
            }
        )
    return boxes


def _ids(steps: Sequence[Step], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place of each step in its file, as keys of runs begin, and its id on the page."""
    for number, step in enumerate(steps, 1):
        id_ = f"{prefix}{number}"
        yield ".".join(map(str, step.path)), id_
        for place, inner in enumerate(step.blocks.values(), 1):
            yield from _ids(inner, f"{id_}.{place}.")


class Run:
    """A run of a procedure, which can be made step by step.

    Attributes:
        id: names the run; it can't be guessed.
        reports: what has happened and wasn't sent yet.
        is_stepping: whether each step waits for ``next``.
    """

    def __init__(self, procedure: Procedure, *, is_stepping: bool) -> None:
        self.id = token_urlsafe(16)
        self.reports = Reports[Any]()
        self.is_stepping = is_stepping
        self.task: asyncio.Future[JSON] | None = None
        self._ids = dict(_ids(procedure.steps))
        self._waiting: list[asyncio.Future[None]] = []
        self._counts = Counter[str]()

    def next(self) -> bool:
        """Let one step run; return False if none waits."""
        while self._waiting:
            waiting = self._waiting.pop(0)
            if not waiting.done():
                waiting.set_result(None)
                return True
        return False

    def resume(self) -> None:
        """Run on without stopping."""
        self.is_stepping = False
        while self.next():
            pass

    def stop(self) -> None:
        """End the run."""
        if self.task is not None:
            self.task.cancel()

    async def gate(self, step: StepStarted) -> None:
        """Wait until the step may run."""
        if not self.is_stepping:
            return
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        self.reports.keep(Event("waiting", {"run": self.id, "step": self.step_of(step.key)}))
        await waiting

    def step_of(self, key: str) -> str | None:
        """Return the id of a step; of one in another procedure, that of the step that runs it."""
        return self._ids.get(_MARKS.sub("", key.partition("/")[0]))

    def hear(self, event: RunEvent) -> None:
        """Report an event of the run, in any thread."""
        if isinstance(event, RunStarted):
            return
        if not isinstance(event, StepStarted | StepRetried | StepEnded):
            self.reports.keep(event)
        elif "/" not in event.key:
            self.reports.keep(Event("step", self._step(event)))

    def _step(self, event: StepStarted | StepRetried | StepEnded) -> dict[str, JSON]:
        id_ = self.step_of(event.key)
        about = {"step": id_, "state": "running", "count": self._counts[str(id_)]}
        if isinstance(event, StepStarted):
            return about
        if isinstance(event, StepRetried):
            return {**about, "message": event.message, "attempt": event.attempt}
        self._counts[str(id_)] += 1
        return {
            "step": id_,
            "state": _STATES.get(event.state, event.state),
            "count": self._counts[str(id_)],
            "ms": milliseconds(event.duration),
            "value": _shown(event.value),
            "message": event.message,
        }


def _shown(value: JSON) -> JSON:
    text = as_json(value)
    return json.loads(text) if len(text) <= LONGEST else shortened(text)


class _Asking(NamedTuple):
    """Calls tools whose questions go to the page."""

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
    prints = Prints(reports)
    host = calling.asks.host(reports.keep)
    manager = ProcedureManager(calling.registry, _Asking(calling.tooler, host))
    gate = run.gate if run.is_stepping else None
    yield Event("started", {"run": run.id})
    task = run.task = asyncio.ensure_future(manager.run(path, inputs, on_event=run.hear, gate=gate))
    task.add_done_callback(lambda _: reports.end())
    with ExitStack() as stack:
        if gate is None:  # at a shutdown a run that waits for a person isn't waited for
            stack.enter_context(client.counted())
        stack.callback(run.stop)
        while not reports.is_ended:
            try:
                await asyncio.wait_for(reports.news.wait(), PING)
            except TimeoutError:
                yield page_event(None, calling)
            for each in reports.take():
                yield page_event(each, calling)
        for each in [*reports.take(), *prints.rest()]:
            yield page_event(each, calling)
    result = await _outcome(run, task)
    yield Event("result", {**result, "ms": milliseconds(perf_counter() - started), "place": None})


async def _outcome(run: Run, task: asyncio.Future[JSON]) -> dict[str, JSON]:
    try:
        value = await task
    except asyncio.CancelledError:
        return _failed("cancelled", "the run was stopped")
    except InputError as error:
        errors = [{"pointer": pointer(path), "message": words} for path, words in error.problems]
        return _failed("invalid_arguments", str(error), errors)
    except StepError as error:
        return {**_failed("tool_error", str(error)), "step": run.step_of(error.key)}
    except ProcedureError as error:
        return _failed("unavailable", str(error))
    except (SovlToolsError, OSError) as error:
        return _failed("unavailable", str(error))
    return {"ok": True, "value": value, "content": [*_media(value)]}


def _failed(type_: str, message: str, errors: Sequence[JSON] = ()) -> dict[str, JSON]:
    return {"ok": False, "error": {"type": type_, "message": message, "errors": [*errors]}}


def _media(value: JSON) -> Iterator[JSON]:
    """Yield the pictures and sounds in the value of a run, whose tools returned them."""
    if isinstance(value, list):
        for each in value:
            yield from _media(each)
    elif isinstance(value, dict):
        kind, media_type, data = (value.get(key) for key in ("type", "mimeType", "data"))
        if kind in {"image", "audio"} and media_type and isinstance(data, str):
            yield {"type": kind, "media_type": media_type, "data": data}
        else:
            yield from _media([*value.values()])
