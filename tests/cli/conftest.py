"""Running the command line as users do: a process of its own, in a directory of its own."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Done, Run, Write, clean_environment


@pytest.fixture
def terminal(tmp_path: Path) -> Run:
    """Run ``sovl-tools`` on a terminal; its two outputs come as one."""

    def command(*arguments: str, **environment: str) -> Done:
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sovl_tools", *arguments],
            cwd=tmp_path,
            env={**clean_environment(), "COLUMNS": "200", **environment},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        text = _all_of(leader)
        os.close(leader)
        return Done(process.wait(), text, text)

    return command


def _all_of(descriptor: int) -> str:
    chunks = []
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    return b"".join(chunks).decode()


@pytest.fixture
def echo(write: Write) -> Path:
    """A tool that prints as it is imported and as it is called."""
    code = (
        "import os\n\nprint('imported')\n\n\n"
        "def echo(text: str) -> dict:\n"
        "    print('called')\n    os.system('echo from a child')\n"
        "    return {'said': text}\n"
    )
    return write("echo", code=code)
