"""What loading costs: the CPU time of an eager load as a ratio to the least that it could be.

The floor reads each manifest with ``json.loads`` and executes each module through importlib.
Each measurement is a fresh process with warm ``.pyc`` files; the two alternate, and the least
of all rounds counts. ``load`` is the load alone; ``report`` looks at the whole report too, and
prints it.

    python scripts/bench/load.py [N [ROUNDS [SHAPE ...]]]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from processes import said
from shapes import SHAPES, make_folders

FLOOR = """
import importlib.util, json, os, sys, time
root = sys.argv[1]
started = time.process_time()
for name in sorted(os.listdir(root)):
    with open(f"{root}/{name}/{name}.json", encoding="utf-8") as file:
        json.loads(file.read())
    spec = importlib.util.spec_from_file_location(name, f"{root}/{name}/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
print(time.process_time() - started)
"""

LOADED = """
import os, sys, time
from sovl_tools import ToolRegistry
import sovl_tools.schema.engine as published
from sovl_tools.reporting import text
from sovl_tools.reporting.outcome import Outcome
published.published("tool")
nowhere = open(os.devnull, "w")
started = time.process_time()
registry = ToolRegistry.from_directory(sys.argv[1])
if sys.argv[2] == "report":
    print(text.render(Outcome(registry.report)), file=nowhere)
print(time.process_time() - started)
"""


BUDGETS = {"load": 6.5, "report": 12.0}


def measure(root: Path, shape: str, rounds: int) -> bool:
    """Print the line of one shape; tell whether its targets are met."""
    found: dict[str, list[float]] = {"floor": [], "load": [], "report": []}
    for _ in range(rounds + 1):
        found["floor"].append(said(FLOOR, str(root / "floor")))
        for measured in ("load", "report"):
            found[measured].append(said(LOADED, str(root / "loaded"), measured))
    floor, load, report = (min(each[1:]) for each in found.values())
    words = f"{shape:23} floor {floor * 1e3:6.1f} ms"
    are_met = True
    for measured, took in (("load", load), ("report", report)):
        target = BUDGETS[measured]
        is_met = took / floor <= target
        are_met &= is_met
        words += f"   {measured} {took / floor:5.2f} of {target} {'met' if is_met else 'MISSED'}"
    print(words, flush=True)
    return are_met


def main() -> None:
    """Measure the shapes."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    print(f"loading {count} tools: CPU time beside json + import, least of {rounds} rounds")
    results = []
    for shape in sys.argv[3:] or SHAPES:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for part in ("floor", "loaded"):
                make_folders(root / part, SHAPES[shape], count)
            results.append(measure(root, shape, rounds))
    print(f"{sum(results)} of {len(results)} shapes meet their targets")


if __name__ == "__main__":
    main()
