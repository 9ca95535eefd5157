"""The sources of a tool folder: a snapshot of its Python files, and the code compiled from them."""

from __future__ import annotations

import contextlib
import marshal
import os
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER, cache_from_source, source_hash
from itertools import islice
from types import CodeType
from typing import NamedTuple

from sovl_tools.loading.discovery import listed
from sovl_tools.loading.reading import read_file, read_manifest
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.model.folder import ToolFolder

MAX_MODULE_BYTES = 4 << 20
_RELATIVE = re.compile(rb"from[\s\\]*\.")
_MAX_FOLDER_DEPTH = 6
_MAX_FILES = 2_000
_CHECKED_HASH = MAGIC_NUMBER + (0b11).to_bytes(4, "little")
_PIECE = 1 << 15
_NO_SOURCES = {"__pycache__", "node_modules"}


class Snapshot(NamedTuple):
    """What a folder's Python files said at one moment.

    Attributes:
        folder: where they were read.
        files: bytes by path relative to the folder, with slashes.
        digest: names the content, the same in every process and place.
    """

    folder: ToolFolder
    files: dict[str, bytes]
    digest: str

    @property
    def main(self) -> bytes:
        """What the tool's own module said."""
        return self.files[self.folder.module_name]

    def read(self, file: str) -> bytes | None:
        """Return what a file said; None if there was none."""
        return self.files.get(file)

    def has_folder(self, path: str) -> bool:
        """Tell whether there were Python files below a path."""
        return any(file.startswith(f"{path}/") for file in self.files)


def take_snapshot(folder: ToolFolder) -> Snapshot | Unreadable:
    """Read the folder's module and every Python file beside and below it."""
    main = read_file(folder, folder.module_name, limit=MAX_MODULE_BYTES)
    if isinstance(main, Unreadable):
        return main
    files = {folder.module_name: main}
    for path in _helper_paths(folder) if _may_import_helpers(main) else ():
        content = read_file(folder, path, limit=MAX_MODULE_BYTES)
        if not isinstance(content, Unreadable):
            files[path] = content
    return Snapshot(folder, files, _digest(files))


def _may_import_helpers(source: bytes) -> bool:
    """Tell whether a module has a way to import others of its folder; listing it costs 8 µs."""
    if b"__" in source or b"import_module" in source:
        return True
    return b"from" in source and _RELATIVE.search(source) is not None


def _helper_paths(folder: ToolFolder) -> list[str]:
    with contextlib.suppress(OSError):
        folder = listed(folder)
    names = [name for name in folder.files if name.endswith(".py") and name != folder.module_name]
    for name in folder.folders:
        if _may_hold_sources(name):
            names += _paths_below(folder.location, name, 1)
    return sorted(names)


def _paths_below(location: str, relative: str, level: int) -> list[str]:
    paths: list[str] = []
    try:
        with os.scandir(f"{location}/{relative}") as entries:
            for entry in entries:
                path = f"{relative}/{entry.name}"
                if entry.name.endswith(".py"):
                    paths.append(path)
                elif level == _MAX_FOLDER_DEPTH or not _may_hold_sources(entry.name):
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    paths += _paths_below(location, path, level + 1)
    except OSError:
        return paths
    return paths


def _may_hold_sources(name: str) -> bool:
    return name.isidentifier() and name not in _NO_SOURCES


def listed_data(folder: ToolFolder, paths: set[str]) -> set[str]:
    """Return the files that the manifest lists as data; all if that can't be read just now."""
    reading = read_manifest(folder) if paths else None
    if reading is None or isinstance(reading, Unreadable) or reading.manifest is None:
        return paths
    patterns = reading.manifest.data
    return {path for path in paths if any(fnmatchcase(path, each) for each in patterns)}


def read_data(folder: ToolFolder) -> dict[str, bytes]:
    """Return what the data files say that the manifest lists, by their relative paths."""
    paths = listed_data(folder, {*islice(_paths_in(folder.location), _MAX_FILES)})
    contents = {path: read_file(folder, path, limit=MAX_MODULE_BYTES) for path in paths}
    return {path: each for path, each in contents.items() if not isinstance(each, Unreadable)}


def _paths_in(location: str) -> Iterator[str]:
    """Yield the relative paths of all files of a folder, with slashes."""
    for place, folders, names in os.walk(location):
        folders[:] = [each for each in folders if each not in _NO_SOURCES]
        for name in names:
            yield os.path.relpath(f"{place}/{name}", location).replace(os.sep, "/")


def _digest(files: dict[str, bytes]) -> str:
    """Return a hash of the content, 64 bits in hexadecimal: SipHash, as in a ``.pyc``."""
    if len(files) == 1:
        (content,) = files.values()
        return source_hash(content).hex()
    framed = b""
    for path, content in files.items():
        frame = f"{len(path)} {path} {len(content)} "  # so that no two sets of files look alike
        framed += frame.encode("utf-8", "surrogateescape") + content
    return source_hash(framed).hex()


def compiled(path: str, source: bytes) -> CodeType:
    """Return the code of a source, from its ``.pyc`` if that was made of the very same bytes.

    The ``.pyc`` is keyed on a hash of the source (PEP 552), not on time and size, so an edit of
    equal length within the same second is seen. One is written where Python may write any.

    Raises:
        whatever ``compile`` raises: SyntaxError, ValueError, RecursionError, MemoryError.
    """
    header = _CHECKED_HASH + source_hash(source)
    cached = _cache_path(path)
    code = _cached_code(cached, header)
    if code is not None and code.co_filename == path:
        return code
    code = compile(source, path, "exec", dont_inherit=True)
    # writing makes the folders above, also those of a tool that has been deleted meanwhile
    if not sys.dont_write_bytecode and os.path.isdir(os.path.dirname(path)):
        SourceFileLoader("", path).set_data(cached, header + marshal.dumps(code))
    return code


def _cached_code(path: str, header: bytes) -> CodeType | None:
    try:
        descriptor = os.open(path, _READ)
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


_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def _cache_path(path: str) -> str:
    if sys.pycache_prefix is not None:
        return cache_from_source(path)
    folder, _, name = path.rpartition("/")
    return f"{folder}/__pycache__/{name[:-3]}{_cache_suffix(sys.flags.optimize)}"


@cache
def _cache_suffix(_: int) -> str:
    return cache_from_source("module.py").rpartition("module")[2]
