"""What the child process of ``validate`` costs: wall time as a ratio to loading in-process.

python scripts/bench/validate.py [N [ROUNDS]]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from folders import make_folders
from processes import said

TARGET = 2.2
START = """
import sys, time
started = time.perf_counter()
from sovl_tools.loading.discovery import collect
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.pipeline import Settings
"""
IN_PROCESS = f"""{START}
from sovl_tools.loading.load import load_folders as load
catalog = combine(load(collect([sys.argv[1]]).folders, Settings()))
print(time.perf_counter() - started)
"""
IN_CHILD = f"""{START}
from sovl_tools.loading.isolation import load_in_child as load
catalog = combine(load(collect([sys.argv[1]]).folders, Settings()))
print(time.perf_counter() - started)
"""


def main() -> None:
    """Measure rich tools."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with tempfile.TemporaryDirectory() as folder:
        make_folders(Path(folder), "rich", count)
        inside, child = [], []
        for _ in range(rounds + 1):
            inside.append(said(IN_PROCESS, folder))
            child.append(said(IN_CHILD, folder))
    best, contained = min(inside[1:]), min(child[1:])
    print(
        f"validating {count} rich tools, wall time, least of {rounds} rounds: in-process "
        f"{best * 1e3:.0f} ms, in a child {contained * 1e3:.0f} ms, "
        f"ratio {contained / best:.2f} (target {TARGET})"
    )


if __name__ == "__main__":
    main()
