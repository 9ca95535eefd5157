"""The thread that follows changes, with a subject and events that are fed by hand."""

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any, cast

import pytest

from sovl_tools.reloading.events import Events, Place
from sovl_tools.reloading.watcher import POLLING, Debounce, Watcher
from tests.patience import PATIENCE


class Subject:
    """What is watched in a test: it says what the test says, and notes what it is told."""

    def __init__(self) -> None:
        self.reactions: SimpleQueue[set[str] | None] = SimpleQueue()
        self.others: list[set[str]] = []
        self.links: dict[str, str] = {}
        self.do: Callable[[], None] = lambda: None

    def watched(self) -> tuple[Collection[str], Mapping[str, str]]:
        return {"/tools"}, self.links

    def changed(self) -> set[str]:
        return self.others.pop(0) if self.others else set()

    def follow(self, touched: set[str] | None, *, since: float) -> None:
        assert since > 0
        self.reactions.put(touched)
        if touched is not None:
            do, self.do = self.do, lambda: None
            do()

    def reaction(self) -> set[str] | None:
        return self.reactions.get(timeout=PATIENCE)


class Told:
    """Events that never come by themselves, of a system that has as much left as the test says."""

    def __init__(self) -> None:
        self.failures: list[OSError] = []
        self.has_watches = True
        self.is_stopped = threading.Event()
        self.aims: SimpleQueue[None] = SimpleQueue()
        self._watched: set[Place] = set()

    def aim(self, places: Collection[Place]) -> set[str]:
        self.aims.put(None)
        if self.failures:
            raise self.failures.pop()
        fresh = {*places} - self._watched
        self._watched |= fresh
        return {each.logical for each in fresh}

    def has_room(self) -> bool:
        return self.has_watches

    def stop(self) -> None:
        self.is_stopped.set()


class Watch:
    """A watcher with what it watches."""

    def __init__(self, *, polls: bool = False) -> None:
        self.subject, self.events, self.debounce = Subject(), Told(), Debounce()
        # what is asked of events is here, whatever its class
        events = None if polls else cast("Events", self.events)
        self.watcher = Watcher(self.subject, events, self.debounce)

    def start(self) -> Watch:
        """Start, and wait until it has checked everything."""
        self.watcher.start()
        assert self.subject.reaction() is None
        return self

    def tell(self, *paths: str) -> None:
        for path in paths:
            self.debounce.put(path)


Make = Callable[..., Watch]


@pytest.fixture
def make() -> Iterator[Make]:
    """Return what makes watches, which end with the test."""
    made: list[Watch] = []

    def new(**options: Any) -> Watch:
        made.append(Watch(**options))
        return made[-1]

    yield new
    for each in made:
        if each.watcher._thread.is_alive():
            each.watcher.stop()
        assert not each.watcher._thread.is_alive()


def no_space(number: int = errno.ENOSPC) -> OSError:
    return OSError(number, os.strerror(number))


def test_signs_that_come_together_are_one_reaction(make: Make) -> None:
    watch = make()
    watch.tell("/tools/a", "/tools/b", "/tools/a")
    watch.start()
    assert watch.subject.reaction() == {"/tools/a", "/tools/b"}
    watch.tell("/tools/c")
    assert watch.subject.reaction() == {"/tools/c"}
    assert watch.watcher.notice is None


def test_after_a_flood_it_looks_at_everything(make: Make) -> None:
    watch = make()
    watch.tell(*["/tools/seen"] * 2_000)
    watch.start()
    assert watch.subject.reaction() is None


def test_when_a_place_is_new_it_looks_what_happened_there_before(make: Make) -> None:
    watch = make().start()
    watch.subject.links = {"/tools/echo": "/elsewhere/echo"}
    assert watch.subject.reaction() is None


