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
        unsettled: names of which only running the module tells to what they are bound at last.
        is_open: whether the module may bind names that its text does not show.
    """

    names: dict[str, ast.AST]
    targets: dict[str, ast.AST]
    unsettled: set[str]
    is_open: bool


def bindings(tree: ast.Module) -> Bindings:
    """Return the names that the module binds, branches of ``if`` and ``try`` included."""
    every = [*ast.walk(tree)]
    unsettled = {name for node in every if isinstance(node, ast.Global) for name in node.names}
    found = Bindings({}, {}, unsettled, is_open=any(map(_is_opening, every)))
    for statement, is_conditional in _statements(tree.body):
        for name, value, target in _bound(statement):
            if is_conditional and name in found.names:
                unsettled.add(name)
            found.names[name] = value
            found.targets[name] = target
    return found


def _is_opening(node: ast.AST) -> bool:
    """Tell whether a statement or a call may bind any name."""
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _OPENING


_OPENING = frozenset({"exec", "globals", "locals", "setattr", "vars"})
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _statements(
    body: Iterable[ast.AST], *, is_conditional: bool = False
) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that run at the top level, and whether it is in a branch."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node, is_conditional
        if not isinstance(node, _DEFINITIONS):
            is_branch = is_conditional or not isinstance(node, ast.With | ast.AsyncWith)
            yield from _statements(_blocks(node), is_conditional=is_branch)


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
