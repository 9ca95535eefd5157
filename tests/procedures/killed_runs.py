"""Runs procedures in processes that are killed, and continues with them: one request a line.

A request has a procedure, and for each process after how many signs of its tools it is killed. The
answer tells what a run without harm does, how often each tool was called, and what the journal
said when a process had been killed. It runs by itself: ``python -m tests.procedures.killed_runs``.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from typing import Any

from sovl_tools import ProcedureManager, Tooler, ToolRegistry
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.journal import Journal
from tests.procedures.workshop import call, inputs, procedure, returning

INNER = procedure(
    call("work", "sum", label="{{ inputs.label }}", a="{{ inputs.a }}", b=1),
    returning("{{ sum * 2 }}"),
    name="inner",
    inputs=inputs("label", "a", label={"type": "string"}, a={"type": "integer"}),
)
"""What the procedure of a request can run."""


class Kitchen:
    """Tools that write each of their calls into a file, and give a sign before and after."""

    def __init__(self, path: str, sign: Callable[[], object]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._sign = sign

    async def _note(self, label: str) -> None:
        os.write(self._file, f"{label}\n".encode())
        self._sign()
        await asyncio.sleep(0)
        self._sign()

    def manager(self) -> ProcedureManager:
        registry = ToolRegistry()

        @registry.tool
        async def work(label: str, a: int, b: int) -> int:
            """Work."""
            await self._note(label)
            return a + b

        @registry.tool(annotations={"idempotent": True})
        async def look(label: str, a: int, b: int) -> int:
            """Look."""
            await self._note(label)
            return a * 2 - b

        @registry.tool
        async def refuse(label: str) -> None:
            """Fail."""
            await self._note(label)
            raise ValueError("no")

        manager = ProcedureManager(registry, Tooler(registry))
        manager.add(INNER)
        return manager


def undisturbed(source: Any, folder: str) -> dict[str, Any]:
    """Run a procedure without a journal."""
    signs: list[int] = []
    path = f"{folder}/undisturbed"
    manager = Kitchen(path, lambda: signs.append(1)).manager()
    result = asyncio.run(manager.run(source, {"n": 4}))
    return {"result": result, "calls": calls(path), "signs": len(signs)}


def calls(path: str) -> dict[str, int]:
    with open(path, encoding="utf-8") as file:
        return dict(Counter(file.read().split()))


def trial(request: dict[str, Any], folder: str) -> dict[str, Any]:
    """Run a procedure, kill it and continue with it, as often as is wanted and then to the end."""
    expected = undisturbed(request["source"], folder)
    kills = []
    for moment in request["moments"]:
        after = moment % (expected["signs"] + 1)
        _forked(lambda sign: _process(request["source"], folder, sign), after)
        kills.append(_snapshot(folder))
    result = _process(request["source"], folder, lambda: None)
    return {"expected": expected, "kills": kills, "result": result, "calls": _calls(folder)}


def _calls(folder: str) -> dict[str, int]:
    return calls(f"{folder}/calls") if os.path.exists(f"{folder}/calls") else {}


def _forked(work: Callable[[Callable[[], object]], object], after: int) -> None:
    """Do some work in a child process, and kill it after so many signs."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        work(lambda: os.write(writer, b"."))
        os._exit(0)
    os.close(writer)
    seen = 0
    while seen < after and (signs := os.read(reader, after - seen)):
        seen += len(signs)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(reader)


def _process(source: Any, folder: str, sign: Callable[[], object]) -> Any:
    """Begin the run, or continue with it; what can't be repeated is only if someone says so."""
    manager = Kitchen(f"{folder}/calls", sign).manager()
    with Journal(f"{folder}/runs.db") as journal:
        runs = journal.runs()
        if not runs:
            return asyncio.run(manager.run(source, {"n": 4}, journal=journal))
        if runs[0].state == "succeeded":
            return runs[0].result
        try:
            return asyncio.run(manager.resume(journal, runs[0].id))
        except StepError as error:
            if "was running" not in error.message:
                raise
        return asyncio.run(manager.resume(journal, runs[0].id, repeat_unfinished=True))


def _snapshot(folder: str) -> list[dict[str, Any]]:
    with Journal(f"{folder}/runs.db") as journal:
        runs = journal.runs()
        return [each._asdict() for each in journal.steps(runs[0].id)] if runs else []


def main() -> None:
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(f"{json.dumps(trial(json.loads(line), folder))}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
