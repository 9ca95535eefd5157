"""The watcher: it gathers events of files, and has the changes followed once no more come."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import threading
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from stat import S_ISREG
from time import perf_counter
from typing import NamedTuple, Protocol

from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.context import Watch
from sovl_tools.reloading.events import Events, places

_LOGGER = logging.getLogger("sovl_tools")

QUIET = 0.05
"""Seconds without a further event after which a change counts as done."""
EMPTIED = 0.5
"""The same after an event of an empty file: editors that save in place empty it, then write."""
LONGEST = 2.0
"""Seconds after which changes are followed although events continue."""
HEARTBEAT = 0.5
"""Seconds between two checks for changes without events, such as a new tools directory."""
POLLING = 1.0
"""Seconds between two scans where there are no events; more if a scan takes long."""
_SHARE = 10
"""How many times as long as a scan the pause after it is."""
_PARTING = 2.0
_EXHAUSTED = {
    errno.ENOSPC: "the system has no inotify watches left (fs.inotify.max_user_watches)",
    errno.EMFILE: "the system has no inotify instances left (fs.inotify.max_user_instances)",
}


class Batch(NamedTuple):
    """Events that came shortly after each other.

    Attributes:
        paths: the absolute paths of the events; empty if none came in time.
        since: the time of the first event, by ``perf_counter``.
    """

    paths: set[str]
    since: float


class Debounce:
    """A queue that groups events into batches. Any thread can call ``put``."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[str, float] | None] = SimpleQueue()

    def put(self, path: str) -> None:
        """Add an event at a path, which happened now."""
        self._queue.put((path, perf_counter()))

    def end(self) -> None:
        """End the queue: ``next`` returns None from now on."""
        self._queue.put(None)

    def next(self, timeout: float) -> Batch | None:
        """Wait up to ``timeout`` seconds for an event, then until no more come.

        Returns:
            None once the queue has ended.
        """
        paths: set[str] = set()
        since = begun = perf_counter()
        left = timeout
        with contextlib.suppress(Empty):
            while left > 0:
                event = self._queue.get(timeout=left)
                if event is None:
                    return None
                path, moment = event
                if not paths:  # it might have waited in the queue
                    since, begun = moment, perf_counter()
                paths.add(path)
                left = min(_rest(path), begun + LONGEST - perf_counter())
        return Batch(paths, since)


def _rest(path: str) -> float:
    try:
        status = os.stat(path)
    except OSError:
        return QUIET
    return QUIET if status.st_size or not S_ISREG(status.st_mode) else EMPTIED


class Subject(Protocol):
    """The object that is watched. Its methods are called one at a time."""

    def watched(self) -> tuple[Collection[str], Collection[str]]:
        """Return the paths to watch, and the symbolic links below them."""
        ...

    def follow(self, *, since: float) -> object:
        """Scan everything, and reload what changed; ``since`` is by ``perf_counter``."""
        ...


class Watcher:
    """Watches a subject from ``start`` to ``stop``; ``poll`` scans it regularly, without events.

    Attributes:
        notice: the reason why it polls although it should wait for events, or None.
    """

    def __init__(self, subject: Subject, *, poll: bool) -> None:
        self.notice: str | None = None
        self._subject = subject
        self._debounce = Debounce()
        self._events = None if poll else Events(self._debounce.put)
        self._pause = POLLING
        self._thread = threading.Thread(target=self._run, name="sovl-tools-watcher", daemon=True)

    def start(self) -> None:
        """Start; every change from now on is followed."""
        self._aim()
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current reload, without waiting long for an import that hangs."""
        self._debounce.end()
        if self._thread is not threading.current_thread():
            self._thread.join(_PARTING)

    def _run(self) -> None:
        # something can have changed since the load, and a file might be empty at this moment
        is_due, pause = True, QUIET
        while (batch := self._debounce.next(pause)) is not None:
            try:
                if is_due or batch.paths or self._aim():
                    self._scan(batch.since if batch.paths else perf_counter())
            except BaseException:
                _LOGGER.exception("a change could not be followed")
            is_due, pause = self._events is None, HEARTBEAT if self._events else self._pause
        if self._events is not None:
            self._events.stop()

    def _scan(self, since: float) -> None:
        """Follow all changes; those at places before they were watched made no event."""
        is_due = True
        while is_due:
            started = perf_counter()
            self._subject.follow(since=since)
            self._pause = max(POLLING, _SHARE * (perf_counter() - started))
            since, is_due = perf_counter(), self._aim()

    def _aim(self) -> bool:
        """Update the watched places; return whether changes could have been missed."""
        if self._events is None:
            return False
        try:
            return self._events.aim(places(*self._subject.watched()))
        except OSError as error:
            words = f"the system doesn't report changes ({error.strerror})"
            self.notice = (
                f"{_EXHAUSTED.get(error.errno or 0, words)}; looking every {POLLING:g} s instead"
            )
            _LOGGER.warning("%s", self.notice)
            self._events.stop()
            self._events = None
            return True


async def stream(
    subscribe: Callable[[Callable[[CatalogChange], object]], Callable[[], None]],
    watch: AbstractContextManager[Watch],
) -> AsyncGenerator[CatalogChange]:
    """Yield every change from now on; threads start and stop the watch."""
    import asyncio  # noqa: PLC0415 - 20 ms, only needed here

    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[CatalogChange] = asyncio.Queue()

    def tell(change: CatalogChange) -> None:
        with contextlib.suppress(RuntimeError):  # the loop might be closed
            loop.call_soon_threadsafe(queue.put_nowait, change)

    unsubscribe = subscribe(tell)
    try:
        # both can block: the start scans every folder, the end waits for the thread
        await asyncio.to_thread(watch.__enter__)
        try:
            while True:
                yield await queue.get()
        finally:
            await asyncio.to_thread(watch.__exit__, None, None, None)
    finally:
        unsubscribe()
