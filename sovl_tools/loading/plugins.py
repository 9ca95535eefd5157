"""Running modules of a directory, which may import one another: ``from .units import metre``."""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

from sovl_tools.loading.importer import Package, install
from sovl_tools.loading.inner import PLUGINS

ROOT = PLUGINS
_PACKAGES: dict[str, _Plugins] = {}


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
    install(ROOT, _PACKAGES.get)
    package = package_of(path)
    if package not in _PACKAGES:
        _PACKAGES[package] = _Plugins(package, path, _Files(path))
    plugins = _PACKAGES[package]
    before = {name: _taken_out(name) for name in plugins.stale()}
    try:
        yield package
    finally:
        for name, module in before.items():
            if name not in sys.modules and os.path.exists(str(module.__file__)):
                _put_back(name, module)
                plugins.outdated.add(name)


def _taken_out(name: str) -> ModuleType:
    parent, _, stem = name.rpartition(".")
    vars(sys.modules[parent]).pop(stem, None)
    return sys.modules.pop(name)


def _put_back(name: str, module: ModuleType) -> None:
    parent, _, stem = name.rpartition(".")
    sys.modules[name] = module
    setattr(sys.modules[parent], stem, module)


class _Files(NamedTuple):
    """The files of a directory as they are now."""

    location: str

    def read(self, file: str) -> bytes | None:
        try:
            with open(f"{self.location}/{file}", "rb") as opened:
                return opened.read()
        except OSError:
            return None

    def has_folder(self, path: str) -> bool:
        return os.path.isdir(f"{self.location}/{path}")


class _Plugins(Package):
    """The package of a directory of modules.

    Attributes:
        outdated: modules that came back because they could not be run anew.
    """

    def __init__(self, package: str, location: str, source: _Files) -> None:
        super().__init__(package, location, source)
        self.outdated: set[str] = set()

    def exec_module(self, module: ModuleType) -> None:
        self.outdated.discard(module.__name__)
        super().exec_module(module)

    def stale(self) -> list[str]:
        """Return the modules that are not as on disk, or that import such a module."""
        names = {each for each in self.sources if each in sys.modules}
        found: list[str] = []
        due = sorted(each for each in names if not self._is_current(each))
        while due:
            found += due
            stems = {name.rpartition(".")[2] for name in due}
            due = sorted(each for each in names - {*found} if self._imports(each, stems))
        return found

    def _is_current(self, name: str) -> bool:
        spec = sys.modules[name].__spec__
        file = None if spec is None else spec.loader_state
        is_same = file is not None and self._source.read(file) == self.sources[name]
        return is_same and name not in self.outdated

    def _imports(self, name: str, stems: Iterable[str]) -> bool:
        """Tell whether there is a relative import and a word that is one of these names."""
        source = self.sources[name]
        words = _WORDS.findall(source)
        return _RELATIVE.search(source) is not None and any(
            each.encode() in words for each in stems
        )


_RELATIVE = re.compile(rb"\bfrom\s*\.")
_WORDS = re.compile(rb"[\w\x80-\xff]+")
