"""Which names a module binds, and where its source says so."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
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


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
            for field in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, field, ()))
            for handler in getattr(statement, "handlers", ()):
                yield from _statements(handler.body)


def _bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name, statement, statement
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name.partition(".")[0]), statement, alias
    else:
        for target, value in _assigned(statement):
            if isinstance(target, ast.Name):
                yield target.id, value, target


def _assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """Return the targets of an assignment, each with its value; nothing for other statements."""
    if isinstance(statement, ast.Assign):
        return [(target, statement.value) for target in statement.targets]
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return [(statement.target, statement.value)]
    return []


def place_of(source: bytes, place: ModulePlace) -> tuple[int, int]:
    """Return line and column, from 1, of a place in the source; of its start if it is not there."""
    try:
        found = bindings(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 1, 1
    if place.name not in found.targets:
        place = ModulePlace(place.otherwise)
    if place.name is None or place.name not in found.targets:
        return 1, 1
    part = _part(found, place)
    if part is not None:
        return _position(source, part.lineno, part.col_offset)
    target = found.targets[place.name]
    start = getattr(target, "col_offset", 0) + _name_offset(target)
    return _position(source, getattr(target, "lineno", 1), start)


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


def _name_offset(node: ast.AST) -> int:
    keywords = {ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def ", ast.ClassDef: "class "}
    return len(keywords.get(type(node), ""))


def _position(source: bytes, line: int, offset: int) -> tuple[int, int]:
    """Turn the parser's line and offset in UTF-8 bytes into line and column in characters."""
    lines = source.splitlines()
    text = lines[line - 1] if line <= len(lines) else b""
    return line, len(text[:offset].decode(errors="replace")) + 1
