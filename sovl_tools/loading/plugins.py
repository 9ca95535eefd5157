"""Running the modules of a directory, which may import one another: ``from .units import metre``.

They are below a package of their own, so that they shadow nothing. Nothing is kept in ``.pyc``
files, which are keyed on whole seconds and the size.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType

from sovl_tools.loading.inner import PLUGINS

ROOT = PLUGINS


def package_of(path: str) -> str:
    """Return the name of the package of a directory, the same in every process."""
    return f"{ROOT}.{hashlib.blake2b(path.encode(), digest_size=8).hexdigest()}"


def run(package: str, name: str) -> ModuleType:
    """Return a module of a package; it is run unless it has been run before.

    Raises:
        BaseException: what the module's own code raises.
    """
    return importlib.import_module(f"{package}.{name}")


@contextmanager
def renewing(path: str) -> Iterator[str]:
    """Enter the package of a directory, where what has changed on disk is forgotten.

    So is what imports it. What can't be run anew comes back afterwards as it was.
    """
    package = package_of(path)
    _enter(ROOT, [])
    _enter(package, [path])
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    before = {name: _taken_out(name) for name in _stale(package)}
    try:
        yield package
    finally:
        for name, module in before.items():
            if name not in sys.modules and os.path.exists(str(module.__file__)):
                _put_back(name, module)


def _enter(name: str, path: list[str]) -> None:
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = path
        sys.modules[name] = package


def _stale(package: str) -> list[str]:
    """Return the names of the modules that are not as on disk, or that import such a module."""
    loaders = {
        name: module.__loader__
        for name, module in sys.modules.items()
        if name.startswith(f"{package}.") and isinstance(module.__loader__, _Loader)
    }
    found: list[str] = []
    due = [name for name, loader in loaders.items() if not loader.is_current()]
    while due:
        found += due
        stems = {name.rpartition(".")[2] for name in due}
        others = loaders.keys() - {*found}
        due = sorted(name for name in others if loaders[name].imports(stems))
    return found


def _taken_out(name: str) -> ModuleType:
    parent, _, stem = name.rpartition(".")
    vars(sys.modules[parent]).pop(stem, None)
    return sys.modules.pop(name)


def _put_back(name: str, module: ModuleType) -> None:
    parent, _, stem = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[parent], stem, module)
    if isinstance(module.__loader__, _Loader):
        module.__loader__.is_outdated = True


class _Loader(SourceFileLoader):
    """Runs a source as it is now, and keeps it for comparing.

    Attributes:
        is_outdated: whether the module came back because it could not be run anew.
    """

    def __init__(self, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._source = b""
        self.is_outdated = False

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source."""
        path = self.get_filename(fullname)
        self._source = self.get_data(path)
        code: CodeType = self.source_to_code(self._source, path)
        return code

    def is_current(self) -> bool:
        """Tell whether the file, and what it imports, is still as it was run."""
        try:
            return self.get_data(str(self.path)) == self._source and not self.is_outdated
        except OSError:
            return False

    def imports(self, stems: Iterable[str]) -> bool:
        """Tell whether there is a relative import and a word that is one of these names."""
        words = _WORDS.findall(self._source)
        return _RELATIVE.search(self._source) is not None and any(
            stem.encode() in words for stem in stems
        )


_RELATIVE = re.compile(rb"\bfrom\s*\.")
_WORDS = re.compile(rb"[\w\x80-\xff]+")


class _Finder:
    """Finds the sources below the packages of directories (a finder as in PEP 451)."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module or a package below such a directory."""
        if not name.startswith(f"{ROOT}."):
            return None
        finders = (FileFinder(each, (_Loader, SOURCE_SUFFIXES)) for each in path or ())
        specs = (finder.find_spec(name, target) for finder in finders)
        return next((spec for spec in specs if spec is not None), None)
