"""A program on its own terminal, driven as someone at the keyboard would."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import clean_environment
from tests.patience import PATIENCE

UP = "\x1b[A"
CTRL_C = "\x03"
CTRL_D = "\x04"
_AT_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Makes the terminal the one from which Ctrl-C comes, and becomes the program."""

_CONTROL = re.compile(r"\x1b\[[?\d;]*[a-zA-Z]|\x1b[=>]|\x07")


class Session:
    """What is shown on the terminal, and what is typed on it."""

    def __init__(self, process: subprocess.Popen[bytes], leader: int) -> None:
        self._process = process
        self._leader = leader
        self._raw = b""
        self._seen = 0

    @property
    def sent(self) -> str:
        """All that the program has sent to the terminal so far."""
        return self._raw.decode(errors="replace")

    @property
    def shown(self) -> str:
        """All that has been shown so far, without control sequences."""
        return _CONTROL.sub("", self.sent).replace("\r", "")

    def type(self, text: str, *, end: str = "\r") -> None:
        """Type a string, and press the return key unless told otherwise."""
        os.write(self._leader, f"{text}{end}".encode())

    def await_text(self, text: str) -> str:
        """Wait until a string is shown after the last one; return what came before it."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown[self._seen :]:
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} did not follow {self._seen} of:\n{self.shown}"
            self._read(left, text)
        start = self.shown.index(text, self._seen)
        before = self.shown[self._seen : start]
        self._seen = start + len(text)
        return before

    def _read(self, seconds: float, text: str) -> None:
        if select.select([self._leader], [], [], seconds)[0]:
            try:
                self._raw += os.read(self._leader, 65536)
            except OSError:
                message = f"the program ended before {text!r} came:\n{self.shown[self._seen :]}"
                raise AssertionError(message) from None

    def await_end(self) -> int:
        """Read on to the end and return the exit code."""
        deadline = time.monotonic() + PATIENCE
        while select.select([self._leader], [], [], deadline - time.monotonic())[0]:
            try:
                chunk = os.read(self._leader, 65536)
            except OSError:
                break
            if not chunk:
                break
            self._raw += chunk
            assert time.monotonic() < deadline, f"it continues and on:\n{self.shown[-2000:]}"
        return self._process.wait(PATIENCE)


@contextmanager
def session(
    directory: Path,
    *arguments: str,
    output: str | None = None,
    python: str = sys.executable,
    **environment: str,
) -> Iterator[Session]:
    """Run ``sovl-tools`` on a terminal in a directory; it is killed at the end if need be.

    ``output`` is a file in the directory that takes the standard output instead.
    """
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (50, 200))
    taken = follower if output is None else os.open(directory / output, os.O_CREAT | os.O_WRONLY)
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_TERMINAL, python, "-P", "-m", "sovl_tools", *arguments],
        cwd=directory,
        env={**clean_environment(), "TERM": "xterm", **environment},
        stdin=follower,
        stdout=taken,
        stderr=follower,
        start_new_session=True,
    )
    for each in {follower, taken}:
        os.close(each)
    try:
        yield Session(process, leader)
    finally:
        process.kill()
        process.wait()
        os.close(leader)
