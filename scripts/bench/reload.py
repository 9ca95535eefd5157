"""What a reload costs: from a file's replacement to the first call that runs the new code.

The floor, in the same run: until the handler of a bare watchdog observer is called, and then the
import of the one file. Both are shown without the time for which the watcher waits for further
signs, ours with it as well. Then what it takes of a processor: a reload of one tool, and
``reload()`` with nothing changed beside a stat of every file. Each line is measured in a fresh
process, and says of a target whether it is met.

    python scripts/bench/reload.py [N ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median, quantiles
from threading import Event
from typing import Any, TypeAlias

from folders import make_folders
from processes import ENVIRONMENT
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.reloading.watcher import QUIET

COUNTS = (100, 1000, 5000)
EDITS = 200
WARMING = 5
ROUNDS = 12
CALLS = 2000
SWITCHES = 8
IDLE = 10.0
"""So many seconds nothing is done."""
PATIENCE = 30.0
TARGET = QUIET * 1e3
"""Milliseconds beyond the quiet time at N = 1,000: in all, twice the quiet time."""
CALL = 1.02
SWAPS = 2.0
SHARE = 0.5
"""Percent of a processor while nothing happens."""
CPU = {1000: 15.0, 5000: 60.0}
"""Milliseconds of CPU time of a reload of one tool, by the number of tools."""
GIVEN = '{"a": 5, "b": 3}'

Found: TypeAlias = dict[str, Any]

_MILLI = 1e3


def name_of(index: int) -> str:
    return f"plain_{index:05}"


class Bench:
    """Some tools, loaded and watched, and what has been heard of changes.

    Attributes:
        swaps: the changes of the catalog so far.
    """

    def __init__(self, root: Path, count: int) -> None:
        make_folders(root, "plain", count)
        time.sleep(0.1)  # files as young as the load might have been written after it
        self.root = root
        self.count = count
        self.registry = ToolRegistry.from_directory(root)
        self.tooler = Tooler(self.registry)
        self.swaps: list[CatalogChange] = []
        self._edits = 0
        self._changed = Event()
        self.registry.subscribe(self._hear)

    def _hear(self, change: CatalogChange) -> None:
        self.swaps.append(change)
        self._changed.set()

    def until(self, predicate: Callable[[], bool]) -> None:
        """Wait for changes until the predicate holds."""
        deadline = time.monotonic() + PATIENCE
        while not predicate():
            assert time.monotonic() < deadline, "a change was not followed"
            self._changed.wait(1)
            self._changed.clear()

    def edit(self) -> float:
        """Edit the next tool; return the seconds until a call gave the new answer."""
        self._edits += 1
        name = name_of(self._edits * 7919 % self.count)
        started = replaced(self.root / name / f"{name}.py", self._edits)
        self.until(lambda: self.answer(name) == 8 + self._edits)
        return time.perf_counter() - started

    def answer(self, name: str) -> int:
        result: int = self.tooler.call_sync(name, GIVEN).value["result"]
        return result

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch, from the moment at which changes are followed."""
        with self.registry.watch():
            for _ in range(WARMING):
                self.edit()
            yield


def replaced(module: Path, number: int) -> float:
    """Let a module add a number to its answers, as an editor saves; return when that was done.

    The size changes as well, for the sake of Python's own cache of bytecode.
    """
    code = module.read_text().partition("#")[0].rpartition("return")[0]
    draft = module.with_name(f".{module.name}.tmp")
    padding = "#" * (1 + number % 97)
    draft.write_text(f'{code}return {{"result": a + b + {number}}}  {padding}\n')
    time.sleep(0.02)
    started = time.perf_counter()
    os.replace(draft, module)
    return started


class Floor(FileSystemEventHandler):
    """A directory with one tool, and an observer that does nothing else but watch it."""

    def __init__(self, root: Path) -> None:
        make_folders(root, "plain", 1)
        self._module = root / name_of(0) / f"{name_of(0)}.py"
        self._heard = Event()
        self._edits = 0
        self.observer = Observer()
        self.observer.schedule(self, str(root), recursive=True)
        self.observer.start()

    def on_moved(self, event: FileSystemEvent) -> None:
        if event.dest_path == str(self._module):
            self._heard.set()

    def edit(self) -> float:
        """Edit the tool; return the seconds until it was heard of and imported."""
        self._edits += 1
        self._heard.clear()
        started = replaced(self._module, self._edits)
        self._heard.wait(PATIENCE)
        spec = spec_from_file_location(self._module.stem, self._module)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        took = time.perf_counter() - started
        assert getattr(module, self._module.stem)(5, 3) == {"result": 8 + self._edits}
        return took


