"""The tree of a run on a terminal, drawn anew as it goes on."""

from __future__ import annotations

import io
import os
import shutil
import sys
import threading
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from time import perf_counter
from types import TracebackType
from typing import Self, TextIO

from sovl_tools.cli.call import words_of
from sovl_tools.cli.tree import RUNNING, WORDS, Line, Tree, header
from sovl_tools.procedures.run.events import Event, RunStarted, StepEnded, StepRetried, StepStarted
from sovl_tools.reporting.plain import plain
from sovl_tools.reporting.text import painted

_BEAT = 0.1
"""Seconds between two drawings; more where a drawing takes long, so that it never takes much."""

_MARKS = {
    RUNNING: ("▸", "36"),
    "succeeded": ("✓", "32"),
    "failed": ("✗", "1;31"),
    "skipped": ("-", "2"),
    "continued": ("!", "33"),
    "known": ("=", "32"),
}
_FAINT = "2"
_UP, _ERASE_LINE, _ERASE_BELOW = "\x1b[{}A", "\x1b[2K", "\x1b[0J"


class Live:
    """Draws the tree at the end of the error output; what else is printed goes above it."""

    def __init__(self) -> None:
        self._terminal: TextIO = sys.stderr
        self._color = not os.environ.get("NO_COLOR")
        self._tree = Tree()
        self._drawn = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._draw_often, daemon=True)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        above = _Above(self)
        self._stack.callback(above.close)
        self._stack.enter_context(redirect_stdout(above))
        self._stack.enter_context(redirect_stderr(above))
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()
        self._end.set()
        self._thread.join()
        with self._lock:
            self._draw()

    def hear(self, event: Event) -> None:
        """Take over an event; it is shown soon."""
        if isinstance(event, StepStarted | StepRetried | StepEnded):
            with self._lock:
                self._tree.hear(event, perf_counter())
        else:
            words = header(event) if isinstance(event, RunStarted) else words_of(event)
            self.print(f"{plain(words)}\n")

    def print(self, text: str) -> None:
        """Print lines above the tree."""
        with self._lock:
            self._erase()
            self._terminal.write(text)
            self._draw()

    def _draw_often(self) -> None:
        pause = _BEAT
        while not self._end.wait(pause):
            with self._lock:
                started = perf_counter()
                self._draw()
                pause = max(_BEAT, 10 * (perf_counter() - started))

    def _erase(self) -> None:
        if self._drawn:
            self._terminal.write(f"{_UP.format(self._drawn)}{_ERASE_BELOW}")
        self._drawn = 0

    def _draw(self) -> None:
        columns, rows = shutil.get_terminal_size()
        lines = self._tree.lines(max(rows - 1, 1))
        texts = [text_of(each, columns - 1, color=self._color) for each in lines]
        up = _UP.format(self._drawn) if self._drawn else ""
        self._terminal.write(up + "".join(f"{_ERASE_LINE}{each}\n" for each in texts))
        self._terminal.write(_ERASE_BELOW if len(texts) < self._drawn else "")
        self._terminal.flush()
        self._drawn = len(texts)


def text_of(line: Line | int, width: int, *, color: bool) -> str:
    """Return a line of the tree, no wider than so many characters."""
    if isinstance(line, int):
        return painted(f"… {line:,} more"[:width], _FAINT, color=color)
    mark, tint = _MARKS[line.state]
    lead = "  " * line.depth
    rest = plain(f"{line.label}{_remark(line)}")[: max(width - len(lead) - 2, 0)]
    tail = rest if line.state != "skipped" else painted(rest, _FAINT, color=color)
    return f"{lead}{painted(mark, tint, color=color)} {tail}"


def _remark(line: Line) -> str:
    """Return what is said of a step behind its name: how long it takes, and why it failed."""
    why = f"  {line.message}" if line.message is not None else ""
    if line.state in {"skipped", "known"}:
        return f"  {WORDS[line.state]}{why}"
    if line.duration is None:
        return f"  {perf_counter() - line.started:.0f} s{why}"
    return f"  {line.duration:.2f} s{why}"


class _Above(io.TextIOBase):
    """A stream whose lines go above the tree."""

    def __init__(self, live: Live) -> None:
        super().__init__()
        self._live = live
        self._rest = ""

    def write(self, text: str) -> int:
        """Print all lines that are whole by now."""
        lines, newline, self._rest = f"{self._rest}{text}".rpartition("\n")
        if newline:
            self._live.print(f"{lines}\n")
        return len(text)

    def close(self) -> None:
        """Print what is left."""
        if self._rest:
            self._live.print(f"{self._rest}\n")
        super().close()
