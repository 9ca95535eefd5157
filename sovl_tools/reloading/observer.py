"""An observer at work: the one place that enters watchdog, and what is needed of it."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Collection, Hashable
from typing import NamedTuple, Protocol, cast

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


class Event(Protocol):
    """What happened; ``dest_path`` is empty unless something was moved."""

    src_path: bytes | str
    dest_path: bytes | str
    event_type: str
    is_directory: bool


class Handler(Protocol):
    """What hears of events, on the observer's thread."""

    def dispatch(self, event: Event) -> None:
        """Take note of an event."""


class Emitter(Protocol):
    """A thread that waits for the events of one watch."""

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
        """Begin to hand events to handlers."""

    def stop(self) -> None:
        """Drop all watches and end all threads."""

    def join(self) -> None:
        """Wait until that is done."""

    def schedule(
        self, handler: Handler, path: str, /, *, recursive: bool, event_filter: list[type]
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

    def is_sound(self) -> bool:
        """Tell whether it still hears anything at all."""
        return all(thread.is_alive() for thread in self.threads)

    def watches(self) -> frozenset[Hashable]:
        """Return the watches on which something can still be heard."""
        emitters = self.observer.emitters
        return frozenset(emitter.watch for emitter in emitters if emitter.is_alive())

    def schedule(self, handler: Handler, path: str, *, recursive: bool) -> Hashable:
        """Watch a directory.

        Raises:
            OSError: it is not there, or the system gives no watch for it.
        """
        return self.observer.schedule(handler, path, recursive=recursive, event_filter=self.kinds)

    def unschedule(self, watch: Hashable) -> None:
        """Drop a watch, which may take half a second if something was just moved away."""
        # when a folder has taken the path of one that was moved away, watchdog's books fail
        with contextlib.suppress(KeyError):
            self.observer.unschedule(watch)

    def end(self, watches: Collection[Hashable]) -> None:
        """Drop the watches and end all threads.

        In a child process that was forked there are none, and the watches are the parent's.
        """
        if self.process != os.getpid():
            return
        for watch in watches:
            self.unschedule(watch)
        self.observer.stop()
        self.observer.join()


def run(make: Callable[[], Observer] | None = None) -> Running:
    """Start an observer: the system's own or, where there is none, one that looks each second.

    Raises:
        OSError: the system gives no more instances (``EMFILE``), or none at all.
    """
    native, kinds = _enter()
    others = set(threading.enumerate())
    observer = (make or native)()
    observer.start()
    threads = set(threading.enumerate()) - others
    own = (thread for thread in threads if type(thread).__module__.startswith("watchdog."))
    return Running(observer, kinds, tuple(own), os.getpid())


def _enter() -> tuple[Callable[[], Observer], list[type]]:
    """Return the class of the observer, and the kinds of events that this watchdog knows.

    Two of its complaints are kept back: they come up in sound use and report no harm.
    """
    from watchdog import events, observers  # noqa: PLC0415 - 50 ms

    logging.getLogger("watchdog.observers.inotify").addFilter(_is_worth_logging)
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
    kinds = [getattr(events, kind) for kind in _KINDS if hasattr(events, kind)]
    return cast("Callable[[], Observer]", observers.Observer), kinds


def _is_worth_logging(record: logging.LogRecord) -> bool:
    return "when the thread is inactive" not in str(record.msg)
