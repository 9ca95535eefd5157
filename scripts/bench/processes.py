"""Measuring fresh processes: what they say of themselves, and what they cost."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def said(code: str, *arguments: str) -> float:
    """Run the code in a fresh interpreter and return the number that it prints last."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def cpu(*command: str, cwd: Path | None = None) -> float:
    """Run the command and return the CPU time of it and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process so far."""
    # of each thread in nanoseconds, where stat has hundredths of a second
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9
