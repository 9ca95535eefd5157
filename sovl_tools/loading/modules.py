"""A module system of the tools' own: no name is shadowed, no path is touched, nothing leaks.

The folder ``tools/echo`` becomes the package ``sovl_tool_modules.<digest>``, where the digest
names the content of its Python files, and ``echo.py`` in it a module ``echo`` of that package. So
a tool called ``json`` shadows nothing, two tools may each have a ``helpers.py``, two generations
of a tool live side by side, and every process gives the same code the same name. Helpers are
imported from the snapshot that the tool was loaded with, whenever that happens.

A generation leaves ``sys.modules`` when another one of its folder has taken its place and the last
definition of its tool has ended, which lives in catalogs and in calls under way.
"""

from __future__ import annotations

import logging
import sys
import threading
from importlib.util import source_hash
from types import ModuleType
from typing import NamedTuple
from weakref import ref

from sovl_tools.loading.importer import TOOL_ROOT, PrivatePackage, install
from sovl_tools.loading.sources import Snapshot, read_data
from sovl_tools.model.definition import ToolDefinition


class Sources(NamedTuple):
    """What a tool of a folder was made of.

    Attributes:
        manifest: the text of the manifest.
        snapshot: the Python files.
    """

    manifest: str
    snapshot: Snapshot


