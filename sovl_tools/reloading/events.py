"""File system events: the directories that are watched, and the paths that are reported."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from stat import S_ISDIR
from tempfile import TemporaryDirectory
from typing import NamedTuple

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from sovl_tools.reloading.fingerprint import is_noise

_KINDS: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    FileClosedEvent,
    FileAttribEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
    DirAttribEvent,
]
"""The events to listen for: not that a file was opened, or only read."""

MAX_LINKED = 20_000
"""The number of entries behind a link up to which its subfolders are watched.

A link can lead to all files of a machine.
"""

_MAX_LINKS = 40
"""The number of links after which the system rejects a path."""


class Place(NamedTuple):
    """A directory to watch, and the path to report for its events.

    Attributes:
        real: its absolute path without symbolic links.
        logical: the path to report instead of ``real``.
        recursive: whether subfolders are watched, too.
        only: the only name in it that counts, if ``logical`` is a link to a file; then subfolders
            aren't watched.
    """

    real: str
    logical: str
    recursive: bool = True
    only: str | None = None


def places(paths: Iterable[str], links: Mapping[str, str]) -> set[Place]:
    """Return the directories to watch for changes of the paths.

    Each link that a path leads through is watched, too: it can be switched to another target.
    A directory behind a link with more than ``MAX_LINKED`` entries is watched without its folders.

    Args:
        paths: absolute paths of directories, whether they exist or not, and of single files.
        links: targets of symbolic links below them, by the absolute paths of the links.
    """
    found = set()
    for logical, real in [*((path, os.path.realpath(path)) for path in paths), *links.items()]:
        if os.path.isdir(real):
            is_whole = logical not in links or _is_small(real, _identity(real))
            found.add(Place(real, logical, recursive=is_whole))
        else:
            found.add(_entry(real, logical))
        # a link below a watched directory is itself heard there
        known = {logical} if logical in links else set()
        found.update(_entry(link, logical) for link in links_to(logical) if link not in known)
    return found


def _entry(path: str, logical: str) -> Place:
    folder, name = os.path.split(path)
    return Place(folder, logical, recursive=False, only=name)


def links_to(path: str) -> list[str]:
    """Return the symbolic links that an absolute path leads through, in folders without links."""
    found: list[str] = []
    place, *names = Path(path).parts
    while names and len(found) < _MAX_LINKS:
        place = os.path.normpath(os.path.join(place, names.pop(0)))
        with contextlib.suppress(OSError):  # it isn't a link, or isn't there
            target = Path(os.readlink(place))
            found.append(place)
            names[:0] = target.parts
            # joining an absolute one replaces this
            place = os.path.dirname(place)
    return found


@lru_cache(maxsize=1024)
def _is_small(path: str, _: tuple[int, int] | None) -> bool:
    """Return whether a directory contains at most ``MAX_LINKED`` entries."""
    count, folders = 0, [path]
    while folders:
        with contextlib.suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                count += 1
                if count > MAX_LINKED:
                    return False
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return True


class Target(NamedTuple):
    """A directory that is watched once, for one or more places."""

    real: str
    recursive: bool


class Listener(FileSystemEventHandler):
    """Takes the events of one target, on watchdog's thread, and reports them for each place.

    Attributes:
        places: the places in the target; can be replaced at any time.
        is_worn: whether the target or a subfolder was deleted or moved away. A deleted target makes
            no more events. A moved subfolder stays in watchdog's tables under its old path, and a
            thread of watchdog fails when another folder takes that path.
    """

    def __init__(
        self, report: Callable[[str], None], target: Target, places: frozenset[Place] = frozenset()
    ) -> None:
        self.places = places
        self.is_worn = False
        self._report = report
        self._target = target

    def dispatch(self, event: FileSystemEvent) -> None:
        """Report the path of an event, or both paths of a move."""
        path = os.fsdecode(event.src_path)
        if event.is_directory and event.event_type == "deleted":
            self.is_worn |= self._target.recursive or path == self._target.real
        for each in (path, os.fsdecode(event.dest_path or "")):
            rest = each[len(self._target.real.rstrip(os.sep)) :]
            names = [name for name in rest.split(os.sep) if name]
            for place in self.places if each else ():
                if place.only is None and not any(map(is_noise, names)):
                    self._report(place.logical.rstrip(os.sep) + rest)
                elif names in ([], [place.only]):
                    self._report(place.logical)


class _Watched(NamedTuple):
    """A watched target; ``identity`` is its directory's, which can be replaced by another."""

    listener: Listener
    watch: ObservedWatch
    identity: tuple[int, int]


