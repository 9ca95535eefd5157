"""The registry of what is configured: directories of folders, of modules, and entry points."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection

from sovl_tools.configuration import Configuration, configuration
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.registry import ToolRegistry
from sovl_tools.threads import is_loading


def folders_of(found: Configuration, names: Collection[str] | None = None) -> ToolRegistry:
    """Return a registry of the tool folders, or of those of some names."""
    # the commands refuse a missing path by themselves, where somebody has named it
    paths = [path for path in found.paths if os.path.exists(path)]
    return ToolRegistry.from_directory(
        *paths,
        names=names,
        exclude=found.exclude,
        import_timeout=found.import_timeout,
        locked=found.lock_file if found.locked else None,
    )


def add_code(registry: ToolRegistry, found: Configuration, *, entry_points: bool = True) -> None:
    """Add the tools in the code of plugins and, unless it says not to, of distributions."""
    for path in found.plugins:
        if not is_excluded(os.path.abspath(path), patterns_of(found.exclude, os.getcwd())):
            registry.load_modules(path, exclude=found.exclude, import_timeout=found.import_timeout)
    if entry_points:
        registry.load_entry_points(import_timeout=found.import_timeout)


def default_registry() -> ToolRegistry:
    """Return the registry of this program, which is loaded when it is first asked for.

    It holds the tools of the configured directories, of ``plugins`` and of the entry points of
    installed distributions; ``sovl_tools.configuration`` says what is configured.

    Raises:
        ConfigurationError: ``pyproject.toml`` can't be read or says something else than it may.
        RuntimeError: code that is being loaded into it asks for it.
    """
    # the lock is held by the thread that loads, which waits for this one: it would be for ever
    if not _DEFAULT and is_loading() and _LOCK.locked():
        words = "the default registry is being loaded, so what it loads can't ask for it"
        raise RuntimeError(f"{words}; decorate with @tool, or ask when the tool is called")
    with _LOCK:
        if not _DEFAULT:
            found = configuration()
            registry = folders_of(found)
            add_code(registry, found)
            _DEFAULT.append(registry)
        return _DEFAULT[0]


_DEFAULT: list[ToolRegistry] = []
_LOCK = threading.Lock()
