"""Keeps the error output of a server writable, even if no program reads it."""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_OUTPUTS: Final = (1, 2)
_PIECE: Final = 4096
"""The bytes that a pipe takes at once when it takes any (POSIX says at least 512)."""
_MOST_WAITING: Final = 2**20
_GRACE: Final = 0.5
"""Seconds that the reader has at the end."""


@contextmanager
def passed_on() -> Iterator[None]:
    """Forward the output of descriptors 1 and 2 from a thread during a block, if 2 is a pipe.

    Both get a pipe that the thread empties, so that writing never blocks or fails. The thread drops
    output beyond a MiB if the client doesn't read, and all output if the client has closed its end.
    """
    if not _is_pipe():
        yield
        return
    kept = os.dup(2)
    reading, writing = os.pipe()
    for each in _OUTPUTS:
        os.dup2(writing, each)
    os.close(writing)
    passing = _Passing(reading, kept)
    passing.start()
    try:
        yield
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        for each in _OUTPUTS:
            os.dup2(kept, each)
        passing.end()


def _is_pipe() -> bool:
    if os.name != "posix":  # select doesn't take pipes on Windows
        return False
    try:
        mode = os.fstat(2).st_mode
    except OSError:  # it's closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


class _Passing(threading.Thread):
    """Reads from one descriptor at any time, and writes to another as fast as that is read."""

    def __init__(self, reading: int, writing: int) -> None:
        super().__init__(name="sovl-tools-stderr", daemon=True)
        self._reading = reading
        self._writing = writing
        self._waiting = bytearray()
        self._is_gone = False
        self._end = float("inf")

    def end(self) -> None:
        """Stop when everything is passed on, or after a moment."""
        self._end = time.monotonic() + _GRACE
        self.join()

    def run(self) -> None:
        while time.monotonic() < self._end:
            writing = [self._writing] if self._waiting else []
            readable, writable, _ = select.select([self._reading], writing, [], 0.05)
            if readable:
                data = os.read(self._reading, 2**16)
                if not data and not self._waiting:
                    break
                if not self._is_gone and len(self._waiting) < _MOST_WAITING:
                    self._waiting += data
            elif self._end < float("inf") and not self._waiting:
                break
            if writable:
                self._write()
        for each in (self._reading, self._writing):
            os.close(each)

    def _write(self) -> None:
        try:
            del self._waiting[: os.write(self._writing, self._waiting[:_PIECE])]
        except OSError:  # the reader has closed it
            self._is_gone = True
            self._waiting.clear()
