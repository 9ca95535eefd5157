"""What an origin of tools in code is, and how the modules of a directory run, and run again."""

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
"""Levels of precedence behind those of explicit registration and of tool folders."""


class OriginLoad(NamedTuple):
    """What was found at an origin.

    Attributes:
        units: the candidates by the words for the unit in which they were found.
        diagnostics: what is wrong with the origin itself.
        lost: the units that could not be looked at, and why.
        hidden: why there may be more units than those, if there may.
    """

    units: Mapping[str, tuple[Candidate, ...]] = MappingProxyType({})
    diagnostics: tuple[Diagnostic, ...] = ()
    lost: Mapping[str, Diagnostic] = MappingProxyType({})
    hidden: Diagnostic | None = None

    @classmethod
    def of_problem(cls, found: Diagnostic) -> OriginLoad:
        """Return that there is nothing, and why."""
        return cls(diagnostics=(found,))

    @classmethod
    def of_failure(cls, found: Diagnostic) -> OriginLoad:
        """Return that nobody knows what there is, and why."""
        return cls(diagnostics=(found,), hidden=found)

    @classmethod
    def of_directory(cls, error: OSError | ValueError, words: str, path: str) -> OriginLoad:
        """Return that a directory can't be listed; what was found before is gone if it is."""
        found = unavailable(f"{words}: {getattr(error, 'strerror', error)}", relative_path(path))
        return cls.of_problem(found) if is_gone(error) else cls.of_failure(found)

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """All candidates in the order of their precedence; an object seen twice counts once."""
        every = (candidate for unit in self.units.values() for candidate in unit)
        return tuple(distinct(every).values())


def distinct(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """Return candidates by their locations; an object counts once, however often it is seen.

    Where several objects have one name in their module, as those of a factory, the later ones
    get locations of their own.
    """
    found: dict[str, Candidate] = {}
    for each in candidates:
        place = each.location
        while place in found and are_distinct(found[place], each):
            place += "'"
        found.setdefault(place, each if place == each.location else each._replace(location=place))
    return found


class Directory(NamedTuple):
    """A directory with all below it, in which tools come from files.

    Attributes:
        path: absolute.
        suffixes: what the names of the files end in that count.
    """

    path: str
    suffixes: tuple[str, ...]

    def is_affected(self, touched: str) -> bool:
        """Tell whether something at a path, perhaps a directory, may count here."""
        if self.path == touched or self.path.startswith(f"{touched}{os.sep}"):
            return True
        is_below = touched.startswith(f"{self.path}{os.sep}")
        return is_below and (touched.endswith(self.suffixes) or not os.path.splitext(touched)[1])


class Origin(Protocol):
    """A place to look for tools; two that are equal are the same place."""

    @property
    def level(self) -> int:
        """The precedence of its tools among those of other origins; the lowest comes first."""
        ...

    @property
    def directory(self) -> Directory | None:
        """Where changes of files are a reason to look again; None of what Python imports once."""
        ...

    def look(self) -> OriginLoad:
        """Find the tools that are there now. Whatever is wrong becomes a diagnostic."""
        ...


_PACKAGES: dict[str, _Plugins] = {}


def package_of(path: str) -> str:
    """Return the name of the package of a directory, the same in every process."""
    return f"{PLUGIN_ROOT}.{source_hash(path.encode()).hex()}"


def run(package: str, name: str) -> ModuleType:
    """Return a module of a package; it is run unless it has been run before.

    Raises:
        BaseException: what the module's own code raises.
    """
    return import_module(f"{package}.{name}")


def mark_outdated(path: str) -> None:
    """Have every module of a directory run again at the next look."""
    plugins = _PACKAGES.get(package_of(path))
    if plugins is not None:
        plugins.outdated |= plugins.sources.keys()


@contextmanager
def reimporting(path: str) -> Iterator[str]:
    """Enter the package of a directory, where what has changed on disk is forgotten.

    So is what imports it. What can't be run anew comes back afterwards as it was.
    """
    install(PLUGIN_ROOT, _PACKAGES.get)
    package = package_of(path)
    if package not in _PACKAGES:
        _PACKAGES[package] = _Plugins(package, path, _Files(path))
    plugins = _PACKAGES[package]
    before: dict[str, ModuleType] = {}
    for name in plugins.stale():
        parent, _, stem = name.rpartition(".")
        # the lock of a module whose import was given up may be held for ever
        vars(sys.modules["_frozen_importlib"]).get("_module_locks", {}).pop(name, None)
        # ``from . import helper`` looks here before it imports anything
        _variables(sys.modules.get(parent)).pop(stem, None)
        before[name] = sys.modules.pop(name)
    try:
        yield package
    finally:
        # an edit that does not run leaves the tools of the version before
        for name, module in before.items():
            if name not in sys.modules and os.path.exists(str(_variables(module).get("__file__"))):
                parent, _, stem = name.rpartition(".")
                sys.modules[name] = module
                _variables(sys.modules.get(parent))[stem] = module
                plugins.outdated.add(name)


def _variables(entry: object) -> dict[str, Any]:
    """Return a module's variables; none of what a module has put in its place."""
    is_module = isinstance(entry, ModuleType)
    # not by vars(), because a module may be of a class of its own
    return ModuleType.__getattribute__(entry, "__dict__") if is_module else {}


class _Files(NamedTuple):
    """The files of a directory as they are now."""

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
        outdated: modules that have to run again although their sources are as they were.
    """

    def __init__(self, package: str, location: str, source: _Files) -> None:
        super().__init__(package, location, source)
        self.outdated: set[str] = set()

    def exec_module(self, module: ModuleType) -> None:
        self.outdated.discard(module.__name__)
        super().exec_module(module)

    def stale(self) -> list[str]:
        """Return the modules that are not as on disk, or that import such a module."""
        names = {each for each in self.sources if each in sys.modules}
        found: list[str] = []
        due = []
        for name in sorted(names):
            spec = _variables(sys.modules[name]).get("__spec__")
            file = spec.loader_state if isinstance(spec, ModuleSpec) else None
            is_same = file is not None and self._source.read(file) == self.sources[name]
            if not is_same or name in self.outdated:
                due.append(name)
        while due:
            found += due
            stems = {name.rpartition(".")[2].encode() for name in due}
            # a guess by words, not by parsing: one import too many does no harm
            due = sorted(
                each
                for each in names - {*found}
                if re.search(_RELATIVE, self.sources[each]) is not None
                and not stems.isdisjoint(re.findall(_WORDS, self.sources[each]))
            )
        return found


_RELATIVE = rb"\bfrom\s*\."
_WORDS = rb"[\w\x80-\xff]+"
