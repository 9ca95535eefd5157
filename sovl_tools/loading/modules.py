"""The tools' module system: no name is shadowed, no path is touched, no import leaks.

A directory of tools becomes a package, the folder ``tools/echo`` a package in it, and ``echo.py`` a
module of that package. So a tool called ``json`` shadows no module, two tools can each have a
``helpers.py``, and ``from .._shared.x import y`` imports the directory's shared modules.

Each module has two names. Its ``__name__``, such as ``sovl_tool_modules.<directory>.echo.echo``,
depends only on its place: it stays the same over edits and in every process, for loggers and
pickles. The name in its ``__spec__`` has hashes of the sources instead, so several generations of a
tool live side by side, and late imports of an old one still get its own helpers.

A generation stays in ``sys.modules`` for as long as it has a user. Users are:

- a load that imports it (``use``),
- each definition of its tool (``keep_for``), which catalogs and running calls refer to,
- its folder, until another generation of the folder is imported (``_keep_latest``).

Shared modules stay for as long as a generation could import them.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import source_hash
from types import ModuleType
from typing import NamedTuple
from weakref import WeakKeyDictionary, finalize

from sovl_tools.loading.importer import TOOL_ROOT, PrivatePackage, install
from sovl_tools.loading.sources import Snapshot, framed
from sovl_tools.model.definition import ToolDefinition

_LOGGER = logging.getLogger("sovl_tools")
SLOW = 0.1
"""How many seconds an import takes that is reported."""


class Sources(NamedTuple):
    """The files that a tool was made of.

    Attributes:
        manifest: the text of the manifest.
        snapshot: the Python files.
    """

    manifest: str
    snapshot: Snapshot


class _KnownFiles(NamedTuple):
    """Python files that were read, by relative path."""

    files: Mapping[str, bytes]

    def read(self, file: str) -> bytes | None:
        return self.files.get(file)

    def has_folder(self, path: str) -> bool:
        return any(file.startswith(f"{path}/") for file in self.files)


class _Package(PrivatePackage):
    """A package that leaves ``sys.modules`` with its last user.

    Attributes:
        users: the number of users.
    """

    def __init__(
        self, package: str, public: str, location: str, files: Mapping[str, bytes]
    ) -> None:
        super().__init__(package, location, _KnownFiles(files), public=public)
        self.users = 0
        self._published: list[tuple[str, ModuleType]] = []

    def _exec(self, module: ModuleType, file: str, source: bytes) -> None:
        _publish(module.__name__, module)
        self._published.append((module.__name__, module))
        super()._exec(module, file, source)

    def drop_modules(self) -> None:
        """Remove all modules of this package from ``sys.modules``."""
        for name in tuple(self._names):
            sys.modules.pop(name, None)
        # an import made the package an attribute of the one above, which lives on
        above, _, name = self.package.rpartition(".")
        getattr(sys.modules.get(above), "__dict__", {}).pop(name, None)
        published, self._published = self._published, []
        for name, module in published:
            _withdraw(name, module)


class Generation(_Package):
    """One version of a tool folder's code.

    Attributes:
        snapshot: the folder's Python files.
        directory: its shared modules.
    """

    keeps_compiled = True

    def __init__(self, snapshot: Snapshot, directory: _Package, package: str) -> None:
        folder = snapshot.folder
        super().__init__(
            package, f"{directory.public}.{folder.name}", folder.location, snapshot.files
        )
        self.snapshot = snapshot
        self.directory = directory
        self.keeps_compiled &= snapshot.locked is None
        self._name = f"{package}.{folder.name}"
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
        module = self.create_module(spec)
        module.__file__ = spec.origin
        module.__loader__ = spec.loader
        module.__package__ = self.package
        module.__spec__ = spec
        sys.modules[self._name] = module
        started = time.perf_counter()
        try:
            self._exec(module, file, self.snapshot.main)
        except BaseException:
            self.drop_modules()
            raise
        seconds = _SECONDS[self.location] = time.perf_counter() - started
        if seconds >= SLOW:
            name = self.snapshot.folder.name
            _LOGGER.info("importing the module of tool %s took %.2f s", name, seconds)
        return module

    def keep_for(self, definition: ToolDefinition, sources: Sources) -> None:
        """Keep the modules and the sources for as long as the definition lives."""
        with _LOCK:
            self.users += 1
        remember(definition, sources)
        # called by the garbage collector, on any thread
        finalize(definition, self.release).atexit = False

    def release(self) -> None:
        """Count a user less; with the last one, the modules leave ``sys.modules``."""
        with _LOCK:
            self.users -= 1
            if self.users:
                return
            del _GENERATIONS[self.package]
            self.drop_modules()
            self.directory.users -= 1
            if not self.directory.users:
                _DIRECTORIES.pop(self.directory.package, None)
                self.directory.drop_modules()


_DIRECTORIES: dict[str, _Package] = {}
"""The shared modules, by the names of the packages."""
_GENERATIONS: dict[str, Generation] = {}
"""All that have users, by the names of their packages."""
_LATEST: dict[str, Generation] = {}
"""The generation that was imported last, by the location of its folder."""
_SECONDS: dict[str, float] = {}
"""How long the last import of a module took, by the location of its folder."""
_SOURCES: WeakKeyDictionary[ToolDefinition, Sources] = WeakKeyDictionary()
_PUBLIC: dict[str, list[ModuleType]] = {}
"""The modules that have a public name, the latest last."""
# The collector can end a definition at any moment, also while its own thread has this lock.
_LOCK = threading.RLock()
_renewal = 0


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
    install(TOOL_ROOT, _spec_of)
    folder, shared = snapshot.folder, snapshot.shared
    place = os.path.dirname(folder.location)
    above = _hash(f"{place} {_renewal} ", framed(shared))
    own = _hash(f"{folder.name} {snapshot.digest} {folder.revision}")
    package, name = f"{TOOL_ROOT}.{above}", f"{TOOL_ROOT}.{above}.{own}"
    with _LOCK:
        known = _GENERATIONS.get(name)
        if known is not None:
            known.users += 1
            # unless the collector has just taken its last user
            if _GENERATIONS.get(name) is known:
                return known
        directory = _DIRECTORIES.get(package)
        if directory is None:
            directory = _Package(package, f"{TOOL_ROOT}.{_hash(place)}", place, shared)
        directory.users += 1
        _DIRECTORIES[package] = directory
        generation = _GENERATIONS[name] = Generation(snapshot, directory, name)
        generation.users = 1
        return generation


def _hash(text: str, data: bytes = b"") -> str:
    return source_hash(text.encode("utf-8", "surrogateescape") + data).hex()


def _spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of a module by the name that it has in its spec."""
    _, above, own, relative = [*name.split(".", 3), "", ""][:4]
    directory = _DIRECTORIES.get(f"{TOOL_ROOT}.{above}")
    if directory is None:
        return None
    generation = _GENERATIONS.get(f"{directory.package}.{own}")
    if generation is not None:
        return generation.find(relative)
    return directory.find(f"{own}.{relative}".rstrip("."))


