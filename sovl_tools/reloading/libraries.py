"""Libraries: watched modules outside the tool folders.

When a library changes, the modules of all libraries are removed from ``sys.modules``, and every
tool is loaded again: any of them could import one.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping
from importlib import invalidate_caches
from importlib.util import cache_from_source
from types import ModuleType

from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.reloading.fingerprint import Files, files_below, is_noise

_KEPT = {"__main__", "sovl_tools", TOOL_ROOT, PLUGIN_ROOT}
"""Top-level packages that are never removed, even if they're inside a library's folder."""
_INSTALLED = "site-packages"


def scan_libraries(paths: Iterable[str]) -> dict[str, Files]:
    """Scan the sources of libraries, by path."""
    return {each: files_below(each, (".py",)) for each in paths}


def changed_sources(libraries: Mapping[str, Files]) -> set[str]:
    """Return the paths of sources that changed since the libraries were scanned."""
    now = scan_libraries(libraries)
    return {path for each, files in libraries.items() for path in files.changed(now[each])}


def unload(libraries: Iterable[str], changed: Iterable[str]) -> None:
    """Remove the modules of all libraries from ``sys.modules``.

    The ``.pyc`` files of changed sources are deleted: Python compares them with the sources by
    whole seconds and size, and would miss a quick edit that keeps the size.
    """
    folders = {real for path in libraries for real in (path, os.path.realpath(path))}
    # a copy, because the garbage collector can remove tools' modules meanwhile
    found = [
        name
        for name, module in sys.modules.copy().items()
        if name.partition(".")[0] not in _KEPT
        and any(_lies_in(path, folders) for path in _places(module))
    ]
    for name in found:
        sys.modules.pop(name, None)
        package, _, attribute = name.rpartition(".")
        # ``from package import module`` takes the attribute of a package that stays
        if package in sys.modules:
            vars(sys.modules[package]).pop(attribute, None)
    for source in changed:
        with contextlib.suppress(OSError, NotImplementedError):
            os.unlink(cache_from_source(source))
    invalidate_caches()


def _lies_in(path: str, folders: Iterable[str]) -> bool:
    """Return whether a path is one of the folders or below one, outside virtual environments."""
    for folder in folders:
        if path == folder:
            return True
        if path.startswith(f"{folder}{os.sep}"):
            names = path[len(folder) + 1 :].split(os.sep)
            if not any(is_noise(name) or name == _INSTALLED for name in names):
                return True
    return False


def _places(module: ModuleType) -> list[str]:
    """Return a module's source file, or the folders of a package that has no file."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return [file] if file.endswith(".py") else []
    try:
        return [*map(str, module.__path__)]
    except (AttributeError, KeyError, TypeError):
        return []
