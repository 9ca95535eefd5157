"""Processes that may do what a test's own should not: fork, run out of watches, be no one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import clean_environment

_PREAMBLE = """
import os, sys, warnings
from queue import SimpleQueue
from sovl_tools.reloading.events import Events, Place
from sovl_tools.reloading.fingerprint import files_below

def tree(path):
    return Place(path, path)

def become(user):
    if os.getresuid()[2] == 0:
        os.setresuid(user, user, 0)

here = sys.argv[1]
told = SimpleQueue()
events = Events(told.put)
os.chdir(here)
"""


def lines(folder: Path, code: str, *wrapper: str) -> list[str]:
    """Run code in a child process and return the lines that it prints.

    It finds ``events`` that put into ``told``, ``tree`` that makes a place of a path, ``become``
    another user if it may, and the real path of the folder as ``here``, where it runs.
    """
    script = folder / "child.py"
    script.write_text(_PREAMBLE + code)
    done = subprocess.run(
        [*wrapper, sys.executable, "-P", str(script), str(folder.resolve())],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
