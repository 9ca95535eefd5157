"""A module's bindings and the signatures of its functions, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from importlib.util import decode_source
from typing import Any

from sovl_tools.annotations.bindings import DEFINITIONS, Bindings, bindings, last_name
from sovl_tools.annotations.hints import HIDDEN, HIDDEN_CLASS
from sovl_tools.model.context import ToolContext
from sovl_tools.model.diagnostic import ModulePlace
from sovl_tools.signature.annotation import (
    Annotation,
    Lookup,
    conventional,
    evaluate,
    from_node,
    member,
)
from sovl_tools.signature.signature import (
    ANYTHING,
    REQUIRED,
    UNKNOWN,
    Parameter,
    ParameterKind,
    Signature,
)

_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
_TRANSPARENT = frozenset({"cache", "final", "hook", "lru_cache", "override", "tool"})
"""Names of well-known decorators that pass all arguments on."""


def from_name(name: str, found: Bindings) -> Signature | None:
    """Return the signature of a name's value; None if the module surely lacks it.

    Imports, calls and names bound in several branches are unknown. A function
    with a decorator can be called in ways that the text does not tell.
    """
    node, seen = found.names.get(name), {name}
    while isinstance(node, ast.Name) and node.id in found.names and node.id not in seen:
        seen.add(node.id)
        node = found.names[node.id]
    # on the way to the definition one of the names may mean another object
    if not seen.isdisjoint(found.unsettled):
        return ANYTHING
    if node is None:
        return ANYTHING if found.is_open else None
    return from_expression(node, found)


def from_expression(node: ast.AST, found: Bindings) -> Signature:
    """Return the signature of a definition's or an expression's value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        decorators = (
            each.func if isinstance(each, ast.Call) else each for each in node.decorator_list
        )
        is_certain = all(last_name(each) in _TRANSPARENT for each in decorators)
        parameters = tuple(_parameters(node.args, lookup_in(found)))
        return Signature(parameters, is_certain=is_certain)
    if isinstance(node, ast.Lambda):
        return Signature(tuple(_parameters(node.args, lookup_in(found))))
    if isinstance(node, ast.ClassDef) and not node.decorator_list:
        return Signature(shape="class")
    return Signature(shape="value") if isinstance(node, _VALUES) else ANYTHING


def _parameters(arguments: ast.arguments, lookup: Lookup) -> Iterator[Parameter]:
    positional = [*arguments.posonlyargs, *arguments.args]
    absent = [None] * (len(positional) - len(arguments.defaults))
    for index, (each, default) in enumerate(
        zip(positional, [*absent, *arguments.defaults], strict=True)
    ):
        only = index < len(arguments.posonlyargs)
        kind: ParameterKind = "positional_only" if only else "positional_or_keyword"
        yield _parameter(each, kind, default, lookup)
    if arguments.vararg:
        yield _parameter(arguments.vararg, "var_positional", None, lookup)
    for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield _parameter(each, "keyword_only", default, lookup)
    if arguments.kwarg:
        yield _parameter(arguments.kwarg, "var_keyword", None, lookup)


def _parameter(
    node: ast.arg, kind: ParameterKind, default: ast.expr | None, lookup: Lookup
) -> Parameter:
    annotation = from_node(node.annotation, lookup) if node.annotation else Annotation()
    return Parameter(node.arg, kind, REQUIRED if default is None else literal(default), annotation)


def literal(node: ast.AST | None) -> Any:
    """Return the value of a literal, UNKNOWN for any other expression, None without one."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node) if isinstance(node, ast.expr) else UNKNOWN
    except (ValueError, TypeError, MemoryError, RecursionError, SyntaxError):
        return UNKNOWN


_MOST_NAMES = 1_000
"""The maximum number of names that one name represents, directly or through others."""
_MOST_LOOKUPS = 20_000


def lookup_in(found: Bindings) -> Lookup:
    """Return the values of the names in a module's annotations, as far as its text tells.

    Forty lines that each name the line before twice represent a million million names: the
    too much is unknown.
    """
    pending: set[str] = set()
    together = within = 0

    def lookup(name: str) -> Any:
        nonlocal together, within
        within = within + 1 if pending else 0
        together += 1
        if within > _MOST_NAMES or together > _MOST_LOOKUPS:
            return HIDDEN
        node = found.names.get(name)
        if node is None:
            return conventional(name)
        if name in pending or name in found.unsettled:
            return HIDDEN
        # ``A = A | int`` refers to itself
        pending.add(name)
        try:
            return _stands_for(name, node, lookup)
        finally:
            pending.discard(name)

    return lookup


def _stands_for(name: str, node: ast.AST, lookup: Lookup) -> Any:
    if isinstance(node, ast.ClassDef):
        return HIDDEN if node.decorator_list else HIDDEN_CLASS
    if isinstance(node, ast.ImportFrom):
        alias = next(each for each in node.names if name == (each.asname or each.name))
        if alias.name == ToolContext.__name__:
            return ToolContext
        library = _library(node.module or "")
        return HIDDEN if library is HIDDEN else member(library, alias.name)
    if isinstance(node, ast.Import):
        return _library(
            next(
                each.name if each.asname else name
                for each in node.names
                if name == (each.asname or each.name.partition(".")[0])
            )
        )
    return evaluate(node, lookup) if isinstance(node, ast.expr) else HIDDEN


_LIBRARIES = frozenset(
    {
        "builtins", "collections", "collections.abc", "datetime", "decimal", "fractions", "types",
        "typing", "typing_extensions", "uuid",
    }
)  # fmt: skip
"""Modules with types; importing them has no other effect."""


def _library(name: str) -> Any:
    try:
        return import_module(name) if name in _LIBRARIES else HIDDEN
    except ImportError:
        return HIDDEN


def place_of(source: bytes, place: ModulePlace) -> tuple[int, int]:
    """Return line and column, from 1, of a place in the source; of its start if it is not there."""
    try:
        found = bindings(source)
        lines = decode_source(source).split("\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1, 1
    if place.name not in found.targets:
        place = ModulePlace(place.otherwise)
    if place.name is None or place.name not in found.targets:
        return 1, 1
    part = _part(found, place)
    if part is not None:
        return part.lineno, _column(lines, part)
    target = found.targets[place.name]
    line, column = getattr(target, "lineno", 1), _column(lines, target)
    if isinstance(target, DEFINITIONS):
        # the parser gives the place of ``def`` or ``class``
        column = lines[line - 1].find(place.name, column + len("def")) + 1
    return line, column


def _part(found: Bindings, place: ModulePlace) -> ast.arg | ast.expr | None:
    """Return the node of the parameter or item that a place names, if it names one."""
    node, item = found.names[str(place.name)], place.item
    function = found.names.get(node.id) if isinstance(node, ast.Name) else node
    if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for each in ast.walk(function.args):
            if isinstance(each, ast.arg) and each.arg == place.parameter:
                return each
    if isinstance(node, ast.List | ast.Tuple) and isinstance(item, int):
        return node.elts[item] if item < len(node.elts) else None
    keys = node.keys if isinstance(node, ast.Dict) else ()
    return next((key for key in keys if isinstance(key, ast.Constant) and key.value == item), None)


def _column(lines: list[str], node: ast.AST) -> int:
    """Turn the parser's offset, in bytes of UTF-8, into a column in characters, from 1."""
    text = lines[getattr(node, "lineno", 1) - 1].encode()
    return len(text[: getattr(node, "col_offset", 0)].decode(errors="replace")) + 1
