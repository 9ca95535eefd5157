"""File system events: which directories are watched, and what is reported of them."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
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
"""What the system is asked for: not that a file was opened, nor that one was only read."""

MAX_LINKED = 20_000
"""Files and folders behind a link up to which all of its folders are watched.

It may lead to all files of a machine.
"""


class Place(NamedTuple):
    """A directory to watch, and how to report what happens there.

    Attributes:
        real: its absolute path without symbolic links.
        logical: the path under which what happens there is reported.
        recursive: whether the folders below are watched as well.
        only: the one name in it that counts, that of a link's target; no folder below is watched
            then, and ``logical`` is the path of the link.
    """

    real: str
    logical: str
    recursive: bool = True
    only: str | None = None


def places(paths: Iterable[str], links: Mapping[str, str]) -> set[Place]:
    """Return the directories in which changes of the paths show.

    A directory behind a link that holds more than ``MAX_LINKED`` is watched without its folders.

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
            folder, name = os.path.split(real)
            found.add(Place(folder, logical, recursive=False, only=name))
    return found


@lru_cache(maxsize=1024)
def _is_small(path: str, _: tuple[int, int] | None) -> bool:
    """Tell whether a directory holds no more than ``MAX_LINKED``."""
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
    """What is watched once, for however many places."""

    real: str
    recursive: bool


class Listener(FileSystemEventHandler):
    """Takes the events of one target, on watchdog's thread, and reports them for each place.

    Attributes:
        places: what the target is watched for; may be replaced at any time.
        is_worn: whether the target or a folder below is gone. Nothing more is heard of a target
            that is gone. A folder below may have been moved away: watchdog goes on counting it
            under its old path, and once another folder takes that path its books fail, and a thread
            of it with them.
    """

    def __init__(
        self, report: Callable[[str], None], target: Target, places: frozenset[Place] = frozenset()
    ) -> None:
        self.places = places
        self.is_worn = False
        self._report = report
        self._target = target

    def dispatch(self, event: FileSystemEvent) -> None:
        """Report the path of an event, or both if something was moved."""
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
    """A target that is watched; ``identity`` tells its directory from a later one of the name."""

    listener: Listener
    watch: ObservedWatch
    identity: tuple[int, int]


class Events:
    """Watches directories and reports the path of whatever happens there, noise left out.

    ``report`` is called from another thread, which waits for it: it must return at once, without
    calling back. ``observer`` makes what watches: by default the system's own or, where there is
    none, one that looks each second.
    """

    def __init__(
        self, report: Callable[[str], None], *, observer: Callable[[], BaseObserver] = Observer
    ) -> None:
        # two complaints of watchdog come up in sound use and report no harm
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
            before wasn't reported, so look at them.

        Raises:
            OSError: the system gives no more watches (``ENOSPC``) or instances (``EMFILE``), or
                gives none at all. It doesn't tell that folders below a place got none: ask
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
        """Drop what isn't wanted, and what nothing more can be heard of."""
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
        # it may have gone since it was looked at; the next aim tries again
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
        """Tell whether the system has a watch left for one more directory."""
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
        """Report nothing from now on, and end all threads; the object is of no more use."""
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
        # a forked child has no threads, and the watches are its parent's
        if observer is None or self._process != os.getpid():
            return
        for each in watched.values():
            _unschedule(observer, each.watch)
        observer.stop()
        observer.join()


def _is_sound(observer: BaseObserver) -> bool:
    """Tell whether no thread of an observer has ended over an error of its own."""
    reader = getattr(observer, "_inotify_fd", observer)
    return observer.is_alive() and bool(reader.is_alive())


def _unschedule(observer: BaseObserver, watch: ObservedWatch) -> None:
    """Drop a watch, which may take half a second if something was just moved away."""
    # when a folder has taken the path of one that was moved away, watchdog's books fail
    with contextlib.suppress(KeyError):
        observer.unschedule(watch)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return "when the thread is inactive" not in str(record.msg)


def _identity(path: str) -> tuple[int, int] | None:
    """Return device and inode of a directory; None if it can't be watched."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    # to watch what may not be read fails without a word
    is_readable = S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_readable else None
