"""How far a command is, on a terminal."""

from __future__ import annotations

import sys
from time import perf_counter
from types import TracebackType
from typing import Self

from sovl_tools.cli.command import is_quiet
from sovl_tools.reporting.text import plain

_DELAY = 1.0
_PAUSE = 0.05
_WIDTH = 30


class Progress:
    """Counts what is done; appears on the error output after a second and vanishes at the end."""

    def __init__(self, total: int, *, done: int = 0) -> None:
        self._total = total
        self._done = done
        self._drawn = 0.0
        self._shown = False
        self._started = perf_counter()
        # in the log of a workflow a bar would be a line for each tool
        self._active = sys.stderr.isatty() and not is_quiet()

    @property
    def left(self) -> int:
        """How many are not done yet, if the total was known."""
        return max(self._total - self._done, 0)

    def advance(self, name: str) -> None:
        """Count what is done, and show its name."""
        self._done += 1
        now = perf_counter()
        if self._active and now - self._started > _DELAY and now - self._drawn > _PAUSE:
            self._drawn = now
            self._shown = True
            filled = _WIDTH * min(self._done, self._total) // max(self._total, 1)
            bar = "█" * filled + "·" * (_WIDTH - filled)
            sys.stderr.write(f"\r\x1b[2K{bar} {self._done}/{self._total} {plain(name):.40}")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
