"""What tests of tools in code share: a place for modules and distributions that can be imported."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sovl_tools import Diagnostic, ToolRegistry, tool
from tests.conftest import manifest_of
from tests.loading.folders import says

GROUP = "sovl_tools.of_a_test"
"""A group of entry points that no distribution has."""

HEAD = "from sovl_tools import AITool, tool\n\n\n"


def decorated(name: str = "echo", answer: object = "", *, marks: str = "") -> str:
    """Return the source of a decorated function; line 5 is its head."""
    body = f'    """Say."""\n    return {answer!r}\n'
    return f'{HEAD}@tool{marks}\ndef {name}(text: str = "") -> object:\n{body}'


def classed(name: str = "echo", answer: object = "") -> str:
    """Return the source of a subclass of ``AITool`` that answers with a value."""
    return f"""{HEAD}class {name.title()}(AITool):
    name = {name!r}
    description = "Say."
    parameters_schema = {{"type": "object", "properties": {{"text": {{"type": "string"}}}}}}

    def execute(self, text: str = "") -> object:
        return {answer!r}
"""


class Site:
    """A directory whose modules can be imported, as if distributions were installed there."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, source: str = "") -> Path:
        """Write a file; the packages above it are made."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        for above in file.relative_to(self.root).parents[:-1]:
            (self.root / above / "__init__.py").touch()
        file.write_text(source, encoding="utf-8")
        return file

    def install(self, name: str, group: str = "sovl_tools.tools", **entry_points: str) -> None:
        """Write what an installer leaves of a distribution with those entry points."""
        place = self.root / f"{name}-1.0.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"{key} = {value}\n" for key, value in entry_points.items()]
        (place / "entry_points.txt").write_text(f"[{group}]\n{''.join(lines)}")


@contextmanager
def importable(root: Path) -> Iterator[Site]:
    """Let modules be imported from a directory; afterwards they are forgotten."""
    root.mkdir(exist_ok=True)
    sys.path.insert(0, str(root))
    importlib.invalidate_caches()
    try:
        yield Site(root)
    finally:
        sys.path.remove(str(root))
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(f"{root}/"):
                del sys.modules[name]


def told(registry: ToolRegistry) -> list[str]:
    """Return the lines of a registry's report."""
    return [str(each) for each in registry.report.diagnostics]


def codes(diagnostics: Sequence[Diagnostic]) -> list[str]:
    return [each.code for each in diagnostics]


def saying(word: object, name: str = "echo", **marks: Any) -> Callable[..., Any]:
    """Return a decorated function that answers with a word."""

    def function(text: str) -> object:
        """Say something."""
        return word

    function.__name__ = name
    made: Callable[..., Any] = tool(name=name, **marks)(function)
    return made


class World:
    """Every source of a tool ``echo``; each answers with its own name."""

    def __init__(self, site: Site, tmp_path: Path) -> None:
        self.site = site
        self.tools, self.plugins = tmp_path / "tools", tmp_path / "plugins"
        self.hand = saying("hand")

    def folder(self, answer: object = "folder", name: str = "echo", at: Path | None = None) -> Path:
        place = (self.tools if at is None else at) / name
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.json").write_text(json.dumps(manifest_of(name)))
        (place / f"{name}.py").write_text(says(answer, name))
        return place

    def module(self, answer: object = "modules", name: str = "echo") -> Path:
        self.plugins.mkdir(exist_ok=True)
        file = self.plugins / f"{name}.py"
        file.write_text(decorated(name, answer))
        return file

    def registry(self, kinds: Sequence[str]) -> ToolRegistry:
        """Return a registry of those sources, entered in that order; folders come first."""
        paths = [self.folder().parent] if "folder" in kinds else []
        registry = ToolRegistry.from_directory(*paths)
        for kind in kinds:
            getattr(self, f"enter_{kind}")(registry)
        return registry

    def enter_folder(self, registry: ToolRegistry) -> None: ...

    def enter_hand(self, registry: ToolRegistry) -> None:
        registry.register(self.hand)

    def enter_entry(self, registry: ToolRegistry) -> None:
        self.site.write("by_entry.py", decorated("echo", "entry"))
        self.site.install("by_entry", GROUP, echo="by_entry:echo")
        registry.load_entry_points(GROUP)

    def enter_package(self, registry: ToolRegistry) -> None:
        self.site.write("by_package/inner.py", decorated("echo", "package"))
        registry.load_package("by_package")

    def enter_shelf(self, registry: ToolRegistry) -> None:
        self.site.write("by_shelf/__init__.py")
        self.folder("shelf", at=self.site.root / "by_shelf")
        registry.load_package_folders("by_shelf")

    def enter_modules(self, registry: ToolRegistry) -> None:
        self.module()
        registry.load_modules(self.plugins)
