from __future__ import annotations

import os
from pathlib import Path

import pytest

from sovl_tools.scaffolding.files import create_folder, replace_files


def entries(root: Path) -> list[str]:
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*"))


def test_a_folder_is_there_with_all_its_files(tmp_path: Path) -> None:
    create_folder(f"{tmp_path}/a/b", {"x": b"1", "y": b"2"})
    assert entries(tmp_path) == ["a", "a/b", "a/b/x", "a/b/y"]


def test_a_folder_that_can_not_be_made_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        create_folder(f"{tmp_path}/a", {"x": b"1", "no/where": b"2"})
    assert entries(tmp_path) == []


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("nowhere")
    with pytest.raises(FileExistsError, match="File exists"):
        create_folder(f"{tmp_path}/a", {})


def test_a_file_is_replaced_with_its_permissions_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.write_bytes(b"old")
    real.chmod(0o640)
    (tmp_path / "link").symlink_to("real")
    replace_files(str(tmp_path), {"link": b"new", "other": b"1"})
    assert (real.read_bytes(), (tmp_path / "link").is_symlink()) == (b"new", True)
    assert os.stat(real).st_mode & 0o777 == 0o640
    assert entries(tmp_path) == ["link", "other", "real"]


def test_if_one_file_can_not_be_written_none_is(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    (tmp_path / "y").mkdir()
    with pytest.raises(IsADirectoryError, match="Is a directory"):
        replace_files(str(tmp_path), {"x": b"new", "y": b"new"})
    assert entries(tmp_path) == ["x", "y"]
    assert (tmp_path / "x").read_bytes() == b"old"
