"""Keeps the error output of a server writable, even if no program reads it."""

from __future__ import annotations

import os
import select
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

_OUTPUTS: Final = (1, 2)
_PIECE: Final = 512
"""The bytes that a pipe takes at once when it takes any, as POSIX says."""
_GRACE: Final = 0.5
"""Seconds that the reader has for each piece, and for all of them at the end."""


@contextmanager
def passed_on() -> Iterator[None]:
    """Forward the output of descriptors 1 and 2 from a thread during a block, if 2 is a pipe.

    Both get a pipe that the thread empties, so that writing never blocks or fails. The thread drops
    what the client doesn't read in time.
    """
    if not _is_pipe():
        yield
        return
    kept = os.dup(2)
    reading, writing = os.pipe()
    for each in _OUTPUTS:
        os.dup2(writing, each)
    os.close(writing)
    passing = threading.Thread(
        target=_pass_on, args=(reading, kept), name="sovl-tools-stderr", daemon=True
    )
    passing.start()
    try:
        yield
    finally:
        with suppress(OSError):
            sys.stderr.flush()
        for each in _OUTPUTS:
            os.dup2(kept, each)
        passing.join(_GRACE)


def _is_pipe() -> bool:
    if os.name != "posix":  # select doesn't take pipes on Windows
        return False
    try:
        mode = os.fstat(2).st_mode
    except OSError:  # it's closed
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _pass_on(reading: int, writing: int) -> None:
    grace = _GRACE
    while data := os.read(reading, _PIECE):
        _, is_read, _ = select.select([], [writing], [], grace)
        # once it is late, no piece waits for the reader
        grace = _GRACE if is_read else 0.0
        if is_read:
            with suppress(OSError):  # the reader has closed it
                os.write(writing, data)
