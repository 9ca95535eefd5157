"""The importer of authors' modules: they are below private packages, so that they shadow nothing.

A package has a source: the snapshot of a tool's folder, or a directory of modules as it is now. One
finder knows all packages, and each package is the loader of its modules (PEP 451). Code is kept in
``.pyc`` files that are keyed on a hash of the source.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Protocol

from sovl_tools.loading.resources import Resource, ResourceReader
from sovl_tools.loading.sources import compiled


class Source(Protocol):
    """Where the modules of a package come from; paths are relative, with slashes."""

    def read(self, file: str) -> bytes | None:
        """Return what a file holds; None if there is none."""

    def has_folder(self, path: str) -> bool:
        """Tell whether there is a folder that may hold modules."""
        ...


class Package:
    """The modules of one source; their loader.

    A loader by its methods alone: importing ``importlib.abc`` would take 12 ms.

    Attributes:
        package: its full name.
        location: the absolute path of its folder.
        sources: what the modules said when they ran, by their full names.
        kept: files that are as they were for ``importlib.resources``, by their relative paths.
    """

    def __init__(self, package: str, location: str, source: Source) -> None:
        self.package = package
        self.location = location
        self.sources: dict[str, bytes] = {}
        self.kept: dict[str, bytes] = {}
        self._source = source
        self._names: set[str] = set()

    @property
    def _loader(self) -> Any:
        """This object, which has a loader's methods but not its type."""
        return self

    def find(self, relative: str) -> ModuleSpec | None:
        """Return the spec of a module by its dotted name within the package."""
        name = f"{self.package}.{relative}".rstrip(".")
        file = self._file(relative)
        if file is not None:
            return self._spec(name, file)
        if not relative or self._source.has_folder(relative.replace(".", "/")):
            self._names.add(name)
            return ModuleSpec(name, self._loader, is_package=True)
        return None

    def _file(self, relative: str) -> str | None:
        path = relative.replace(".", "/")
        files = (f"{path}.py", f"{path}/__init__.py") if relative else ()
        return next((each for each in files if self._source.read(each) is not None), None)

    def _spec(self, name: str, file: str) -> ModuleSpec:
        self._names.add(name)
        spec = ModuleSpec(
            name,
            self._loader,
            origin=f"{self.location}/{file}",
            is_package=file.endswith("/__init__.py"),
        )
        spec.has_location = True
        spec.loader_state = file
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module object (see ``importlib.abc.Loader``)."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, if it has any (see ``importlib.abc.Loader``)."""
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            self._exec(module, spec.loader_state)

    def _exec(self, module: ModuleType, file: str) -> None:
        source = self._source.read(file)
        if source is None:
            raise ImportError(f"there is no source of {module.__name__}", name=module.__name__)
        self.sources[module.__name__] = source
        exec(compiled(f"{self.location}/{file}", source), module.__dict__)  # noqa: S102 - a loader does this

    def get_code(self, name: str) -> CodeType:
        """Return the code of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        file, source = self._found(name)
        return compiled(f"{self.location}/{file}", source)

    def get_source(self, name: str) -> str:
        """Return the text of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        known = self.sources.get(name)
        return (self._found(name)[1] if known is None else known).decode(errors="replace")

    def is_package(self, name: str) -> bool:
        """Tell whether the name is a sub-package's (see ``importlib.abc.InspectLoader``)."""
        return self._found(name)[0].endswith("/__init__.py")

    def get_resource_reader(self, name: str) -> ResourceReader | None:
        """Return what reads the files beside the modules (see ``importlib.resources``)."""
        relative = name.removeprefix(self.package).strip(".").replace(".", "/")
        if relative and not self._source.has_folder(relative):
            return None
        return ResourceReader(Resource(self.location, relative, self.kept))

    def _found(self, name: str) -> tuple[str, bytes]:
        file = self._file(name.removeprefix(f"{self.package}."))
        source = None if file is None else self._source.read(file)
        if file is None or source is None:
            raise ImportError(f"there is no source of {name}", name=name)
        return file, source


_ROOTS: dict[str, Callable[[str], Package | None]] = {}


def install(root: str, find: Callable[[str], Package | None]) -> None:
    """Make the root of private packages, and let Python ask for what is in them.

    ``find`` returns a package by its full name, perhaps one that has another name here.
    """
    _ROOTS[root] = find
    if root not in sys.modules:
        module = ModuleType(root, "The parent of private packages.")
        module.__path__ = []
        module.__spec__ = ModuleSpec(root, None, is_package=True)
        sys.modules[root] = module
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)


class _Finder:
    """The entry of ``sys.meta_path`` that knows private packages and nothing else."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        digest, _, relative = rest.partition(".")
        found = _ROOTS[root](f"{root}.{digest}") if root in _ROOTS and digest else None
        if found is None:
            return None
        if found.package == f"{root}.{digest}":
            return found.find(relative)
        return ModuleSpec(name, _alias(f"{found.package}.{relative}".rstrip(".")))


class _Alias:
    """A loader that gives a module another name: it imports the one that it stands for."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, _: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it was: it has run, under its own name."""
        module.__spec__ = self._spec


def _alias(name: str) -> Any:
    return _Alias(name)
