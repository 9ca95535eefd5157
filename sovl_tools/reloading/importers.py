"""Who imports a package, directly or through others, by the sources: also inside of functions."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from sovl_tools.loading.inner import PLUGINS, TOOLS

Importers: TypeAlias = Mapping[str, set[str]]
"""By the names of some modules, and of those that import them, what each imports of all those."""

_OTHERS = sys.stdlib_module_names | {"sovl_tools", TOOLS, PLUGINS, "__main__"}
"""Top-level packages that import nothing of a user's, or must not run again."""
_IMPORT_FUNCTIONS = {"import_module", "__import__"}


def importers(names: Collection[str], modules: Mapping[str, ModuleType]) -> Importers:
    """Return the named modules, and those that import one of them, however indirectly.

    Args:
        names: full names, also of modules that nobody has imported yet.
        modules: all modules by name.
    """
    sources = {
        name: source
        for name, module in modules.items()
        if name.partition(".")[0] not in _OTHERS and name not in names
        if (source := _source(module)) is not None
    }
    found: dict[str, set[str]] = {name: set() for name in names}
    fresh = set(names)
    while fresh:
        is_naming = _naming(fresh)
        imports = {
            name: found.keys() & imported(source, _package(name, modules[name]))
            for name, source in sources.items()
            if is_naming(name, source)
        }
        fresh = {name for name, each in imports.items() if each} - found.keys()
        for name, each in imports.items():
            if each:
                found.setdefault(name, set()).update(each)
    return found


def reached(sources: Iterable[bytes], among: Importers) -> set[str]:
    """Return which of those modules a tool imports, directly or through one another."""
    is_naming, found = _naming(among), set[str]()
    due = [name for each in sources if is_naming("", each) for name in imported(each, "")]
    while due:
        name = due.pop()
        if name in among and name not in found:
            found.add(name)
            due += among[name]
    return found


def imported(source: bytes, package: str) -> Iterator[str]:
    """Yield the names of what a source of a package may import, with the packages above."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.walk(ast.parse(source)):
            for name in _imported_by(node):
                with contextlib.suppress(ImportError):  # it leads out of the package
                    yield from with_packages(resolve_name(name, package))


def with_packages(name: str) -> Iterator[str]:
    """Yield a module's name and those of the packages that it is in."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _imported_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            return [each.name for each in names]
        case ast.ImportFrom(module, names, level):
            start = "." * (level or 0) + (module or "")
            dot = "" if start.endswith(".") else "."
            return [start, *(f"{start}{dot}{each.name}" for each in names)]
        case ast.Call(
            ast.Name(function) | ast.Attribute(attr=function), [ast.Constant(str(name)), *_]
        ) if function in _IMPORT_FUNCTIONS:
            return [name]
    return []


def _naming(names: Iterable[str]) -> Callable[[str, bytes], bool]:
    """Return what tells whether the source of a module has one of the names in an import.

    Parsing all sources would take a second or more. From outside a package is named by its first
    part; whatever belongs to the same one may leave that out.
    """
    packages = {name.partition(".")[0].encode() for name in names}
    parts = {part.encode() for name in names for part in name.split(".")}

    def is_naming(module: str, source: bytes) -> bool:
        words = parts if module.partition(".")[0].encode() in packages else packages
        found = [re.escape(each) for each in words if each in source]  # ten times as fast
        pattern = rb"(?:\b(?:from|import)\b[^\n]*\b|['\"])(?:%s)\b" % b"|".join(found)
        return bool(found) and re.search(pattern, source) is not None

    return is_naming


def _source(module: ModuleType) -> bytes | None:
    file = getattr(module, "__file__", None)
    if not (isinstance(file, str) and file.endswith(".py")):
        return None
    try:
        return Path(file).read_bytes()
    except OSError:
        return None


def _package(name: str, module: ModuleType) -> str:
    return name if hasattr(module, "__path__") else name.rpartition(".")[0]
