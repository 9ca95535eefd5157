"""What loading costs: the CPU time of an eager load as a ratio to the least that it could be.

The floor reads each manifest with ``json.loads`` and executes each module through importlib.
Each measurement is a fresh process with warm ``.pyc`` files; the two alternate, and the least
of all rounds counts.

    python scripts/bench/load.py [N [ROUNDS]]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from folders import KINDS, make_folders
from processes import said

TARGETS = {"plain": 1.2, "rich": 1.5, "real": 2.0}

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

EAGER = """
import sys, time
from sovl_tools import ToolRegistry
if sys.argv[2] == "engine":
    import sovl_tools.validation.published as published
    published.published("tool")
started = time.process_time()
registry = ToolRegistry.from_directory(sys.argv[1])
took = time.process_time() - started
assert len(registry) == len(registry.report.folders) and not registry.report.diagnostics
print(took)
"""


def measure(root: Path, kind: str, rounds: int) -> None:
    """Print the line of one kind."""
    floors, eagers, colds = [], [], []
    for _ in range(rounds + 1):
        floors.append(said(FLOOR, str(root / "floor")))
        eagers.append(said(EAGER, str(root / "eager"), "engine"))
        colds.append(said(EAGER, str(root / "eager"), "cold"))
    floor, eager, cold = min(floors[1:]), min(eagers[1:]), min(colds[1:])
    print(
        f"{kind:6} floor {floor * 1e3:7.1f} ms   eager {eager * 1e3:7.1f} ms   "
        f"ratio {eager / floor:.2f} (target {TARGETS[kind]:.1f})   "
        f"with the schema engine's own import {cold / floor:.2f}"
    )


def main() -> None:
    """Measure the three kinds."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    print(f"loading {count} tools, CPU time, least of {rounds} rounds")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for part in ("floor", "eager"):
                make_folders(root / part, kind, count)
            measure(root, kind, rounds)


if __name__ == "__main__":
    main()
