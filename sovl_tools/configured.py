"""The configured registry: directories of folders, of modules, and entry points."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection
from typing import NamedTuple

from sovl_tools.configuration import Configuration, project_configuration
from sovl_tools.model.path_patterns import is_excluded, patterns_of
from sovl_tools.registry import ToolRegistry
from sovl_tools.threads import is_loading


def open_registry(
    *paths: str,
    settings: Configuration | None = None,
    names: Collection[str] | None = None,
    code: bool = True,
    entry_points: bool = True,
    lazy: bool = False,
) -> ToolRegistry:
    """Return a registry of the project's tools, as the command line has it.

    It has the tools of the configured directories, of ``plugins``, of ``procedures`` and of the
    entry points of installed distributions. Tools can import the project's packages, and the
    variables of ``env-file`` become part of the environment.

    Args:
        paths: tools directories, which win over the configured ones.
        settings: the configuration; by default the current directory's.
        names: load only the tool folders of these names.
        code: False omits all tools that don't are from folders.
        entry_points: False omits installed distributions' tools.
        lazy: import the modules of folders when they are needed, as ``from_directory`` does.

    Raises:
        ConfigurationError: the configuration can't be read or says something else than it may.
        LockError: the lock file is missing or damaged.
    """
    registry = ToolRegistry()
    found = project_configuration(paths) if settings is None else settings
    _open(registry, found, names, lazy=lazy)
    if code:
        add_code(registry, found, entry_points=entry_points)
    return registry


def _open(
    registry: ToolRegistry,
    found: Configuration,
    names: Collection[str] | None = None,
    *,
    lazy: bool = False,
) -> None:
    """Load the configured tool folders, or the ones of some names, into an empty registry."""
    registry._load_directories(  # noqa: SLF001 - it exists before it is loaded
        # a missing default isn't an error; the commands reject a missing path from the user
        [path for path in found.paths if os.path.exists(path)],
        names=names,
        exclude=found.exclude,
        import_timeout=found.import_timeout,
        locked=found.lock_file if found.locked else None,
        lazy=lazy,
    )


def add_code(registry: ToolRegistry, found: Configuration, *, entry_points: bool = True) -> None:
    """Add the tools of plugins, of procedures and, unless it says not to, of distributions."""
    excluded = patterns_of(found.exclude, os.getcwd())
    for path in found.plugins:
        if not is_excluded(os.path.abspath(path), excluded):
            registry.load_modules(path, exclude=found.exclude, import_timeout=found.import_timeout)
    for path in filter(os.path.isdir, found.procedures):
        if not is_excluded(os.path.abspath(path), excluded):
            registry.load_procedures(path)
    if entry_points:
        registry.load_entry_points(import_timeout=found.import_timeout)


def default_registry() -> ToolRegistry:
    """Return the registry of this program, which is loaded at the first use.

    It is ``open_registry()``'s. Code that is being loaded into it gets it as far as it is
    loaded.

    Raises:
        ConfigurationError: ``pyproject.toml`` can't be read or says something else than it may.
    """
    # the loading thread has the lock, and perhaps waits for this one
    if _LOADING and (is_loading() or threading.get_ident() == _LOADING[0].thread):
        return _LOADING[0].registry
    with _LOCK:
        if not _DEFAULT:
            found, registry = project_configuration(), ToolRegistry()
            _LOADING.append(_Loading(registry, threading.get_ident()))
            try:
                _open(registry, found)
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
