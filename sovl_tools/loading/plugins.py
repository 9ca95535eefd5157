"""Plugins: tools in installed distributions, packages and directories of modules."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, ClassVar

from sovl_tools.loading.definitions import candidates_of, members
from sovl_tools.loading.import_errors import (
    Unit,
    error_text,
    import_failure,
    import_timeout,
    no_tools_found,
    unavailable,
)
from sovl_tools.loading.load import load_folders
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.origins import MODULES, PACKAGES, Directory, OriginLoad, current_package
from sovl_tools.loading.sources import collect, read_folder
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.folder import IMPORT_TIMEOUT, Settings
from sovl_tools.model.path_patterns import PathPattern, is_excluded
from sovl_tools.threads import Stalled, run_within


@dataclass(frozen=True)
class _Installed:
    """An installed package or group, which Python imports once."""

    level: ClassVar[int] = PACKAGES
    directory: ClassVar[None] = None
    name: str
    limit: float = IMPORT_TIMEOUT


class EntryPoints(_Installed):
    """The entry points of one group: functions, ``AITool`` classes, modules and packages."""

    def look(self) -> OriginLoad:
        """Load every entry point, by name."""
        from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms, and the scan 70

        importlib.invalidate_caches()  # a distribution can have been installed since
        try:
            points = entry_points(group=self.name)
        except Exception as error:  # noqa: BLE001 - any program can have written these files
            words = f"the entry points can't be read: {error_text(error)}"
            return OriginLoad.of_failure(unavailable(words, "sys.path"))
        loads = []
        # of one name the first stays, on every machine the same one
        for point in sorted(points, key=lambda each: (each.name, each.value)):
            words = f"the entry point {point.name!r} ({point.value})"
            unit = Unit(words, point.value, point.value.partition(":")[0])
            loads.append(_imported(point.load, unit, self.limit))
        return _joined(loads)


class Package(_Installed):
    """An importable module or package with all that is below it."""

    def look(self) -> OriginLoad:
        """Import the package and its submodules."""
        importlib.invalidate_caches()
        unit = Unit.of_module(self.name, "package")
        return _imported(lambda: importlib.import_module(self.name), unit, self.limit)


class PackageFolders(_Installed):
    """Tool folders inside of an installed package."""

    def look(self) -> OriginLoad:
        """Take the folders through the pipeline."""
        importlib.invalidate_caches()
        unit = Unit.of_module(self.name, "package")
        places = run_within(self.limit, lambda: _places(unit))
        if isinstance(places, Stalled):
            return OriginLoad.of_problem(import_timeout(places.frame, unit, self.limit))
        if isinstance(places, Diagnostic):
            return OriginLoad.of_problem(places)
        if not places:
            words = f"there's no package {self.name!r}"
            return OriginLoad.of_problem(unavailable(words, self.name))
        collected = collect(places)
        settings = Settings(limit=self.limit)
        contents = [read_folder(each, settings) for each in collected.folders]
        candidates = load_folders(contents, settings)
        return OriginLoad({self.name: tuple(candidates)}, collected.diagnostics)


def _places(unit: Unit) -> list[str] | Diagnostic:
    """Return the directories of a package, or the failure of the packages above it."""
    try:
        spec = importlib.util.find_spec(unit.module)
    except BaseException as error:  # noqa: BLE001 - it imports the packages above
        return import_failure(error, unit)
    return [] if spec is None else list(spec.submodule_search_locations or ())


@dataclass(frozen=True)
class Modules:
    """A directory of modules with decorated functions and ``AITool`` classes."""

    level: ClassVar[int] = MODULES
    path: str
    limit: float = IMPORT_TIMEOUT
    excluded: tuple[PathPattern, ...] = ()

    @property
    def directory(self) -> Directory:
        """The directory, with what its modules may import below it."""
        return Directory(self.path, (".py",))

    def look(self) -> OriginLoad:
        """Run every module whose name does not begin with ``_`` or ``.``, if it has changed.

        Modules that are excluded can be imported by others, and are not run for their own sake.
        """
        try:
            names = sorted(os.listdir(self.path))
        except (OSError, ValueError) as error:  # the latter of a path with a NUL
            return OriginLoad.of_directory(error, "the directory can't be listed", self.path)
        modules = [name[:-3] for name in names if name.endswith(".py") and name[0] not in "._"]
        if not modules:
            return OriginLoad.of_problem(
                no_tools_found(Unit("the directory", relative_path(self.path), ""))
            )
        places = {each: os.path.join(self.path, f"{each}.py") for each in modules}
        modules = [each for each in modules if not is_excluded(places[each], self.excluded)]
        package = current_package(self.path)
        return _joined([self._module(package, each) for each in modules])

    def _module(self, package: str, name: str) -> OriginLoad:
        path, module = relative_path(os.path.join(self.path, f"{name}.py")), f"{package}.{name}"
        unit = Unit("the module", path, module)
        return _imported(lambda: importlib.import_module(module), unit, self.limit)


def _imported(load: Callable[[], Any], unit: Unit, limit: float) -> OriginLoad:
    """Load something and find the tools in it; what its own code raises is a diagnostic."""

    def look() -> list[Candidate | Diagnostic] | Diagnostic:
        try:
            return [*_found(load(), unit)]
        except BaseException as error:  # noqa: BLE001 - on this thread no user interrupts
            return import_failure(error, unit)

    found = run_within(limit, look)
    if isinstance(found, Stalled):
        return _lost(unit, import_timeout(found.frame, unit, limit))
    if isinstance(found, Diagnostic):
        return _lost(unit, found)
    candidates = tuple(each for each in found if isinstance(each, Candidate))
    problems = tuple(each for each in found if isinstance(each, Diagnostic))
    return OriginLoad({unit.key: candidates}, problems if found else (no_tools_found(unit),))


def _lost(unit: Unit, found: Diagnostic) -> OriginLoad:
    return OriginLoad({}, (found,), {unit.key: found})


def _found(value: Any, unit: Unit) -> Iterator[Candidate | Diagnostic]:
    if not isinstance(value, ModuleType):
        yield from candidates_of([value], unit.path)
        return
    for module in _with_submodules(value):
        if isinstance(module, Diagnostic):
            yield module
        else:
            yield from candidates_of(members(module), unit.path)


def _with_submodules(module: ModuleType) -> Iterator[ModuleType | Diagnostic]:
    """Yield a module and all below it; a ``__main__`` is a program and would run."""
    yield module
    for each in pkgutil.iter_modules(vars(module).get("__path__", ())):
        name = f"{module.__name__}.{each.name}"
        if each.name == "__main__":
            continue
        try:
            below = importlib.import_module(name)
        except BaseException as error:  # noqa: BLE001 - the border where its failures stop
            yield import_failure(error, Unit.of_module(name))
        else:
            yield from _with_submodules(below)


def _joined(loads: Sequence[OriginLoad]) -> OriginLoad:
    return OriginLoad(
        {key: found for load in loads for key, found in load.units.items()},
        tuple(found for load in loads for found in load.diagnostics),
        {key: found for load in loads for key, found in load.lost.items()},
        next((load.hidden for load in loads if load.hidden), None),
    )
