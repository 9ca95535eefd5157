"""The importer of private packages, in which authors' modules shadow nothing.

A package has a source: the snapshot of a tool's folder, or a directory of modules as it is now. One
finder knows all packages, and each package is the loader of its modules (PEP 451). Code is kept in
``.pyc`` files that are keyed on a hash of the source.
"""

from __future__ import annotations

import io
import marshal
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from types import CodeType, ModuleType
from typing import IO, Any, Protocol

from sovl_tools.model.folder import READ_FLAGS

TOOL_ROOT, PLUGIN_ROOT = "sovl_tool_modules", "sovl_tool_plugins"
"""The packages above all tool folders, and above all directories of modules."""


class Source(Protocol):
    """Where the modules of a package come from; paths are relative, with slashes."""

    def read(self, file: str) -> bytes | None:
        """Return what a file holds; None if there is none."""

    def has_folder(self, path: str) -> bool:
        """Tell whether there is a folder that may hold modules."""
        ...


class PrivatePackage:
    """The modules of one source; their loader.

    A loader by its methods alone: importing ``importlib.abc`` would take 12 ms.

    Attributes:
        package: its full name.
        location: the absolute path of its folder.
        sources: what the modules said when they ran, by their full names.
        resources: files that are as they were for ``importlib.resources``, by their relative paths.
    """

    keeps_compiled = True
    """Whether code may come from ``.pyc`` files, which need not hold what the source says."""

    def __init__(self, package: str, location: str, source: Source) -> None:
        self.package = package
        self.location = location
        self.sources: dict[str, bytes] = {}
        self.resources: dict[str, bytes] = {}
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
        # what ran, not what is there now, or tracebacks would show lines of another version
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
        return ResourceReader(Resource(self.location, relative, self.resources))

    def _found(self, name: str) -> tuple[str, bytes]:
        file = self._file(name.removeprefix(f"{self.package}."))
        source = None if file is None else self._source.read(file)
        if file is None or source is None:
            raise ImportError(f"there is no source of {name}", name=name)
        return file, source


_ROOTS: dict[str, Callable[[str], PrivatePackage | None]] = {}


def install(root: str, find: Callable[[str], PrivatePackage | None]) -> None:
    """Make the root of private packages, and let Python ask for what is in them.

    ``find`` returns a package by its full name, perhaps one that has another name here.
    """
    _ROOTS[root] = find
    if root not in sys.modules:
        module = ModuleType(root, "The parent of private packages.")
        module.__path__ = []
        module.__spec__ = ModuleSpec(root, None, is_package=True)
        sys.modules[root] = module
    # asked each time: the program, or a tool, may have cleared the list meanwhile
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
        """Leave the module as it was: it has run, under its own name."""
        module.__spec__ = self._spec


class Resource:
    """A file or folder of a generation (see ``importlib.resources.abc.Traversable``).

    Args:
        location: the absolute path of the tool's folder.
        path: relative to it, with slashes; "" for the folder itself.
        known: the files that are as they were, by their relative paths.
    """

    def __init__(self, location: str, path: str, known: Mapping[str, bytes]) -> None:
        self._location = location
        self._path = path
        self._known = known

    @property
    def name(self) -> str:
        """The last part of its path."""
        return os.path.basename(str(self))

    def __str__(self) -> str:
        return f"{self._location}/{self._path}".rstrip("/")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self)!r}>"

    def is_file(self) -> bool:
        """Tell whether it is a file."""
        return self._path in self._known or os.path.isfile(str(self))

    def is_dir(self) -> bool:
        """Tell whether it is a folder."""
        return any(each.startswith(self._below) for each in self._known) or os.path.isdir(str(self))

    def iterdir(self) -> Iterator[Resource]:
        """Yield what is in the folder, without compiled code."""
        names = {
            each[len(self._below) :].split("/")[0]
            for each in self._known
            if each.startswith(self._below)
        }
        if os.path.isdir(str(self)):
            names |= {*os.listdir(str(self))} - {"__pycache__"}
        yield from (self.joinpath(name) for name in sorted(names))

    def joinpath(self, *descendants: str | os.PathLike[str]) -> Resource:
        """Return what lies below it by that path."""
        path = "/".join([self._path, *(os.fspath(each) for each in descendants)])
        path = os.path.normpath(path.lstrip("/")).replace(os.sep, "/")
        return Resource(self._location, "" if path == "." else path, self._known)

    def __truediv__(self, child: str | os.PathLike[str]) -> Resource:
        return self.joinpath(child)

    def open(self, mode: str = "r", *args: Any, **options: Any) -> IO[Any]:
        """Open the file for reading, ``"r"`` as text and ``"rb"`` as bytes."""
        if mode not in {"r", "rb"}:
            raise ValueError(f"a resource is opened with 'r' or 'rb', not {mode!r}")
        content = self._known.get(self._path)
        if content is None:
            return open(str(self), mode, *args, **options)
        stream = io.BytesIO(content)
        return stream if mode == "rb" else io.TextIOWrapper(stream, *args, **options)

    def read_bytes(self) -> bytes:
        """Return what the file holds."""
        with self.open("rb") as file:
            content: bytes = file.read()
            return content

    def read_text(self, encoding: str | None = None) -> str:
        """Return the text of the file, UTF-8 unless another encoding is named."""
        with self.open(encoding=encoding or "utf-8") as file:
            text: str = file.read()
            return text

    @property
    def _below(self) -> str:
        return f"{self._path}/" if self._path else ""


