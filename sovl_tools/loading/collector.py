"""Python's collector of garbage, while many objects are made that stay."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_THRESHOLD = 1_000_000
_MANY = 10_000
"""This many new objects take longer to look through than to move to the oldest generation."""

_LOCK = threading.Lock()
_USERS: list[tuple[int, int, int]] = []


_FEW = 32
"""So few folders replace others, which the collector has to find: it is not held back."""


@contextmanager
def patient_collector(folders: int = _MANY) -> Iterator[None]:
    """Let the collector run seldom for a while; nested and concurrent uses end with the last.

    A load makes some hundred objects a tool, all of which stay. Looking through them again and
    again for garbage would cost a third of the load.
    """
    if folders <= _FEW:
        yield
        return
    with _LOCK:
        _USERS.append(gc.get_threshold())
        if 0 < _USERS[0][0] < _THRESHOLD:
            gc.set_threshold(_THRESHOLD, *_USERS[0][1:])
    try:
        yield
    finally:
        with _LOCK:
            original = _USERS[0]
            _USERS.pop()
            if not _USERS:
                # Freezing and unfreezing moves all objects to the oldest generation. Otherwise the
                # next collection of the youngest, a moment later, would look through the whole
                # load. Programs that keep objects frozen are left alone; to count these takes
                # tens of milliseconds, so what few objects a small load makes stay where they are.
                if gc.get_count()[0] > _MANY and gc.get_freeze_count() == 0:
                    gc.freeze()
                    gc.unfreeze()
                gc.set_threshold(*original)
