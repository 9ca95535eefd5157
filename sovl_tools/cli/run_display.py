"""Shows the progress of a run: a tree in a terminal, plain lines elsewhere."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import NamedTuple, TypeAlias

from sovl_tools.cli.call import describe_event
from sovl_tools.cli.output import show
from sovl_tools.procedures.run.environment import (
    Event,
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.reporting.text import Piece, plain

RUNNING = "running"
_ITERATION = re.compile(r"\[(\d+)\]\.steps\.\d+$")
_BRANCH = re.compile(r"\.branches\.(\w+)\.\d+$")
_CUT = re.compile(r"[\[./~]")

WORDS = {
    "succeeded": "done",
    "failed": "failed",
    "skipped": "skipped",
    "continued": "failed, goes on",
    "known": "done before",
}
"""The words for the state of a step that has ended."""


class Line(NamedTuple):
    """A step in the tree.

    Attributes:
        key: of the step in its run.
        label: its name, with its iteration or branch.
        depth: the number of steps around it.
        state: its end, or ``"running"``.
        started: on the clock of ``perf_counter``.
        duration: in seconds; None if it has not ended.
        message: the reason of its failure or of its last failed attempt.
    """

    key: str
    label: str
    depth: int
    state: str
    started: float
    duration: float | None = None
    message: str | None = None


def label_of(event: StepStarted | StepRetried | StepEnded) -> str:
    """Return the name of a step, with the iteration or the branch that it begins."""
    iteration, branch = _ITERATION.search(event.key), _BRANCH.search(event.key)
    if iteration is not None:
        return f"#{int(iteration[1]) + 1} {event.label}"
    return event.label if branch is None else f"{branch[1]}: {event.label}"


def header(event: RunStarted) -> str:
    """Return the line with which a run begins."""
    return f"{event.procedure}, run {event.run_id}" if event.run_id else event.procedure


def retry(event: StepRetried) -> str:
    """Return the reason why an attempt failed, and the time until the next one."""
    return f"{event.message}; attempt {event.attempt + 1} in {event.delay:g} s"


class Tree:
    """The steps that have begun, each under the step that contains it."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._inner: dict[str, dict[str, list[str]]] = {}

    def hear(self, event: StepStarted | StepRetried | StepEnded, now: float) -> None:
        """Record an event of a step."""
        line = self._lines.get(event.key)
        if line is None:
            line = Line(event.key, label_of(event), event.depth, RUNNING, now)
            group = event.key.rpartition(".")[0]
            # the step that contains the group: the longest beginning of its key that is a step
            cuts = [group[: found.start()] for found in _CUT.finditer(group)]
            around = next((each for each in reversed(cuts) if each in self._lines), "")
            self._inner.setdefault(around, {}).setdefault(group, []).append(event.key)
        elif isinstance(event, StepStarted):
            line = line._replace(state=RUNNING, started=now, duration=None, message=None)
        if isinstance(event, StepRetried):
            line = line._replace(message=retry(event))
        if isinstance(event, StepEnded):
            # a step in this one may have failed for the same reason
            is_known = any(each.message == event.message for each in self._walk(event.key))
            message = None if is_known else event.message
            line = line._replace(state=event.state, duration=event.duration, message=message)
        self._lines[event.key] = line

    def lines(self, limit: int) -> list[Line | int]:
        """Return at most a number of lines in the order of the procedure.

        Running and failed steps are kept first, then the latest ones; a number stands for as many
        omitted steps.
        """
        lines = list(self._walk(""))
        if len(lines) <= limit:
            return [*lines]
        ranks = [
            0 if each.state == RUNNING else 1 if each.message is not None else 2 for each in lines
        ]
        by_rank = sorted(range(len(lines)), key=lambda number: (ranks[number], -number))
        kept = sorted(by_rank[: limit - 1])
        return [len(lines) - len(kept), *(lines[number] for number in kept)]

    def _walk(self, key: str) -> Iterator[Line]:
        for group in self._inner.get(key, {}).values():
            for inner in group:
                yield self._lines[inner]
                yield from self._walk(inner)


_MARKS = {
    RUNNING: ("▸", "cyan"),
    "succeeded": ("✓", "green"),
    "failed": ("✗", "bold red"),
    "skipped": ("-", "dim"),
    "continued": ("!", "yellow"),
    "known": ("=", "green"),
}


class LiveTree:
    """The tree of a run; messages are printed above it."""

    def __init__(self) -> None:
        self._tree = Tree()
        self._lock = threading.Lock()

    def hear(self, event: Event) -> None:
        """Record an event, which the next drawing shows."""
        if isinstance(event, StepStarted | StepRetried | StepEnded):
            with self._lock:
                self._tree.hear(event, perf_counter())
        else:
            words = header(event) if isinstance(event, RunStarted) else describe_event(event)
            show(plain(words), err=True)

    def lines(self, limit: int) -> list[list[Piece]]:
        """Return at most a number of lines."""
        with self._lock:
            return [line_pieces(each) for each in self._tree.lines(limit)]


def line_pieces(line: Line | int) -> list[Piece]:
    """Return a line of the tree."""
    if isinstance(line, int):
        return [(f"… {line:,} more", "dim")]
    # after the name: the duration or the state, and the reason of a failure
    took = perf_counter() - line.started if line.duration is None else line.duration
    remark = f"{took:.0f} s" if line.duration is None else f"{took:.2f} s"
    remark = WORDS[line.state] if line.state in {"skipped", "known"} else remark
    why = f"  {line.message}" if line.message is not None else ""
    rest = plain(f"{line.label}  {remark}{why}")
    return ["  " * line.depth, _MARKS[line.state], " ", (rest, "dim" * (line.state == "skipped"))]


Listener: TypeAlias = Callable[[Event], object]

_WIDTH = max(map(len, WORDS.values()))


@contextmanager
def progress_display(*, is_quiet: bool, is_verbose: bool) -> Iterator[Listener]:
    """Yield a listener that shows events on the error output, unless the run is to be quiet."""
    if is_quiet:
        yield lambda _: None
    elif sys.stderr.isatty() and not is_verbose:
        from sovl_tools.cli import terminal  # noqa: PLC0415 - 45 ms for rich

        tree = LiveTree()
        with terminal.live(tree.lines, sys.stderr):
            yield tree.hear
    else:
        yield Lines().hear


class Lines:
    """Writes a line for each step that begins, ends or is tried again."""

    def __init__(self) -> None:
        self._last: str | None = None

    def hear(self, event: Event) -> None:
        """Show an event."""
        show(plain(self._words(event)), err=True)

    def _words(self, event: Event) -> str:
        if isinstance(event, RunStarted):
            return header(event)
        if isinstance(event, StepStarted):
            return _line("started", event)
        if isinstance(event, StepRetried):
            return f"{_line('failed', event)}: {retry(event)}"
        if isinstance(event, StepEnded):
            return f"{_line(WORDS[event.state], event)}{self._ending(event)}"
        return describe_event(event)

    def _ending(self, event: StepEnded) -> str:
        """Return the duration of a step, and the reason of a failure unless it was just shown."""
        took = "" if event.state in {"skipped", "known"} else f"  in {event.duration:.2f} s"
        is_news = event.message is not None and event.message != self._last
        self._last = event.message
        return f"{took}: {event.message}" if is_news else took


def _line(word: str, event: StepStarted | StepRetried | StepEnded) -> str:
    return f"{word:{_WIDTH}}  {'  ' * event.depth}{label_of(event)}  [{event.key}]"
