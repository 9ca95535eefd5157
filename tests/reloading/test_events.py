"""Tests for what the system tells, on the real file system and with the real observer."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, NoReturn

import pytest
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch
from watchdog.observers.polling import PollingObserver, PollingObserverVFS

from sovl_tools.reloading.events import Events, Place
from tests.patience import PATIENCE
from tests.reloading.children import lines


class Ear:
    """Events, and what they told."""

    def __init__(self, observer: Callable[[], BaseObserver] = Observer) -> None:
        self.told: SimpleQueue[str] = SimpleQueue()
        self.events = Events(self.told.put, observer=observer)

    def aim(self, *places: Place) -> set[str]:
        return self.events.aim(places)

    def until(self, path: Path) -> list[str]:
        """Return what is told up to a path, for which it waits."""
        heard: list[str] = []
        while not heard or heard[-1] != str(path):
            try:
                heard.append(self.told.get(timeout=PATIENCE))
            except Empty:
                pytest.fail(f"{path} was not told, but {heard}")
        return heard

    def all_of(self, *paths: str) -> None:
        """Wait until each of the paths has been told."""
        awaited = set(paths)
        while awaited:
            awaited.discard(self.told.get(timeout=PATIENCE))

    def so_far(self, folder: Path) -> list[str]:
        """Return what was told of events before now; the folder must be watched."""
        return [
            path
            for name in ("first-sign", "second-sign")
            for path in self.until(touched(folder / name))
            if "-sign" not in path
        ]


def touched(path: Path) -> Path:
    path.touch()
    return path


@pytest.fixture
def ear() -> Iterator[Ear]:
    ear = Ear()
    yield ear
    ear.events.stop()


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a directory with a tool, under its real path."""
    place = tmp_path.resolve() / "tools"
    (place / "echo").mkdir(parents=True)
    (place / "echo" / "echo.py").write_text("one")
    return place


def tree(path: Path) -> Place:
    return Place(str(path), str(path))


MODULE = "echo/echo.py"
CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "written": (lambda tools: (tools / MODULE).write_text("two"), [MODULE]),
    "deleted": (lambda tools: (tools / MODULE).unlink(), [MODULE]),
    "renamed": (
        lambda tools: (tools / MODULE).rename(tools / "echo/other.py"),
        [MODULE, "echo/other.py"],
    ),
    "moved in": (lambda tools: touched(tools.parent / "new").replace(tools / MODULE), [MODULE]),
    "other permissions": (lambda tools: (tools / MODULE).chmod(0o600), [MODULE]),
    "permissions of a folder": (lambda tools: (tools / "echo").chmod(0o700), ["echo"]),
    "a folder with files": (
        lambda tools: shutil.copytree(tools / "echo", tools / "new/data"),
        ["new/data/echo.py"],
    ),
}


