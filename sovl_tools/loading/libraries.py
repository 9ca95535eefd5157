"""Modules outside of the tools' folders that tools import, and that change meanwhile."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import invalidate_caches
from importlib.util import cache_from_source
from types import ModuleType

from sovl_tools.loading.modules import locations_naming
from sovl_tools.watching.survey import Stamp, survey


class Libraries:
    """Packages, folders of modules, and single modules.

    Attributes:
        paths: their absolute paths.
    """

    def __init__(self) -> None:
        self.paths: frozenset[str] = frozenset()
        self._stamps: dict[str, Stamp] = {}

    def add(self, paths: Iterable[str]) -> None:
        """Look at more of them from now on."""
        self.paths |= set(paths)
        self._stamps = self._look()

    def changed(self) -> set[str]:
        """Return the sources that look otherwise than when they were last imported."""
        return {path for path, _ in self._look().items() ^ self._stamps.items()}

    def sources(self, touched: Iterable[str]) -> set[str]:
        """Return those of the paths that are sources of the libraries, or folders of such."""
        below = {path for path in touched if _is_below(path, self.paths)}
        return {path for path in below if path.endswith(".py") or os.path.isdir(path)}

    def take_out(self, sources: Iterable[str]) -> dict[str, ModuleType]:
        """Take all their modules out of ``sys.modules``, and return them by name.

        All of them, because the others may hold something of those that have changed. What Python
        compiled of the changed sources is thrown away: it is keyed on whole seconds and the size.
        """
        self._stamps = self._look()
        places = {*self.paths, *map(os.path.realpath, self.paths)}
        modules = sys.modules.copy().items()  # of the original the collector may take generations
        taken = {
            name: module
            for name, module in modules
            if any(_is_below(path, places) for path in _paths(module))
        }
        for name in taken:
            sys.modules.pop(name, None)
        for source in sources:
            with contextlib.suppress(OSError, NotImplementedError):
                os.unlink(cache_from_source(source))
        invalidate_caches()
        return taken

    def _look(self) -> dict[str, Stamp]:
        return {file: stamp for path in self.paths for file, stamp in _sources_at(path)}


def put_back(taken: Mapping[str, ModuleType]) -> None:
    """Put those modules back that nobody has imported anew, for tools that still use them."""
    for name, module in taken.items():
        sys.modules.setdefault(name, module)


def users(taken: Iterable[str]) -> set[str]:
    """Return the folders of the tools in whose sources one of the libraries is named."""
    return locations_naming({name.partition(".")[0] for name in taken})


def _sources_at(path: str) -> Iterator[tuple[str, Stamp]]:
    if path.endswith(".py"):
        with contextlib.suppress(OSError):
            status = os.stat(path)
            yield path, Stamp(status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        return
    for relative, stamp in survey(path).stamps.items():
        if relative.endswith(".py"):
            yield f"{path}{os.sep}{relative}", stamp


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}{os.sep}") for folder in folders)


def _paths(module: ModuleType) -> list[str]:
    """Return where a module lies; a package without a file of its own lies in its folders."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return [os.path.abspath(file)]
    try:
        return [os.path.abspath(folder) for folder in module.__path__]
    except (AttributeError, KeyError, TypeError):
        return []
