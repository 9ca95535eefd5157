"""What the system tells of changes in directories."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Hashable
from stat import S_ISDIR
from typing import NamedTuple

from sovl_tools.reloading.listening import Listener, Place, Target, by_target
from sovl_tools.reloading.observer import Observer, Running, run

__all__ = ["Events", "Place"]


class Events:
    """Watches directories and tells the path of whatever happens there, noise left out.

    ``tell`` is called from another thread, which waits for it: it must return at once, without
    calling back. ``observer`` makes what watches: by default the system's own or, where there is
    none, one that looks each second.
    """

    def __init__(
        self, tell: Callable[[str], None], *, observer: Callable[[], Observer] | None = None
    ) -> None:
        self._tell = tell
        self._observer = observer
        self._lock = threading.Lock()
        self._running: Running | None = None
        self._watched: dict[Target, _Watched] = {}
        self._is_stopped = False

    def aim(self, places: Collection[Place]) -> set[str]:
        """Watch exactly these places from now on.

        A place that is not there, or may not be read, is skipped and tried again the next time.
        One that has become another directory is watched anew, as is one that a folder has left.

        Returns:
            the logical paths of places that are watched only from now on: nothing is told of what
            happened there before, so look at them.

        Raises:
            OSError: the system gives no more watches (``ENOSPC``) or instances (``EMFILE``), or
                gives none at all. That folders below a place got none is not told: ask
                ``has_room``.
        """
        with self._lock:
            return self._aim(places)

    def renew(self, places: Collection[Place]) -> set[str]:
        """Drop whatever is watched, and watch these places.

        Returns:
            the logical paths of all that are watched.

        Raises:
            OSError: as ``aim`` does.
        """
        with self._lock:
            self._end()
            return self._aim(places)

    def has_room(self) -> bool:
        """Tell whether the system has a watch left for one more directory."""
        from tempfile import TemporaryDirectory  # noqa: PLC0415 - 7 ms, needed here only

        with self._lock, contextlib.suppress(OSError):
            if self._is_stopped:
                return False
            with TemporaryDirectory(prefix=".sovl-tools-") as folder:
                running = self._start()
                listener = Listener(self._tell, Target(folder, recursive=False))
                running.unschedule(running.schedule(listener, folder, recursive=False))
            return True
        return False

    def stop(self) -> None:
        """Tell nothing from now on, and end all threads; the object is of no more use."""
        with self._lock:
            self._is_stopped = True
            self._end()

    def _aim(self, places: Collection[Place]) -> set[str]:
        if self._is_stopped:
            return set()
        wanted = by_target(places)
        self._tidy(wanted)
        fresh = [self._watch(target, group) for target, group in wanted.items()]
        return {place.logical for group in fresh for place in group}

    def _tidy(self, wanted: Collection[Target]) -> None:
        """Drop what is not wanted, and what nothing more can be heard of."""
        if self._running is None:
            return
        if not self._running.is_sound():
            self._end()
            return
        alive = self._running.watches()
        for target, watched in list(self._watched.items()):
            if target not in wanted or watched.watch not in alive or _is_worn(target, watched):
                self._running.unschedule(watched.watch)
                del self._watched[target]

    def _watch(self, target: Target, places: frozenset[Place]) -> frozenset[Place]:
        """Watch a target for the places; return those that it is not watched for yet."""
        known = self._watched.get(target)
        if known is None:
            return places if self._schedule(target, places) else frozenset()
        fresh = places - known.listener.places
        known.listener.places = places
        return fresh

    def _schedule(self, target: Target, places: frozenset[Place]) -> bool:
        identity = _identity(target.real)
        if identity is None:
            return False
        running = self._start()
        listener = Listener(self._tell, target, places)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            watch = running.schedule(listener, target.real, recursive=target.recursive)
            self._watched[target] = _Watched(listener, watch, identity)
        return target in self._watched

    def _start(self) -> Running:
        if self._running is None:
            self._running = run(self._observer)
        return self._running

    def _end(self) -> None:
        running, self._running = self._running, None
        watched, self._watched = self._watched, {}
        if running is not None:
            running.end([each.watch for each in watched.values()])


def _identity(path: str) -> tuple[int, int] | None:
    """Return what tells a directory from a later one of its name; None if it can't be watched.

    To watch what may not be read fails without a word.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    is_readable = S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_readable else None


class _Watched(NamedTuple):
    listener: Listener
    watch: Hashable
    identity: tuple[int, int]


def _is_worn(target: Target, watched: _Watched) -> bool:
    return watched.listener.is_worn or watched.identity != _identity(target.real)
