"""A directory to edit tools in, and its tools while they are watched."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from threading import Condition
from typing import Any, NamedTuple

from sovl_tools import Tooler, ToolRegistry

GONE = "gone"
"""The answer of a tool that can't be called: there isn't one, or it is known to be unusable."""
FAILED = "failed: "
"""What the answer of a tool begins with that was called and did not return."""

_PAUSE = 0.01
_DESCRIPTION = "Say what was agreed on."


class Layout(NamedTuple):
    """Where the files of a tool lie, below the tools directory, and what is in them.

    All are templates with ``{tool}``; what a product has no notion of is empty.

    Attributes:
        place: what must be moved to move the tool, a folder or a file.
        module: the file with its function.
        source: of that file, with ``{head}`` and the expression ``{result}`` as well.
        helper: a module that the tool imports.
        import_helper: the statement by which it does, under the name ``helper``.
        data: a file that it reads.
        manifest: the JSON file that describes it.
        nested: a helper in a package inside the tool's folder.
        import_nested: the statement that imports that one as ``helper``.
        package: an empty file that makes the folder a package.
    """

    place: str
    module: str
    source: str
    helper: str
    import_helper: str
    data: str
    manifest: str = ""
    nested: str = ""
    import_nested: str = ""
    package: str = ""


class Workbench:
    """A directory to edit tools in: ``root`` is the tools directory, ``aside`` lies next to it."""

    def __init__(self, layout: Layout, base: Path) -> None:
        self.layout = layout
        self.base = base
        self.root = base / "tools"
        self.aside = base / "aside"
        self.aside.mkdir()

    def path(self, template: str, tool: str, *, within: Path | None = None) -> Path:
        """Return where a file of a tool lies, in another directory than ``root`` if one is given.

        The template is one of the layout's.
        """
        return (within or self.root) / template.format(tool=tool)

    def place(self, tool: str) -> Path:
        """Return the folder of the tool, or its file if that is all there is."""
        return self.path(self.layout.place, tool)

    def module(self, tool: str) -> Path:
        """Return the file with the tool's function."""
        return self.path(self.layout.module, tool)

    def source(self, tool: str, answer: str, *, head: str = "", result: str = "") -> str:
        """Return a module whose function returns the answer, or else what an expression gives."""
        return self.layout.source.format(tool=tool, head=head, result=result or repr(answer))

    def write(self, tool: str, answer: str, *, within: Path | None = None, **code: str) -> None:
        """Write the files of a tool in place: the manifest first, the module last.

        ``code`` is what ``source`` takes.
        """
        if self.layout.manifest:
            self.write_manifest(tool, within=within)
        self.write_module(tool, self.source(tool, answer, **code), within=within)

    def write_manifest(self, tool: str, *, within: Path | None = None, **keys: Any) -> None:
        """Write the tool's manifest, some of its keys changed, and the folder if need be."""
        parameters = {"type": "object", "properties": {}}
        manifest = {"name": tool, "description": _DESCRIPTION, "parameters": parameters, **keys}
        path = self.path(self.layout.manifest, tool, within=within)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(manifest))

    def write_module(self, tool: str, text: str, *, within: Path | None = None) -> None:
        """Write the tool's module, and the folder if need be."""
        path = self.path(self.layout.module, tool, within=within)
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.layout.package:
            self.path(self.layout.package, tool, within=within).touch()
        path.write_text(text)

    def write_helper(self, template: str, answer: str) -> None:
        """Write the helper of ``echo`` at a template, with the package that it may lie in."""
        path = self.path(template, "echo")
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.layout.package:
            path.with_name("__init__.py").touch()
        path.write_text(f"ANSWER = {answer!r}\n")

    def remove(self, tool: str) -> None:
        """Delete a tool's folder, or its file if that is all there is."""
        place = self.place(tool)
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()


class SovlTools:
    """The tools of a directory, watched from ``start`` to ``stop``."""

    layout = Layout(
        place="{tool}",
        module="{tool}/{tool}.py",
        source="{head}\n\n\ndef {tool}() -> str:\n    return {result}\n",
        helper="{tool}/helper.py",
        import_helper="from . import helper",
        data="{tool}/data.txt",
        manifest="{tool}/{tool}.json",
        nested="{tool}/parts/inner.py",
        import_nested="from .parts import inner as helper",
    )

    def __init__(self, root: Path) -> None:
        self.root = root

    def start(self) -> None:
        self._changes = 0
        self._change = Condition()
        self._registry = ToolRegistry.from_directory(self.root, import_timeout=1.0)
        self._tooler = Tooler(self._registry)
        self._unsubscribe = self._registry.subscribe(self._told)
        self._watching = self._registry.watch()
        self._watching.__enter__()

    def stop(self) -> None:
        self._watching.__exit__(None, None, None)
        self._unsubscribe()

    def _told(self, _change: Any) -> None:
        with self._change:
            self._changes += 1
            self._change.notify_all()

    def answer(self, tool: str) -> str:
        result = self._tooler.call_sync(tool, {})
        if result.error is None:
            return str(result.value)
        if result.error.kind in {"unknown_tool", "unavailable"}:
            return GONE
        return f"{FAILED}{result.error.message}"

    def description(self, tool: str) -> str:
        return str(self._registry[tool].description)

    def announced(self) -> int:
        return self._changes

    def settle(self, predicate: Callable[[], bool], timeout: float) -> bool:
        """Wait until the predicate holds, so many seconds; say whether it does.

        It is asked a last time when they are over, however long it took before.
        """
        deadline = time.monotonic() + timeout
        while True:
            is_late = time.monotonic() >= deadline
            if predicate():
                return True
            if is_late:
                return False
            self.wait()

    def wait(self) -> None:
        with self._change:
            self._change.wait(_PAUSE)
