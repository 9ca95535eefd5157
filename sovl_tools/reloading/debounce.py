"""Debounce of change, gathered until they have come to rest."""

from __future__ import annotations

import contextlib
import os
from queue import Empty, SimpleQueue
from stat import S_ISREG
from time import perf_counter
from typing import NamedTuple

QUIET = 0.05
"""Seconds without a further sign after which a change counts as done."""
EMPTIED = 0.5
"""The same after a sign of an empty file: whoever saves in place empties it, and then writes."""
LONGEST = 2.0
"""Seconds after which a change that never comes to rest is reported all the same."""
_FLOOD = 2_000


def _rest(path: str) -> float:
    try:
        status = os.stat(path)
    except OSError:
        return QUIET
    return QUIET if status.st_size or not S_ISREG(status.st_mode) else EMPTIED


class Batch(NamedTuple):
    """Paths of which signs came one shortly after the other.

    Attributes:
        paths: absolute paths, each once; none if there was nothing for as long as was waited.
        since: when the first sign came, by ``perf_counter``.
        number: how many signs there were.
    """

    paths: set[str]
    since: float
    number: int = 0

    @property
    def is_flood(self) -> bool:
        """Whether there were so many that the system may have dropped some."""
        return self.number >= _FLOOD


class Debounce:
    """A queue of paths at which something has happened. ``tell`` may be called by any thread."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[str, float] | None] = SimpleQueue()

    def tell(self, path: str) -> None:
        """Say that something has happened at a path, at this moment."""
        self._queue.put((path, perf_counter()))

    def end(self) -> None:
        """Say that nobody wants to know any more."""
        self._queue.put(None)

    def gathered(self, timeout: float) -> Batch | None:
        """Wait for signs until they rest, so many seconds for the first one; None at the end."""
        paths: set[str] = set()
        begun, count, left = perf_counter(), 0, timeout
        since = begun
        with contextlib.suppress(Empty):
            while left > 0:
                sign = self._queue.get(timeout=left)
                if sign is None:
                    return None
                path, moment = sign
                if not count:  # it may have waited for the reaction to what was before
                    since, begun = moment, perf_counter()
                count += 1
                paths.add(path)
                left = min(_rest(path), begun + LONGEST - perf_counter())
        return Batch(paths, since, count)
