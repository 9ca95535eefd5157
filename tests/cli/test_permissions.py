"""Directories that no one may look into, for a user who is rejected: root is without its rights."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import Run, Write

_IS_ROOT = os.geteuid() == 0

pytestmark = pytest.mark.skipif(
    _IS_ROOT and sys.platform != "linux", reason="root can read everything"
)

Said = Callable[..., tuple[int, str]]

_VERSION = 0x20080522  # of capget's structures
_RIGHTS = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


@contextmanager
def refused() -> Iterator[None]:
    """Take from this thread what root may do with others' files, until the end."""
    if not _IS_ROOT:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: the low bits, then the high
    assert libc.capget(header, held) == 0
    less = (ctypes.c_uint32 * 6)(held[0] & ~_RIGHTS, *held[1:])
    assert libc.capset(header, less) == 0
    try:
        yield
    finally:
        assert libc.capset(header, held) == 0


@contextmanager
def closed(place: Path) -> Iterator[None]:
    place.chmod(0)
    try:
        with refused():
            yield
    finally:
        place.chmod(0o755)


@pytest.fixture
def said(run: Run) -> Said:
    def command(*arguments: str) -> tuple[int, str]:
        done = run(*arguments)
        assert "Traceback" not in done.out + done.err
        return done.code, done.out + done.err

    return command


def test_what_can_not_be_listed_is_told_and_takes_no_other_down(
    said: Said, write: Write, tmp_path: Path
) -> None:
    write("echo")
    tool = write("odd")
    (tmp_path / "procedures").mkdir()
    (tmp_path / "plugins").mkdir()
    configured = '[tool.sovl-tools]\nplugins = ["plugins"]\n'
    (tmp_path / "pyproject.toml").write_text(configured)
    with closed(tool):
        code, out = said("validate", "--no-import")
        assert (code, "ST104 odd.json can't be read: Permission denied" in out) == (1, True)
        code, out = said("validate", "--no-import", "tools/odd")
        assert (code, "tools/odd can't be listed: Permission denied" in out) == (1, True)
    for name, code, words in (
        ("tools", 1, "tools: ST101 tools can't be listed: Permission denied"),
        ("procedures", 2, "Error: 'procedures' can't be listed: Permission denied"),
        ("plugins", 1, "plugins: ST701 the directory can't be listed: Permission denied"),
        ("pyproject.toml", 2, "Permission denied"),
    ):
        with closed(tmp_path / name):
            found, out = said("validate", "--no-import")
            assert (found, words in out) == (code, True), (name, out)


@pytest.mark.parametrize(
    "arguments",
    [
        ("list",), ("search", "x"), ("match", "x"), ("export", "--format", "openai"),
        ("call", "echo", "{}"), ("show", "echo"), ("test",), ("diff", "tools", "."),
    ],
)  # fmt: skip
def test_no_command_takes_a_closed_directory_for_an_empty_one(
    said: Said, write: Write, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    write("echo")
    with closed(tmp_path / "tools"):
        code, out = said(*arguments)
    assert (code, out) == (2, "Error: tools can't be listed: Permission denied\n")


def test_no_lock_is_lost(said: Said, write: Write, tmp_path: Path) -> None:
    write("echo")
    (tmp_path / "pyproject.toml").touch()
    assert said("lock")[0] == 0
    locked = (tmp_path / "sovl-tools.lock").read_bytes()
    with closed(tmp_path / "tools"):
        code, out = said("lock")
        assert (code, "sovl-tools.lock is unchanged" in out) == (1, True)
    assert (tmp_path / "sovl-tools.lock").read_bytes() == locked
