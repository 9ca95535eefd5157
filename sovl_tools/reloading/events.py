"""File system events: which directories are watched, and what is reported of them."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from functools import lru_cache
from stat import S_ISDIR
from typing import NamedTuple, Protocol, cast

from sovl_tools.reloading.fingerprint import is_noise

_KINDS = (
    "FileCreatedEvent",
    "FileModifiedEvent",
    "FileMovedEvent",
    "FileDeletedEvent",
    "FileClosedEvent",
    "FileAttribEvent",
    "DirCreatedEvent",
    "DirMovedEvent",
    "DirDeletedEvent",
    "DirAttribEvent",
)
"""What the system is asked for: not that a file was opened, nor that one was only read."""

MAX_LINKED = 20_000
"""Files and folders behind a link up to which all of its folders are watched.

It may lead to all files of a machine, whose folders nobody could wait for.
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

    Of a directory behind a link that holds more than ``MAX_LINKED``, it alone is watched.

    Args:
        paths: absolute paths of directories, be they there or not, and of single files.
        links: absolute paths of symbolic links below them, and what they lead to.
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


class Event(Protocol):
    """An event of watchdog; ``dest_path`` is empty unless something was moved."""

    src_path: bytes | str
    dest_path: bytes | str
    event_type: str
    is_directory: bool


class Listener:
    """Takes the events of one target, on watchdog's thread, and reports them for each place.

    Attributes:
        places: whom it concerns; may be replaced at any time.
        is_worn: whether the target or a folder below is gone. Of the one nothing more is heard.
            The other may have been moved away: watchdog goes on counting it under its old path,
            and once another folder takes that path its books fail, and a thread of it with them.
    """

    def __init__(
        self, report: Callable[[str], None], target: Target, places: frozenset[Place] = frozenset()
    ) -> None:
        self.places = places
        self.is_worn = False
        self._report = report
        self._target = target

    def dispatch(self, event: Event) -> None:
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


class Emitter(Protocol):
    """A thread of watchdog that waits for the events of one watch."""

    @property
    def watch(self) -> Hashable:
        """The watch, as it was returned when it was scheduled."""

    def is_alive(self) -> bool:
        """Tell whether anything can still be heard."""


class Observer(Protocol):
    """The part of watchdog's observers that is used."""

    @property
    def emitters(self) -> Collection[Emitter]:
        """One for each watch."""

    def start(self) -> None:
        """Begin to hand events to listeners."""

    def stop(self) -> None:
        """Drop all watches and end all threads."""

    def join(self) -> None:
        """Wait until that is done."""

    def schedule(
        self, handler: Listener, path: str, /, *, recursive: bool, event_filter: list[type]
    ) -> Hashable:
        """Watch a directory; raise OSError if that can't be."""

    def unschedule(self, watch: Hashable, /) -> None:
        """Drop a watch."""


class Running(NamedTuple):
    """An observer at work.

    Attributes:
        observer: what watches.
        kinds: the classes of the events that it listens for.
        threads: those that it can't do without.
        process: the number of the process that they run in.
    """

    observer: Observer
    kinds: list[type]
    threads: tuple[threading.Thread, ...]
    process: int

    def schedule(self, listener: Listener, path: str, *, recursive: bool) -> Hashable:
        """Watch a directory.

        Raises:
            OSError: it is not there, or the system gives no watch for it.
        """
        return self.observer.schedule(listener, path, recursive=recursive, event_filter=self.kinds)

    def unschedule(self, watch: Hashable) -> None:
        """Drop a watch, which may take half a second if something was just moved away."""
        # when a folder has taken the path of one that was moved away, watchdog's books fail
        with contextlib.suppress(KeyError):
            self.observer.unschedule(watch)

    def end(self, watches: Collection[Hashable]) -> None:
        """Drop the watches and end all threads."""
        if self.process != os.getpid():  # a forked child has no threads; the watches are not its
            return
        for watch in watches:
            self.unschedule(watch)
        self.observer.stop()
        self.observer.join()


