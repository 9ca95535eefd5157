"""Shows the progress of a run: a line for each step that begins, ends or is tried again."""

from __future__ import annotations

import re

from sovl_tools.cli.output import show
from sovl_tools.cli.terminal_host import Reports
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.procedures.run.environment import (
    Event,
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.reporting.text import plain

_ITERATION = re.compile(r"\[(\d+)\]\.steps\.\d+$")
_BRANCH = re.compile(r"\.branches\.(\w+)\.\d+$")
_WORDS = {
    "started": ("started", "cyan"),
    "succeeded": ("done", "green"),
    "failed": ("failed", "bold red"),
    "skipped": ("skipped", "dim"),
    "continued": ("failed, goes on", "yellow"),
    "known": ("done before", "green"),
}
"""The words for the state of a step, and their style in a terminal."""
_WIDTH = max(len(word) for word, _ in _WORDS.values())


class Lines:
    """Writes events of a run to the error output."""

    def __init__(self, reports: Reports) -> None:
        self._last: str | None = None
        self._reports = reports

    def hear(self, event: Event) -> None:
        """Show an event."""
        if not isinstance(event, Progress | LogMessage):
            self._reports.end()
        match event:
            case RunStarted():
                run = f", run {event.run_id}" if event.run_id else ""
                show(plain(f"{event.procedure}{run}"), err=True)
            case StepStarted():
                _show_step("started", event)
            case StepRetried():
                again = f"attempt {event.attempt + 1} in {event.delay:g} s"
                _show_step("failed", event, f": {event.message}; {again}")
            case StepEnded():
                _show_step(event.state, event, self._ending(event))
            case _:
                self._reports.hear(event)

    def _ending(self, event: StepEnded) -> str:
        """Return the duration of a step, and the reason of a failure unless it was just shown."""
        took = "" if event.state in {"skipped", "known"} else f"  in {event.duration:.2f} s"
        is_news = event.message is not None and event.message != self._last
        self._last = event.message
        return f"{took}: {event.message}" if is_news else took


def _show_step(state: str, event: StepStarted | StepRetried | StepEnded, more: str = "") -> None:
    word, tint = _WORDS[state]
    label = event.label
    # the first step of an iteration or of a branch says which one begins
    if (iteration := _ITERATION.search(event.key)) is not None:
        label = f"#{int(iteration[1]) + 1} {label}"
    elif (branch := _BRANCH.search(event.key)) is not None:
        label = f"{branch[1]}: {label}"
    indent = " " * (_WIDTH - len(word) + 2 + 2 * event.depth)
    show([(word, tint), plain(f"{indent}{label}  [{event.key}]{more}")], err=True)
