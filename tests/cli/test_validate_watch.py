"""``validate --watch``: checking again whenever a file changes."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import pytest

from tests.conftest import Write, clean_environment, code_of, manifest_of
from tests.patience import PATIENCE

WATCHING = "watching; Ctrl-C ends it"


class Watch:
    """A command that watches, and the lines that it prints."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: SimpleQueue[str] = SimpleQueue()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line.rstrip("\n"))

    def round(self) -> list[str]:
        """Wait until a check is over; return its lines."""
        lines: list[str] = []
        while (line := self._lines.get(timeout=PATIENCE)) != WATCHING:
            lines.append(line)
        return lines

    def until(self, words: str) -> None:
        """Wait for a check that says something: an edit can be seen in two halves."""
        while not any(words in line for line in self.round()):
            pass


@contextmanager
def watching(place: Path, *arguments: str) -> Iterator[Watch]:
    command = [sys.executable, "-m", "sovl_tools", "validate", "--watch", "--format", "concise"]
    with subprocess.Popen(
        [*command, *arguments],
        cwd=place,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield Watch(process)
        finally:
            process.kill()


@pytest.mark.unmeasured
def test_every_change_is_checked_until_ctrl_c(write: Write, tmp_path: Path) -> None:
    folder = write("echo")
    with watching(tmp_path) as watch:
        assert watch.round()[-1].endswith("1 loaded; no problems")
        (folder / "echo.py").write_text("def other(): ...\n")
        watch.until("ST401")
        (folder / "echo.py").write_text(code_of("echo"))
        watch.until("1 loaded; no problems")
        write("more", manifest_of("more"))
        watch.until("2 loaded; no problems")
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(PATIENCE) == 0
