"""Modules outside of the tools' folders that tools import, and that change meanwhile."""

from __future__ import annotations

import ast
import contextlib
import logging
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module, invalidate_caches
from importlib.util import cache_from_source, resolve_name
from types import MappingProxyType, ModuleType
from typing import NamedTuple, TypeAlias

from sovl_tools.loading.importer import PLUGIN_ROOT, TOOL_ROOT
from sovl_tools.reloading.fingerprint import Fingerprint, fingerprint
from sovl_tools.threads import Abandoned, Stalled, run_within

_LOGGER = logging.getLogger("sovl_tools")


Users: TypeAlias = Mapping[str, Iterable[bytes]]


class Libraries:
    """Packages, folders of modules, and single modules."""

    def __init__(self) -> None:
        self._looks: dict[str, Fingerprint] = {}

    @property
    def paths(self) -> frozenset[str]:
        """Their absolute paths."""
        return frozenset(self._looks)

    def add(self, paths: Iterable[str]) -> None:
        """Look at more of them from now on."""
        self._looks = {each: fingerprint(each, (".py",)) for each in (*self._looks, *paths)}

    def changed(self) -> set[str]:
        """Return the sources that look otherwise than when they were last imported."""
        return {
            f"{path}{os.sep}{each}" if each else path
            for path, before in self._looks.items()
            for each in before.changed(before.again())
        }

    def sources(self, touched: Iterable[str]) -> set[str]:
        """Return those of the paths that are sources of the libraries, or folders of such."""
        below = {path for path in touched if _is_below(path, self.paths)}
        return {path for path in below if path.endswith(".py") or os.path.isdir(path)}

    def unload(self, sources: Collection[str], users: Users) -> Unloaded:
        """Take out of ``sys.modules`` what must run again because sources have changed.

        Those are all modules of the package in which a source lies, because the others may hold
        something of it, and the modules that import them. Of modules that are not watched only
        those are taken through which a tool imports them: others may be the user's program. What
        Python compiled of the sources is thrown away: it is keyed on whole seconds and the size.

        ``users`` are the sources of what is loaded again, by its location or name.
        """
        self._looks = {path: before.again() for path, before in self._looks.items()}
        modules = sys.modules.copy()  # of the original the collector may take generations
        watched, changed = _real(self.paths), _real(sources)
        own = {name for name, each in modules.items() if _lies_in(each, watched)}
        names = {name for name in own if _lies_in(modules[name], changed)}
        # also of what nobody has imported: a tool may have failed for want of it
        names |= {name for path in changed for name in _importable_as(path)}
        packages = {name.partition(".")[0] for name in names}
        names |= {name for name in own if name.partition(".")[0] in packages}
        among = importers(names, modules)
        uses = {user: reached(each, among) for user, each in users.items()}
        stale = (among.keys() & own).union(*uses.values())
        taken = {
            name: module
            for name, module in modules.items()
            if not stale.isdisjoint(with_packages(name))
        }
        for name in taken:
            sys.modules.pop(name, None)
        for source in sources:
            with contextlib.suppress(OSError, NotImplementedError):
                os.unlink(cache_from_source(source))
        invalidate_caches()
        return Unloaded(taken, {user for user, each in uses.items() if each})


class Unloaded(NamedTuple):
    """What a change of libraries concerns.

    Attributes:
        modules: what was taken out of ``sys.modules``, by name.
        users: the locations of the tools, and the modules of plugins, that import any of it.
    """

    modules: Mapping[str, ModuleType] = MappingProxyType({})
    users: Collection[str] = ()


def reimport_parts(taken: Mapping[str, ModuleType], *, limit: float) -> None:
    """Import those modules anew whose package was not taken out.

    It has them as attributes, which ``from package import module`` would take.
    """
    names = [name for name in taken if name.rpartition(".")[0] in sys.modules]
    reimport({name: taken[name] for name in names}, limit=limit)


def reimport(taken: Mapping[str, ModuleType], *, limit: float) -> None:
    """Import those modules anew that no tool has imported: some do so when they are called.

    What is broken is put back as it was. A module whose file is gone stays out. ``limit`` is how
    long all of them may take, in seconds.
    """
    missing = sorted(name for name in taken if not _is_imported(name))
    if missing and isinstance(run_within(limit, partial(_import_all, missing, taken)), Stalled):
        put_back(taken)


def _import_all(names: Iterable[str], taken: Mapping[str, ModuleType]) -> None:
    for name in names:
        try:
            import_module(name)
        # the limit is over, and this thread is to end
        except Abandoned:
            raise
        except BaseException as error:  # noqa: BLE001 - it is the library's author's
            if not (isinstance(error, ModuleNotFoundError) and error.name == name):
                kind = type(error).__name__
                _LOGGER.warning("module %s is served as it was: %s: %s", name, kind, error)
                put_back({name: taken[name]})