def measure_edits(base: Path, count: int) -> Found:
    """Return the times of edits, in seconds, in alternation with those of the floor."""
    bench, floor = Bench(base / "tools", count), Floor(base / "floor")
    with bench.watched():
        times = [(bench.edit(), floor.edit()) for _ in range(EDITS)]
    floor.observer.stop()
    ours, bare = zip(*times, strict=True)
    return {"ours": ours, "floor": bare}


def measure_calls(base: Path, count: int) -> Found:
    """Return the least seconds of a call, with a watch and without one, in alternation."""
    bench, name = Bench(base, count), name_of(0)
    least = {"bare": PATIENCE, "watched": PATIENCE}

    def batch(label: str) -> None:
        call = bench.tooler.call_sync
        started = time.perf_counter()
        for _ in range(CALLS):
            call(name, GIVEN)
        least[label] = min(least[label], (time.perf_counter() - started) / CALLS)

    for _ in range(ROUNDS):
        with bench.watched():
            for _ in range(ROUNDS):
                batch("watched")
        for _ in range(ROUNDS):
            batch("bare")
    return dict(least)


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    subprocess.run(["git", "-C", str(root), *identity, *arguments], check=True, capture_output=True)


def measure_checkout(base: Path, count: int) -> Found:
    """Return the seconds after ``git checkout`` of half of the tools, and the number of swaps."""
    bench = Bench(base, count)
    (base / ".gitignore").write_text("__pycache__/\n")
    names = {name_of(index) for index in range(0, count, 2)}
    git(base, "init", "--initial-branch=old")
    git(base, "add", ".")
    git(base, "commit", "--message=old")
    git(base, "checkout", "-b", "new")
    for name in names:
        module = base / name / f"{name}.py"
        module.write_text(module.read_text().replace("a + b", "a + b + 0"))
    git(base, "commit", "--all", "--message=new")
    bench.registry.reload()
    times, swaps = [], []
    with bench.watched():
        git(base, "checkout", "--", ".")
        bench.until(lambda: bench.answer(name_of(7919 * WARMING % count)) == 8)
        for branch in ("old", "new") * (SWITCHES // 2):
            bench.swaps.clear()
            git(base, "checkout", branch)
            started = time.perf_counter()
            bench.until(lambda: {each for swap in bench.swaps for each in swap.updated} >= names)
            times.append(time.perf_counter() - started)
            swaps.append(len(bench.swaps))
    return {"times": times, "swaps": swaps}


def measure_idleness(base: Path, count: int) -> Found:
    """Return the CPU time of the whole process while nothing happens but a watch, in seconds."""
    bench = Bench(base, count)
    with bench.watched():
        started = time.process_time()
        time.sleep(IDLE)
        return {"cpu": time.process_time() - started}


def measure_cpu(base: Path, count: int) -> Found:
    """Return CPU seconds of reloads of one tool, of ``reload()`` and of a stat of every file."""
    bench = Bench(base, count)
    files = [f"{base}/{name_of(index)}/{name_of(index)}" for index in range(count)]
    time.sleep(0.1)
    first = cpu_of(bench.registry.reload)
    bench.registry.reload()
    pairs = [
        (cpu_of(bench.registry.reload), cpu_of(lambda: deque(map(stat, files), 0)))
        for _ in range(ROUNDS)
    ]
    with bench.watched():
        edits = [cpu_of(bench.edit) for _ in range(ROUNDS)]
    idle, stats = (min(each) for each in zip(*pairs, strict=True))
    return {"first": first, "idle": idle, "stats": stats, "edit": median(edits)}


def stat(stem: str) -> None:
    """Ask the system for both files of a tool."""
    os.stat(f"{stem}.json")
    os.stat(f"{stem}.py")


def cpu_of(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def verdict(value: float, target: float) -> str:
    """Say whether a target is met."""
    return f"target {target:g}: {'met' if value <= target else 'missed'}"


def show_cpu(count: int, found: Found) -> None:
    edit, idle, stats = (found[key] * _MILLI for key in ("edit", "idle", "stats"))
    target = f" ({verdict(edit, CPU[count])})" if count in CPU else ""
    print(
        f"CPU, N = {count:5}    reload of one tool: median {edit:.1f} ms{target}   "
        f"reload() of nothing {idle:.1f} ms   a stat of every file {stats:.1f} ms   "
        f"ratio {idle / stats:.1f}, the first after a load {found['first'] * _MILLI / stats:.1f}"
    )


def show_edits(count: int, found: Found) -> float:
    """Print the line of a number of tools; return the median in ms without the quiet time."""
    ours, floor = ([each * _MILLI for each in found[key]] for key in ("ours", "floor"))
    quiet, least = QUIET * _MILLI, median(floor)
    middle: float = median(ours)
    last = quantiles(ours, n=100)[98]
    target = f" ({verdict(middle - quiet, TARGET)})" if count == COUNTS[1] else ""
    print(
        f"edit, N = {count:5}   whole: median {middle:6.2f} ms, p99 {last:6.2f} ms   "
        f"without {quiet:.0f} ms of quiet: median {middle - quiet:6.2f} ms{target}, "
        f"p99 {last - quiet:6.2f} ms   floor: median {least:5.2f} ms, "
        f"p99 {quantiles(floor, n=100)[98]:5.2f} ms   ratio {(middle - quiet) / least:.2f}"
    )
    return middle - quiet


def show_calls(count: int, found: Found) -> None:
    bare, watched = found["bare"], found["watched"]
    print(
        f"call, N = {count:5}   bare {bare * 1e6:.2f} us   watched {watched * 1e6:.2f} us   "
        f"ratio {watched / bare:.3f} ({verdict(watched / bare, CALL)})"
    )


def show_checkout(count: int, found: Found) -> None:
    times = [each * _MILLI for each in found["times"]]
    print(
        f"git checkout of {count // 2} of {count} tools   after it: median {median(times):.0f} ms, "
        f"longest {max(times):.0f} ms   swaps: median {median(found['swaps']):.0f}, "
        f"most {max(found['swaps'])} ({verdict(max(found['swaps']), SWAPS)})"
    )


def show_idleness(count: int, found: Found) -> None:
    share = 100 * found["cpu"] / IDLE
    print(
        f"idle, N = {count:5}   {found['cpu'] / IDLE * _MILLI:.2f} ms of CPU time a second, "
        f"{share:.2f} % of a processor ({verdict(share, SHARE)})"
    )


MEASUREMENTS: dict[str, Callable[[Path, int], Found]] = {
    "edits": measure_edits,
    "calls": measure_calls,
    "checkout": measure_checkout,
    "idleness": measure_idleness,
    "cpu": measure_cpu,
}


def measured(what: str, count: int) -> Found:
    """Measure something in a fresh process."""
    command = [sys.executable, os.path.abspath(__file__), "--measure", what, str(count)]
    done = subprocess.run(command, env=ENVIRONMENT, stdout=subprocess.PIPE, check=True)
    found: Found = json.loads(done.stdout)
    return found


def measure(what: str, count: int) -> None:
    """Measure something in this process and print it as JSON."""
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(MEASUREMENTS[what](Path(folder).resolve() / "bench", count)))


def main() -> None:
    """Measure edits for each number of tools, and the rest for the middle one."""
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]))
        return
    counts = [int(each) for each in sys.argv[1:]] or list(COUNTS)
    medians = [show_edits(count, measured("edits", count)) for count in counts]
    ratio = medians[-1] / medians[0]
    print(f"edit, N = {counts[-1]} to N = {counts[0]}   ratio {ratio:.2f}")
    for count in counts:
        show_cpu(count, measured("cpu", count))
    middle = COUNTS[1] if COUNTS[1] in counts else counts[-1]
    show_calls(middle, measured("calls", middle))
    show_checkout(middle, measured("checkout", middle))
    show_idleness(middle, measured("idleness", middle))


if __name__ == "__main__":
    main()
