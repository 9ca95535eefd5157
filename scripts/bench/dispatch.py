"""What a checked call costs: its time as a ratio to ``f(**json.loads(text))`` in the same run.

Plain tools take two integers, rich ones six arguments with a nested object, an array, an enum
and an optional one. Sync tools are called inline, async ones awaited. Each pair is measured in
alternation; the least of all rounds counts.

    python scripts/bench/dispatch.py [ROUNDS]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from folders import make_folders

from sovl_tools import Tooler, ToolRegistry

CALLS = 2000
TARGETS = {"plain": 1.5, "rich": 1.6}
PLAIN = '{"a": 5, "b": 3}'
RICH = (
    '{"query": "cats and dogs", "limit": 5, "options": {"language": "en", "safe": true}, '
    '"tags": ["red", "green"], "mode": "exact"}'
)


def make_async(root: Path) -> None:
    """Turn every function of the folders into an async one."""
    for module in root.glob("*/*.py"):
        module.write_text(
            module.read_text().replace(f"def {module.stem}", f"async def {module.stem}")
        )


def timed(call: Callable[[], Any]) -> float:
    """Return the seconds that CALLS sync calls take."""
    started = perf_counter()
    for _ in range(CALLS):
        call()
    return perf_counter() - started


async def awaited(call: Callable[[], Awaitable[Any]]) -> float:
    """Return the seconds that CALLS awaited calls take."""
    started = perf_counter()
    for _ in range(CALLS):
        await call()
    return perf_counter() - started


def line(label: str, kind: str, floor: float, ours: float) -> None:
    """Print one result."""
    each = 1e6 / CALLS
    print(
        f"{kind:6} {label:12} floor {floor * each:6.2f} us   call {ours * each:6.2f} us   "
        f"ratio {ours / floor:.2f} (target {TARGETS[kind]:.1f})"
    )


def measure_sync(root: Path, kind: str, text: str, rounds: int) -> None:
    """Print what a sync tool costs inline."""
    registry = ToolRegistry.from_directory(root)
    (tool,) = registry
    tooler, function, name = Tooler(registry), tool.function, tool.name
    assert tooler.call_sync(name, text).ok
    floors, calls = [], []
    for _ in range(rounds):
        floors.append(timed(lambda: function(**json.loads(text))))
        calls.append(timed(lambda: tooler.call_sync(name, text)))
    line("sync inline", kind, min(floors), min(calls))


async def measure_async(root: Path, kind: str, text: str, rounds: int) -> None:
    """Print what an async tool costs awaited."""
    registry = ToolRegistry.from_directory(root)
    (tool,) = registry
    tooler, function, name = Tooler(registry), tool.function, tool.name
    assert (await tooler.call(name, text)).ok
    floors, calls = [], []
    for _ in range(rounds):
        floors.append(await awaited(lambda: function(**json.loads(text))))
        calls.append(await awaited(lambda: tooler.call(name, text)))
    line("async", kind, min(floors), min(calls))


def main() -> None:
    """Measure both kinds both ways."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print(f"a checked call, time, least of {rounds} rounds of {CALLS} calls")
    for kind, text in (("plain", PLAIN), ("rich", RICH)):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            make_folders(root / "sync", kind, 1)
            make_folders(root / "async", kind, 1)
            make_async(root / "async")
            measure_sync(root / "sync", kind, text, rounds)
            asyncio.run(measure_async(root / "async", kind, text, rounds))


if __name__ == "__main__":
    main()
