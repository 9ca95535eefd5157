"""What has changed in directories of modules and of procedures."""

from __future__ import annotations

from pathlib import Path

import pytest

from sovl_tools.loading.origins import MODULES, Directory, OriginLoad
from sovl_tools.reloading.code_tools import Origins
from tests.tables import check_each

CODE = Directory("/srv/code", (".py",))


@check_each(
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
    assert CODE.is_affected(touched)


@check_each(
    "touched", ["/srv/code.py", "/srv/other", "/sr", "/srv/code/runs.db", "/srv/code/a.pyc"]
)
def test_what_lies_elsewhere_does_not_nor_do_other_files(touched: str) -> None:
    assert not CODE.is_affected(touched)


class Empty:
    """An origin that is a directory without tools."""

    level = MODULES

    def __init__(self, directory: Directory) -> None:
        self.directory = directory

    def look(self) -> OriginLoad:
        return OriginLoad()


@pytest.fixture
def code(tmp_path: Path) -> Empty:
    (tmp_path / "code" / "below").mkdir(parents=True)
    for path in ("a.py", "below/b.py", "data.csv"):
        (tmp_path / "code" / path).touch()
    return Empty(Directory(str(tmp_path / "code"), (".py",)))


def looked_at(*origins: Empty) -> Origins:
    found = Origins()
    found.look(origins)
    return found


@pytest.mark.parametrize("path", ["a.py", "below/b.py", "below/c.py"])
def test_a_source_that_has_changed_is_told(path: str, code: Empty) -> None:
    origins, place = looked_at(code), Path(code.directory.path)
    (place / "data.csv").write_text("new")
    assert origins.changed() == set()
    (place / path).write_text("new")
    assert origins.changed() == {str(place)}
    origins.look([code])
    assert origins.changed() == set()


def test_a_directory_that_is_not_there_looks_empty(tmp_path: Path) -> None:
    origins = looked_at(Empty(Directory(str(tmp_path / "code"), (".py",))))
    assert origins.changed() == set()
    (tmp_path / "code").mkdir()
    assert origins.changed() == set()
    (tmp_path / "code" / "a.py").touch()
    assert origins.changed() == {str(tmp_path / "code")}


def test_those_that_are_concerned_are_found(code: Empty, tmp_path: Path) -> None:
    other = Empty(Directory(str(tmp_path / "procedures"), (".yaml",)))
    origins = looked_at(code, other)
    assert origins.directories == {code.directory.path, other.directory.path}
    assert origins.affected([f"{code.directory.path}/a.py", "/elsewhere"]) == [code]
    assert origins.affected([str(tmp_path)]) == [code, other]
    assert origins.affected([]) == []


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").touch()
    (tmp_path / "one.py").touch()
    (tmp_path / "real" / "b.py").symlink_to(tmp_path / "one.py")
    (tmp_path / "code").symlink_to(tmp_path / "real")
    directory = Directory(str(tmp_path / "code"), (".py",))
    assert looked_at(Empty(directory)).links == {
        directory.path: str(tmp_path / "real"),
        f"{directory.path}/b.py": str(tmp_path / "one.py"),
    }
