"""Tests for what is below a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from sovl_tools.reloading.fingerprint import MAX_ENTRIES, files_below
from tests.tables import check_each


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "echo"
    place.mkdir()
    (place / "echo.py").write_text("def echo(): ...\n")
    return place


@check_each(
    ("files", "links", "found"),
    [
        (["data/words.csv"], {}, {"data/words.csv"}),
        (["__pycache__/file", ".git/file", "echo.py~"], {".link": "echo.py"}, set()),
        ([], {"data.csv": "absent.csv"}, set()),
        ([], {"main.py": "echo.py"}, {"main.py"}),
        (["sub/file"], {"sub/up": "../sub"}, {"sub/file"}),
        (["../shared/f"], {"a": "../shared", "b": "../shared"}, {"?/f"}),
    ],
)
def test_files_and_links_are_found_once(
    files: list[str],
    links: dict[str, str],
    found: set[str],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("folder") / "echo"
    for path in ["echo.py", *files]:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("a,b")
    for path, target in links.items():
        (folder / path).symlink_to(target)
    below = files_below(str(folder))
    paths = {path.removeprefix(f"{folder}/") for path in below.stamps}
    assert len(paths) == len(found) + 1
    assert "?/f" in found or paths == {"echo.py", *found}
    assert below.links == {f"{folder}/{path}" for path in links if not path.startswith(".")}


def test_a_data_lake_does_not_hold_up(folder: Path) -> None:
    for number in range(MAX_ENTRIES + 100):
        (folder / f"{number}.csv").touch()
    assert len(files_below(str(folder)).stamps) == MAX_ENTRIES - 1


@pytest.mark.parametrize("name", ["absent", "x" * 300, "a\0b"])
def test_what_is_no_folder_holds_nothing(tmp_path: Path, name: str) -> None:
    assert files_below(f"{tmp_path}/{name}") == ({}, frozenset())


def test_changes_of_a_folder_and_of_a_single_file_are_told(folder: Path) -> None:
    module = str(folder / "echo.py")
    before, alone = files_below(str(folder), (".py",)), files_below(module, (".py",))
    (folder / "echo.csv").touch()
    assert before.changed(files_below(str(folder), (".py",))) == set()
    (folder / "echo.py").write_text("def echo(): 123\n")
    (folder / "new.py").touch()
    assert before.changed(files_below(str(folder), (".py",))) == {module, f"{folder}/new.py"}
    assert alone.changed(files_below(module, (".py",))) == {module}