class ResourceReader:
    """What a loader returns for a package (see ``importlib.resources.abc.TraversableResources``).

    Its resources begin at the package's folder.
    """

    def __init__(self, root: Resource) -> None:
        self._root = root

    def files(self) -> Resource:
        """Return the package's folder."""
        return self._root

    def open_resource(self, resource: str) -> IO[bytes]:
        """Open a file of the package."""
        return self._root.joinpath(resource).open("rb")

    def resource_path(self, resource: str) -> str:
        """Refuse: the file on the disk may be that of another generation."""
        raise FileNotFoundError(resource)

    def is_resource(self, path: str) -> bool:
        """Tell whether there is a file of that name in the package."""
        return self._root.joinpath(path).is_file()

    def contents(self) -> Iterator[str]:
        """Yield the names of what is in the package."""
        return (each.name for each in self._root.iterdir())


_CHECKED_HASH = MAGIC_NUMBER + (0b11).to_bytes(4, "little")
_PIECE = 1 << 15


def compiled(path: str, source: bytes, *, is_kept: bool = True) -> CodeType:
    """Return the code of a source, from its ``.pyc`` if that was made of the very same bytes.

    The ``.pyc`` is keyed on a hash of the source (PEP 552), not on time and size, so an edit of
    equal length within the same second is seen. One is written where Python may write any.
    Without ``is_kept`` none is read or written.

    Raises:
        whatever ``compile`` raises: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    header = _CHECKED_HASH + source_hash(source)
    if sys.pycache_prefix is None:
        # what ``cache_from_source`` returns, of which it works out most anew for each path
        folder, _, name = path.rpartition("/")
        cached = f"{folder}/__pycache__/{name[:-3]}{_cache_suffix(sys.flags.optimize)}"
    else:
        cached = cache_from_source(path)
    code = _cached_code(cached, header) if is_kept else None
    # a folder that was copied or moved brings code that names its old place in tracebacks
    if code is not None and code.co_filename == path:
        return code
    code = compile(source, path, "exec", dont_inherit=True)
    # writing makes the folders above, also those of a tool that has been deleted meanwhile
    if is_kept and not sys.dont_write_bytecode and os.path.isdir(os.path.dirname(path)):
        SourceFileLoader("", path).set_data(cached, header + marshal.dumps(code))
    return code


def _cached_code(path: str, header: bytes) -> CodeType | None:
    try:
        descriptor = os.open(path, READ_FLAGS)
    except OSError:
        return None
    try:
        piece = data = os.read(descriptor, _PIECE)
        if not data.startswith(header):
            return None
        # the size is not asked for: code hardly ever fills the first piece
        while len(piece) == _PIECE:
            piece = os.read(descriptor, _PIECE)
            data += piece
        code = marshal.loads(data[len(header) :])  # noqa: S302 - as Python itself does
    except (OSError, EOFError, ValueError, TypeError):
        return None
    finally:
        os.close(descriptor)
    return code if isinstance(code, CodeType) else None


@cache
def _cache_suffix(_: int) -> str:
    return cache_from_source("module.py").rpartition("module")[2]
