"""Origins of tools in code, and how modules of a directory are imported, and imported again."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping
from importlib.machinery import ModuleSpec
from importlib.util import source_hash
from types import MappingProxyType
from typing import NamedTuple, Protocol

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


def forget_modules(path: str) -> None:
    """Have every module of a directory run again at the next import."""
    plugins = _PACKAGES.get(package_of(path))
    if plugins is not None:
        plugins.forget([*plugins.sources])


def current_package(path: str) -> str:
    """Return the name of the package of a directory, without modules that changed on disk."""
    install(PLUGIN_ROOT, _spec_of)
    package = package_of(path)
    if package not in _PACKAGES:
        _PACKAGES[package] = _Plugins(package, path, _Files(path))
    plugins = _PACKAGES[package]
    plugins.forget(plugins.stale())
    return package


def _spec_of(name: str) -> ModuleSpec | None:
    root, directory, *relative = name.split(".")
    plugins = _PACKAGES.get(f"{root}.{directory}")
    return None if plugins is None else plugins.find(".".join(relative))


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
    """The package of a directory of modules."""

    def stale(self) -> list[str]:
        """Return the modules that must run again.

        If a module differs from its file, every module that imports others of the directory is
        run again with it.
        """
        known = [name for name in self.sources if name in sys.modules]
        due = {name for name in known if not self._is_current(name)}
        importing = {name for name in known if _RELATIVE.search(self.sources[name])}
        return sorted(due | importing) if due else []

    def _is_current(self, name: str) -> bool:
        spec = getattr(sys.modules[name], "__spec__", None)
        file = getattr(spec, "loader_state", None)
        return file is not None and self._source.read(file) == self.sources[name]

    def forget(self, names: Iterable[str]) -> None:
        """Remove modules from ``sys.modules``."""
        for name in names:
            parent, _, stem = name.rpartition(".")
            # an abandoned import can lock the module for ever
            vars(sys.modules["_frozen_importlib"]).get("_module_locks", {}).pop(name, None)
            # ``from . import helper`` looks here before it imports anything
            getattr(sys.modules.get(parent), "__dict__", {}).pop(stem, None)
            sys.modules.pop(name, None)


_RELATIVE = re.compile(rb"\bfrom\s*\.")
