"""What the benchmarks share: CPU time of processes, statements in turn, and lines with budgets."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
_BATCH = 0.002
"""Seconds that a batch of one statement takes."""
_SOURCE = """
async def batch(count, clock):
    started = clock()
    for _ in range(count):
        {}
    return clock() - started
"""


def said(code: str, *arguments: str, cwd: Path | None = None) -> float:
    """Run code in a fresh interpreter and return the number that it prints last."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, env=ENVIRONMENT, capture_output=True, text=True, check=True, cwd=cwd
    )
    return float(done.stdout.split()[-1])


def cpu(*command: str, cwd: Path | None = None) -> float:
    """Run a command and return the CPU time of it and its children, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=True, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def elapsed(*command: object, cwd: Path) -> float:
    """Run a command and return how many seconds it took."""
    started = perf_counter()
    arguments = [str(each) for each in command]
    subprocess.run(arguments, env=ENVIRONMENT, capture_output=True, check=True, cwd=cwd)
    return perf_counter() - started


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(what: str, ratio: float, floor: str, budget: float | None = None, note: str = "") -> None:
    """Print a line: a cost as a multiple of a floor's or a peer's, and its budget."""
    mark = "" if budget is None else f"  of {budget:g}" + ("" if ratio <= budget else "  OVER")
    print(f"{what:48} {ratio:7.2f} x {floor}{mark}{note and f'  ({note})'}", flush=True)


async def in_turn(
    statements: Mapping[str, str], names: Mapping[str, Any], *, rounds: int
) -> dict[str, float]:
    """Run each statement in short batches, in turn; return the least CPU seconds of one run.

    A statement can await. Whatever else the machine does disturbs all of them alike.
    """
    batches, counts = {}, {}
    for label, statement in statements.items():
        space = dict(names)
        exec(_SOURCE.format(statement), space)
        batches[label] = space["batch"]
        each = min([await space["batch"](5, perf_counter) for _ in range(5)]) / 5
        counts[label] = max(1, min(1024, round(_BATCH / each)))
    least = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for label, batch in batches.items():
            took = await batch(counts[label], process_time) / counts[label]
            least[label] = min(least[label], took)
    return least