class Events:
    """Watches directories and reports the paths of events, without noise.

    ``report`` is called on watchdog's thread: it must return at once, without calling back.
    ``observer`` makes the observer: by default the system's, or, where there isn't one, one that
    polls each second.
    """

    def __init__(
        self, report: Callable[[str], None], *, observer: Callable[[], BaseObserver] = Observer
    ) -> None:
        # two warnings of watchdog that normal use causes
        logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_telling)
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._report = report
        self._make_observer = observer
        self._lock = threading.Lock()
        self._observer: BaseObserver | None = None
        self._process = os.getpid()
        self._watched: dict[Target, _Watched] = {}
        self._is_stopped = False

    def aim(self, places: Collection[Place]) -> set[str]:
        """Watch exactly these places from now on.

        A place that isn't there, or can't be read, is skipped and tried again the next time. One
        that has become another directory, or that a folder has left, is watched again.

        Returns:
            the logical paths of places that are watched only from now on; what happened there
            before wasn't reported, so check them.

        Raises:
            OSError: the system gives no more watches (``ENOSPC``) or instances (``EMFILE``), or
                has no events at all. It doesn't report that folders below a place got none: check
                ``has_room``.
        """
        wanted: dict[Target, frozenset[Place]] = {}
        for place in places:
            target = Target(place.real, place.recursive and place.only is None)
            wanted[target] = wanted.get(target, frozenset()) | {place}
        fresh: set[Place] = set()
        with self._lock:
            if self._is_stopped:
                return set()
            self._drop_others(wanted)
            for target, group in wanted.items():
                known = self._watched.get(target)
                if known is not None:
                    fresh |= group - known.listener.places
                    known.listener.places = group
                elif self._schedule(target, group):
                    fresh |= group
        return {place.logical for place in fresh}

    def _drop_others(self, wanted: Collection[Target]) -> None:
        """Drop targets that aren't wanted, or whose events no longer arrive."""
        observer = self._observer
        if observer is None:
            return
        if not _is_sound(observer):
            self._end()
            return
        alive = {each.watch for each in observer.emitters if each.is_alive()}
        for target, watched in list(self._watched.items()):
            is_heard = watched.watch in alive and not watched.listener.is_worn
            if target in wanted and is_heard and watched.identity == _identity(target.real):
                continue
            _unschedule(observer, watched.watch)
            del self._watched[target]

    def _schedule(self, target: Target, places: frozenset[Place]) -> bool:
        identity = _identity(target.real)
        if identity is None:
            return False
        listener = Listener(self._report, target, places)
        # deleted meanwhile; the next aim tries again
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            watch = self._watch(target, listener)
            self._watched[target] = _Watched(listener, watch, identity)
        return target in self._watched

    def _watch(self, target: Target, listener: Listener) -> ObservedWatch:
        observer = self._started()
        return observer.schedule(
            listener, target.real, recursive=target.recursive, event_filter=_KINDS
        )

    def has_room(self) -> bool:
        """Return whether the system has a watch left for one more directory."""
        with self._lock, contextlib.suppress(OSError):
            if self._is_stopped:
                return False
            with TemporaryDirectory(prefix=".sovl-tools-") as folder:
                target = Target(folder, recursive=False)
                watch = self._watch(target, Listener(self._report, target))
                _unschedule(self._started(), watch)
            return True
        return False

    def stop(self) -> None:
        """Stop reporting and end all threads; the object can't be used again."""
        with self._lock:
            self._is_stopped = True
            self._end()

    def _started(self) -> BaseObserver:
        if self._observer is None:
            observer = self._make_observer()
            observer.start()
            self._observer, self._process = observer, os.getpid()
        return self._observer

    def _end(self) -> None:
        observer, self._observer = self._observer, None
        watched, self._watched = self._watched, {}
        # a forked child has no threads, and the watches belong to its parent
        if observer is None or self._process != os.getpid():
            return
        for each in watched.values():
            _unschedule(observer, each.watch)
        observer.stop()
        observer.join()


def _is_sound(observer: BaseObserver) -> bool:
    """Return whether all threads of an observer still run."""
    reader = getattr(observer, "_inotify_fd", observer)
    return observer.is_alive() and bool(reader.is_alive())


def _unschedule(observer: BaseObserver, watch: ObservedWatch) -> None:
    """Drop a watch, which can take half a second if something was just moved away."""
    # watchdog's tables are wrong after a folder took the path of one that was moved away
    with contextlib.suppress(KeyError):
        observer.unschedule(watch)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return "when the thread is inactive" not in str(record.msg)


def _identity(path: str) -> tuple[int, int] | None:
    """Return a directory's device and inode; None if it can't be watched."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    # watching an unreadable directory fails silently
    is_readable = S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_readable else None
