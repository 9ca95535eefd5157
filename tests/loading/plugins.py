"""What tests of tools in code share: a place for modules and distributions that can be imported."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sovl_tools import ToolRegistry
from sovl_tools.model.diagnostic import Diagnostic

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


def codes(diagnostics: tuple[Diagnostic, ...]) -> list[str]:
    return [each.code for each in diagnostics]
