"""What tests of reloading share: modules that answer, news, and what is left."""

from __future__ import annotations

import gc
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from sovl_tools import CatalogChange, ToolDefinition, ToolRegistry
from sovl_tools.loading.importer import TOOL_ROOT
from sovl_tools.loading.modules import Generation
from tests.patience import PATIENCE


def says(word: object, name: str = "echo", head: str = "") -> str:
    """Return a module whose tool answers with a word."""
    return f"{head}\n\n\ndef {name}(text: str) -> object:\n    return {word!r}\n"


def gives(expression: str, name: str = "echo", head: str = "") -> str:
    """Return a module whose tool answers with what an expression gives when it is called."""
    return f"{head}\n\n\ndef {name}(text: str) -> object:\n    return {expression}\n"


def answer(tools: Mapping[str, ToolDefinition], name: str = "echo") -> Any:
    """Return what a tool answers."""
    return tools[name].execute(text="")


def answers(catalog: Any) -> dict[str, Any]:
    """Return what all tools answer."""
    return {name: answer(catalog.tools, name) for name in catalog.tools}


def statuses(catalog: Any) -> dict[str, str]:
    """Return what became of the folders, by their paths."""
    return {each.path: each.status for each in catalog.candidates}


class News:
    """The changes of a registry in the order in which they come."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        self._changes: SimpleQueue[CatalogChange] = SimpleQueue()
        registry.subscribe(self._changes.put)

    def next(self) -> CatalogChange:
        return self._changes.get(timeout=PATIENCE)

    def until(self, expected: dict[str, object]) -> None:
        """Wait for changes until all tools answer as expected."""
        while answers(self._registry.catalog) != expected:
            self.next()

    def so_far(self) -> list[CatalogChange]:
        return [self._changes.get() for _ in range(self._changes.qsize())]


def loaded(*paths: Path) -> tuple[ToolRegistry, News]:
    registry = ToolRegistry.from_directory(*paths)
    return registry, News(registry)


def generations(place: Path) -> list[Generation]:
    """Return all generations of folders below a place that are alive."""
    gc.collect()
    every = [each for each in gc.get_objects() if type(each) is Generation]
    return [each for each in every if each.snapshot.folder.location.startswith(str(place))]


def modules() -> set[str]:
    """Return the inner names of all modules of tools that can be imported."""
    gc.collect()
    return {
        name
        for name, module in sys.modules.items()
        if name.startswith(f"{TOOL_ROOT}.")
        and name.count(".") > 1
        and module.__spec__ is not None
        and module.__spec__.name == name
    }


class Left:
    """What is there of tools' modules, in addition what was there before."""

    def __init__(self) -> None:
        self._modules = modules()

    def modules(self) -> list[str]:
        """Return the last parts of the modules' names."""
        return sorted(name.rpartition(".")[2] for name in modules() - self._modules)