def put_back(taken: Mapping[str, ModuleType]) -> None:
    """Put those modules back that nobody has imported anew, for tools that still use them."""
    for name, module in taken.items():
        if not _is_imported(name):
            sys.modules[name] = module
            package, _, attribute = name.rpartition(".")
            # ``from package import module`` asks the package first
            if package in sys.modules:
                setattr(sys.modules[package], attribute, module)


def _is_imported(name: str) -> bool:
    """Tell whether a module is there as a whole, not on its way in a thread that was given up."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return name in sys.modules and not getattr(spec, "_initializing", False)


def _real(paths: Iterable[str]) -> set[str]:
    return {real for path in paths for real in (path, os.path.realpath(path))}


def _importable_as(path: str) -> Iterator[str]:
    """Yield the names by which a source, or the folder of a package, can be imported."""
    path = path.removesuffix(".py").removesuffix(f"{os.sep}__init__")
    for entry in sys.path:
        start = os.path.abspath(entry) + os.sep
        if path.startswith(start):
            yield path.removeprefix(start).replace(os.sep, ".")


def _lies_in(module: ModuleType, folders: Collection[str]) -> bool:
    return any(_is_below(path, folders) for path in _paths(module))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}{os.sep}") for folder in folders)


def _paths(module: ModuleType) -> list[str]:
    """Return where a module lies; a package without a file of its own lies in its folders."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return [os.path.abspath(file)]
    try:
        return [os.path.abspath(folder) for folder in module.__path__]
    except (AttributeError, KeyError, TypeError):
        return []


Importers: TypeAlias = Mapping[str, set[str]]
"""By the names of some modules, and of those that import them, what each imports of all those."""

_OTHERS = sys.stdlib_module_names | {"sovl_tools", TOOL_ROOT, PLUGIN_ROOT, "__main__"}
"""Top-level packages that import nothing of a user's, or must not run again."""
_IMPORT_FUNCTIONS = {"import_module", "__import__"}


def importers(names: Collection[str], modules: Mapping[str, ModuleType]) -> Importers:
    """Return the named modules, and those that import one of them, however indirectly.

    Args:
        names: full names, also of modules that nobody has imported yet.
        modules: all modules by name.
    """
    sources = {
        name: source
        for name, module in modules.items()
        if name.partition(".")[0] not in _OTHERS and name not in names
        if (source := _source(module)) is not None
    }
    packages = {
        name: name if hasattr(modules[name], "__path__") else name.rpartition(".")[0]
        for name in sources
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    fresh = set(names)
    while fresh:
        is_naming = _naming(fresh)
        imports = {
            name: found.keys() & imported(source, packages[name])
            for name, source in sources.items()
            if is_naming(name, source)
        }
        fresh = {name for name, each in imports.items() if each} - found.keys()
        for name, each in imports.items():
            if each:
                found.setdefault(name, set()).update(each)
    return found


def reached(sources: Iterable[bytes], among: Importers) -> set[str]:
    """Return which of those modules a tool imports, directly or through one another."""
    is_naming, found = _naming(among), set[str]()
    due = [name for each in sources if is_naming("", each) for name in imported(each, "")]
    while due:
        name = due.pop()
        if name in among and name not in found:
            found.add(name)
            due += among[name]
    return found


def imported(source: bytes, package: str) -> Iterator[str]:
    """Yield the names of what a source of a package may import, with the packages above."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(source)):
            for name in _imported_by(node):
                with contextlib.suppress(ImportError):  # it leads out of the package
                    yield from with_packages(resolve_name(name, package))


def with_packages(name: str) -> Iterator[str]:
    """Yield a module's name and those of the packages that it is in."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _imported_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            return [each.name for each in names]
        case ast.ImportFrom(module, names, level):
            start = "." * (level or 0) + (module or "")
            dot = "" if start.endswith(".") else "."
            return [start, *(f"{start}{dot}{each.name}" for each in names)]
        case ast.Call(
            ast.Name(function) | ast.Attribute(attr=function), [ast.Constant(str(name)), *_]
        ) if function in _IMPORT_FUNCTIONS:
            return [name]
    return []


def _naming(names: Iterable[str]) -> Callable[[str, bytes], bool]:
    """Return what tells whether the source of a module has one of the names in an import.

    Parsing all sources would take a second or more. From outside a package is named by its first
    part; whatever belongs to the same one may leave that out.
    """
    packages = {name.partition(".")[0].encode() for name in names}
    parts = {part.encode() for name in names for part in name.split(".")}

    def is_naming(module: str, source: bytes) -> bool:
        words = parts if module.partition(".")[0].encode() in packages else packages
        found = [re.escape(each) for each in words if each in source]  # ten times as fast
        pattern = rb"(?:\b(?:from|import)\b[^\n]*\b|['\"])(?:%s)\b" % b"|".join(found)
        return bool(found) and re.search(pattern, source) is not None

    return is_naming


def _source(module: ModuleType) -> bytes | None:
    file = getattr(module, "__file__", None)
    if not (isinstance(file, str) and file.endswith(".py")):
        return None
    try:
        with open(file, "rb") as source:
            return source.read()
    except OSError:
        return None
