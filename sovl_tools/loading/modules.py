"""A module system of the tools' own: no name is shadowed, no path is touched, nothing leaks.

The folder ``tools/echo`` becomes the package ``sovl_tool_modules.<digest>``, where the digest
names the content of its Python files, and ``echo.py`` in it a module ``echo`` of that package. So
a tool called ``json`` shadows nothing, two tools may each have a ``helpers.py``, two generations
of a tool live side by side, and every process gives the same code the same name. Helpers are
imported from the snapshot that the tool was loaded with, whenever that happens.
"""

from __future__ import annotations

import sys
import threading
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import source_hash
from types import CodeType, ModuleType
from typing import Any

from sovl_tools.loading.sources import Snapshot, compiled

ROOT = "sovl_tool_modules"


class Generation:
    """One version of a tool folder's code; the loader of the modules that are made of it.

    A loader by its methods alone: importing ``importlib.abc`` would take 12 ms.
    """

    def __init__(self, snapshot: Snapshot, digest: str) -> None:
        self.snapshot = snapshot
        self.package = f"{ROOT}.{digest}"
        self.name = f"{self.package}.{snapshot.folder.name}"
        self.lock = threading.RLock()
        self.module: ModuleType | None = None

    @property
    def _loader(self) -> Any:
        """This object, which has a loader's methods but not its type."""
        return self

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
        folder = self.snapshot.folder
        spec = self._spec(self.name, folder.module_name)
        module = ModuleType(spec.name)
        module.__file__ = spec.origin
        module.__loader__ = self._loader
        module.__package__ = self.package
        module.__spec__ = spec
        sys.modules[spec.name] = module
        try:
            self._exec(module, folder.module_name)
        except BaseException:
            self.forget()
            raise
        return module

    def _exec(self, module: ModuleType, file: str) -> None:
        path = f"{self.snapshot.folder.location}/{file}"
        exec(compiled(path, self.snapshot.files[file]), module.__dict__)  # noqa: S102 - a loader does this

    def forget(self) -> None:
        """Take everything of this generation out of ``sys.modules``."""
        _GENERATIONS.pop(self.package, None)
        prefix = f"{self.package}."
        for name in [name for name in sys.modules if name.startswith(prefix)]:
            del sys.modules[name]
        sys.modules.pop(self.package, None)

    def find(self, relative: str) -> ModuleSpec | None:
        """Return the spec of a module of the snapshot by its dotted name within the package."""
        if not relative:
            return self._parent(self.package)
        path = relative.replace(".", "/")
        name = f"{self.package}.{relative}"
        for file in (f"{path}.py", f"{path}/__init__.py"):
            if file in self.snapshot.files:
                return self._spec(name, file)
        if any(file.startswith(f"{path}/") for file in self.snapshot.files):
            return self._parent(name)
        return None

    def _parent(self, name: str) -> ModuleSpec:
        """Return the spec of a package without code, whose modules this generation finds."""
        return ModuleSpec(name, self._loader, is_package=True)

    def _spec(self, name: str, file: str) -> ModuleSpec:
        origin = f"{self.snapshot.folder.location}/{file}"
        spec = ModuleSpec(
            name, self._loader, origin=origin, is_package=file.endswith("/__init__.py")
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
        elif module.__name__ == self.package and self.name in sys.modules:
            setattr(module, self.snapshot.folder.name, sys.modules[self.name])

    def get_code(self, name: str) -> CodeType:
        """Return the code of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        file = self._file(name)
        path = f"{self.snapshot.folder.location}/{file}"
        return compiled(path, self.snapshot.files[file])

    def get_source(self, name: str) -> str:
        """Return the text of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        return self.snapshot.files[self._file(name)].decode(errors="replace")

    def is_package(self, name: str) -> bool:
        """Tell whether the name is a sub-package's (see ``importlib.abc.InspectLoader``)."""
        return self._file(name).endswith("/__init__.py")

    def _file(self, name: str) -> str:
        spec = self.find(name.removeprefix(f"{self.package}."))
        if spec is None or spec.loader_state is None:
            raise ImportError(f"there is no source of {name}", name=name)
        return str(spec.loader_state)


_GENERATIONS: dict[str, Generation] = {}
_LOCK = threading.Lock()


def generation_of(snapshot: Snapshot) -> Generation:
    """Return the generation of a snapshot: the same one for the same content in the same place."""
    with _LOCK:
        digest = snapshot.digest
        known = _GENERATIONS.get(f"{ROOT}.{digest}")
        if known is not None and known.snapshot.folder.location != snapshot.folder.location:
            digest = _placed(snapshot)
            known = _GENERATIONS.get(f"{ROOT}.{digest}")
        if known is None:
            known = Generation(snapshot, digest)
            _GENERATIONS[known.package] = known
            _install()
        return known


def _placed(snapshot: Snapshot) -> str:
    """Return another digest for a copy of a folder, so that each has its own ``__file__``."""
    named = f"{snapshot.digest} {snapshot.folder.location}"
    return source_hash(named.encode("utf-8", "surrogateescape")).hex()


class _Finder:
    """The entry of ``sys.meta_path`` that knows the tools' helpers and nothing else."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        digest, _, relative = rest.partition(".")
        if root != ROOT or not digest:
            return None
        generation = _GENERATIONS.get(f"{ROOT}.{digest}")
        if generation is not None:
            return generation.find(relative)
        original = _original(digest)
        if original is None:
            return None
        return ModuleSpec(name, _alias(f"{original.package}.{relative}".rstrip(".")))


def _original(digest: str) -> Generation | None:
    """Return the generation that another process, with a copy of its folder, names otherwise."""
    every = list(_GENERATIONS.values())
    return next((each for each in every if _placed(each.snapshot) == digest), None)


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


def _install() -> None:
    """Make the root package, and let Python ask for what is in it."""
    if ROOT not in sys.modules:
        root = ModuleType(ROOT, "The parent of all tool packages.")
        root.__path__ = []
        root.__spec__ = ModuleSpec(ROOT, None, is_package=True)
        sys.modules[ROOT] = root
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)
