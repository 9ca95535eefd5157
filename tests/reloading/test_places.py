"""Which directories are watched for which paths, and under which path an event is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from watchdog.events import (
    DirDeletedEvent,
    DirMovedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
)

from sovl_tools.reloading import events
from sovl_tools.reloading.events import Listener, Place, Target, places
from tests.tables import check_each

TREE = Place("/real/tools", "/named/tools")
LINKED = Place("/real/data", "/named/tools/echo/words.csv", only="words-2.csv")
BUSY = Place("/real", "/named/other", recursive=False)


def told(place: Place, *events: FileSystemEvent) -> list[str]:
    paths: list[str] = []
    hear(place, paths, *events)
    return paths


def hear(place: Place, paths: list[str], *events: FileSystemEvent) -> Listener:
    target = Target(place.real, place.recursive and place.only is None)
    listener = Listener(paths.append, target, frozenset([place]))
    for event in events:
        listener.dispatch(event)
    return listener


@check_each("path", ["/real/tools/echo/echo.py", b"/real/tools/echo/echo.py"])
def test_what_happens_at_the_real_path_is_told_under_the_logical_one(path: str | bytes) -> None:
    assert told(TREE, FileModifiedEvent(path)) == ["/named/tools/echo/echo.py"]


def test_a_name_that_is_no_text_is_told_as_python_writes_it() -> None:
    assert told(TREE, FileModifiedEvent(b"/real/tools/caf\xe9")) == ["/named/tools/caf\udce9"]


def test_both_paths_of_a_move_are_told() -> None:
    moved = FileMovedEvent("/real/tools/a.py", "/real/tools/b.py")
    assert told(TREE, moved) == ["/named/tools/a.py", "/named/tools/b.py"]


def test_a_save_by_rename_is_told_without_the_noise() -> None:
    saved = FileMovedEvent("/real/tools/.a.py.swp", "/real/tools/a.py")
    assert told(TREE, saved) == ["/named/tools/a.py"]


@check_each("rest", ["echo.py~", "__pycache__/echo.pyc", ".git/index.lock/x.py"])
def test_noise_is_not_told_wherever_it_stands(rest: str) -> None:
    assert told(TREE, FileModifiedEvent(f"/real/tools/{rest}")) == []


def test_a_place_below_noise_is_told() -> None:
    hidden = Place("/real/.cache/tools", "/tools")
    assert told(hidden, FileModifiedEvent("/real/.cache/tools/echo.py")) == ["/tools/echo.py"]


def test_the_end_of_the_place_is_told_as_the_place() -> None:
    assert told(TREE, DirDeletedEvent("/real/tools")) == ["/named/tools"]


def test_of_a_target_the_link_is_told_and_of_its_neighbours_nothing() -> None:
    near = ("words-1.csv", "words-2.csv.x", "words-2.csv/inner")
    assert told(LINKED, *[FileModifiedEvent(f"/real/data/{name}") for name in near]) == []
    assert told(LINKED, FileModifiedEvent("/real/data/words-2.csv")) == [LINKED.logical]
    assert told(LINKED, DirDeletedEvent("/real/data")) == [LINKED.logical]


def test_a_target_whose_name_is_noise_is_told() -> None:
    place = Place("/real", "/tools/echo/words", only=".words.bak")
    assert told(place, FileModifiedEvent("/real/.words.bak")) == ["/tools/echo/words"]


def test_a_place_of_the_whole_system_tells_absolute_paths() -> None:
    assert told(Place("/", "/"), FileModifiedEvent("/etc/hosts")) == ["/etc/hosts"]
    assert told(Place("/", "/tools", only="tools"), FileModifiedEvent("/hosts")) == []


@check_each(
    ("place", "event", "is_worn"),
    [
        (TREE, DirDeletedEvent("/real/tools"), True),
        (TREE, DirDeletedEvent("/real/tools/echo/__pycache__"), True),
        (TREE, DirMovedEvent("/real/tools/a", "/real/tools/b"), False),
        (TREE, FileDeletedEvent("/real/tools/a.py"), False),
        (BUSY, DirDeletedEvent("/real"), True),
        (BUSY, DirDeletedEvent("/real/neighbour"), False),
    ],
)
def test_a_listener_is_worn_when_a_watched_folder_is_gone(
    place: Place, event: FileSystemEvent, *, is_worn: bool
) -> None:
    assert hear(place, [], event).is_worn is is_worn


@pytest.fixture
def here(tmp_path: Path) -> Path:
    place = tmp_path.resolve()
    (place / "tools" / "echo").mkdir(parents=True)
    (place / "tools" / "echo" / "echo.py").touch()
    return place


def test_a_directory_is_watched_with_all_below(here: Path) -> None:
    tools = str(here / "tools")
    assert places([tools], {}) == {Place(tools, tools)}


def test_a_linked_directory_is_watched_where_it_is(here: Path) -> None:
    link = here / "link"
    link.symlink_to("tools")
    assert places([str(link / "echo")], {}) == {
        Place(str(here / "tools" / "echo"), str(link / "echo")),
        Place(str(here), str(link / "echo"), recursive=False, only="link"),
    }


@check_each(
    ("links", "path", "found"),
    [
        ({}, "tools/echo", []),
        ({"a": "tools"}, "a", ["a"]),
        ({"a": "tools"}, "a/echo/echo.py", ["a"]),
        ({"a": "b", "b": "c", "c": "tools"}, "a/echo", ["a", "b", "c"]),
        ({"a": "{here}/tools"}, "a/echo", ["a"]),
        ({"a": "../{name}/tools"}, "a/echo", ["a"]),
        ({"tools/up": "../b", "b": "tools/echo"}, "tools/up/../echo", ["tools/up", "b"]),
        ({"tools/x": "echo", "a": "tools/x/.."}, "a/x", ["a", "tools/x", "tools/x"]),
        ({"a": "b/echo", "b": "tools"}, "a/echo.py", ["a", "b"]),
        ({"a": "absent/x"}, "a/y", ["a"]),
        ({"a": "b/b", "b": "./tools/."}, "a", ["a", "b"]),
    ],
)
def test_every_link_on_the_way_is_known(
    links: dict[str, str], path: str, found: list[str], tmp_path: Path
) -> None:
    place = tmp_path.resolve() / "-".join([*links.values(), path]).translate({47: "-", 46: "_"})
    (place / "tools" / "echo").mkdir(parents=True)
    for name, target in links.items():
        (place / name).symlink_to(target.format(here=place, name=place.name))
    assert events.links_to(str(place / path)) == [str(place / each) for each in found]


def test_a_loop_of_links_ends(here: Path) -> None:
    (here / "a").symlink_to("b")
    (here / "b").symlink_to("a")
    assert {*events.links_to(str(here / "a" / "x"))} == {str(here / "a"), str(here / "b")}


@pytest.mark.parametrize("name", ["tools/echo/echo.py", "tools/absent"])
def test_a_file_and_what_is_not_there_are_watched_from_above(here: Path, name: str) -> None:
    path = here / name
    assert places([str(path)], {}) == {
        Place(str(path.parent), str(path), recursive=False, only=path.name)
    }


def test_a_link_to_a_file_is_watched_where_the_file_is(here: Path) -> None:
    link, target = str(here / "tools" / "echo" / "data"), here / "data-2"
    assert places([], {link: str(target)}) == {
        Place(str(here), link, recursive=False, only="data-2")
    }
    target.mkdir()
    assert places([], {link: str(target)}) == {Place(str(target), link)}


def test_of_a_linked_directory_that_is_huge_it_alone_is_watched(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MAX_LINKED", 3)
    huge, link = here / "huge", str(here / "tools" / "echo" / "all")
    (huge / "below").mkdir(parents=True)
    for number in range(3):
        (huge / "below" / str(number)).touch()
    assert places([], {link: str(huge)}) == {Place(str(huge), link, recursive=False)}
    assert places([str(huge)], {}) == {Place(str(huge), str(huge))}


def test_a_path_that_two_name_is_one_place(here: Path) -> None:
    tools = str(here / "tools")
    assert places([tools, tools], {tools: tools}) == {Place(tools, tools)}
    assert places([], {}) == set()
