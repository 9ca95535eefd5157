"""What has changed in directories of modules and of procedures."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sovl_tools.loading.directories import Directories, Directory
from sovl_tools.watching.survey import COARSE_TICK

LONG_AGO = 1_600_000_000
NONE = -(10**18)
"""A tick so short that every stamp is of another moment."""

CODE = Directory("/srv/code", (".py",))


@pytest.mark.parametrize(
    "touched",
    [
        "/srv/code",
        "/srv",
        "/srv/code/echo.py",
        "/srv/code/below/words.py",
        "/srv/code/below",
        "/srv/code/below/more",
    ],
)
def test_sources_and_directories_below_count_and_what_lies_above(touched: str) -> None:
    assert CODE.is_concerned(touched)


@pytest.mark.parametrize(
    "touched", ["/srv/code.py", "/srv/other", "/sr", "/srv/code/runs.db", "/srv/code/a.pyc"]
)
def test_what_lies_elsewhere_does_not_nor_do_other_files(touched: str) -> None:
    assert not CODE.is_concerned(touched)


@pytest.fixture
def code(tmp_path: Path) -> Directory:
    """A directory that nobody has touched for long."""
    (tmp_path / "code" / "below").mkdir(parents=True)
    for path in ("a.py", "below/b.py", "data.csv"):
        write(tmp_path / "code" / path, "")
    return Directory(str(tmp_path / "code"), (".py",))


def write(path: Path, text: str, *, at: int = LONG_AGO) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


def looked_at(directory: Directory, tick: int = COARSE_TICK) -> Directories:
    found = Directories(tick)
    found.look(directory)
    return found


def test_a_file_that_was_written_a_moment_ago_may_change_without_a_trace(code: Directory) -> None:
    directories = looked_at(code)
    assert directories.changed() == {code.path}, "the time of its inode can't be set back"
    write(Path(code.path, "data.csv"), "new")
    assert looked_at(Directory(code.path, (".csv",))).changed() == {code.path}


@pytest.mark.parametrize("path", ["a.py", "below/b.py", "below/c.py"])
def test_a_source_that_has_changed_is_told(path: str, code: Directory) -> None:
    directories = looked_at(code, NONE)
    assert directories.changed() == set()
    write(Path(code.path, "data.csv"), "new")
    assert directories.changed() == set()
    write(Path(code.path, path), "new")
    assert directories.changed() == {code.path}
    directories.look(code)
    assert directories.changed() == set()


def test_a_directory_that_is_not_there_looks_empty(tmp_path: Path) -> None:
    directory = Directory(str(tmp_path / "code"), (".py",))
    directories = looked_at(directory, NONE)
    assert directories.changed() == set()
    (tmp_path / "code").mkdir()
    assert directories.changed() == set()
    (tmp_path / "code" / "a.py").touch()
    assert directories.changed() == {directory.path}


def test_those_that_are_concerned_are_found(code: Directory, tmp_path: Path) -> None:
    directories = looked_at(code)
    other = Directory(str(tmp_path / "procedures"), (".yaml",))
    directories.look(other)
    assert directories.paths == {code.path, other.path}
    assert directories.concerned([f"{code.path}/a.py", "/elsewhere"]) == {code}
    assert directories.concerned([str(tmp_path)]) == {code, other}
    assert directories.concerned([]) == set()


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").touch()
    (tmp_path / "one.py").touch()
    (tmp_path / "real" / "b.py").symlink_to(tmp_path / "one.py")
    (tmp_path / "code").symlink_to(tmp_path / "real")
    directory = Directory(str(tmp_path / "code"), (".py",))
    assert looked_at(directory).links == {
        directory.path: str(tmp_path / "real"),
        f"{directory.path}/b.py": str(tmp_path / "one.py"),
    }
