"""Running the command line as users do: its own process, in its own directory."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.commands import Request, run_in_process
from tests.conftest import Done, Run, Write, clean_environment
from tests.patience import PATIENCE

Shell = Callable[[str], subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Run ``sovl-tools`` with the redirections of a shell."""

    def command(line: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-c", f"{sys.executable} -P -m sovl_tools {line}"],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )

    return command


@pytest.fixture
def terminal(tmp_path: Path) -> Run:
    """Run ``sovl-tools`` on a terminal; its two outputs come as one."""

    def command(*arguments: str, **environment: str) -> Done:
        leader, follower = pty.openpty()
        settings = {**clean_environment(), "COLUMNS": "200", **environment}
        request = Request(arguments, str(tmp_path), settings)
        with ThreadPoolExecutor(1) as pool, open(os.devnull) as nothing:
            reading = pool.submit(_all_of, leader)
            code = run_in_process(request, [nothing.fileno(), follower, follower])
            os.close(follower)
            text = reading.result()
        os.close(leader)
        return Done(code, text, text)

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
