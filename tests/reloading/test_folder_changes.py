"""What has changed in folders since they were loaded."""

from __future__ import annotations

import os
from pathlib import Path
from time import time_ns

import pytest

from sovl_tools.loading.pipeline import load_folder
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reloading.fingerprint import Fingerprint, FolderChanges, fingerprint
from tests.conftest import REPOSITORY, Write, manifest_of

LONG_AGO = 1_000_000_000_000_000_000


class Watched:
    """A tool's folder that was loaded, and what is known of it."""

    def __init__(self, folder: Path, since: int = 0, *, is_loaded: bool = True) -> None:
        self.path = folder
        self.folder = ToolFolder(folder.name, f"tools/{folder.name}", str(folder))
        candidate = load_folder(self.folder, Settings(imports=False))
        self.patterns = candidate.patterns if is_loaded else None
        self.changes = FolderChanges([str(folder)], since=since)

    def load(self) -> None:
        self.keep(fingerprint(self.folder.location))

    def keep(self, seen: Fingerprint) -> None:
        self.changes.keep(self.folder, seen, self.patterns)

    def has_other_data(self) -> bool:
        seen = self.changes.look(self.folder, self.patterns)
        return self.changes.has_other_data(self.folder, seen, self.patterns)

    def is_changed(self) -> bool:
        seen = self.changes.look(self.folder, self.patterns)
        return self.changes.is_changed(self.folder, seen, self.patterns)


@pytest.fixture
def echo(write: Write) -> Watched:
    return Watched(write("echo", manifest_of("echo", reload=["*.csv"])))


def put(path: Path, text: str, age: int = 0) -> None:
    """Write a file whose time of modification is told from that of any other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(LONG_AGO + age, LONG_AGO + age))


def test_manifest_and_module_are_no_data(echo: Watched) -> None:
    echo.load()
    put(echo.path / "echo.json", "other")
    put(echo.path / "echo.py", "other")
    assert not echo.has_other_data()


def test_a_file_beside_them_is_data_whether_new_other_or_gone(echo: Watched) -> None:
    echo.load()
    for age in (1, 2):
        put(echo.path / "words.csv", "a,b", age)
        assert echo.has_other_data()
        echo.load()
        assert not echo.has_other_data()
    (echo.path / "words.csv").unlink()
    assert echo.has_other_data()


def test_in_a_folder_that_nobody_looked_at_the_times_of_data_tell(echo: Watched) -> None:
    put(echo.path / "words.csv", "a,b")
    assert echo.has_other_data()
    assert not Watched(echo.path, since=2 * time_ns()).has_other_data()


def test_a_quiet_load_ends_the_count_of_those_that_wrote(
    echo: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(3):
        seen = fingerprint(echo.folder.location)
        put(echo.path / "words.csv", "a,b", number)
        echo.keep(seen)
        echo.load()
    assert caplog.messages == []


def test_a_folder_is_changed_if_a_file_is(echo: Watched) -> None:
    assert echo.is_changed()
    echo.load()
    assert not echo.is_changed()
    put(echo.path / "echo.json", "{}")
    assert echo.is_changed()


def test_a_folder_that_has_other_files_than_when_it_was_loaded_is_changed(tmp_path: Path) -> None:
    link = tmp_path / "slugify"
    link.symlink_to(REPOSITORY / "tools" / "slugify")
    linked = Watched(link)
    linked.load()
    assert not linked.is_changed()
    link.unlink()
    link.mkdir()
    assert linked.is_changed()


def test_what_was_written_before_the_load_is_as_it_was_loaded(echo: Watched) -> None:
    put(echo.path / "words.csv", "a,b")
    late = Watched(echo.path, since=time_ns() + 3_000_000_000)
    assert not late.is_changed()
    put(echo.path / "words.csv", "a,b,c")
    assert late.is_changed()
    assert late.has_other_data()


def test_what_was_written_since_the_load_may_be_another_version(echo: Watched) -> None:
    late = Watched(echo.path, since=time_ns() - 1_000_000_000)
    assert late.is_changed()


def test_links_are_known_by_their_places(echo: Watched, write: Write, tmp_path: Path) -> None:
    put(tmp_path / "words.csv", "a,b")
    (echo.path / "link.csv").symlink_to(tmp_path / "words.csv")
    assert echo.changes.links == {}
    echo.load()
    other = tmp_path / "tools" / "other"
    other.symlink_to(echo.path)
    linked = ToolFolder("other", "tools/other", str(other))
    echo.changes.keep(linked, fingerprint(str(other)), echo.patterns)
    target = str(tmp_path.resolve() / "words.csv")
    assert echo.changes.links == {
        str(echo.path / "link.csv"): target,
        str(other / "link.csv"): target,
        str(other): str(echo.path.resolve()),
    }