def _publish(name: str, module: ModuleType) -> None:
    """Give a module a public name, which a module of an older generation can have, too."""
    with _LOCK:
        _PUBLIC.setdefault(name, []).append(module)
        sys.modules[name] = module


def _withdraw(name: str, module: ModuleType) -> None:
    """Remove a public name from a module; the latest remaining owner gets it then."""
    others = [each for each in _PUBLIC.pop(name, ()) if each is not module]
    if others:
        _PUBLIC[name] = others
        sys.modules[name] = others[-1]
    else:
        sys.modules.pop(name, None)


def renew() -> None:
    """Run all modules again at the next load, although their sources are the same."""
    global _renewal  # noqa: PLW0603 - one number for the process
    _renewal += 1


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


def import_seconds(location: str) -> float:
    """Return how long the module of a folder took when it was last imported; 0.0 if it wasn't."""
    return _SECONDS.get(location, 0.0)


def remember(definition: ToolDefinition, sources: Sources) -> None:
    """Note the files that a tool is made of."""
    _SOURCES[definition] = sources


def sources_of(definition: ToolDefinition) -> Sources | None:
    """Return the files that the tool of a folder was made of; None for a tool in code."""
    return _SOURCES.get(definition)


def code_digest(definition: ToolDefinition) -> str:
    """Return a hash of the modules in a tool's folder; "" for a tool in code."""
    sources = sources_of(definition)
    return "" if sources is None else sources.snapshot.digest
