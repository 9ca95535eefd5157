"""Where tools come from, beside tools directories: distributions, packages, folders of modules."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NamedTuple, Protocol

from sovl_tools.loading.checks import code
from sovl_tools.loading.collecting import collect
from sovl_tools.loading.mishaps import Unit, empty, failed, mishap
from sovl_tools.loading.pipeline import Settings
from sovl_tools.loading.scanning import candidate_of, tools_in
from sovl_tools.loading.supervision import load_folders
from sovl_tools.loading.whereabouts import shown
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic

GROUP = "sovl_tools.tools"
"""The group of the entry points of installed distributions that are tools."""

ROOT = "sovl_tool_plugins"
PACKAGES, MODULES = range(2)
"""Levels of precedence behind those of explicit registration and of tool folders."""


class Sight(NamedTuple):
    """What was found at an origin.

    Attributes:
        candidates: in the order of their precedence.
        diagnostics: what is wrong with the origin itself.
        lost: how the locations begin of those that could not be looked at, and why.
    """

    candidates: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    lost: tuple[tuple[str, Diagnostic], ...] = ()


class Origin(Protocol):
    """A place to look for tools; two of one type that are equal are the same place."""

    @property
    def level(self) -> int:
        """How its tools stand to those of other origins."""
        ...

    def look(self) -> Sight:
        """Find the tools that are there now. Whatever is wrong becomes a diagnostic."""
        ...


class EntryPoints(NamedTuple):
    """The entry points of one group: functions, ``AITool`` classes, modules and packages."""

    group: str = GROUP

    @property
    def level(self) -> int:
        """That of packages."""
        return PACKAGES

    def look(self) -> Sight:
        """Load every entry point, by name."""
        from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms, and the scan 70

        importlib.invalidate_caches()
        found = sorted(entry_points(group=self.group), key=lambda each: (each.name, each.value))
        return _joined(_entry(each) for each in found)


def _entry(point: Any) -> Sight:
    words = f"the entry point {point.name!r} ({point.value})"
    return _imported(point.load, Unit(words, point.value, point.value.partition(":")[0]))


class Package(NamedTuple):
    """An importable module or package with all that is below it."""

    name: str

    @property
    def level(self) -> int:
        """That of packages."""
        return PACKAGES

    def look(self) -> Sight:
        """Import the package and what is below it."""
        importlib.invalidate_caches()
        unit = Unit.of_module(self.name, "package")
        return _imported(lambda: importlib.import_module(self.name), unit)


class PackageFolders(NamedTuple):
    """Tool folders inside of an installed package."""

    name: str
    limit: float = 10.0

    @property
    def level(self) -> int:
        """That of packages."""
        return PACKAGES

    def look(self) -> Sight:
        """Take the folders through the pipeline."""
        importlib.invalidate_caches()
        try:
            spec = importlib.util.find_spec(self.name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - it imports the packages above
            return Sight((), (failed(error, Unit.of_module(self.name, "package")),))
        places = [] if spec is None else list(spec.submodule_search_locations or ())
        if not places:
            words = f"there is no package {self.name!r}"
            return Sight((), (mishap(code.unavailable_source, words, self.name),))
        collected = collect(places)
        candidates = load_folders(collected.folders, Settings(limit=self.limit))
        return Sight(tuple(candidates), collected.diagnostics)


class Modules(NamedTuple):
    """A directory of modules with decorated functions and ``AITool`` classes."""

    path: str

    @property
    def level(self) -> int:
        """That of directories of modules."""
        return MODULES

    def look(self) -> Sight:
        """Run every module whose name does not begin with ``_`` or ``.``, if it has changed."""
        try:
            names = sorted(os.listdir(self.path))
        except OSError as error:
            words = f"the directory can't be listed: {error.strerror}"
            return Sight((), (mishap(code.unavailable_source, words, shown(self.path)),))
        files = [os.path.join(self.path, name) for name in names if _is_module(name)]
        if not files:
            return Sight((), (empty(Unit("the directory", shown(self.path), "")),))
        return _joined(_module(file) for file in files)


def _is_module(name: str) -> bool:
    return name.endswith(".py") and name[0] not in "._" and name[:-3].isidentifier()


def _module(file: str) -> Sight:
    return _imported(lambda: _run(file), Unit("the module", shown(file), _name(file)))


def _name(file: str) -> str:
    """Return a name for the module of a file that shadows nothing and is the same next time."""
    place = hashlib.blake2b(file.encode(), digest_size=8).hexdigest()
    return f"{ROOT}.{place}.{os.path.basename(file)[:-3]}"


def _run(file: str) -> ModuleType:
    """Return the module of a file, anew if its content is not that of before."""
    with open(file, "rb") as source:
        digest = hashlib.blake2b(source.read(), digest_size=8).hexdigest()
    name = _name(file)
    known = sys.modules.get(name)
    if known is not None and vars(known).get("__digest__") == digest:
        return known
    spec = importlib.util.spec_from_file_location(name, file)
    return _executed(spec, digest) if spec is not None else ModuleType(name)


def _executed(spec: ModuleSpec, digest: str) -> ModuleType:
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(spec.name)
    sys.modules[spec.name] = module
    try:
        exec(_compiled(spec), vars(module))  # noqa: S102 - what a loader does
    except BaseException:
        if before is not None:
            sys.modules[spec.name] = before
        else:
            del sys.modules[spec.name]
        raise
    vars(module)["__digest__"] = digest
    return module


def _compiled(spec: ModuleSpec) -> Any:
    """Compile from the source, because a ``.pyc`` is keyed on whole seconds and the size."""
    path = str(spec.origin)
    with open(path, "rb") as source:
        return compile(source.read(), path, "exec", dont_inherit=True)


def _imported(load: Callable[[], Any], unit: Unit) -> Sight:
    """Load something and find the tools in it; what its own code raises is a diagnostic."""
    try:
        found = [*_found(load())]
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - the border where its failures stop
        diagnostic = failed(error, unit)
        return Sight((), (diagnostic,), ((f"{unit.module}.", diagnostic),))
    candidates = tuple(each for each in found if isinstance(each, Candidate))
    problems = tuple(each for each in found if isinstance(each, Diagnostic))
    return Sight(candidates, problems if found else (empty(unit),))


def _found(value: Any) -> Iterator[Candidate | Diagnostic]:
    if not isinstance(value, ModuleType):
        candidate = candidate_of(value)
        yield from () if candidate is None else (candidate,)
        return
    for module in _with_submodules(value):
        if isinstance(module, Diagnostic):
            yield module
        else:
            yield from tools_in(module)


def _with_submodules(module: ModuleType) -> Iterator[ModuleType | Diagnostic]:
    """Yield a module and all below it; a ``__main__`` is a program and would run."""
    yield module
    for each in pkgutil.iter_modules(getattr(module, "__path__", ())):
        name = f"{module.__name__}.{each.name}"
        if each.name == "__main__":
            continue
        try:
            below = importlib.import_module(name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the border where its failures stop
            yield failed(error, Unit.of_module(name))
        else:
            yield from _with_submodules(below)


def _joined(sights: Iterable[Sight]) -> Sight:
    """Return several sights as one; an object that was seen twice counts once."""
    seen = list(sights)
    candidates: dict[str, Candidate] = {}
    for each in (candidate for sight in seen for candidate in sight.candidates):
        candidates.setdefault(each.location, each)
    return Sight(
        tuple(candidates.values()),
        tuple(found for sight in seen for found in sight.diagnostics),
        tuple(lost for sight in seen for lost in sight.lost),
    )
