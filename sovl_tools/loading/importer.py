"""The importer of private packages, so that authors' modules shadow no others.

A package has a source: the snapshot of a tool's folder, a directory's shared modules, or the
current files of a directory of modules. One finder serves all packages, and each package is the
loader of its modules (PEP 451). The code of tools is kept in ``.pyc`` files with a hash
of the source.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable
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
        public: the name that its modules give as theirs, instead of ``package``.
        location: the absolute path of its folder.
        sources: the strings of the modules when they ran, by their names below ``package``.
    """

    keeps_compiled = False
    """Whether code is read from ``.pyc`` files, which might differ from the source."""

    def __init__(self, package: str, location: str, source: Source, *, public: str = "") -> None:
        self.package = package
        self.public = public or package
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

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return a new module (see ``importlib.abc.Loader``), which has its public name.

        A package has its inner name: ``from . import x`` would import what that name leads to.
        """
        is_package = spec.submodule_search_locations is not None
        public = f"{self.public}{spec.name.removeprefix(self.package)}"
        return ModuleType(spec.name if is_package else public)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code, if it has any (see ``importlib.abc.Loader``)."""
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            self._exec(module, spec.loader_state, self._source.read(spec.loader_state) or b"")
            # a module can put another object instead
            sys.modules[spec.name] = sys.modules.get(module.__name__, module)

    def _exec(self, module: ModuleType, file: str, source: bytes) -> None:
        name = module.__name__ if module.__spec__ is None else module.__spec__.name
        self.sources[name] = source
        path = f"{self.location}/{file}"
        made = compiled if self.keeps_compiled else _compile
        exec(made(path, source), module.__dict__)  # noqa: S102 - a loader does this

    def get_source(self, name: str) -> str:
        """Return the text of a module that ran (see ``importlib.abc.InspectLoader``)."""
        known = self.sources.get(self._inner_name(name))
        if known is None:
            raise ImportError(f"there's no source of {name}", name=name)
        return known.decode(errors="replace")

    def get_resource_reader(self, name: str) -> object:
        """Return a reader of the files next to the modules (see ``importlib.resources``)."""
        from importlib.readers import FileReader  # noqa: PLC0415 - 15 ms, for its users

        relative = self._inner_name(name).removeprefix(self.package).strip(".").replace(".", "/")
        if relative and not self._source.has_folder(relative):
            return None
        place: Any = SimpleNamespace(path=f"{self.location}/{relative}/__init__.py")
        return FileReader(place)

    def _inner_name(self, name: str) -> str:
        """Return the name in a module's spec; ``name`` is that or its public one."""
        is_public = f"{name}.".startswith(f"{self.public}.")
        return f"{self.package}{name.removeprefix(self.public)}" if is_public else name


_ROOTS: dict[str, Callable[[str], ModuleSpec | None]] = {}


def install(root: str, find: Callable[[str], ModuleSpec | None]) -> None:
    """Make the root of private packages, and let Python find their modules.

    ``find`` returns the spec of a module below the root by its full name.
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
        return _ROOTS[root](name) if root in _ROOTS and rest else None


_CHECKED_HASH = MAGIC_NUMBER + (0b11).to_bytes(4, "little")


def _compile(path: str, source: bytes) -> CodeType:
    code: CodeType = compile(source, path, "exec", dont_inherit=True)
    return code


def compiled(path: str, source: bytes) -> CodeType:
    """Return the code of a source, from its ``.pyc`` if that was made of the very same bytes.

    The ``.pyc`` is keyed on a hash of the source (PEP 552), not on time and size, so an edit of
    equal length within the same second is seen. It is written unless Python is configured to write
    none.

    Raises:
        the exceptions of ``compile``: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    header = _CHECKED_HASH + source_hash(source)
    cached = cache_from_source(path)
    try:
        with open(cached, "rb") as file:
            data = file.read()
        code = marshal.loads(data[len(header) :])  # noqa: S302 - as Python itself does
    except (OSError, EOFError, ValueError, TypeError):
        data, code = b"", None
    # a folder that was copied or moved brings code that names its old place in tracebacks
    if data.startswith(header) and isinstance(code, CodeType) and code.co_filename == path:
        return code
    code = _compile(path, source)
    # writing makes the folders above, also if the tool has been deleted meanwhile
    if not sys.dont_write_bytecode and os.path.isdir(os.path.dirname(path)):
        SourceFileLoader("", path).set_data(cached, header + marshal.dumps(code))
    return code
