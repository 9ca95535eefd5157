"""What a hot reload costs: from a file's replacement to the first call that runs the new code.

The floor, in the same run: until the handler of a bare watchdog observer is called, and the import
of the one file. The budget is twice the quiet period that the watcher waits for further changes.

Then the same for the page of ``sovl-tools dev``: until its stream of events has the tool's row.
Where FastMCP is installed, from a save to the new code's answer to a client, by
``sovl-tools serve`` and by ``fastmcp run --reload``, which starts its server again.

    python scripts/bench/reload.py [N [EDITS]]
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from statistics import median, quantiles
from threading import Event

import httpx
from mcp import Client, MCPError
from measuring import show
from shapes import SHAPES, make_folders
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.reloading.watcher import QUIET

PATIENCE = 30.0
GIVEN = '{"a": 5, "b": 3}'


def replaced(module: Path, number: int) -> float:
    """Replace a module as an editor saves it, so that it returns a number; return the moment."""
    draft = module.with_name(f".{module.name}.tmp")
    # the size changes, too, for Python's own cache of bytecode
    code = f"def {module.stem}(a, b):\n    return {number}  # {'-' * (number % 97)}\n"
    draft.write_text(code)
    time.sleep(0.02)
    started = time.perf_counter()
    os.replace(draft, module)
    return started


class Floor(FileSystemEventHandler):
    """A directory with one module, and an observer that only watches it."""

    def __init__(self, root: Path) -> None:
        make_folders(root, SHAPES["plain"], 1)
        self._module = next(root.glob("*/*.py"))
        self._heard = Event()
        self.observer = Observer()
        self.observer.schedule(self, str(root), recursive=True)
        self.observer.start()

    def on_moved(self, event: FileSystemEvent) -> None:
        """Note that the module was replaced."""
        if event.dest_path == str(self._module):
            self._heard.set()

    def edit(self, number: int) -> float:
        """Replace the module; return the seconds until it was imported."""
        self._heard.clear()
        started = replaced(self._module, number)
        self._heard.wait(PATIENCE)
        spec = spec_from_file_location(self._module.stem, self._module)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        took = time.perf_counter() - started
        assert getattr(module, self._module.stem)(5, 3) == number
        return took


def measure(base: Path, count: int, edits: int) -> None:
    """Measure edits next to the floor, a reload of nothing, and calls while a watch is on."""
    make_folders(base / "tools", SHAPES["plain"], count)
    floor, registry = Floor(base / "floor"), ToolRegistry.from_directory(base / "tools")
    tooler, changed = Tooler(registry), Event()
    registry.subscribe(lambda _: changed.set())
    names = [*registry.catalog.tools]

    def edit(number: int) -> float:
        name = names[number * 7919 % count]
        started = replaced(base / "tools" / name / f"{name}.py", number)
        while tooler.call_sync(name, GIVEN).value != number:
            assert changed.wait(PATIENCE), "a change was not followed"
            changed.clear()
        return time.perf_counter() - started

    def call() -> None:
        for _ in range(2000):
            tooler.call_sync(names[0], GIVEN)

    bare = least(call)
    with registry.watch():
        pairs = [(edit(number), floor.edit(number)) for number in range(1, edits + 1)][5:]
        watched = least(call)
    floor.observer.stop()
    ours, floors = ([1e3 * each for each in column] for column in zip(*pairs, strict=True))
    note = f"median {median(ours):.0f} ms, p99 {quantiles(ours, n=100)[98]:.0f} ms"
    show(f"save to call, {count} tools", median(ours) / (QUIET * 1e3), "the quiet period", 2, note)
    rest = median(ours) - QUIET * 1e3
    show("... without the quiet period", rest / median(floors), "an event and an import")
    registry.reload()
    files = [str(each) for each in (base / "tools").glob("*/*.*")]
    took = least(registry.reload)
    stats = least(lambda: [os.stat(each) for each in files])
    show(
        "reload() without a change",
        took / stats,
        "a stat of each file",
        None,
        f"{took * 1e3:.0f} ms",
    )
    show("a call while a watch is on", watched / bare, "a call without")


def measure_page(base: Path, count: int, budget: float, edits: int = 20) -> None:
    """Measure from a save to the event that the page gets, and its first list of the tools."""
    tools = base / f"page{count}"
    make_folders(tools, SHAPES["plain"], count)
    names = sorted(each.name for each in tools.iterdir() if each.is_dir())
    options = ["--tools", str(tools), "--no-open", "--port", "0"]
    command = [sys.executable, "-m", "sovl_tools", "-q", "dev", *options]
    times, began = [], time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url, _, token = server.stdout.readline().strip().partition("/#token=")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers, timeout=PATIENCE) as client:
            started = time.perf_counter()
            assert len(client.get("/dev/state").json()["tools"]) == count
            first = time.perf_counter() - started
            with client.stream("GET", "/dev/events") as events:
                lines = (each for each in events.iter_lines() if each.startswith("data: "))
                for number in range(1, edits + 1):
                    name = names[number * 7919 % count]
                    saved = replaced(tools / name / f"{name}.py", number)
                    while f'"name":"{name}"' not in next(lines):
                        pass
                    times.append(time.perf_counter() - saved)
        server.terminate()
    ours = quantiles(times, n=20)[18]
    note = f"p95 of {edits} {ours * 1e3:.0f} ms, median {median(times) * 1e3:.0f} ms"
    show(f"save to the page's event, {count} tools", ours / QUIET, "the quiet period", budget, note)
    note = f"{first * 1e3:.0f} ms, {started - began:.1f} s after the start of the command"
    show("... the first list of the tools", first / QUIET, "the quiet period", 20, note)


FASTMCP = """
import sys
from importlib import import_module
from pathlib import Path
from fastmcp import FastMCP

