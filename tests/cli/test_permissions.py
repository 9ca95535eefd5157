"""Directories that nobody may look into, for a user who is refused: root is without its rights."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Write, clean_environment

_RIGHTS = "--bounding-set=-dac_override,-dac_read_search"
_BECOMING = () if os.geteuid() else (shutil.which("setpriv"), _RIGHTS)

pytestmark = pytest.mark.skipif(None in _BECOMING, reason="root may read everything")


@contextmanager
def closed(place: Path) -> Iterator[None]:
    place.chmod(0)
    try:
        yield
    finally:
        place.chmod(0o755)


def said(place: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [*map(str, _BECOMING), sys.executable, "-m", "sovl_tools", *arguments],
        cwd=place,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stdout
    return done.returncode, done.stdout


def test_what_can_not_be_listed_is_told_and_takes_no_other_down(
    write: Write, tmp_path: Path
) -> None:
    write("echo")
    tool = write("odd")
    (tmp_path / "procedures").mkdir()
    (tmp_path / "plugins").mkdir()
    configured = '[tool.sovl-tools]\nplugins = ["plugins"]\n'
    (tmp_path / "pyproject.toml").write_text(configured)
    with closed(tool):
        code, out = said(tmp_path, "validate", "--no-import")
        assert (code, "ST104 odd.json can't be read: Permission denied" in out) == (1, True)
        code, out = said(tmp_path, "validate", "--no-import", "tools/odd")
        assert (code, "tools/odd can't be listed: Permission denied" in out) == (1, True)
    for name, code, words in (
        ("tools", 1, "tools: ST101 tools can't be listed: Permission denied"),
        ("procedures", 2, "Error: 'procedures' can't be listed: Permission denied"),
        ("plugins", 1, "plugins: ST701 the directory can't be listed: Permission denied"),
        ("pyproject.toml", 2, "Permission denied"),
    ):
        with closed(tmp_path / name):
            found, out = said(tmp_path, "validate", "--no-import")
            assert (found, words in out) == (code, True), (name, out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",), ("search", "x"), ("match", "x"), ("export", "--format", "openai"),
        ("call", "echo", "{}"), ("show", "echo"), ("test",), ("diff", "tools", "."),
    ],
)  # fmt: skip
def test_no_command_takes_a_closed_directory_for_an_empty_one(
    write: Write, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write("echo")
    with closed(tmp_path / "tools"):
        code, out = said(tmp_path, *arguments)
    assert (code, out) == (2, "Error: tools can't be listed: Permission denied\n")


def test_neither_lock_nor_cache_is_lost(write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "pyproject.toml").touch()
    assert said(tmp_path, "lock")[0] == 0
    locked = (tmp_path / "sovl-tools.lock").read_bytes()
    with closed(tmp_path / "tools"):
        code, out = said(tmp_path, "lock")
        assert (code, "sovl-tools.lock is left as it is" in out) == (1, True)
    assert (tmp_path / "sovl-tools.lock").read_bytes() == locked
    cache = tmp_path / ".sovl_tools_cache"
    assert said(tmp_path, "validate", "--no-import")[0] == 0
    with closed(cache):
        assert said(tmp_path, "validate", "--no-import")[0] == 0
        code, out = said(tmp_path, "clean")
        assert (code, "Permission denied" in out) == (1, True)
    assert said(tmp_path, "clean") == (0, f"removed {cache}\n")
