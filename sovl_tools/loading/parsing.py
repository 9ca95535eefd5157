"""From a module's source to its interface, without running a line of it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from sovl_tools.loading.checks.module import ImportFailure
from sovl_tools.loading.checks.offer import HANDLERS, PHRASES, REGISTER
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.interface import Interface
from sovl_tools.model.diagnostic import Position
from sovl_tools.model.folder import ToolFolder
from sovl_tools.signature.signature import ANYTHING, UNKNOWN, Signature
from sovl_tools.signature.syntax_tree import Bindings, bindings, from_expression, from_name, literal


def parse_module(source: bytes, name: str) -> Interface:
    """Return what the module of the tool of that name offers, as far as its text tells.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source is no Python.
    """
    found = bindings(ast.parse(source))
    return Interface(
        signature=from_name(name, found),
        names=tuple(key for key, node in found.names.items() if _is_function(node)),
        phrases=_literal(PHRASES, found),
        handlers=_handlers(found),
        registration=from_name(REGISTER, found) if REGISTER in found.names else None,
    )


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _literal(name: str, found: Bindings) -> Any:
    return UNKNOWN if name in found.unsettled else literal(found.names.get(name))


def _handlers(found: Bindings) -> Any:
    node = found.names.get(HANDLERS)
    if not isinstance(node, ast.Dict) or HANDLERS in found.unsettled:
        return _literal(HANDLERS, found)
    return {
        literal(key): _handler(found, value)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None and literal(key) is not UNKNOWN
    }


def _handler(found: Bindings, node: ast.expr) -> Signature | Any:
    if isinstance(node, ast.Name):
        signature = from_name(node.id, found)
    else:
        signature = from_expression(node, found)
    return UNKNOWN if signature is None or signature is ANYTHING else signature


def sibling_imports(source: bytes, folder: ToolFolder) -> list[ImportFailure]:
    """Return the statements that import a file of the folder as if it were a library.

    Those that may fail unharmed, or may not run at all, are left out.
    """
    with contextlib.suppress(OSError):
        folder = listed(folder)
    stems = {name[:-3] for name in folder.files if name.endswith(".py")} | folder.folders
    tree = ast.parse(source)
    if any(isinstance(each, ast.Attribute) and _is_search_path(each) for each in ast.walk(tree)):
        return []  # which may be another when they run
    failures = []
    for node in _unguarded(tree):
        for module in _imported(node) if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if module in stems - {folder.name} and _is_absent(module):
                place = Position(folder.module_name, node.lineno, node.col_offset + 1)
                failures.append(ImportFailure(place, "", "", f"{module}.py"))
    return failures


def _is_search_path(node: ast.Attribute) -> bool:
    return node.attr == "path" and isinstance(node.value, ast.Name) and node.value.id == "sys"


def _unguarded(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements below a node but for those in ``try`` and ``if``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if not isinstance(child, ast.Try | ast.TryStar | ast.If):
            yield from _unguarded(child)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if node.level == 0 else []


def _is_absent(module: str) -> bool:
    try:
        return find_spec(module) is None
    except (ImportError, ValueError):
        return True
