"""Modules outside of the tools' folders that tools import, and that change meanwhile."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import invalidate_caches
from importlib.util import cache_from_source
from types import ModuleType

from sovl_tools.loading.modules import locations_naming


def changed_sources(touched: Iterable[str], libraries: Sequence[str]) -> set[str]:
    """Return those of the paths that are Python files of a library, or folders in one."""
    return {path for path in touched if _is_below(path, libraries) and not _is_other_file(path)}


def _is_other_file(path: str) -> bool:
    return not path.endswith(".py") and not os.path.isdir(path)


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}{os.sep}") for folder in folders)


def take_out(sources: Iterable[str], libraries: Sequence[str]) -> dict[str, ModuleType]:
    """Take all modules of the libraries out of ``sys.modules``, and return them by name.

    All of them, because the others may hold something of those that have changed. What Python has
    compiled of the changed sources is thrown away: it is keyed on whole seconds and the size.
    """
    places = [*libraries, *map(os.path.realpath, libraries)]
    taken = {
        name: module
        for name, module in list(sys.modules.items())
        if _is_below(os.path.abspath(getattr(module, "__file__", None) or ""), places)
    }
    for name in taken:
        sys.modules.pop(name, None)
    for source in sources:
        with contextlib.suppress(OSError, NotImplementedError):
            os.unlink(cache_from_source(source))
    invalidate_caches()
    return taken


def put_back(taken: Mapping[str, ModuleType]) -> None:
    """Put those modules back that nobody has imported anew, for tools that still use them."""
    for name, module in taken.items():
        sys.modules.setdefault(name, module)


def users(taken: Iterable[str]) -> set[str]:
    """Return the folders of the tools in whose sources one of the libraries is named."""
    return locations_naming({name.partition(".")[0] for name in taken})