class Generation(PrivatePackage):
    """One version of a tool folder's code."""

    def __init__(self, snapshot: Snapshot, package: str) -> None:
        super().__init__(package, snapshot.folder.location, snapshot)
        self.snapshot = snapshot
        self.keeps_compiled = snapshot.locked is None
        self.name = f"{package}.{snapshot.folder.name}"
        self.lock = threading.RLock()
        self.module: ModuleType | None = None
        self.users = 1
        self.is_current = True
        self._leases: dict[ref[ToolDefinition], Sources] = {}

    def run(self) -> ModuleType:
        """Import the tool's module, or return it if that has been done.

        Raises:
            BaseException: whatever the module raises.
        """
        with self.lock:
            if self.module is None:
                self.module = self._import()
            return self.module

    def _import(self) -> ModuleType:
        folder, files = self.snapshot.folder, self.snapshot.files
        # importlib.resources shall see the data of this version, also after the next edit
        for each in files.values():
            if each.find(b"resources") >= 0:  # as quick as ``in`` is for texts, but not for bytes
                self.resources = {**read_data(folder), **files}
                break
        file = folder.module_name
        spec = self._spec(self.name, file)
        module = ModuleType(self.name)
        module.__file__ = spec.origin
        module.__loader__ = spec.loader
        module.__package__ = self.package
        module.__spec__ = spec
        sys.modules[self.name] = module
        try:
            self._exec(module, file, files[file])
        except BaseException:
            self._drop_modules()
            raise
        return module

    def lease(self, definition: ToolDefinition, sources: Sources) -> None:
        """Keep this generation, and what the tool was made of, for as long as the definition is."""
        with _LOCK:
            self.users += 1
            self._leases[ref(definition, self._return)] = sources

    def _return(self, lease: ref[ToolDefinition]) -> None:
        # called by the garbage collector, on any thread
        self._leases.pop(lease, None)
        if _LOCK is not None:  # at the very end of the interpreter it is
            self.release()

    def sources_of(self, definition: ToolDefinition) -> Sources | None:
        """Return what a tool was made of, if it was of this generation."""
        return self._leases.get(ref(definition))

    def release(self) -> None:
        """Say that one who used it does not use it any more."""
        with _LOCK:
            self.users -= 1
            if not self.users:
                self._end_unless_needed()

    def replace(self) -> None:
        """Say that another generation of the folder has taken its place, or that there is none."""
        with _LOCK:
            self.is_current = False
            self._end_unless_needed()

    def _end_unless_needed(self) -> None:
        is_needed = self.users or (self.is_current and self.module is not None)
        if is_needed or _GENERATIONS.get(self.package) is not self:
            return
        del _GENERATIONS[self.package]
        if _CURRENT.get(self.snapshot.folder.location) is self:
            del _CURRENT[self.snapshot.folder.location]
        self._drop_modules()
        # loggers live for ever otherwise; one that somebody holds goes on working
        known = logging.root.manager.loggerDict
        above = known.get(TOOL_ROOT)
        for name in [name for name in list(known) if name.startswith(self.package)]:
            logger = known.pop(name, None)
            # a placeholder for the root remembers the loggers below it
            if isinstance(above, logging.PlaceHolder) and isinstance(logger, logging.Logger):
                above.loggerMap.pop(logger, None)

    def _drop_modules(self) -> None:
        """Take everything of this generation out of ``sys.modules``."""
        for name in tuple(self._names):
            sys.modules.pop(name, None)
        # importing a helper made the package an attribute of the root, which ends before all else
        attributes = getattr(sys.modules.get(TOOL_ROOT), "__dict__", {})
        attributes.pop(self.package.rpartition(".")[2], None)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, if it has any (see ``importlib.abc.Loader``)."""
        super().exec_module(module)
        if module.__name__ == self.package and self.name in sys.modules:
            setattr(module, self.snapshot.folder.name, sys.modules[self.name])


_GENERATIONS: dict[str, Generation] = {}
_CURRENT: dict[str, Generation] = {}
# A definition may end at any moment, also within this lock: the collector runs when it likes.
_LOCK = threading.RLock()


def generation_of(snapshot: Snapshot) -> Generation:
    """Return the generation of a snapshot: the same one for the same content in the same place.

    It is in use by the caller until he releases it.
    """
    location = snapshot.folder.location
    with _LOCK:
        # the best name first: the digest alone, which every process finds for the same code
        plain = f"{TOOL_ROOT}.{snapshot.digest}"
        packages = [] if snapshot.folder.revision else [plain]
        if not packages or location in _CURRENT or plain in _GENERATIONS:
            packages.append(f"{TOOL_ROOT}.{_placed(snapshot)}")
        for package in packages:
            known = _GENERATIONS.get(package)
            if known is not None and known.snapshot.folder.location == location:
                known.users += 1
                # one that has just been forgotten is of no use any more
                if _GENERATIONS.get(package) is known:
                    break
        else:
            package = packages[0] if packages[0] not in _GENERATIONS else packages[1]
            known = _GENERATIONS[package] = Generation(snapshot, package)
            install(TOOL_ROOT, _named)
        before = _CURRENT.get(location)
        # a generation of before may come back, when an edit is undone
        if before is not known:
            known.is_current = True
            _CURRENT[location] = known
            if before is not None:
                before.replace()
        return known


def forget_folder(location: str) -> None:
    """Say that there is no tool in the folder any more."""
    current = _CURRENT.get(location)
    if current is not None:
        current.replace()


def _placed(snapshot: Snapshot) -> str:
    """Return another digest for a copy of a folder, so that each has its own ``__file__``.

    Likewise for sources that run again, because something that they read has changed.
    """
    named = f"{snapshot.digest} {snapshot.folder.location}"
    if snapshot.folder.revision:
        named += f" {snapshot.folder.revision}"
    return source_hash(named.encode("utf-8", "surrogateescape")).hex()


def sources_of(definition: ToolDefinition) -> Sources | None:
    """Return what the tool of a folder was made of; None for a tool in code."""
    every = list(_GENERATIONS.values())
    return next((found for each in every if (found := each.sources_of(definition))), None)


def _named(package: str) -> Generation | None:
    """Return a generation by its name here, or in a process that has a copy of its folder."""
    known = _GENERATIONS.get(package)
    if known is not None:
        return known
    digest = package.rpartition(".")[2]
    every = list(_GENERATIONS.values())
    return next((each for each in every if _placed(each.snapshot) == digest), None)
