"""The watcher: it gathers events of files, and has the changes followed once no more come."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AbstractContextManager
from functools import partial
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
_FLOOD = 2_000
_SHARE = 10
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
        number: the number of events.
    """

    paths: set[str]
    since: float
    number: int = 0


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
        begun, count, left = perf_counter(), 0, timeout
        since = begun
        with contextlib.suppress(Empty):
            while left > 0:
                event = self._queue.get(timeout=left)
                if event is None:
                    return None
                path, moment = event
                if not count:  # it might have waited in the queue
                    since, begun = moment, perf_counter()
                count += 1
                paths.add(path)
                left = min(_rest(path), begun + LONGEST - perf_counter())
        return Batch(paths, since, count)


def _rest(path: str) -> float:
    try:
        status = os.stat(path)
    except OSError:
        return QUIET
    return QUIET if status.st_size or not S_ISREG(status.st_mode) else EMPTIED


class Subject(Protocol):
    """The object that is watched. Its methods are called one at a time."""

    def watched(self) -> tuple[Collection[str], Mapping[str, str]]:
        """Return the paths to watch, and the targets of symbolic links below them."""
        ...

    def changed(self) -> set[str]:
        """Scan everything; return the paths that changed since the last reload."""
        ...

    def follow(self, touched: set[str] | None, *, since: float) -> object:
        """Reload what changed at the paths, or anywhere; ``since`` is by ``perf_counter``."""
        ...


class Watcher:
    """Watches a subject from ``start`` to ``stop``.

    Attributes:
        notice: the reason why it polls although it should wait for events, or None.
    """

    def __init__(self, subject: Subject, events: Events | None, debounce: Debounce) -> None:
        self.notice: str | None = None
        self._subject = subject
        self._debounce = debounce
        self._events = events
        self._pause = HEARTBEAT if events else POLLING
        self._thread = threading.Thread(target=self._run, name="sovl-tools-watcher", daemon=True)

    def start(self) -> None:
        """Start; every change from now on is followed."""
        self._aim(has_grown=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current reload, without waiting long for an import that hangs."""
        self._debounce.end()
        if self._thread is not threading.current_thread():
            self._thread.join(_PARTING)

    def _run(self) -> None:
        # finds changes since the load, and the links to watch
        self._attempt(self._scan_everywhere)
        while (batch := self._debounce.next(self._pause)) is not None:
            self._attempt(partial(self._react, batch))
        if self._events is not None:
            self._events.stop()

    def _attempt(self, work: Callable[[], None]) -> None:
        """Call a function; an exception is logged, and the watch continues."""
        try:
            work()
        except BaseException:
            _LOGGER.exception("a change could not be followed")

    def _scan_everywhere(self) -> None:
        is_new = True
        while is_new:  # changes at a place before it was watched made no events
            self._subject.follow(None, since=perf_counter())
            is_new = self._aim()

    def _react(self, batch: Batch) -> None:
        if batch.number >= _FLOOD:  # the system might have dropped some events
            self._scan_everywhere()
            return
        paths = batch.paths if self._events is not None else batch.paths | self._poll()
        if paths:
            self._subject.follow(paths, since=batch.since)
        # a new folder needs watches, and the system might don't have one left
        if self._aim(has_grown=any(map(os.path.isdir, batch.paths))):
            self._scan_everywhere()

    def _poll(self) -> set[str]:
        """Scan everything until two scans in a row find the same changes."""
        started, before = perf_counter(), set[str]()
        touched = self._subject.changed()
        # scanning takes at most a tenth of the time, with any number of folders
        self._pause = max(POLLING, _SHARE * (perf_counter() - started))
        while touched != before and perf_counter() - started < LONGEST:
            time.sleep(QUIET)
            before = touched
            touched = before | self._subject.changed()
        return touched

    def _aim(self, *, has_grown: bool = False) -> bool:
        """Update the watched places; return whether changes could have been missed."""
        if self._events is None:
            return False
        try:
            is_new = bool(self._events.aim(places(*self._subject.watched())))
        except OSError as error:
            return self._give_up_events(error.errno, str(error.strerror))
        if (is_new or has_grown) and not self._events.has_room():
            return self._give_up_events(errno.ENOSPC)
        return is_new

    def _give_up_events(self, number: int | None, words: str = "") -> bool:
        """Poll from now on; return True, because changes could have been missed."""
        reason = _EXHAUSTED.get(number or 0, f"the system doesn't report changes ({words})")
        self.notice = f"{reason}; looking every {POLLING:g} s instead"
        self._pause = POLLING
        _LOGGER.warning("%s", self.notice)
        if self._events is not None:
            self._events.stop()
            self._events = None
        return True


class Watches:
    """One watcher of a subject, shared by all blocks that watch it at the same time."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._counting = threading.Lock()
        self._watcher: Watcher | None = None
        self._blocks = 0

    def begin(self, *, poll: bool) -> Watcher:
        """Add a block; the first one decides whether to poll."""
        with self._counting:
            if self._watcher is None:
                debounce = Debounce()
                events = None if poll else Events(debounce.put)
                watcher = Watcher(self._subject, events, debounce)
                watcher.start()
                self._watcher = watcher
            self._blocks += 1
            return self._watcher

    def end(self, watcher: Watcher) -> None:
        """Remove a block, without waiting for a running reload."""
        with self._counting:
            self._blocks -= 1
            if self._blocks:
                return
            self._watcher = None
        watcher.stop()


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
