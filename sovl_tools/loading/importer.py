"""The importer of private packages, so that authors' modules shadow no others.

A package has a source: the snapshot of a tool's folder, or the current files of a directory of
modules. One finder knows all packages, and each package is the loader of its modules (PEP 451).
Code is kept in ``.pyc`` files that are keyed on a hash of the source.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Protocol

TOOL_ROOT, PLUGIN_ROOT = "sovl_tool_modules", "sovl_tool_plugins"
"""The packages above all tool folders, and above all directories of modules."""


class Source(Protocol):
    """The files of a package; paths are relative, with slashes."""

    def read(self, file: str) -> bytes | None:
        """Return the content of a file; None if it doesn't exist."""

    def has_folder(self, path: str) -> bool:
        """Return True if a folder exists that can contain modules."""
        ...


class PrivatePackage:
    """The modules of one source; their loader.

    It has a loader's methods but not its base class: importing ``importlib.abc`` would take 12 ms.

    Attributes:
        package: its full name.
        location: the absolute path of its folder.
        sources: the texts of the modules when they ran, by their full names.
    """

    keeps_compiled = True
    """Whether code is read from ``.pyc`` files, which might differ from the source."""

    def __init__(self, package: str, location: str, source: Source) -> None:
        self.package = package
        self.location = location
        self.sources: dict[str, bytes] = {}
        self._source = source
        self._names: set[str] = set()

    def find(self, relative: str) -> ModuleSpec | None:
        """Return the spec of a module by its dotted name within the package."""
        name = f"{self.package}.{relative}".rstrip(".")
        file = self._file(relative)
        if file is not None:
            return self._spec(name, file)
        # a folder without ``__init__.py`` is a package all the same, as elsewhere in Python
        if not relative or self._source.has_folder(relative.replace(".", "/")):
            self._names.add(name)
            loader: Any = self  # which has a loader's methods but not its type
            return ModuleSpec(name, loader, is_package=True)
        return None

    def _file(self, relative: str) -> str | None:
        path = relative.replace(".", "/")
        files = (f"{path}.py", f"{path}/__init__.py") if relative else ()
        return next((each for each in files if self._source.read(each) is not None), None)

    def _spec(self, name: str, file: str) -> ModuleSpec:
        self._names.add(name)
        loader: Any = self
        spec = ModuleSpec(
            name,
            loader,
            origin=f"{self.location}/{file}",
            is_package=file.endswith("/__init__.py"),
        )
        # or the module would have no ``__file__``
        spec.has_location = True
        spec.loader_state = file
        return spec

    def create_module(self, spec: ModuleSpec) -> None:
        """Let Python make the module object (see ``importlib.abc.Loader``)."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, if it has any (see ``importlib.abc.Loader``)."""
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            source = self._source.read(spec.loader_state)
            if source is None:
                raise ImportError(f"there is no source of {spec.name}", name=spec.name)
            self._exec(module, spec.loader_state, source)

    def _exec(self, module: ModuleType, file: str, source: bytes) -> None:
        self.sources[module.__name__] = source
        exec(self._compiled(file, source), module.__dict__)  # noqa: S102 - a loader does this

    def _compiled(self, file: str, source: bytes) -> CodeType:
        return compiled(f"{self.location}/{file}", source, is_kept=self.keeps_compiled)

    def get_code(self, name: str) -> CodeType:
        """Return the code of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        return self._compiled(*self._found(name))

    def get_source(self, name: str) -> str:
        """Return the text of a module by its full name (see ``importlib.abc.InspectLoader``)."""
        # the text that ran, or tracebacks would show lines of another version
        known = self.sources.get(name)
        return (self._found(name)[1] if known is None else known).decode(errors="replace")

    def is_package(self, name: str) -> bool:
        """Return True if the name is a sub-package's (see ``importlib.abc.InspectLoader``)."""
        return self._found(name)[0].endswith("/__init__.py")

    def get_resource_reader(self, name: str) -> object:
        """Return a reader of the files next to the modules (see ``importlib.resources``)."""
        from importlib.readers import FileReader  # noqa: PLC0415 - 15 ms, for its users

        relative = name.removeprefix(self.package).strip(".").replace(".", "/")
        if relative and not self._source.has_folder(relative):
            return None
        place: Any = SimpleNamespace(path=f"{self.location}/{relative}/__init__.py")
        return FileReader(place)

    def _found(self, name: str) -> tuple[str, bytes]:
        file = self._file(name.removeprefix(f"{self.package}."))
        source = None if file is None else self._source.read(file)
        if file is None or source is None:
            raise ImportError(f"there is no source of {name}", name=name)
        return file, source


_ROOTS: dict[str, Callable[[str], PrivatePackage | None]] = {}


def install(root: str, find: Callable[[str], PrivatePackage | None]) -> None:
    """Make the root of private packages, and let Python find their modules.

    ``find`` returns a package by its full name, which may be its name in another process.
    """
    _ROOTS[root] = find
    if root not in sys.modules:
        module = ModuleType(root, "The parent of private packages.")
        module.__path__ = []
        module.__spec__ = ModuleSpec(root, None, is_package=True)
        sys.modules[root] = module
    # checked each time: the program, or a tool, might have cleared the list
    if _Finder not in sys.meta_path:
        sys.meta_path.append(_Finder)


class _Finder:
    """The entry of ``sys.meta_path`` for private packages."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        root, _, rest = name.partition(".")
        digest, _, relative = rest.partition(".")
        found = _ROOTS[root](f"{root}.{digest}") if root in _ROOTS and digest else None
        if found is None:
            return None
        if found.package == f"{root}.{digest}":
            return found.find(relative)
        # A pickle of another process may name a copy of this folder.
        loader: Any = _Alias(f"{found.package}.{relative}".rstrip("."))
        return ModuleSpec(name, loader)


class _Alias:
    """A loader that gives a module another name: it imports the original."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    def create_module(self, _: ModuleSpec) -> ModuleType:
        module = import_module(self._name)
        # the import of the alias is about to overwrite it
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the module has run under its own name."""
        module.__spec__ = self._spec


_CHECKED_HASH = MAGIC_NUMBER + (0b11).to_bytes(4, "little")


def compiled(path: str, source: bytes, *, is_kept: bool = True) -> CodeType:
    """Return the code of a source, from its ``.pyc`` if that was made of the very same bytes.

    The ``.pyc`` is keyed on a hash of the source (PEP 552), not on time and size, so an edit of
    equal length within the same second is seen. It is written unless Python is told to write
    none. Without ``is_kept`` it is neither read nor written.

    Raises:
        the exceptions of ``compile``: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    if not is_kept:
        return compile(source, path, "exec", dont_inherit=True)
    header = _CHECKED_HASH + source_hash(source)
    cached = cache_from_source(path)
    code = _cached_code(cached, header)
    # a folder that was copied or moved brings code that names its old place in tracebacks
    if code is not None and code.co_filename == path:
        return code
    code = compile(source, path, "exec", dont_inherit=True)
    # writing makes the folders above, also if the tool has been deleted meanwhile
    if not sys.dont_write_bytecode and os.path.isdir(os.path.dirname(path)):
        SourceFileLoader("", path).set_data(cached, header + marshal.dumps(code))
    return code


def _cached_code(path: str, header: bytes) -> CodeType | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
        code = marshal.loads(data[len(header) :])  # noqa: S302 - as Python itself does
    except (OSError, EOFError, ValueError, TypeError):
        return None
    return code if data.startswith(header) and isinstance(code, CodeType) else None
