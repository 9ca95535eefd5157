"""The registry of what is configured: directories of folders, of modules, and entry points."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection
from typing import NamedTuple

from sovl_tools.configuration import Configuration, configuration
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.registry import ToolRegistry
from sovl_tools.threads import is_loading


def folders_of(found: Configuration, names: Collection[str] | None = None) -> ToolRegistry:
    """Return a registry of the tool folders, or of those of some names."""
    registry = ToolRegistry()
    load_into(registry, found, names)
    return registry


def load_into(
    registry: ToolRegistry, found: Configuration, names: Collection[str] | None = None
) -> None:
    """Load the configured tool folders, or those of some names, into an empty registry."""
    # the commands reject a missing path themselves, where a user has named it
    registry._load_directories(  # noqa: SLF001 - it exists before it is loaded
        [path for path in found.paths if os.path.exists(path)],
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
    installed distributions; ``sovl_tools.configuration`` says what is configured. Code that is
    being loaded into it gets it as far as it is loaded.

    Raises:
        ConfigurationError: ``pyproject.toml`` can't be read or says something else than it may.
    """
    # the thread that loads holds the lock, and perhaps waits for this one
    if _LOADING and (is_loading() or threading.get_ident() == _LOADING[0].thread):
        return _LOADING[0].registry
    with _LOCK:
        if not _DEFAULT:
            found, registry = configuration(), ToolRegistry()
            _LOADING.append(_Loading(registry, threading.get_ident()))
            try:
                load_into(registry, found)
                add_code(registry, found)
            finally:
                _LOADING.clear()
            _DEFAULT.append(registry)
        return _DEFAULT[0]


class _Loading(NamedTuple):
    """The default registry while it is loaded, and the thread that loads it."""

    registry: ToolRegistry
    thread: int


_DEFAULT: list[ToolRegistry] = []
_LOADING: list[_Loading] = []
_LOCK = threading.Lock()
