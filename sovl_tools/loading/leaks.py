"""The changes that a module's import leaves in ``sys.path`` and ``sys.modules``.

A tool that puts its folder on ``sys.path`` would share its helpers with all other tools, under
names that can hide libraries.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import islice
from types import ModuleType
from typing import NamedTuple

from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.loading.interface import SHARE
from sovl_tools.loading.rules.module import ImportFailure
from sovl_tools.model.diagnostic import Position
from sovl_tools.model.folder import ToolFolder


class ImportState(NamedTuple):
    """``sys.path``, and the number of modules, before an import."""

    path: list[str]
    modules: int

    @classmethod
    def now(cls) -> ImportState:
        """Return the current state."""
        return cls(sys.path[:], len(sys.modules))

    def clean(self, folder: ToolFolder, source: bytes) -> list[ImportFailure]:
        """Remove an import's additions from the tools directory; return the modules it imported.

        Entries of ``sys.path`` are removed, and modules of the directory with top-level names.
        """
        directory = os.path.dirname(folder.location)
        if sys.path != self.path:
            known = {*map(str, self.path)}
            sys.path[:] = [
                each for each in sys.path if str(each) in known or not _is_inside(each, directory)
            ]
        # a dictionary has its newest members last
        added = [*islice(reversed(sys.modules), max(0, len(sys.modules) - self.modules))]
        found: dict[str, str] = {}
        for name in reversed(added):
            top = name.partition(".")[0]
            if top in {TOOL_ROOT, PLUGIN_ROOT}:
                continue
            path = _path_of(sys.modules.get(top))
            if path is not None and _is_inside(path, directory):
                found.setdefault(top, path)
        for name in added:
            if name.partition(".")[0] in found:
                sys.modules.pop(name, None)
        return [_failure(top, path, folder, source) for top, path in found.items()]


def _path_of(module: ModuleType | None) -> str | None:
    """Return the file of a module, or the folder of a package without one."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return file
    try:
        return next(iter(map(str, module.__path__)), None)  # type: ignore[union-attr]  # see below
    except (AttributeError, TypeError):
        return None


def _is_inside(path: object, directory: str) -> bool:
    whole = os.path.abspath(str(path))
    return whole == directory or whole.startswith(f"{directory}{os.sep}")


def _failure(top: str, path: str, folder: ToolFolder, source: bytes) -> ImportFailure:
    statement = re.search(rf"^[ \t]*((?:from|import)\s+{top}\b)".encode(), source, re.MULTILINE)
    line = source.count(b"\n", 0, statement.start(1)) + 1 if statement else 1
    column = statement.start(1) - source.rfind(b"\n", 0, statement.start(1)) if statement else 1
    place = Position(folder.module_name, line, column)
    inside = os.path.relpath(os.path.abspath(path), os.path.dirname(folder.location))
    owner, _, rest = inside.replace(os.sep, "/").partition("/")
    sibling = rest.partition("/")[0] or owner
    if sibling == "__init__.py":
        sibling = owner
    advice = None
    if owner.startswith("_"):
        advice = f"write: from ..{owner} import {top}"
    elif owner != folder.name:
        advice = SHARE
    return ImportFailure(place, "", "", sibling, advice)
