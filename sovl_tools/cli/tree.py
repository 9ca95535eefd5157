"""The steps of a run that is under way, as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sovl_tools.procedures.run.events import RunStarted, StepEnded, StepRetried, StepStarted

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
"""What is said of a step that has ended, by its state."""


class Line(NamedTuple):
    """A step where it is shown.

    Attributes:
        key: of the step in its run.
        label: what it is called, with its iteration or branch.
        depth: how many steps lie around it.
        state: how it ended; ``"running"`` if it has not.
        started: when, on the clock of ``perf_counter``.
        duration: in seconds; None if it has not ended.
        message: why it failed, or why its last attempt did; None if it did not.
    """

    key: str
    label: str
    depth: int
    state: str
    started: float
    duration: float | None = None
    message: str | None = None


def label_of(event: StepStarted | StepRetried | StepEnded) -> str:
    """Return what a step is called, with the iteration or the branch that it begins with."""
    iteration, branch = _ITERATION.search(event.key), _BRANCH.search(event.key)
    if iteration is not None:
        return f"#{int(iteration[1]) + 1} {event.label}"
    return event.label if branch is None else f"{branch[1]}: {event.label}"


def header(event: RunStarted) -> str:
    """Return the line with which a run begins."""
    return f"{event.procedure}, run {event.run_id}" if event.run_id else event.procedure


def retry(event: StepRetried) -> str:
    """Return why an attempt failed, and when the next one is."""
    return f"{event.message}; attempt {event.attempt + 1} in {event.delay:g} s"


class Tree:
    """The steps that have begun, each under the one in which it is."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}
        self._inner: dict[str, dict[str, list[str]]] = {}

    def hear(self, event: StepStarted | StepRetried | StepEnded, now: float) -> None:
        """Take over what has become of a step."""
        line = self._lines.get(event.key)
        if line is None:
            line = Line(event.key, label_of(event), event.depth, RUNNING, now)
            group = event.key.rpartition(".")[0]
            self._inner.setdefault(self._around(group), {}).setdefault(group, []).append(event.key)
        elif isinstance(event, StepStarted):
            line = line._replace(state=RUNNING, started=now, duration=None, message=None)
        if isinstance(event, StepRetried):
            line = line._replace(message=retry(event))
        if isinstance(event, StepEnded):
            message = None if self._is_told(event) else event.message
            line = line._replace(state=event.state, duration=event.duration, message=message)
        self._lines[event.key] = line

    def _around(self, group: str) -> str:
        """Return the key of the step in which a group of steps is; "" for none."""
        cuts = [found.start() for found in _CUT.finditer(group)]
        return next((group[:cut] for cut in reversed(cuts) if group[:cut] in self._lines), "")

    def _is_told(self, event: StepEnded) -> bool:
        """Tell whether a step in this one has failed for the same reason, and says so."""
        if event.message is None:
            return False
        return any(line.message == event.message for line in self._walk(event.key))

    def lines(self, limit: int) -> list[Line | int]:
        """Return no more than so many lines in the order of the procedure.

        What is under way or has failed comes first, then what is the latest; a number stands for
        so many steps that are left out.
        """
        lines = list(self._walk(""))
        if len(lines) <= limit:
            return [*lines]
        by_rank = sorted(range(len(lines)), key=lambda number: (_rank(lines[number]), -number))
        kept = sorted(by_rank[: limit - 1])
        return [len(lines) - len(kept), *(lines[number] for number in kept)]

    def _walk(self, key: str) -> Iterator[Line]:
        for group in self._inner.get(key, {}).values():
            for inner in group:
                yield self._lines[inner]
                yield from self._walk(inner)


def _rank(line: Line) -> int:
    return 0 if line.state == RUNNING else 1 if line.message is not None else 2