def run(make: Callable[[], Observer] | None = None) -> Running:
    """Start an observer: the system's own or, where there is none, one that looks each second.

    This is the one place that enters watchdog. Two of its complaints are kept back: they come up
    in sound use and report no harm.

    Raises:
        OSError: the system gives no more instances (``EMFILE``), or none at all.
    """
    from watchdog import events, observers  # noqa: PLC0415 - 50 ms

    logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_telling)
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
    kinds = [getattr(events, kind) for kind in _KINDS if hasattr(events, kind)]
    # which threads are watchdog's own it does not say; those that come now are
    others = set(threading.enumerate())
    observer = (make or cast("Callable[[], Observer]", observers.Observer))()
    observer.start()
    threads = set(threading.enumerate()) - others
    own = (thread for thread in threads if type(thread).__module__.startswith("watchdog."))
    return Running(observer, kinds, tuple(own), os.getpid())


def _is_worth_telling(record: logging.LogRecord) -> bool:
    return "when the thread is inactive" not in str(record.msg)


class _Watched(NamedTuple):
    """A target that is watched; ``identity`` tells its directory from a later one of the name."""

    listener: Listener
    watch: Hashable
    identity: tuple[int, int]


class Events:
    """Watches directories and reports the path of whatever happens there, noise left out.

    ``report`` is called from another thread, which waits for it: it must return at once, without
    calling back. ``observer`` makes what watches: by default the system's own or, where there is
    none, one that looks each second.
    """

    def __init__(
        self, report: Callable[[str], None], *, observer: Callable[[], Observer] | None = None
    ) -> None:
        self._report = report
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
            the logical paths of places that are watched only from now on: what happened there
            before was not reported, so look at them.

        Raises:
            OSError: the system gives no more watches (``ENOSPC``) or instances (``EMFILE``), or
                gives none at all. It does not say that folders below a place got none: ask
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
        """Drop what is not wanted, and what nothing more can be heard of."""
        if self._running is None:
            return
        # one may have ended over an error of its own, and then nothing more is heard
        if not all(thread.is_alive() for thread in self._running.threads):
            self._end()
            return
        alive = {each.watch for each in self._running.observer.emitters if each.is_alive()}
        for target, watched in list(self._watched.items()):
            is_heard = watched.watch in alive and not watched.listener.is_worn
            if target in wanted and is_heard and watched.identity == _identity(target.real):
                continue
            self._running.unschedule(watched.watch)
            del self._watched[target]

    def _schedule(self, target: Target, places: frozenset[Place]) -> bool:
        identity = _identity(target.real)
        if identity is None:
            return False
        running = self._start()
        listener = Listener(self._report, target, places)
        # it may have gone since it was looked at; the next aim tries again
        with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            watch = running.schedule(listener, target.real, recursive=target.recursive)
            self._watched[target] = _Watched(listener, watch, identity)
        return target in self._watched

    def has_room(self) -> bool:
        """Tell whether the system has a watch left for one more directory."""
        from tempfile import TemporaryDirectory  # noqa: PLC0415 - 7 ms, needed here only

        with self._lock, contextlib.suppress(OSError):
            if self._is_stopped:
                return False
            with TemporaryDirectory(prefix=".sovl-tools-") as folder:
                running = self._start()
                listener = Listener(self._report, Target(folder, recursive=False))
                running.unschedule(running.schedule(listener, folder, recursive=False))
            return True
        return False

    def stop(self) -> None:
        """Report nothing from now on, and end all threads; the object is of no more use."""
        with self._lock:
            self._is_stopped = True
            self._end()

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
    """Return device and inode of a directory; None if it can't be watched."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    # to watch what may not be read fails without a word
    is_readable = S_ISDIR(status.st_mode) and os.access(path, os.R_OK)
    return (status.st_dev, status.st_ino) if is_readable else None
