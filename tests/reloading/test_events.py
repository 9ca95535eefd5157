"""Tests for what the system tells, on the real file system and with the real observer."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue

import pytest

from sovl_tools.reloading.events import Events, Place
from tests.patience import PATIENCE


class Ear:
    """Events of a directory, and what they told."""

    def __init__(self, place: Path) -> None:
        self.told: SimpleQueue[str] = SimpleQueue()
        self.events = Events(self.told.put)
        self._place = place

    def aim(self) -> bool:
        return self.events.aim([Place(str(self._place))])

    def until(self, path: Path) -> list[str]:
        """Return what is told up to a path, for which it waits."""
        heard: list[str] = []
        while not heard or heard[-1] != str(path):
            heard.append(self.told.get(timeout=PATIENCE))
        return heard


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a directory with a tool, under its real path."""
    place = tmp_path.resolve() / "tools"
    (place / "echo").mkdir(parents=True)
    (place / "echo" / "echo.py").write_text("one")
    return place


@pytest.fixture
def ear(tools: Path) -> Iterator[Ear]:
    ear = Ear(tools)
    ear.aim()
    yield ear
    ear.events.stop()


def touched(path: Path) -> Path:
    path.touch()
    return path


def test_noise_and_a_file_that_is_only_read_are_not_told(ear: Ear, tools: Path) -> None:
    (tools / "echo" / "echo.py").read_text()
    touched(tools / "echo" / ".echo.py.swp")
    assert not ear.aim()
    assert {*ear.until(touched(tools / "file"))} == {str(tools / "file")}


def test_a_root_that_is_deleted_or_replaced_is_watched_again(ear: Ear, tools: Path) -> None:
    shutil.rmtree(tools)
    ear.until(tools)
    tools.mkdir()
    assert ear.aim()
    ear.until(touched(tools / "file"))
    tools.rename(tools.parent / "old")
    assert ear.aim()
    tools.mkdir()
    assert ear.aim()
    ear.until(touched(tools / "file"))


def test_a_folder_that_takes_the_place_of_one_that_left_is_watched(ear: Ear, tools: Path) -> None:
    (tools / "other").mkdir()
    ear.until(tools / "other")
    (tools / "echo").rename(tools.parent / "old")
    (tools / "other").rename(tools / "echo")
    for _ in range(2):
        ear.until(tools / "echo")
    assert ear.aim()
    ear.until(touched(tools / "echo" / "file"))


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_observer_that_lost_a_thread_is_replaced(tools: Path) -> None:
    told: SimpleQueue[str | threading.Thread] = SimpleQueue()

    def tell(path: str) -> None:
        told.put(path)
        if path.endswith("poison"):
            told.put(threading.current_thread())
            raise ValueError(path)

    events = Events(tell)
    try:
        events.aim([Place(str(tools))])
        touched(tools / "poison")
        while not isinstance(thread := told.get(timeout=PATIENCE), threading.Thread):
            pass
        thread.join(PATIENCE)
        assert events.aim([Place(str(tools))])
        touched(tools / "file")
        assert told.get(timeout=PATIENCE) == str(tools / "file")
    finally:
        events.stop()
