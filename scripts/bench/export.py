"""What the definitions of a thousand tools cost, the first time and again.

The floor is a copy of every schema in a dictionary beside name and description: what any export
has to do that shares nothing with the registry. CPU time counts, and the least of all rounds.

    python scripts/bench/export.py [ROUNDS]
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from folders import KINDS, make_folders

from sovl_tools import ToolRegistry
from sovl_tools.formats.table import FORMATS, STRICT
from sovl_tools.model.document import copied

TOOLS = 1000
FIRST, AGAIN = 5.0, 0.5
"""Targets for plain tools, in milliseconds."""


def taken(function: Callable[[], Any]) -> float:
    """Return the CPU time of a call in milliseconds."""
    gc.collect()
    started = process_time()
    function()
    return 1000 * (process_time() - started)


def floor(registry: ToolRegistry) -> list[Any]:
    return [
        {"name": each.name, "description": each.description, "parameters": copied(each.parameters)}
        for each in registry
    ]


def measured(registry: ToolRegistry, name: str, *, strict: bool) -> tuple[float, float]:
    """Return what the definitions take the first time, and again."""
    registry._exporter = type(registry._exporter)()  # noqa: SLF001 - as if nobody had asked
    first = taken(partial(registry.definitions, name, strict=strict))
    return first, taken(partial(registry.definitions, name, strict=strict))


def main(rounds: int) -> None:
    targets = [*((name, False) for name in FORMATS), *((name, True) for name in sorted(STRICT))]
    print(f"{TOOLS} tools, CPU in ms: first time (x floor), again")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as directory:
            make_folders(Path(directory), kind, TOOLS)
            registry = ToolRegistry.from_directory(directory)
        assert len(registry) == TOOLS
        floors, times = [], {target: [] for target in targets}  # type: ignore[var-annotated]
        for _ in range(rounds):
            floors.append(taken(partial(floor, registry)))
            for name, strict in targets:
                times[name, strict].append(measured(registry, name, strict=strict))
        print(f"\n{kind}: floor {min(floors):.2f}")
        for (name, strict), found in times.items():
            first, again = (min(column) for column in zip(*found, strict=True))
            mark = "  over" if kind == "plain" and (first > FIRST or again > AGAIN) else ""
            label = f"{name} strict" if strict else name
            print(f"  {label:24}{first:8.2f} ({first / min(floors):4.1f} x){again:8.3f}{mark}")
    print(f"\ntargets for plain tools: {FIRST} and {AGAIN}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
