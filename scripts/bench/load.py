"""What loading and checking cost, as multiples of a floor or a peer in the same run.

A load is compared with ``json.loads`` of each manifest and importlib's execution of each module,
and with FastMCP on the same functions where fastmcp is installed; ``validate --no-import`` with
check-jsonschema on the same manifests; an import of ours with those that it can't do without. Each
measurement is CPU time of a fresh process with warm ``.pyc`` files; the least of all rounds counts.
Commands that import nothing are timed on forty tools whose modules each take 0.3 s, and compared
with these imports.

    python scripts/bench/load.py [N [ROUNDS [SHAPE ...]]]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from measuring import cpu, elapsed, said, show
from shapes import HEAVY_TOOLS, SECONDS, SHAPES, heavy_of, make_folders

BIN = Path(sys.executable).parent
SCHEMA = Path(__file__).parents[2] / "schemas" / "tool.schema.json"
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
import sovl_tools.schema.engine as engine
from sovl_tools.reporting import text
from sovl_tools.reporting.outcome import Outcome
engine.published("tool")
nowhere = open(os.devnull, "w")
started = time.process_time()
registry = ToolRegistry.from_directory(sys.argv[1])
if sys.argv[2] == "report":
    print(text.render(Outcome(registry.report)), file=nowhere)
print(time.process_time() - started)
"""
FASTMCP = """
import asyncio, sys, time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from fastmcp import FastMCP
root = Path(sys.argv[1])
started = time.process_time()
server = FastMCP("bench")
for folder in sorted(root.iterdir()):
    spec = spec_from_file_location(folder.name, folder / f"{folder.name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    server.tool(getattr(module, folder.name))
print(time.process_time() - started)
"""
HEAVY = """
import time
from sovl_tools import Tooler, ToolRegistry
registry = ToolRegistry.from_directory("tools", lazy=True)
with Tooler(registry) as tooler:
    started = time.perf_counter()
    arguments = {"query": "a", "limit": 5, "options": {"language": "en"}, "tags": ["a"]}
    assert tooler.call_sync("tool_00007", arguments).ok
    print(time.perf_counter() - started)
"""
NEEDED = "import json, logging, dataclasses, importlib, jsonschema_rs"
NAMES = "from sovl_tools import ToolRegistry, Tooler"


def load(shape: str, count: int, rounds: int) -> None:
    """Measure a load, a load with its report, and FastMCP on the same functions."""
    with tempfile.TemporaryDirectory() as place:
        roots = {each: f"{place}/{each}" for each in ("floor", "loaded", "fastmcp")}
        for root in roots.values():
            make_folders(Path(root), SHAPES[shape], count)
        measured = {
            "floor": (FLOOR, roots["floor"]),
            "load": (LOADED, roots["loaded"], "load"),
            "report": (LOADED, roots["loaded"], "report"),
        }
        if find_spec("fastmcp"):
            measured["fastmcp"] = (FASTMCP, roots["fastmcp"])
        # the first round writes the bytecode
        times = [{key: said(*each) for key, each in measured.items()} for _ in range(rounds + 1)]
    least = {key: min(each[key] for each in times[1:]) for key in measured}
    note = f"{least['floor'] * 1e3:.0f} ms"
    show(f"load, {shape}", least["load"] / least["floor"], "json + import", 6.5, note)
    show(f"load and report, {shape}", least["report"] / least["floor"], "json + import", 12)
    if "fastmcp" in least:
        show(f"load, {shape}", least["load"] / least["fastmcp"], "FastMCP", 1 / 3)


def validate(count: int, rounds: int) -> None:
    """Measure the command without imports, on tools like real ones."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "pyproject.toml").touch()
        make_folders(root / "tools", SHAPES["real"], count)
        manifests = [str(each) for each in (root / "tools").glob("*/*.json")]
        peer = least(rounds, (BIN / "check-jsonschema", "--schemafile", SCHEMA, *manifests), root)
        ours = least(rounds, (BIN / "sovl-tools", "validate", "--no-import"), root)
    show(f"validate --no-import of {count} tools", ours / peer, "check-jsonschema", 1.5)


def heavy(rounds: int) -> None:
    """Measure commands and a call where each of forty modules takes 0.3 s to import."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        (root / "pyproject.toml").touch()
        make_folders(root / "tools", heavy_of(SECONDS), HEAVY_TOOLS)
        for command in (["list"], ["search", "documents"], ["export", "--format", "openai"]):
            took = min(elapsed(BIN / "sovl-tools", *command, cwd=root) for _ in range(rounds))
            everything = SECONDS * HEAVY_TOOLS
            name = f"{command[0]} with {HEAVY_TOOLS} heavy modules"
            show(name, took / everything, "importing them", 0.1, f"{took:.2f} s")
        call = min(said(HEAVY, cwd=root) for _ in range(rounds))
        show("the first call of one of them", call / SECONDS, "importing its module", 1.2)


def start(rounds: int) -> None:
    """Measure an import of the two main names, and the help of the command."""
    bare, needed, names = (
        least(rounds, (sys.executable, "-c", code)) for code in ("pass", NEEDED, NAMES)
    )
    show(NAMES, (names - bare) / (needed - bare), "its imports from elsewhere", 4)
    show(
        "sovl-tools --help", least(rounds, (BIN / "sovl-tools", "--help")) / bare, "python -c pass"
    )


def least(rounds: int, command: Iterable[object], cwd: Path | None = None) -> float:
    """Return the least CPU seconds of a command."""
    return min(cpu(*map(str, command), cwd=cwd) for _ in range(rounds))


def main() -> None:
    """Measure the shapes, the command and the start."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    for shape in sys.argv[3:] or SHAPES:
        load(shape, count, rounds)
    if not sys.argv[3:]:
        validate(500, rounds)
        heavy(rounds)
        start(4 * rounds)


if __name__ == "__main__":
    main()
