"""What reloads leave behind: memory and objects after many reloads of one tool among fifty.

The tool has a logger, a helper and a dataclass, and is called after each reload.

    python scripts/bench/memory.py [RELOADS ...]
"""

from __future__ import annotations

import gc
import logging
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from folders import make_folders

from sovl_tools import Tooler
from sovl_tools.loading.importer import TOOL_ROOT
from sovl_tools.loading.load import load
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import Settings
from sovl_tools.reloading.reloader import Reloader

TOOLS = 50
WARMING = 500
RELOADS = (1000, 10_000, 10_000)
"""Tables of Python's own grow in a few steps; the last of these shows whether anything goes on."""
TARGET = 20.0
"""Bytes a reload may leave behind."""
NAME = "plain_00007"
GIVEN = '{"a": 5, "b": 3}'
HELPER = "OFFSET = {number}\n"
MODULE = '''"""A tool with all that leaves traces."""

import logging
from dataclasses import dataclass

from .helper import OFFSET

LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Sum:
    """A sum."""

    value: int


def {name}(a: int, b: int) -> dict:
    """Add two numbers."""
    LOGGER.debug("adding")
    return {{"result": Sum(a + b + OFFSET).value}}
'''


class Traces(NamedTuple):
    """What is there: resident bytes, blocks of Python's memory, objects, modules, loggers."""

    resident: int
    blocks: int
    objects: int
    modules: int
    loggers: int

    @classmethod
    def now(cls) -> Traces:
        for _ in range(3):
            gc.collect()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(
            pages * os.sysconf("SC_PAGE_SIZE"),
            sys.getallocatedblocks(),
            len(gc.get_objects()),
            sum(name.startswith(TOOL_ROOT) for name in sys.modules),
            len(logging.root.manager.loggerDict),
        )


class Bench:
    """A registry of its own: the least that a dispatcher and a reloader ask for."""

    def __init__(self, root: Path) -> None:
        make_folders(root, "plain", TOOLS)
        self.folder = root / NAME
        self.write("helper", HELPER.format(number=0))
        self.write(NAME, MODULE.format(name=NAME))
        loaded = load((str(root),), settings=Settings())
        self.catalog = loaded.catalog
        self.reloads = 0
        self._reloader = Reloader(loaded, self._swap, lambda _: None)
        self._tooler = Tooler(self)

    def write(self, name: str, text: str) -> None:
        (self.folder / f"{name}.py").write_text(text)

    def _swap(self, catalog: Catalog, _: tuple[Diagnostic, ...], change: CatalogChange) -> None:
        assert change.updated == (NAME,)
        self.catalog = catalog

    def reload(self) -> None:
        """Edit the helper, reload the tool and call it."""
        self.reloads += 1
        self.write("helper", HELPER.format(number=self.reloads))
        self._reloader.follow({f"{self.folder}/helper.py"}, since=time.perf_counter())
        assert self._tooler.call_sync(NAME, GIVEN).value == {"result": 8 + self.reloads}


def show(before: Traces, after: Traces, reloads: int, seconds: float) -> None:
    growth = [(new - old) / reloads for old, new in zip(before, after, strict=True)]
    resident, blocks, objects, modules, loggers = growth
    print(
        f"{reloads:6} reloads, {seconds / reloads * 1e3:.2f} ms each   each leaves "
        f"{resident:.1f} bytes of memory (target {TARGET:.0f}), {blocks:.3f} blocks, "
        f"{objects:.4f} objects, {modules:.4f} modules, {loggers:.4f} loggers   "
        f"now {after.resident / 1e6:.1f} MB"
    )


def main() -> None:
    """Measure after a warm-up."""
    rounds = [int(each) for each in sys.argv[1:]] or list(RELOADS)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder).resolve() / "tools")
        for _ in range(WARMING):
            bench.reload()
        for reloads in rounds:
            before, started = Traces.now(), time.perf_counter()
            for _ in range(reloads):
                bench.reload()
            show(before, Traces.now(), reloads, time.perf_counter() - started)


if __name__ == "__main__":
    main()
