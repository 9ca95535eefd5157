"""What has changed in folders since they were loaded."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from time import time_ns

import pytest

from sovl_tools.loading.pipeline import load_folder
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reloading.fingerprint import Fingerprint, FolderChanges, fingerprint
from tests.conftest import REPOSITORY, Write, manifest_of

HELPED = "from . import helpers\n\n\ndef echo(text: str):\n    return text\n"
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


def test_a_file_below_is_data(echo: Watched) -> None:
    echo.load()
    put(echo.path / "data" / "words.csv", "a,b")
    assert echo.has_other_data()


def test_noise_is_no_data(echo: Watched) -> None:
    echo.load()
    put(echo.path / "echo.py~", "old")
    put(echo.path / "__pycache__" / "echo.pyc", "")
    assert not echo.has_other_data()


def test_a_helper_that_the_module_can_import_is_no_data(write: Write) -> None:
    echo = Watched(write("echo", code=HELPED, helpers="WORD = 1\n"))
    echo.load()
    put(echo.path / "helpers.py", "WORD = 2\n")
    assert not echo.has_other_data()


@pytest.mark.parametrize("listed", [[], ["*.py"]])
def test_a_python_file_that_the_module_can_only_read_is_data_if_it_is_listed(
    write: Write, listed: list[str]
) -> None:
    echo = Watched(write("echo", manifest_of("echo", reload=listed), helpers="WORD = 1\n"))
    echo.load()
    put(echo.path / "helpers.py", "WORD = 2\n")
    assert echo.has_other_data() == bool(listed)


def test_beside_a_tool_that_did_not_load_every_file_is_data(write: Write) -> None:
    echo = Watched(write("echo"), is_loaded=False)
    echo.load()
    put(echo.path / "words.txt", "a")
    assert echo.is_changed()
    assert echo.has_other_data()


def test_a_file_that_is_not_listed_is_none(write: Write) -> None:
    echo = Watched(write("echo", manifest_of("echo", reload=["words/*"])))
    echo.load()
    put(echo.path / "words.txt", "a")
    assert not echo.is_changed()
    put(echo.path / "words" / "more" / "a.txt", "a")
    assert echo.is_changed()
    assert echo.has_other_data()


def test_beside_a_module_that_can_not_be_read_everything_is_data(write: Write) -> None:
    manifest = manifest_of("echo", reload=["*.py"])
    echo = Watched(write("echo", manifest, code=HELPED, helpers="WORD = 1\n"))
    echo.load()
    (echo.path / "echo.py").unlink()
    assert not echo.has_other_data()
    put(echo.path / "helpers.py", "WORD = 2\n")
    assert echo.has_other_data()


def test_in_a_folder_that_nobody_looked_at_the_times_of_data_tell(echo: Watched) -> None:
    put(echo.path / "words.csv", "a,b")
    assert echo.has_other_data()
    assert not Watched(echo.path, since=2 * time_ns()).has_other_data()


def test_what_takes_the_place_of_a_forgotten_folder_is_other(echo: Watched) -> None:
    put(echo.path / "words.csv", "a,b")
    late = Watched(echo.path, since=2 * time_ns())
    late.changes.forget(echo.folder.location)
    assert late.is_changed()
    assert late.has_other_data()
    echo.load()
    assert not echo.has_other_data()
    echo.changes.forget(echo.folder.location)
    assert echo.has_other_data()


def test_a_file_that_was_written_during_the_load_is_seen_afterwards(echo: Watched) -> None:
    seen = fingerprint(echo.folder.location)
    put(echo.path / "words.csv", "a,b")
    echo.keep(seen)
    assert echo.has_other_data()


def test_a_module_that_writes_at_each_load_is_told_of_and_left_alone(
    echo: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "sovl_tools")
    for number in range(10):
        assert caplog.messages == []
        seen = fingerprint(echo.folder.location)
        put(echo.path / "words.csv", "a,b", number)
        echo.keep(seen)
    assert caplog.messages == ["tool tools/echo writes into its own folder when it is imported"]
    assert not echo.has_other_data()
    assert not echo.is_changed()
    put(echo.path / "words.csv", "a,b", 99)
    assert echo.has_other_data()
    assert echo.is_changed()


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


@pytest.mark.parametrize("name", ["echo.json", "echo.py"])
def test_a_file_that_is_missing_is_looked_for_again(echo: Watched, name: str) -> None:
    (echo.path / name).unlink()
    assert Watched(echo.path, since=2 * time_ns()).is_changed()


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