server = FastMCP("bench")
for path in sorted(Path("tools").glob("*/*.py")):
    sys.path.insert(0, str(path.parent))
    server.tool(getattr(import_module(path.stem), path.stem))
"""


def measure_peer(base: Path, count: int = 40, edits: int = 10) -> None:
    """Measure from a save to the new code's answer to a client, next to FastMCP."""
    make_folders(base / "tools", SHAPES["plain"], count)
    (base / "server.py").write_text(FASTMCP)
    options = ["--transport", "http", "--port"]
    commands = {
        "ours": [sys.executable, "-m", "sovl_tools", "-q", "serve", *options],
        "FastMCP": ["fastmcp", "run", "server.py", "--no-banner", "--reload", *options],
    }
    module = min((base / "tools").glob("*/*.py"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    took: dict[str, list[float]] = {}
    for label, command in commands.items():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen(
            [*command, str(port)],
            cwd=base,
            env={**os.environ, "PATH": path},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            took[label] = [
                asyncio.run(answered(f"http://127.0.0.1:{port}/mcp", module, number))
                for number in range(1, edits + 1)
            ][1:]
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait()
    ours, theirs = median(took["ours"]), median(took["FastMCP"])
    note = f"{ours * 1e3:.0f} ms and {theirs * 1e3:.0f} ms"
    show(f"save to a client's answer, {count} tools", ours / theirs, "FastMCP", 0.2, note)


async def answered(url: str, module: Path, number: int) -> float:
    """Replace a module; return the seconds until a client gets its number."""
    started = replaced(module, number)
    while time.perf_counter() < started + PATIENCE:
        try:
            async with Client(url) as client:
                result = await client.call_tool(module.stem, {"a": 5, "b": 3})
        except (ExceptionGroup, MCPError):  # the server starts
            continue
        if f'"text":"{number}"' in result.model_dump_json():
            return time.perf_counter() - started
    raise TimeoutError(url)


def least(work: Callable[[], object]) -> float:
    """Return the least CPU seconds of a few runs."""
    times = []
    for _ in range(10):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        size = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
        measure(Path(place).resolve(), size, int(sys.argv[2]) if len(sys.argv) > 2 else 100)
        measure_page(Path(place).resolve(), 19, budget=5)
        measure_page(Path(place).resolve(), size, budget=8)
        if find_spec("fastmcp"):
            measure_peer(Path(place).resolve() / "peer")
