"""A module system of the tools' own: no name is shadowed, no path is touched, nothing leaks.

The folder ``tools/echo`` becomes the package ``sovl_tool_modules.<digest>``, where the digest
names the content of its Python files, and ``echo.py`` in it a module ``echo`` of that package. So
a tool called ``json`` shadows nothing, two tools may each have a ``helpers.py``, two generations
of a tool live side by side, and every process gives the same code the same name. Helpers are
imported from the snapshot that the tool was loaded with, whenever that happens.

A generation stays in ``sys.modules`` for as long as it has a user. Users are:

- a load that imports it (``use``),
- each definition of its tool (``keep_for``), which catalogs and running calls refer to,
- its folder, until another generation of the folder is imported (``_keep_latest``).
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import source_hash
from types import ModuleType
from typing import NamedTuple
from weakref import WeakKeyDictionary, finalize

from sovl_tools.loading.importer import TOOL_ROOT, PrivatePackage, install
from sovl_tools.loading.sources import Snapshot
from sovl_tools.model.definition import ToolDefinition


class Sources(NamedTuple):
    """The files that a tool was made of.

    Attributes:
        manifest: the text of the manifest.
        snapshot: the Python files.
    """

    manifest: str
    snapshot: Snapshot


class Generation(PrivatePackage):
    """One version of a tool folder's code.

    Attributes:
        snapshot: the folder's Python files.
        users: the number of loads, definitions and folders that use it.
    """

    def __init__(self, snapshot: Snapshot, package: str) -> None:
        super().__init__(package, snapshot.folder.location, snapshot)
        self.snapshot = snapshot
        self.users = 0
        self.keeps_compiled = snapshot.locked is None
        self._name = f"{package}.{snapshot.folder.name}"
        self._importing = threading.RLock()
        self._module: ModuleType | None = None

    def run(self) -> ModuleType:
        """Import the tool's module, or return it if that was done before.

        Raises:
            BaseException: any exception of the module.
        """
        with self._importing:
            if self._module is None:
                self._module = self._import()
        _keep_latest(self)
        return self._module

    def _import(self) -> ModuleType:
        file = self.snapshot.folder.module_name
        spec = self._spec(self._name, file)
        module = ModuleType(self._name)
        module.__file__ = spec.origin
        module.__loader__ = spec.loader
        module.__package__ = self.package
        module.__spec__ = spec
        sys.modules[self._name] = module
        try:
            self._exec(module, file, self.snapshot.main)
        except BaseException:
            self.drop_modules()
            raise
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, if it has any (see ``importlib.abc.Loader``)."""
        super().exec_module(module)
        if module.__name__ == self.package and self._name in sys.modules:
            setattr(module, self.snapshot.folder.name, sys.modules[self._name])

    def keep_for(self, definition: ToolDefinition, sources: Sources) -> None:
        """Keep the modules and the sources for as long as the definition lives."""
        with _LOCK:
            self.users += 1
        _SOURCES[definition] = sources
        # called by the garbage collector, on any thread
        finalize(definition, self.release).atexit = False

    def release(self) -> None:
        """Count a user less; with the last one, the modules leave ``sys.modules``."""
        with _LOCK:
            self.users -= 1
            if not self.users:
                del _GENERATIONS[self.package]
                self.drop_modules()
                _forget_loggers(self.package)

    def drop_modules(self) -> None:
        """Remove all modules of this generation from ``sys.modules``."""
        for name in tuple(self._names):
            sys.modules.pop(name, None)
        # importing a helper made the package an attribute of the root, which lives on
        attributes = getattr(sys.modules.get(TOOL_ROOT), "__dict__", {})
        attributes.pop(self.package.rpartition(".")[2], None)


def _forget_loggers(package: str) -> None:
    """Forget the loggers of a package, which would live for ever; references to them still work."""
    known = logging.root.manager.loggerDict
    above = known.get(TOOL_ROOT)
    for name in [name for name in list(known) if name.startswith(package)]:
        logger = known.pop(name, None)
        # a placeholder for the root remembers the loggers below it
        if isinstance(above, logging.PlaceHolder) and isinstance(logger, logging.Logger):
            above.loggerMap.pop(logger, None)


_GENERATIONS: dict[str, Generation] = {}
"""All that have users, by the names of their packages."""
_LATEST: dict[str, Generation] = {}
"""The generation that was imported last, by the location of its folder."""
_SOURCES: WeakKeyDictionary[ToolDefinition, Sources] = WeakKeyDictionary()
# The collector may end a definition at any moment, also while its own thread holds this lock.
_LOCK = threading.RLock()


@contextmanager
def use(snapshot: Snapshot) -> Iterator[Generation]:
    """Yield the generation of a snapshot: the same one for the same content in the same place."""
    generation = _generation_of(snapshot)
    try:
        yield generation
    finally:
        generation.release()


def _generation_of(snapshot: Snapshot) -> Generation:
    """Return the generation of a snapshot, with one user more."""
    install(TOOL_ROOT, _named)
    # the digest is the better name: every process computes it for the same code
    names = [f"{TOOL_ROOT}.{snapshot.digest}", f"{TOOL_ROOT}.{_placed(snapshot)}"]
    if snapshot.folder.revision:
        del names[0]
    with _LOCK:
        for name in names:
            known = _GENERATIONS.get(name)
            if known is not None and known.location == snapshot.folder.location:
                known.users += 1
                # unless the collector has just taken its last user
                if _GENERATIONS.get(name) is known:
                    return known
        name = next(each for each in names if each not in _GENERATIONS)
        generation = _GENERATIONS[name] = Generation(snapshot, name)
        generation.users = 1
        return generation


def _keep_latest(generation: Generation) -> None:
    """Let a folder use the generation instead of the one before."""
    with _LOCK:
        before = _LATEST.get(generation.location)
        if before is not generation:
            generation.users += 1
            _LATEST[generation.location] = generation
            if before is not None:
                before.release()


def forget_folder(location: str) -> None:
    """End a folder's use of its latest generation: it no longer has a tool."""
    with _LOCK:
        latest = _LATEST.pop(location, None)
        if latest is not None:
            latest.release()


def _placed(snapshot: Snapshot) -> str:
    """Return another digest for a copy of a folder, so that each has its own ``__file__``.

    Likewise for sources that run again, because something that they read has changed.
    """
    named = f"{snapshot.digest} {snapshot.folder.location}"
    if snapshot.folder.revision:
        named += f" {snapshot.folder.revision}"
    return source_hash(named.encode("utf-8", "surrogateescape")).hex()


def sources_of(definition: ToolDefinition) -> Sources | None:
    """Return the files that the tool of a folder was made of; None for a tool in code."""
    return _SOURCES.get(definition)


def _named(package: str) -> Generation | None:
    """Return a generation by its name here, or in a process that has a copy of its folder."""
    known = _GENERATIONS.get(package)
    if known is not None:
        return known
    digest = package.rpartition(".")[2]
    every = list(_GENERATIONS.values())
    return next((each for each in every if _placed(each.snapshot) == digest), None)
