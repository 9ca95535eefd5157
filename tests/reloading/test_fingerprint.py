"""Tests for what is below a folder."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from sovl_tools.reloading.fingerprint import MAX_DEPTH, MAX_ENTRIES, Stamp, files_below
from tests.reloading.children import lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "echo"
    place.mkdir()
    (place / "echo.json").write_text("{}")
    (place / "echo.py").write_text("def echo(): ...\n")
    return place


def stamp_of(path: Path) -> Stamp:
    status = path.stat()
    return Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


FOUND: dict[str, tuple[list[str], dict[str, str], set[str], dict[str, str]]] = {
    "files": (["data/words.csv"], {}, {"data/words.csv"}, {}),
    "noise": (
        ["__pycache__/file", ".git/file", "node_modules/file", "echo.py~"],
        {".link": "echo/echo.py"},
        set(),
        {},
    ),
    "a chain of links": (
        ["../end.txt"],
        {"../middle": "end.txt", "start": "middle"},
        {"start"},
        {"start": "end.txt"},
    ),
    "a broken link": ([], {"data.csv": "absent.csv"}, set(), {"data.csv": "absent.csv"}),
    "a link to itself": ([], {"self": "echo/self"}, set(), {"self": "echo/self"}),
    "a link to a folder": (
        ["../shared/deep/words.csv"],
        {"data": "shared"},
        {"data/deep/words.csv"},
        {"data": "shared"},
    ),
    "two links to one folder": (
        ["../shared/file"],
        {"b": "shared", "a": "shared"},
        {"a/file"},
        {"a": "shared", "b": "shared"},
    ),
    "a link to a folder that is visited anyway": (
        ["zoo/file"],
        {"a": "echo/zoo"},
        {"zoo/file"},
        {"a": "echo/zoo"},
    ),
    "a loop": (["sub/file"], {"sub/up": "echo"}, {"sub/file"}, {"sub/up": "echo"}),
}
"""The files and links that are made (targets below the parent of the folder); those found."""


@pytest.mark.parametrize(("files", "links", "stamps", "targets"), FOUND.values(), ids=FOUND)
def test_files_have_stamps_and_links_have_targets(
    files: list[str], links: dict[str, str], stamps: set[str], targets: dict[str, str], folder: Path
) -> None:
    above = folder.parent.resolve()
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("a,b")
    for path, target in links.items():
        (folder / path).symlink_to(above / target)
    alias = above / "alias"
    alias.symlink_to(folder)
    found = files_below(str(folder))
    assert found.stamps == {
        path: stamp_of(folder / path) for path in ("echo.json", "echo.py", *stamps)
    }
    assert found.links == {path: str(above / target) for path, target in targets.items()}
    by_alias = files_below(str(alias))
    assert (by_alias.stamps, by_alias.links[""]) == (found.stamps, str(folder.resolve()))
    assert found.changed(files_below(str(folder))) == set()


def test_an_edit_of_the_same_length_changes_the_stamp(folder: Path) -> None:
    before = files_below(str(folder))
    (folder / "echo.json").write_text("[]")
    os.utime(folder / "echo.json", ns=(0, before.stamps["echo.json"].modified + 1))
    after = files_below(str(folder))
    assert after.stamps["echo.json"] != before.stamps["echo.json"]
    assert after.stamps["echo.py"] == before.stamps["echo.py"]


def test_a_file_that_takes_the_place_of_another_of_its_time_and_size_is_seen(folder: Path) -> None:
    before = files_below(str(folder)).stamps["echo.json"]
    other = folder.parent / "other"
    other.write_text("[]")
    os.utime(other, ns=(0, before.modified))
    other.replace(folder / "echo.json")
    after = files_below(str(folder)).stamps["echo.json"]
    assert (after.modified, after.size) == (before.modified, before.size)
    assert after.inode != before.inode


def test_the_stamp_of_a_link_is_that_of_its_target(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "target.csv"
    target.write_text("one")
    (folder / "data.csv").symlink_to(target)
    before = files_below(str(folder))
    assert before.stamps["data.csv"] == stamp_of(target)
    assert before.links == {"data.csv": str(target.resolve())}
    target.write_text("three")
    assert files_below(str(folder)).stamps["data.csv"].size == 5


def test_folders_are_looked_into_down_to_a_depth(folder: Path) -> None:
    deep = folder
    for level in range(1, MAX_DEPTH + 2):
        deep = deep / "d"
        deep.mkdir()
        (deep / f"at{level}").touch()
    names = {path.rpartition("/")[2] for path in files_below(str(folder)).stamps}
    assert names == {"echo.json", "echo.py", *(f"at{level}" for level in range(1, MAX_DEPTH + 1))}


def test_a_data_lake_does_not_hold_up_and_hides_no_manifest(folder: Path, tmp_path: Path) -> None:
    for number in range(MAX_ENTRIES + 100):
        (folder / f"{number}.csv").touch()
    (folder / "echo.py").unlink()
    (tmp_path / "echo.py").touch()
    (folder / "echo.py").symlink_to(tmp_path / "echo.py")
    found = files_below(str(folder))
    assert MAX_ENTRIES <= len(found.stamps) <= MAX_ENTRIES + 2
    assert {"echo.json", "echo.py"} <= found.stamps.keys()
    assert found.links == {"echo.py": str(tmp_path.resolve() / "echo.py")}


def test_many_folders_do_not_hold_up(folder: Path) -> None:
    for number in range(MAX_ENTRIES + 100):
        (folder / f"{number}").mkdir()
        (folder / f"{number}" / "file").touch()
    assert files_below(str(folder)).stamps.keys() == {"echo.json", "echo.py"}


@pytest.mark.parametrize("name", ["absent", "file", "x" * 300])
def test_what_is_no_folder_holds_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    found = files_below(str(tmp_path / name))
    assert found.stamps.keys() == ({""} if name == "file" else set())
    assert found.links == {}


SECRET = """
os.mkdir("secret", 0o000)
become(65534)
print(sorted(files_below(".").stamps))
become(0)
"""


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="this system has no users to become")
def test_what_may_not_be_listed_is_left_out(folder: Path) -> None:
    folder.chmod(0o755)
    assert lines(folder, SECRET) == ["['child.py', 'echo.json', 'echo.py']"]


def test_names_that_are_no_text_are_kept(folder: Path) -> None:
    try:
        (folder / os.fsdecode(b"caf\xe9.csv")).touch()
    except OSError:
        pytest.skip("this file system takes text only")
    assert os.fsdecode(b"caf\xe9.csv") in files_below(str(folder)).stamps


def test_what_comes_and_goes_meanwhile_raises_nothing(folder: Path) -> None:
    is_over = threading.Event()
    churning = threading.Thread(target=churn, args=(folder / "sub", is_over))
    churning.start()
    try:
        for _ in range(500):
            assert {"echo.json", "echo.py"} <= files_below(str(folder)).stamps.keys()
    finally:
        is_over.set()
        churning.join()


def churn(place: Path, is_over: threading.Event) -> None:
    while not is_over.is_set():
        place.mkdir()
        (place / "link").symlink_to("file")
        (place / "file").touch()
        shutil.rmtree(place)


def test_files_that_come_and_go_and_change_are_told(folder: Path) -> None:
    (folder / "sub").mkdir()
    for name in ("gone.csv", "sub/other.csv"):
        (folder / name).write_text("a")
    before = files_below(str(folder))
    (folder / "gone.csv").unlink()
    (folder / "sub" / "other.csv").write_text("ab")
    (folder / "sub" / "new.csv").touch()
    (folder / "echo.py~").touch()
    now = files_below(str(folder))
    assert before.changed(now) == {"gone.csv", "sub/other.csv", "sub/new.csv"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_does_not_hold_up(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    assert "pipe" in files_below(str(folder)).stamps


def test_only_files_that_matter_are_looked_at(folder: Path) -> None:
    before = files_below(str(folder), (".py",))
    assert before.stamps.keys() == {"echo.py"}
    (folder / "echo.json").write_text("[1]")
    assert before.changed(files_below(str(folder), (".py",))) == set()


def test_a_single_file_can_be_looked_at(folder: Path) -> None:
    module = str(folder / "echo.py")
    before = files_below(module, (".py",))
    assert before.stamps.keys() == {""}
    assert before.changed(files_below(module, (".py",))) == set()
    (folder / "echo.py").write_text("")
    assert before.changed(files_below(module, (".py",))) == {""}
    (folder / "echo.py").unlink()
    assert before.changed(files_below(module, (".py",))) == {""}
