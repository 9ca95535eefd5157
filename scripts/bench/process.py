"""What a call in a worker process costs beside bare engines in the same run, and what kills leave.

Five things are printed: CPU time of a call, of all processes, beside the bare standard pool and
the bare pebble pool with one worker each (target: at most 1.3 times the bare engine); how fast
``Tooler.map`` is with 1, 2 and 4 workers; how much memory and time it takes as inputs grow; what is
left of processes, threads, descriptors and files after tools were killed; and the same of a call on
a Dask cluster of two workers beside bare Dask.

    python scripts/bench/process.py [CALLS] [KILLS] [MOST_INPUTS]
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import monotonic, perf_counter, process_time, sleep

from cluster_calls import compare_dask
from pebble import ProcessPool
from processes import cpu_of

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.dispatch import processes

MANIFEST = {
    "name": "act",
    "description": "Add, or break.",
    "parameters": {
        "type": "object",
        "required": ["number", "how"],
        "properties": {
            "number": {"type": "integer", "description": "What to add to."},
            "how": {"type": "string", "description": "What to do."},
        },
    },
    "execution": {"mode": "process"},
}
CODE = """
import ctypes
import os
import re
import subprocess
import sys


def act(number: int, how: str) -> int:
    if how == "busy":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        re.match("(a+)+$", "a" * 100 + "b")
    if how == "leave":
        os._exit(3)
    if how == "crash":
        ctypes.string_at(0)
    if how == "memory":
        return len(bytearray(2 << 30))
    if how == "work":
        return sum(range(20_000))
    return number + 1