@pytest.mark.parametrize(("change", "paths"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_told(
    change: Callable[[Path], object], paths: list[str], ear: Ear, tools: Path
) -> None:
    ear.aim(tree(tools))
    change(tools)
    ear.all_of(*(str(tools / path) for path in paths))


def test_a_file_that_is_read_is_not_told(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    (tools / "echo" / "echo.py").read_text()
    list(tools.iterdir())
    assert ear.so_far(tools) == []


def test_a_save_by_rename_is_told(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    (tools / "echo" / "echo.py.tmp").write_text("two")
    (tools / "echo" / "echo.py.tmp").replace(tools / "echo" / "echo.py")
    heard = ear.until(tools / "echo" / "echo.py")
    assert heard == [str(tools / "echo" / "echo.py")]


def test_a_folder_moved_in_with_its_files_is_told(ear: Ear, tools: Path) -> None:
    (tools.parent / "new").mkdir()
    (tools.parent / "new" / "new.py").touch()
    ear.aim(tree(tools))
    (tools.parent / "new").rename(tools / "new")
    ear.until(tools / "new" / "new.py")
    (tools / "new" / "new.py").write_text("two")
    ear.until(tools / "new" / "new.py")


def test_every_file_of_a_burst_is_told(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    files = {str(touched(tools / "echo" / f"{number}.csv")) for number in range(500)}
    assert files <= set(ear.so_far(tools))


def test_folders_below_a_flat_place_are_not_told(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools)._replace(recursive=False))
    (tools / "echo" / "echo.py").write_text("two")
    assert ear.so_far(tools) == []


def test_two_places_of_one_directory_are_both_told(ear: Ear, tools: Path) -> None:
    one, two = Place(str(tools), "/one"), Place(str(tools), "/two")
    assert ear.aim(one, two) == {"/one", "/two"}
    touched(tools / "first")
    ear.all_of("/one/first", "/two/first")


def test_one_of_two_places_can_be_dropped(ear: Ear, tools: Path) -> None:
    kept, dropped = tree(tools), Place(str(tools), "/dropped")
    ear.aim(kept, dropped)
    ear.so_far(tools)
    assert ear.aim(kept) == set()
    touched(tools / "file")
    assert set(ear.so_far(tools)) == {str(tools / "file")}


def test_a_place_inside_another_is_told_as_both(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools), Place(str(tools / "echo"), "/inner"))
    ear.all_of(str(touched(tools / "echo" / "new")), "/inner/new")
    ear.aim(tree(tools))
    touched(tools / "echo" / "newer")
    heard = set(ear.so_far(tools))
    assert str(tools / "echo" / "newer") in heard
    assert "/inner/newer" not in heard


def test_places_that_stay_are_not_fresh(ear: Ear, tools: Path) -> None:
    assert ear.aim(tree(tools)) == {str(tools)}
    assert ear.aim(tree(tools)) == set()
    assert ear.aim(tree(tools), tree(tools / "echo")) == {str(tools / "echo")}


def test_nothing_is_watched_without_places(ear: Ear) -> None:
    before = set(threading.enumerate())
    assert ear.aim() == set()
    assert set(threading.enumerate()) <= before


@pytest.mark.parametrize("name", ["absent", "echo/echo.py", "echo/echo.py/below"])
def test_a_place_that_is_no_directory_is_tried_again(ear: Ear, tools: Path, name: str) -> None:
    place = tools / name
    assert ear.aim(tree(tools), tree(place)) == {str(tools)}
    shutil.rmtree(tools / "echo")
    place.mkdir(parents=True)
    assert str(place) in ear.aim(tree(place))
    ear.until(touched(place / "file"))


def test_a_root_that_is_deleted_and_made_again_is_watched_again(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    for _ in range(5):
        shutil.rmtree(tools)
        ear.until(tools)
        tools.mkdir()
        assert ear.aim(tree(tools)) == {str(tools)}
        ear.until(touched(tools / "file"))


def test_a_root_that_is_replaced_by_rename_is_watched_again(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    tools.rename(tools.parent / "old")
    assert ear.aim(tree(tools)) == set()
    tools.mkdir()
    assert ear.aim(tree(tools)) == {str(tools)}
    ear.until(touched(tools / "file"))


def test_a_place_is_watched_anew_when_a_folder_has_left_it(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    (tools / "echo").rename(tools.parent / "echo")
    ear.until(tools / "echo")
    assert ear.aim(tree(tools)) == {str(tools)}
    (tools / "echo").mkdir()
    (tools / "echo").rmdir()
    shutil.rmtree(tools.parent / "echo")
    ear.until(touched(tools / "file"))


def test_a_folder_that_leaves_and_comes_back_is_watched(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    (tools / "echo").rename(tools.parent / "echo")
    ear.until(tools / "echo")
    (tools.parent / "echo").rename(tools / "echo")
    ear.until(tools / "echo")
    (tools / "echo" / "echo.py").write_text("two")
    ear.until(tools / "echo" / "echo.py")


def test_a_folder_that_takes_the_place_of_one_that_left_does_no_harm(ear: Ear, tools: Path) -> None:
    for name in "abcdef":
        (tools / name).mkdir()
    first, *_, last = (path.name for path in tools.iterdir())
    ear.aim(tree(tools))
    (tools / last).rename(tools.parent / "old")
    (tools / first).rename(tools / last)
    ear.until(tools / last)
    ear.until(tools / last)
    assert ear.aim(tree(tools)) == {str(tools)}
    ear.until(touched(tools / last / "file"))


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
        events.aim([tree(tools)])
        touched(tools / "poison")
        while not isinstance(thread := told.get(timeout=PATIENCE), threading.Thread):
            pass
        thread.join(PATIENCE)
        assert events.aim([tree(tools)]) == {str(tools)}
        touched(tools / "file")
        assert told.get(timeout=PATIENCE) == str(tools / "file")
    finally:
        events.stop()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_watching_outlives_a_folder_that_left_and_its_successor(ear: Ear, tools: Path) -> None:
    ear.aim(tree(tools))
    (tools / "echo").rename(tools.parent / "echo")
    (tools / "echo").mkdir()
    ear.until(tools / "echo")
    (tools / "echo").rmdir()
    shutil.rmtree(tools.parent / "echo")
    deadline = monotonic() + PATIENCE
    while monotonic() < deadline:
        ear.aim(tree(tools))
        (tools / "file").write_text("new")
        with contextlib.suppress(Empty):
            if ear.told.get(timeout=0.05) == str(tools / "file"):
                return
    pytest.fail("nothing is told anymore")


def test_after_the_end_nothing_is_told_and_no_thread_is_left(tools: Path) -> None:
    before = set(threading.enumerate())
    ear = Ear()
    ear.aim(tree(tools), tree(tools / "echo"))
    ear.so_far(tools)
    ear.events.stop()
    ear.events.stop()
    assert set(threading.enumerate()) <= before
    number = ear.told.qsize()
    touched(tools / "file")
    assert ear.aim(tree(tools)) == set()
    assert not ear.events.has_room()
    assert set(threading.enumerate()) <= before
    assert ear.told.qsize() == number


def test_what_was_never_begun_can_be_stopped() -> None:
    Ear().events.stop()


def test_the_end_in_a_stream_of_events_is_not_complained_about(
    ear: Ear, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    is_over = threading.Event()

    def write() -> None:
        while not is_over.is_set():
            (tools / "echo" / "echo.py").write_text("two")

    writing = threading.Thread(target=write)
    writing.start()
    try:
        for _ in range(300):
            ear.aim(tree(tools))
            ear.until(tools / "echo" / "echo.py")
            ear.aim()
    finally:
        is_over.set()
        writing.join()
    assert caplog.records == []


def polling() -> BaseObserver:
    return PollingObserver(timeout=0.01)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_place_that_lost_its_thread_is_watched_again(tools: Path) -> None:
    fails = threading.Event()
    failed: SimpleQueue[threading.Thread] = SimpleQueue()

    def stat(path: str) -> os.stat_result:
        if fails.is_set():
            failed.put(threading.current_thread())
            raise ValueError(path)
        return os.stat(path)

    def observer() -> BaseObserver:
        return PollingObserverVFS(stat, os.scandir, polling_interval=0.01)

    ear = Ear(observer)
    try:
        ear.aim(tree(tools))
        fails.set()
        failed.get(timeout=PATIENCE).join(PATIENCE)
        fails.clear()
        assert ear.aim(tree(tools)) == {str(tools)}
        ear.until(touched(tools / "file"))
    finally:
        ear.events.stop()


def test_a_system_that_tells_nothing_is_asked_again_and_again(tools: Path) -> None:
    ear = Ear(polling)
    try:
        ear.aim(tree(tools))
        (tools / "echo" / "echo.py").write_text("other")
        ear.until(tools / "echo" / "echo.py")
        shutil.rmtree(tools)
        ear.until(tools)
        tools.mkdir()
        assert ear.aim(tree(tools)) == {str(tools)}
        ear.until(touched(tools / "file"))
        assert ear.events.has_room()
    finally:
        ear.events.stop()


class Failing(PollingObserver):
    """An observer that can't watch what has a certain part in its path."""

    code = errno.ENOSPC
    part = ""

    def schedule(
        self,
        event_handler: FileSystemEventHandler,
        path: str | Path,
        *,
        recursive: bool = False,
        event_filter: list[type[FileSystemEvent]] | None = None,
        **others: Any,
    ) -> ObservedWatch:
        if self.part in str(path):
            raise OSError(self.code, os.strerror(self.code), path)
        return super().schedule(
            event_handler, path, recursive=recursive, event_filter=event_filter, **others
        )


def failing(code: int, part: str = "") -> Callable[[], BaseObserver]:
    def observer() -> BaseObserver:
        made = Failing(timeout=0.01)
        made.code = code
        made.part = part
        return made

    return observer


def test_it_is_said_when_there_are_no_more_watches(tools: Path) -> None:
    ear = Ear(failing(errno.ENOSPC, "echo"))
    try:
        with pytest.raises(OSError, match="echo") as caught:
            ear.aim(tree(tools), tree(tools / "echo"))
        assert caught.value.errno == errno.ENOSPC
        ear.until(touched(tools / "file"))
        with pytest.raises(OSError, match="echo"):
            ear.aim(tree(tools / "echo"))
        assert ear.aim(tree(tools)) == {str(tools)}
    finally:
        ear.events.stop()


def test_without_a_watch_left_there_is_no_room() -> None:
    ear = Ear(failing(errno.ENOSPC))
    assert not ear.events.has_room()
    ear.events.stop()


def test_it_is_said_when_there_are_no_more_instances(tools: Path) -> None:
    def none_left() -> NoReturn:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    ear = Ear(none_left)
    with pytest.raises(OSError, match="instance limit"):
        ear.aim(tree(tools))
    assert not ear.events.has_room()
    ear.events.stop()


@pytest.mark.parametrize("code", [errno.ENOENT, errno.ENOTDIR, errno.EACCES])
def test_a_place_that_goes_away_while_it_is_scheduled_is_skipped(tools: Path, code: int) -> None:
    ear = Ear(failing(code, "echo"))
    assert ear.aim(tree(tools), tree(tools / "echo")) == {str(tools)}
    ear.events.stop()


def test_there_is_room_and_asking_is_not_told(ear: Ear, tools: Path, tmp_path: Path) -> None:
    ear.aim(tree(tools))
    assert ear.events.has_room()
    assert ear.so_far(tools) == []


FORK = """
events.aim([tree(here)])
warnings.simplefilter("ignore", DeprecationWarning)  # of forks next to threads, from 3.12 on
if (process := os.fork()) == 0:
    events.aim([])
    events.stop()
    sys.exit()
os.waitpid(process, 0)
open(here + "/file", "w").close()
print(told.get(timeout=60) == here + "/file")
events.stop()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_end_in_a_forked_child_does_not_touch_the_parent(tmp_path: Path) -> None:
    assert lines(tmp_path, FORK) == ["True"]


SECRET = """
os.mkdir("secret", 0o300)
os.mkdir("open")
print(events.aim([tree("open")]))
become(65534)
print(events.aim([tree("open"), tree("secret")]))
become(0)
os.chmod("secret", 0o755)
print(events.aim([tree("open"), tree("secret")]))
open("secret/file", "w").close()
print(told.get(timeout=60))
events.stop()
"""


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="this system has no users to become")
def test_a_place_that_may_not_be_read_is_tried_again(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert lines(tmp_path, SECRET) == ["{'open'}", "set()", "{'secret'}", "secret/file"]


LIMITED = """
import errno

def limit(name, number):
    with open(f"/proc/sys/user/max_inotify_{name}", "w") as file:
        file.write(str(number))

def attempt(*paths):
    try:
        events.aim([tree(path) for path in paths])
    except OSError as error:
        return errno.errorcode[error.errno]

os.makedirs(here + "/tools/a")
os.mkdir(here + "/tools/b")
os.mkdir(here + "/other")
limit("instances", 0)
print(attempt(here + "/tools"), events.has_room())
limit("instances", 2)
limit("watches", 4)
print(attempt(here + "/tools"), events.has_room())
limit("watches", 2)
print(attempt(here + "/tools"), events.has_room())
print(attempt(here + "/tools", here + "/other"))
limit("watches", 9)
print(attempt(here + "/tools", here + "/other"), events.has_room())
open(here + "/other/file", "w").close()
print(told.get(timeout=60) == here + "/other/file")
events.stop()
"""


def may_limit_watches() -> bool:
    """Return whether this user may make a namespace in which fewer watches are allowed."""
    limit = "/proc/sys/user/max_inotify_watches"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", f"echo 9 > {limit}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def test_running_out_of_watches_and_instances_is_noticed(tmp_path: Path) -> None:
    if not may_limit_watches():
        pytest.skip("this user may not limit the watches of a child process")
    assert lines(tmp_path, LIMITED, "unshare", "--user", "--map-root-user") == [
        "EMFILE False",
        "None True",
        "None False",
        "ENOSPC",
        "None True",
        "True",
    ]
