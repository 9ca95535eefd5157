"""Which names a module binds, and where its source says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib.util import decode_source
from typing import NamedTuple

from sovl_tools.model.diagnostic import ModulePlace


class Bindings(NamedTuple):
    """The names that a module binds at its top level.

    Attributes:
        names: what each name is bound to at last: a definition, an import, or an expression.
        targets: the node that names it, for its place.
        star: whether there is a ``from … import *``.
    """

    names: dict[str, ast.AST]
    targets: dict[str, ast.AST]
    star: bool


def bindings(tree: ast.Module) -> Bindings:
    """Return the names that the module binds, branches of ``if`` and ``try`` included."""
    found = Bindings({}, {}, star=_has_star(tree))
    for statement in _statements(tree.body):
        for name, value, target in _bound(statement):
            found.names[name] = value
            found.targets[name] = target
    return found


def _has_star(tree: ast.Module) -> bool:
    return any(
        alias.name == "*"
        for statement in _statements(tree.body)
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
    )


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Yield the statements that run at the top level, those in blocks included."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _DEFINITIONS):
            yield from _statements(_blocks(node))


def _blocks(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements, handlers and cases that a statement is made of."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each name that a statement binds, with its value and the node that names it."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name, statement, statement
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name.partition(".")[0]), statement, alias
    else:
        for target in _stored(statement):
            yield target.id, _value(statement, target), target


def _stored(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that are assigned to in a statement, not those in its blocks."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child
        elif not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case | ast.Lambda):
            yield from _stored(child)


def _value(statement: ast.stmt, target: ast.Name) -> ast.AST:
    """Return what a name is assigned, or the statement where that is not said outright."""
    if isinstance(statement, ast.Assign) and target in statement.targets:
        return statement.value
    if isinstance(statement, ast.AnnAssign) and target is statement.target:
        return statement.value or statement
    return statement


def place_of(source: bytes, place: ModulePlace) -> tuple[int, int]:
    """Return line and column, from 1, of a place in the source; of its start if it is not there."""
    try:
        found = bindings(ast.parse(source))
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
    if isinstance(target, _DEFINITIONS):
        column = lines[line - 1].find(place.name, column + len("def")) + 1
    return line, column


def _part(found: Bindings, place: ModulePlace) -> ast.arg | ast.expr | None:
    """Return the node of the parameter or item that a place names, if it names one."""
    name = str(place.name)
    parts = [each for each in _arguments(found, name) if each.arg == place.parameter]
    return parts[0] if parts else _item(found.names[name], place.item)


def _item(node: ast.AST, item: object) -> ast.expr | None:
    if isinstance(node, ast.List | ast.Tuple) and isinstance(item, int):
        return node.elts[item] if item < len(node.elts) else None
    keys = node.keys if isinstance(node, ast.Dict) else ()
    return next((key for key in keys if isinstance(key, ast.Constant) and key.value == item), None)


def _arguments(found: Bindings, name: str) -> list[ast.arg]:
    node = found.names[name]
    if isinstance(node, ast.Name) and node.id in found.names:
        node = found.names[node.id]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return []
    return [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]


def _column(lines: list[str], node: ast.AST) -> int:
    """Turn the parser's offset, in bytes of UTF-8, into a column in characters, from 1."""
    text = lines[getattr(node, "lineno", 1) - 1].encode()
    return len(text[: getattr(node, "col_offset", 0)].decode(errors="replace")) + 1
