"""File system events: the directories that are watched, and the paths that are reported."""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Collection, Iterable
from stat import S_ISDIR
from tempfile import TemporaryDirectory
from typing import NamedTuple

from watchdog import events as kinds
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from sovl_tools.reloading.fingerprint import is_noise

_KINDS: list[type[kinds.FileSystemEvent]] = [
    kinds.FileCreatedEvent,
    kinds.FileModifiedEvent,
    kinds.FileMovedEvent,
    kinds.FileDeletedEvent,
    kinds.FileClosedEvent,
    kinds.FileAttribEvent,
    kinds.DirCreatedEvent,
    kinds.DirMovedEvent,
    kinds.DirDeletedEvent,
    kinds.DirAttribEvent,
]
"""The events to listen for: not that a file was opened, or only read."""


class Place(NamedTuple):
    """A directory to watch.

    Attributes:
        path: its absolute path without symbolic links.
        is_whole: whether its subfolders are watched, too.
        only: the only name in it that counts; None for all.
    """

    path: str
    is_whole: bool = True
    only: str | None = None


def places(paths: Iterable[str], links: Iterable[str]) -> set[Place]:
    """Return the directories to watch for changes of the paths; others when a link is switched.

    Args:
        paths: absolute paths of directories, whether they exist or not, and of single files.
        links: absolute paths of symbolic links below them. Folders that they lead to are watched
            without subfolders: a link can lead to all files of a machine.
    """
    found = set()
    for path, is_whole in [*((each, True) for each in paths), *((each, False) for each in links)]:
        real = os.path.realpath(path)
        folder, name = os.path.split(real)
        is_folder = os.path.isdir(real)
        found.add(Place(real, is_whole) if is_folder else Place(folder, is_whole=False, only=name))
    return found


class _Listener(kinds.FileSystemEventHandler):
    """Takes the events of one place, on watchdog's thread.

    Attributes:
        is_worn: whether a folder was deleted or moved away. A deleted place makes no more events. A
            moved subfolder stays in watchdog's tables under its old path, and a thread of watchdog
            fails when another folder takes that path.
    """

    def __init__(self, place: Place, report: Callable[[str], None]) -> None:
        self.is_worn = False
        self._place = place
        self._report = report

    def dispatch(self, event: kinds.FileSystemEvent) -> None:
        """Report the path of an event, or both paths of a move."""
        place, path = self._place, os.fsdecode(event.src_path)
        if event.is_directory and event.event_type == "deleted":
            self.is_worn |= place.is_whole or path == place.path
        for each in filter(None, (path, os.fsdecode(event.dest_path or ""))):
            names = [name for name in each[len(place.path) :].split(os.sep) if name]
            is_wanted = not any(map(is_noise, names))
            if names in ([], [place.only]) or (place.only is None and is_wanted):
                self._report(each)


class Events:
    """Watches directories and reports the paths of events, without noise.

    ``report`` is called on watchdog's thread: it must return at once, without calling back.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        # two messages of watchdog that normal use causes
        logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_telling)
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._report = report
        self._observer: BaseObserver | None = None
        self._watched: dict[Place, tuple[int, int]] = {}
        self._listeners: list[_Listener] = []

    def aim(self, places: Collection[Place]) -> bool:
        """Watch exactly these places from now on.

        A place that isn't there, or can't be read, is skipped and tried again the next time. If
        the places have changed, or one has become another directory, all are watched again.

        Returns:
            whether they are, so that what happened before wasn't reported.

        Raises:
            OSError: the system gives no more watches (``ENOSPC``) or instances (``EMFILE``), or
                has no events at all.
        """
        identities = {place: _identity(place.path) for place in places}
        wanted = {place: each for place, each in identities.items() if each is not None}
        if wanted == self._watched and self._is_sound():
            return False
        self.stop()
        self._watched = wanted
        if wanted:
            self._start(wanted)
        return True

    def _is_sound(self) -> bool:
        """Return whether all events arrive: no thread has ended."""
        observer = self._observer
        if observer is None:
            return True
        reader = getattr(observer, "_inotify_fd", observer)
        threads = [observer, reader, *observer.emitters]
        is_worn = any(each.is_worn for each in self._listeners)
        return not is_worn and all(each.is_alive() for each in threads)

    def _start(self, wanted: Iterable[Place]) -> None:
        self._observer = observer = Observer()
        observer.start()
        for place in wanted:
            # deleted meanwhile; the next aim tries again
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                listener = _Listener(place, self._report)
                observer.schedule(
                    listener, place.path, recursive=place.is_whole, event_filter=_KINDS
                )
                self._listeners.append(listener)
        # it doesn't report that folders below a place got no watch
        with TemporaryDirectory(prefix=".sovl-tools-") as folder:
            observer.unschedule(observer.schedule(kinds.FileSystemEventHandler(), folder))

    def stop(self) -> None:
        """Stop reporting and end all threads."""
        observer, self._observer = self._observer, None
        self._watched, self._listeners = {}, []
        if observer is not None:
            observer.stop()
            observer.join()


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