def test_a_new_folder_needs_a_watch_and_if_there_is_none_it_looks_by_itself(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    watch = make().start()
    watch.tell("/tools/file")
    watch.subject.reaction()
    assert watch.watcher.notice is None
    watch.events.has_watches = False
    watch.tell(str(tmp_path))
    assert watch.subject.reaction() == {str(tmp_path)}
    assert watch.subject.reaction() is None
    assert watch.events.is_stopped.is_set()
    assert "max_user_watches" in str(watch.watcher.notice)
    assert caplog.messages == [watch.watcher.notice]


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no inotify watches left (fs.inotify.max_user_watches)"),
        (errno.EMFILE, "no inotify instances left (fs.inotify.max_user_instances)"),
        (errno.EIO, "the system doesn't report changes (Input/output error)"),
    ],
)
@pytest.mark.parametrize("when", ["at the start", "later"])
def test_without_events_it_looks_again_and_again_and_says_so(
    number: int, words: str, when: str, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    watch = make()
    watch.events.failures = [no_space(number)]
    if when == "later":
        watch.events.failures.clear()
        watch.subject.do = lambda: watch.events.failures.append(no_space(number))
        watch.start().tell("/tools/first")
        watch.subject.reaction()
    else:
        watch.start()
        assert watch.watcher.notice is not None
    watch.subject.others = [{"/tools/a"}]
    watch.tell("/tools/b")
    while "/tools/a" not in (watch.subject.reaction() or ()):
        pass
    notice = str(watch.watcher.notice)
    assert words in notice
    assert notice.endswith(f"; looking every {POLLING:g} s instead")
    assert [(each.levelno, each.message) for each in caplog.records] == [(logging.WARNING, notice)]
    assert watch.events.is_stopped.is_set()


def test_there_must_be_room_at_the_start(make: Make) -> None:
    watch = make()
    watch.events.has_watches = False
    watch.start()
    assert watch.watcher.notice is not None


def test_polling_waits_until_files_have_come_to_rest(make: Make) -> None:
    watch = make(polls=True)
    watch.subject.others = [{"/a"}, {"/b"}, {"/a"}, {"/a"}]
    watch.start()
    assert watch.subject.reaction() == {"/a", "/b"}
    assert watch.watcher.notice is None


def test_polling_does_not_wait_for_ever(make: Make) -> None:
    watch = make(polls=True)
    watch.subject.others = [{f"/{number}"} for number in range(1_000)]
    watch.start()
    assert 2 <= len(watch.subject.reaction() or ()) < 100


def test_what_fails_is_logged_and_does_not_end_the_watch(
    make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    watch = make().start()
    for error in (ValueError("odd"), KeyboardInterrupt(), SystemExit(1)):

        def fail(error: BaseException = error) -> None:
            raise error

        watch.subject.do = fail
        watch.tell("/tools/a")
        assert watch.subject.reaction() == {"/tools/a"}
    watch.tell("/tools/b")
    assert watch.subject.reaction() == {"/tools/b"}
    assert caplog.messages == ["a change could not be followed"] * 3
    assert all(each.exc_info for each in caplog.records)


def test_it_ends_when_what_it_reacts_to_is_done(make: Make) -> None:
    watch = make()
    reacting, gate, is_done = threading.Event(), threading.Event(), threading.Event()

    def react() -> None:
        reacting.set()
        gate.wait(PATIENCE)
        is_done.set()

    watch.subject.do = react
    watch.start().tell("/tools/a")
    reacting.wait(PATIENCE)
    threading.Timer(0.01, gate.set).start()
    watch.watcher.stop()
    assert is_done.is_set()
    assert watch.events.is_stopped.is_set()
    watch.tell("/tools/b")
    assert watch.subject.reactions.get() == {"/tools/a"}
    assert watch.subject.reactions.empty()


def test_the_end_does_not_wait_for_a_reaction_that_hangs(make: Make) -> None:
    watch = make()
    reacting, gate = threading.Event(), threading.Event()

    def react() -> None:
        reacting.set()
        gate.wait(PATIENCE)

    watch.subject.do = react
    watch.start().tell("/tools/a")
    reacting.wait(PATIENCE)
    watch.watcher.stop()
    assert watch.watcher._thread.is_alive()
    gate.set()
    watch.watcher._thread.join(PATIENCE)
    assert watch.events.is_stopped.is_set()


def test_a_reaction_may_end_the_watch(make: Make) -> None:
    watch = make()
    watch.subject.do = watch.watcher.stop
    watch.start().tell("/tools/a")
    watch.subject.reaction()
    watch.watcher._thread.join(PATIENCE)
    assert watch.events.is_stopped.is_set()
    watch.watcher.stop()