"""
TARGET = 1.3
ROUNDS = 7


def add(number: int, how: str) -> int:
    """Do in a bare pool what the tool does."""
    return number + len(how)


def below(process: int) -> list[int]:
    """Return the processes that a process has started, and so on."""
    found = []
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(each.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == process:
            child = int(each.parent.name)
            found += [child, *below(child)]
    return found


def measured(call: Callable[[], object], calls: int) -> float:
    """Return the CPU microseconds of a call, here and in all processes below."""

    def total() -> float:
        return process_time() + sum(map(cpu_of, below(os.getpid())))

    before = total()
    for _ in range(calls):
        call()
    return (total() - before) / calls * 1e6


def compare(directory: Path, calls: int) -> None:
    """Print the cost of a call beside that of the bare engines, measured in alternation."""
    context = multiprocessing.get_context("forkserver")
    processes.MAX_CALLS = 1 << 30  # what a worker has taken is not known when it was replaced
    given = {"number": 1, "how": "add"}
    with (
        ProcessPoolExecutor(1, mp_context=context) as standard,
        ProcessPool(1, context=context) as pebble,
        Tooler(ToolRegistry.from_directory(directory), max_processes=1) as tooler,
        Tooler(ToolRegistry.from_directory(directory), executor=standard) as through,
    ):
        ways: dict[str, Callable[[], object]] = {
            "bare standard pool": lambda: standard.submit(add, 1, "add").result(),
            "bare pebble pool": lambda: pebble.schedule(add, args=(1, "add")).result(),
            "process mode": lambda: tooler.call_sync("act", given),
            "process mode, with a limit": lambda: tooler.call_sync("act", given, timeout=60),
            "executor=standard pool": lambda: through.call_sync("act", given),
        }
        for call in ways.values():
            call()
        found = {
            name: min(measured(call, calls) for _ in range(ROUNDS)) for name, call in ways.items()
        }
    standard_cost, pebble_cost = found["bare standard pool"], found["bare pebble pool"]
    print(f"{'CPU of a call':<28}{'µs':>8}{'/ standard':>12}{'/ pebble':>10}")
    for name, cost in found.items():
        ratios = cost / standard_cost, cost / pebble_cost
        is_missed = name == "process mode" and max(ratios) > TARGET
        is_missed |= name.startswith("executor") and ratios[0] > TARGET
        word = f"  missed (at most {TARGET})" if is_missed else ""
        print(f"{name:<28}{cost:>8.0f}{ratios[0]:>12.2f}{ratios[1]:>10.2f}{word}")


def throughput(directory: Path, calls: int) -> None:
    """Print how many calls a second ``map`` makes with more workers."""
    registry = ToolRegistry.from_directory(directory)
    given = [{"number": number, "how": "work"} for number in range(calls)]
    print(f"\n{'map, by the clock':<28}{'calls/s':>8}{'/ one worker':>14}   {os.cpu_count()} cores")
    first = None
    for workers in (1, 2, 4):
        with Tooler(registry, max_processes=workers) as tooler:
            list(tooler.map("act", given[: 4 * workers]))
            started = perf_counter()
            assert all(each.result.ok for each in tooler.map("act", given))
            rate = calls / (perf_counter() - started)
        first = first or rate
        print(f"{workers} workers{'':<19}{rate:>8.0f}{rate / first:>14.2f}")


def growth(directory: Path, most: int) -> None:
    """Print the memory that ``map`` takes at its peak as inputs grow."""
    print(f"\n{'inputs of map':<28}{'peak MiB':>10}{'CPU µs a call':>15}")
    with Tooler(ToolRegistry.from_directory(directory), max_processes=2) as tooler:
        count = 1_000
        while count <= most:
            inputs = ({"number": number, "how": "add"} for number in range(count))
            started = process_time()
            for each in tooler.map("act", inputs):
                assert each.result.ok
            cost = (process_time() - started) / count * 1e6
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{count:<28,}{peak:>10.1f}{cost:>15.0f}")
            count *= 10


def remains(directory: Path, kills: int) -> None:
    """Print what is left after tools were ended in all ways, with neighbours that succeed."""

    def counts() -> tuple[int, int, int, int]:
        gc.collect()
        descriptors = len(os.listdir("/proc/self/fd"))
        files = sum(len(names) for _, _, names in os.walk(directory.parent))
        return len(below(os.getpid())), threading.active_count(), descriptors, files

    with Tooler(ToolRegistry.from_directory(directory), max_processes=2) as tooler:
        # five of six are neighbours; few are busy, because those take the whole limit
        ways = ["busy", *["leave", "crash", "memory"] * 5]
        given = [
            {"number": number, "how": "add" if number % 6 else ways[number // 6 % len(ways)]}
            for number in range(6 * kills)
        ]
        list(tooler.map("act", given[:12], timeout=5, limit=2))  # what stays is there now
        before = counts()
        found = list(tooler.map("act", given, timeout=5, limit=2))
        wrong = [each for each in found if each.result.ok != (each.place % 6 > 0)]
        deadline = monotonic() + 5
        while any(now > then for now, then in zip(counts(), before, strict=True)):
            if monotonic() > deadline:
                break
            sleep(0.05)
        after = counts()
    print(
        f"\n{kills} kills among {len(given)} calls: {len(wrong)} results are not as they should be"
    )
    names = ("processes", "threads", "descriptors", "files")
    for name, then, now in zip(names, before, after, strict=True):
        word = "  LEFT BEHIND" if now > then else ""
        print(f"{name:<28}{then:>4} before {now:>4} after{word}")


def main() -> None:
    calls, kills, most = (
        int(each) for each in [*sys.argv[1:], *("400", "200", "100000")[len(sys.argv) - 1 :]]
    )
    with tempfile.TemporaryDirectory() as root:
        place = Path(root) / "tools" / "act"
        place.mkdir(parents=True)
        (place / "act.json").write_text(json.dumps(MANIFEST))
        (place / "act.py").write_text(CODE)
        errors = os.dup(2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # what crashing tools say
        try:
            throughput(place.parent, 5 * calls)
            growth(place.parent, most)
            limited = {**MANIFEST, "execution": {"mode": "process", "memory_mb": 200}}
            (place / "act.json").write_text(json.dumps(limited))
            remains(place.parent, kills)
            (place / "act.json").write_text(json.dumps(MANIFEST))
            compare(place.parent, calls)
            (place / "act.json").write_text(json.dumps({**MANIFEST, "execution": {}}))
            compare_dask(place.parent, calls)
        finally:
            os.dup2(errors, 2)


if __name__ == "__main__":
    main()
