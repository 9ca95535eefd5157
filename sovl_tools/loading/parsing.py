"""From a module's source to its interface, without running a line of it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from sovl_tools.loading.annotations import aliased, from_node
from sovl_tools.loading.checks.module import ImportFailure
from sovl_tools.loading.checks.offer import HANDLERS, PHRASES, REGISTER
from sovl_tools.loading.discovery import listed
from sovl_tools.loading.syntax import Bindings, bindings
from sovl_tools.model.context import ToolContext
from sovl_tools.model.diagnostic import Position
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.interface import (
    REQUIRED,
    UNKNOWN,
    Annotation,
    Interface,
    Parameter,
    ParameterKind,
    Signature,
)

_ANYTHING = Signature((Parameter("arguments", "var_keyword"),), "callable")
_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)


def parse_module(source: bytes, name: str) -> Interface:
    """Return what the module of the tool of that name offers, as far as its text tells.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source is no Python.
    """
    found = bindings(ast.parse(source))
    signature = _bound(found, name)
    return Interface(
        signature=signature and _with_contexts(signature, found),
        names=tuple(key for key, node in found.names.items() if _is_function(node)),
        phrases=_literal(found.names.get(PHRASES)),
        handlers=_handlers(found),
        registration=_bound(found, REGISTER) if REGISTER in found.names else None,
    )


def _with_contexts(signature: Signature, found: Bindings) -> Signature:
    """Return a signature where ToolContext may have been imported under another name."""
    aliases = {key for key, node in found.names.items() if _is_context(node, key)}
    if not aliases:
        return signature
    return signature._replace(
        parameters=tuple(
            each._replace(annotation=aliased(each.annotation, aliases.__contains__))
            for each in signature.parameters
        )
    )


def _is_context(node: ast.AST, name: str) -> bool:
    every = node.names if isinstance(node, ast.ImportFrom) else ()
    return any(each.name == ToolContext.__name__ and each.asname == name for each in every)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _bound(found: Bindings, name: str, seen: tuple[str, ...] = ()) -> Signature | None:
    """Return the signature of what a name is bound to at the end of the module."""
    node = found.names.get(name)
    if node is None:
        return _ANYTHING if found.star else None
    if isinstance(node, ast.Name) and node.id not in seen and node.id in found.names:
        return _bound(found, node.id, (*seen, name))
    return _signature(node)


def _signature(node: ast.AST) -> Signature:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return Signature(tuple(_parameters(node.args)))
    if isinstance(node, ast.ClassDef):
        return Signature(shape="class")
    return Signature(shape="value") if isinstance(node, _VALUES) else _ANYTHING


def _parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    absent = [None] * (len(positional) - len(arguments.defaults))
    for index, (each, default) in enumerate(
        zip(positional, [*absent, *arguments.defaults], strict=True)
    ):
        only = index < len(arguments.posonlyargs)
        yield _parameter(each, "positional_only" if only else "positional_or_keyword", default)
    if arguments.vararg:
        yield _parameter(arguments.vararg, "var_positional", None)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, "keyword_only", default)
    if arguments.kwarg:
        yield _parameter(arguments.kwarg, "var_keyword", None)


def _parameter(node: ast.arg, kind: ParameterKind, default: ast.expr | None) -> Parameter:
    annotation = from_node(node.annotation) if node.annotation else Annotation()
    return Parameter(node.arg, kind, REQUIRED if default is None else _literal(default), annotation)


def _literal(node: ast.AST | None) -> Any:
    """Return the value of a literal, UNKNOWN of any other expression, None of nothing."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node) if isinstance(node, ast.expr) else UNKNOWN
    except (ValueError, TypeError, MemoryError, RecursionError, SyntaxError):
        return UNKNOWN


def _handlers(found: Bindings) -> Any:
    node = found.names.get(HANDLERS)
    if not isinstance(node, ast.Dict):
        return _literal(node)
    return {
        _literal(key): _handler(found, value)
        for key, value in zip(node.keys, node.values, strict=True)
        if key is not None and _literal(key) is not UNKNOWN
    }


def _handler(found: Bindings, node: ast.expr) -> Signature | Any:
    signature = _bound(found, node.id) if isinstance(node, ast.Name) else _signature(node)
    return UNKNOWN if signature is None or signature is _ANYTHING else signature


def sibling_imports(source: bytes, folder: ToolFolder) -> list[ImportFailure]:
    """Return the statements that import a file of the folder as if it were a library."""
    with contextlib.suppress(OSError):
        folder = listed(folder)
    stems = {name[:-3] for name in folder.files if name.endswith(".py")} | folder.folders
    failures = []
    statements = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    for node in statements:
        for module in _imported(node):
            if module in stems - {folder.name} and _is_absent(module):
                place = Position(folder.module_name, node.lineno, node.col_offset + 1)
                failures.append(ImportFailure(place, "", "", f"{module}.py"))
    return failures


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [(node.module or "").partition(".")[0]] if node.level == 0 else []


def _is_absent(module: str) -> bool:
    try:
        return find_spec(module) is None
    except (ImportError, ValueError):
        return True
