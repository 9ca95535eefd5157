"""Libraries: watched modules outside the tool folders.

When a library changes, the modules of all libraries are removed from ``sys.modules``, and every
tool is loaded again: any of them could import one.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module, invalidate_caches
from importlib.util import cache_from_source
from types import ModuleType

from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.reloading.fingerprint import Files, files_below, is_noise
from sovl_tools.threads import Abandoned, run_within

_LOGGER = logging.getLogger("sovl_tools")

_KEPT = {"__main__", "sovl_tools", TOOL_ROOT, PLUGIN_ROOT}
"""Top-level packages that are never removed, even if they're inside a library's folder."""
_INSTALLED = "site-packages"


def scan_libraries(paths: Iterable[str]) -> dict[str, Files]:
    """Scan the sources of libraries, by path."""
    return {each: files_below(each, (".py",)) for each in paths}


def changed_sources(libraries: Mapping[str, Files]) -> set[str]:
    """Return the paths of sources that changed since the libraries were scanned."""
    return {
        f"{library}/{path}".rstrip("/")
        for library, now in scan_libraries(libraries).items()
        for path in libraries[library].changed(now)
    }


def sources_in(libraries: Collection[str], paths: Iterable[str]) -> set[str]:
    """Return the paths that are sources or folders in a library."""
    inside = {path for path in paths if _lies_in(path, libraries)}
    return {path for path in inside if path.endswith(".py") or os.path.isdir(path)}


def unload(libraries: Iterable[str], changed: Iterable[str]) -> dict[str, ModuleType]:
    """Remove the modules of all libraries from ``sys.modules``, and return them by name.

    The ``.pyc`` files of changed sources are deleted: Python compares them with the sources by
    whole seconds and size, and would miss a quick edit that keeps the size.
    """
    folders = {real for path in libraries for real in (path, os.path.realpath(path))}
    # a copy, because the garbage collector can remove tools' modules meanwhile
    found = {
        name: module
        for name, module in sys.modules.copy().items()
        if name.partition(".")[0] not in _KEPT
        and any(_lies_in(path, folders) for path in _places(module))
    }
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
    return found


def restore(modules: Mapping[str, ModuleType], *, limit: float) -> None:
    """Import the modules that no tool has imported again; a tool might do so when it's called.

    If that fails, or takes longer than ``limit`` seconds in all, the old modules are put back,
    except modules whose file is gone.
    """
    missing = sorted(name for name in modules if not _is_imported(name))
    if missing:
        run_within(limit, partial(_import_all, missing))
    for name in missing:
        if _is_imported(name) or not any(map(os.path.exists, _places(modules[name]))):
            continue
        sys.modules[name] = modules[name]
        package, _, attribute = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], attribute, modules[name])


def _import_all(names: Sequence[str]) -> None:
    for name in names:
        try:
            import_module(name)
        except Abandoned:  # the time limit ends this thread
            raise
        except BaseException as error:  # noqa: BLE001 - the library's own code
            kind = type(error).__name__
            _LOGGER.warning("module %s is served as it was: %s: %s", name, kind, error)


def _is_imported(name: str) -> bool:
    """Return whether a module is imported, and not only halfway, by an abandoned thread."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return name in sys.modules and not getattr(spec, "_initializing", False)


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
