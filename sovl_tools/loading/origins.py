"""Origins of tools in code, and how modules of a directory are imported, and imported again."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import source_hash
from types import MappingProxyType, ModuleType
from typing import Any, NamedTuple, Protocol

from sovl_tools.loading.catalog_builder import are_distinct
from sovl_tools.loading.import_errors import unavailable
from sovl_tools.loading.importer import PLUGIN_ROOT, PrivatePackage, install
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.sources import is_gone
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic

PACKAGES, MODULES = range(2)
"""Levels of precedence, after explicit registration and tool folders."""


class OriginLoad(NamedTuple):
    """The result of checking an origin.

    Attributes:
        units: the candidates by the name of their unit.
        diagnostics: problems with the origin itself.
        lost: the units that could not be loaded, and why.
        hidden: why there might be more units, if so.
    """

    units: Mapping[str, tuple[Candidate, ...]] = MappingProxyType({})
    diagnostics: tuple[Diagnostic, ...] = ()
    lost: Mapping[str, Diagnostic] = MappingProxyType({})
    hidden: Diagnostic | None = None

    @classmethod
    def of_problem(cls, found: Diagnostic) -> OriginLoad:
        """Return an empty result, and why."""
        return cls(diagnostics=(found,))

    @classmethod
    def of_failure(cls, found: Diagnostic) -> OriginLoad:
        """Return that the units are unknown, and why."""
        return cls(diagnostics=(found,), hidden=found)

    @classmethod
    def of_directory(cls, error: OSError | ValueError, words: str, path: str) -> OriginLoad:
        """Return that a directory can't be listed, or is gone with its tools."""
        found = unavailable(f"{words}: {getattr(error, 'strerror', error)}", relative_path(path))
        return cls.of_problem(found) if is_gone(error) else cls.of_failure(found)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates in the order of their precedence; an object seen twice counts once."""
        every = (candidate for unit in self.units.values() for candidate in unit)
        return tuple(distinct(every).values())


def distinct(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Return candidates by their locations; an object counts once, however often it is seen.

    Where several objects have one name in their module, such as functions of a factory, the later
    ones get other locations.
    """
    found: dict[str, Candidate] = {}
    for each in candidates:
        place = each.location
        while place in found and are_distinct(found[place], each):
            place += "'"
        found.setdefault(place, each if place == each.location else each._replace(location=place))
    return found


class Directory(NamedTuple):
    """A directory tree with files of tools.

    Attributes:
        path: absolute.
        suffixes: the suffixes of these files.
    """

    path: str
    suffixes: tuple[str, ...]


class Origin(Protocol):
    """A place to search for tools; equal origins are the same place."""

    @property
    def level(self) -> int:
        """The precedence of its tools among other origins; the lowest is first."""
        ...

    @property
    def directory(self) -> Directory | None:
        """Where changed files are a reason to check again; None if Python imports them once."""
        ...

    def look(self) -> OriginLoad:
        """Find the current tools. Problems become diagnostics."""
        ...


_PACKAGES: dict[str, _Plugins] = {}


def package_of(path: str) -> str:
    """Return the name of the package of a directory, the same in every process."""
    return f"{PLUGIN_ROOT}.{source_hash(path.encode()).hex()}"


def run(package: str, name: str) -> ModuleType:
    """Return a module of a package; it is run unless it has been run before.

    Raises:
        BaseException: any exception of the module.
    """
    return import_module(f"{package}.{name}")


def mark_outdated(path: str) -> None:
    """Have every module of a directory run again at the next look."""
    plugins = _PACKAGES.get(package_of(path))
    if plugins is not None:
        plugins.outdated |= plugins.sources.keys()


@contextmanager
def reimporting(path: str) -> Iterator[str]:
    """Enter the package of a directory, without modules that have changed on disk.

    Modules that import others are removed with them. A module that fails is restored afterwards.
    """
    install(PLUGIN_ROOT, _spec_of)
    package = package_of(path)
    if package not in _PACKAGES:
        _PACKAGES[package] = _Plugins(package, path, _Files(path))
    plugins = _PACKAGES[package]
    before: dict[str, ModuleType] = {}
    for name in plugins.stale():
        parent, _, stem = name.rpartition(".")
        # an abandoned import can lock the module for ever
        vars(sys.modules["_frozen_importlib"]).get("_module_locks", {}).pop(name, None)
        # ``from . import helper`` looks here before it imports anything
        _variables(sys.modules.get(parent)).pop(stem, None)
        before[name] = sys.modules.pop(name)
    try:
        yield package
    finally:
        # the last good version serves while an edit fails
        for name, module in before.items():
            if name not in sys.modules and os.path.exists(str(_variables(module).get("__file__"))):
                parent, _, stem = name.rpartition(".")
                sys.modules[name] = module
                _variables(sys.modules.get(parent))[stem] = module
                plugins.outdated.add(name)


def _spec_of(name: str) -> ModuleSpec | None:
    root, directory, *relative = name.split(".")
    plugins = _PACKAGES.get(f"{root}.{directory}")
    return None if plugins is None else plugins.find(".".join(relative))


def _variables(entry: object) -> dict[str, Any]:
    """Return a module's variables; none if it has replaced itself by another object."""
    is_module = isinstance(entry, ModuleType)
    # not by vars(), because the module might have its own class
    return ModuleType.__getattribute__(entry, "__dict__") if is_module else {}


class _Files(NamedTuple):
    """The current files of a directory."""

    location: str

    def read(self, file: str) -> bytes | None:
        try:
            with open(f"{self.location}/{file}", "rb") as opened:
                return opened.read()
        except OSError:
            return None

    def has_folder(self, path: str) -> bool:
        return os.path.isdir(f"{self.location}/{path}")


class _Plugins(PrivatePackage):
    """The package of a directory of modules.

    Attributes:
        outdated: modules that must run again with the same sources.
    """

    def __init__(self, package: str, location: str, source: _Files) -> None:
        super().__init__(package, location, source)
        self.outdated: set[str] = set()

    def exec_module(self, module: ModuleType) -> None:
        self.outdated.discard(module.__name__)
        super().exec_module(module)

    def stale(self) -> list[str]:
        """Return the modules that must run again.

        If a module differs from its file, every module that imports others of the directory is
        run again with it.
        """
        names = sorted(each for each in self.sources if each in sys.modules)
        due = [each for each in names if each in self.outdated or not self._is_current(each)]
        importing = [each for each in names if _RELATIVE.search(self.sources[each]) is not None]
        return sorted({*due, *importing}) if due else []

    def _is_current(self, name: str) -> bool:
        spec = _variables(sys.modules[name]).get("__spec__")
        file = spec.loader_state if isinstance(spec, ModuleSpec) else None
        return file is not None and self._source.read(file) == self.sources[name]


_RELATIVE = re.compile(rb"\bfrom\s*\.")
