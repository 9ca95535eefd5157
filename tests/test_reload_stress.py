"""Threads edit tools at random while others call them, and nothing goes wrong.

In the suite for a second; by hand for as long as one likes:

    STRESS_SECONDS=600 STRESS_SEED=7 python -m pytest tests/test_reload_stress.py --no-cov
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import threading
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from time import monotonic

from sovl_tools import Tooler, ToolRegistry, ToolResult
from tests.conftest import Write, manifest_of
from tests.loading.folders import answers, says
from tests.patience import PATIENCE

SECONDS = float(os.environ.get("STRESS_SECONDS", "1"))
SEED = int(os.environ.get("STRESS_SEED", "0")) or random.SystemRandom().getrandbits(32)
STEADY = [f"steady{number}" for number in range(6)]
"""Tools that are edited and broken, but never deleted: each call must succeed."""
FLEETING = [f"fleeting{number}" for number in range(6)]
BREAKS = ("def broken(:\n", "raise SystemExit(3)\n", "import nowhere_to_be_found\n", "")


class Stage:
    """The tools, their registry, and the versions that were written and seen."""

    def __init__(self, write: Write, tools: Path) -> None:
        self._write = write
        self.tools = tools
        self.versions = dict.fromkeys([*STEADY, *FLEETING], 0)
        self.stopped = threading.Event()
        for name in self.versions:
            self.save(name)
        self.registry = ToolRegistry.from_directory(tools)
        self.tooler = Tooler(self.registry)
        self._seen = dict(self.versions)
        self._lock = threading.Lock()
        self.calls = 0

    def save(self, name: str) -> None:
        """Write the next version of a tool; a module is put in place as a whole."""
        self.versions[name] += 1
        folder = self.tools / name
        if not folder.exists():
            self._write(name, manifest_of(name), "")
        draft = folder / ".draft"
        draft.write_text(says(self.versions[name], name))
        draft.replace(folder / f"{name}.py")

    def edit(self, names: list[str], chance: random.Random) -> None:
        """Edit some tools, which no one else edits, until it is over; leave them sound."""
        while not self.stopped.wait(chance.random() / 10):
            name = chance.choice(names)
            if chance.random() < 0.5:
                self.save(name)
            elif name in FLEETING and chance.random() < 0.5:
                while (self.tools / name).exists():  # bytecode may be written into it meanwhile
                    shutil.rmtree(self.tools / name, ignore_errors=True)
            elif (self.tools / name).exists():
                (self.tools / name / f"{name}.py").write_text(chance.choice(BREAKS))
        for name in names:
            self.save(name)

    def judge(self, name: str, before: int, result: ToolResult) -> None:
        """Check that a call saw no older version than an earlier call did, and no failure."""
        if result.error is not None:
            assert name in FLEETING, result.error
            assert result.error.kind in {"unknown_tool", "unavailable"}, result.error
            return
        with self._lock:
            self.calls += 1
            assert before <= result.value <= self.versions[name], (name, before, result.value)
            self._seen[name] = max(self._seen[name], result.value)

    def call_in_turn(self, chance: random.Random) -> None:
        while not self.stopped.wait(0.001):
            name = chance.choice([*self.versions])
            before = self._seen[name]
            self.judge(name, before, self.tooler.call_sync(name, {"text": ""}))

    def call_together(self, chance: random.Random) -> None:
        async def main() -> None:
            while not self.stopped.is_set():
                names = chance.sample([*self.versions], 5)
                before = [self._seen[name] for name in names]
                results = await self.tooler.call_many([(name, {"text": ""}) for name in names])
                for each in zip(names, before, results, strict=True):
                    self.judge(*each)
                await asyncio.sleep(0.001)

        asyncio.run(main())

    def settle(self) -> None:
        """Wait until the registry serves the last version of each tool."""
        deadline = monotonic() + PATIENCE
        while answers(self.registry.catalog) != self.versions:
            assert monotonic() < deadline, (answers(self.registry.catalog), self.versions)
            self.stopped.wait(0.01)
            self.registry.reload()


def test_nothing_goes_wrong_while_tools_are_edited_at_random(write: Write, tmp_path: Path) -> None:
    stage = Stage(write, tmp_path / "tools")
    chances = [random.Random(SEED + number) for number in range(4)]
    with stage.registry.watch(), ThreadPoolExecutor(4) as pool:
        work = [
            pool.submit(stage.edit, STEADY, chances[0]),
            pool.submit(stage.edit, FLEETING, chances[1]),
            pool.submit(stage.call_in_turn, chances[2]),
            pool.submit(stage.call_together, chances[3]),
        ]
        wait(work, SECONDS, FIRST_EXCEPTION)
        stage.stopped.set()
        for each in work:
            each.result()
        stage.settle()
    assert stage.calls, f"STRESS_SEED={SEED}"
    assert stage.registry.report.errors == ()
