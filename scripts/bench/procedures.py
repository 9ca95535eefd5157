"""What a step of a procedure costs beyond the call of its tool, and what a journal adds.

A run takes a few hundred steps, each a call of an async tool with two arguments; its time less that
of as many awaited calls, divided by the steps, is what is shown. Some steps have their arguments
written out, others as templates; some are in a loop. CPU time counts, and the least of all rounds;
where there is a journal it is wall time, since each step waits twice for the disk, and the floor is
as many commits of SQLite alone.

    python scripts/bench/procedures.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Awaitable, Callable
from time import perf_counter, process_time
from typing import Any, TypeAlias

from sovl_tools import ProcedureManager, Tooler, ToolRegistry
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.parse.library import LinkedProcedures
from sovl_tools.procedures.run.execution import Execution, RunEnvironment, Scope

STEPS, JOURNALED, ROUNDS = 300, 50, 15
TARGET = 30.0
"""What a step may cost beyond the call of its tool, in microseconds."""

Work: TypeAlias = Callable[[], Awaitable[object]]

TEMPLATES: dict[str, dict[str, Any]] = {
    "arguments written out": {"a": 5, "b": 3},
    "one name in each": {"a": "{{ inputs.a }}", "b": "{{ total }}"},
    "one expression": {"a": "{{ total % 7 + inputs.a }}", "b": 3},
}
"""What the steps give to their tool, by what is said of it."""


def registry_of_one() -> ToolRegistry:
    registry = ToolRegistry()

    @registry.tool
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    return registry


def source_of(arguments: dict[str, Any], count: int) -> dict[str, Any]:
    step = {"action": "tool", "tool": "add", "arguments": arguments, "save_as": "total"}
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    steps = [{"action": "set", "values": {"total": 1}}, *[step] * count]
    return {"name": "bench", "description": "Adds.", "inputs": schema, "steps": steps}


def looped(arguments: dict[str, Any], count: int) -> dict[str, Any]:
    source = source_of(arguments, 1)
    first, step = source["steps"]
    items = f"{{{{ range({count}) }}}}"
    return {**source, "steps": [first, {"action": "for_each", "items": items, "steps": [step]}]}


class Bench:
    """The tools, and ways to call them."""

    def __init__(self) -> None:
        self.registry = registry_of_one()
        self.tooler = Tooler(self.registry)
        self.manager = ProcedureManager(self.registry, self.tooler)

    async def calls(self, count: int = STEPS) -> None:
        for _ in range(count):
            await self.tooler.call("add", {"a": 5, "b": 3})

    def steps(self, source: dict[str, Any], *, is_heard: bool = False) -> Work:
        """Return a run of a procedure that has been read and checked."""
        linked = LinkedProcedures(self.manager.checked(source), {})
        listen = (lambda _: None) if is_heard else None
        environment = RunEnvironment(self.registry, self.tooler, linked.other, None, listen)
        return lambda: Execution(linked.first, environment).run(Scope({"inputs": {"a": 2}}))


async def least(
    works: list[Work], rounds: int, clock: Callable[[], float] = process_time
) -> list[float]:
    """Return the least time that each work takes, in microseconds; they are done in turn."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            started = clock()
            await work()
            taken.append(clock() - started)
    return [min(taken) * 1e6 for taken in times]


async def show_steps(bench: Bench, rounds: int) -> bool:
    """Print what steps cost without a journal; return whether that is as little as it should be."""
    is_good = True
    for label, arguments in TEMPLATES.items():
        lines = {
            label: bench.steps(source_of(arguments, STEPS)),
            f"{label}, in a loop": bench.steps(looped(arguments, STEPS)),
            f"{label}, heard": bench.steps(source_of(arguments, STEPS), is_heard=True),
        }
        for name, work in lines.items():
            floor, took = await least([bench.calls, work], rounds)
            extra = (took - floor) / STEPS
            is_good = is_good and (extra <= TARGET or name.endswith("heard"))
            words = f"{name:36} call {floor / STEPS:6.2f} us   a step adds {extra:6.2f} us"
            print(f"{words} (target {TARGET})")
    return is_good


async def show_journal(bench: Bench, rounds: int) -> None:
    """Print what a step costs with a journal, beside two commits."""
    source = source_of(TEMPLATES["one name in each"], JOURNALED)
    with tempfile.TemporaryDirectory() as folder, Journal(f"{folder}/runs.db") as journal:
        works: list[Work] = [
            lambda: commits(f"{folder}/floor.db"),
            lambda: bench.manager.run(source, {"a": 2}, journal=journal),
        ]
        two, step = (took / JOURNALED for took in await least(works, rounds, perf_counter))
    print(f"{'with a journal':36} two commits {two:6.0f} us   a step {step:6.0f} us")


async def commits(path: str) -> None:
    """Write as often as a run with a journal does, as durably."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS steps (key TEXT, result TEXT)")
    for index in range(JOURNALED):
        connection.execute("INSERT INTO steps VALUES (?, NULL)", (str(index),))
        connection.execute("UPDATE steps SET result = '1' WHERE rowid = last_insert_rowid()")
    connection.close()


async def main(rounds: int) -> int:
    bench = Bench()
    is_good = await show_steps(bench, rounds)
    await show_journal(bench, max(rounds // 3, 1))
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)))
