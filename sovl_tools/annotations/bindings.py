"""The names that a module binds at its top level, read from its text."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple


class Bindings(NamedTuple):
    """The names that a module binds at its top level.

    Attributes:
        tree: the whole module.
        names: what each name is bound to at last: a definition, an import, or an expression.
        targets: the node that names it, for its place.
        unsettled: names whose final binding only running the module shows.
        is_open: whether the module may bind names that its text does not show.
    """

    tree: ast.Module
    names: dict[str, ast.AST]
    targets: dict[str, ast.AST]
    unsettled: set[str]
    is_open: bool


# Several findings in a row are in one module, and each needs its place.
@lru_cache(maxsize=4)
def bindings(source: bytes) -> Bindings:
    """Return the names that a module binds, branches of ``if`` and ``try`` included.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source isn't a Python.
    """
    tree = ast.parse(source)
    # a module without these words needs no walk, which takes as long as parsing it
    every = [*ast.walk(tree)] if any(word in source for word in _WORDS) else []
    unsettled = {name for node in every if isinstance(node, ast.Global) for name in node.names}
    is_open = any(isinstance(node, ast.Name) and node.id in _OPENING for node in every)
    is_open = is_open or any(_is_star(node) for node, _ in _statements(tree.body))
    found = Bindings(tree, {}, {}, unsettled, is_open)
    for statement, is_conditional in _statements(tree.body):
        deleted = statement.targets if isinstance(statement, ast.Delete) else ()
        for name in [each.id for each in deleted if isinstance(each, ast.Name)]:
            if is_conditional:
                unsettled.add(name)
            else:
                found.names.pop(name, None)
        for name, value, target in _names_bound(statement):
            if is_conditional and name in found.names:
                unsettled.add(name)
            found.names[name] = value
            found.targets[name] = target
    return found


_OPENING = frozenset({"exec", "globals", "locals", "setattr", "vars"})
"""Functions whose calls can bind any name."""
_WORDS = (b"global", *map(str.encode, sorted(_OPENING)))
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _statements(
    body: Iterable[ast.AST], *, is_conditional: bool = False
) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that run at the top level, and whether it is in a branch."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node, is_conditional
        inner = () if isinstance(node, DEFINITIONS) else blocks(node)
        if isinstance(node, ast.If) and last_name(node.test) == "TYPE_CHECKING":
            # names there are not bound when the module runs
            yield from _statements(node.orelse, is_conditional=is_conditional)
        elif inner:
            is_branch = is_conditional or not isinstance(node, ast.With | ast.AsyncWith)
            yield from _statements(inner, is_conditional=is_branch)


def _is_star(statement: ast.stmt) -> bool:
    """Return whether a statement imports all names of a module."""
    return isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*"


def last_name(node: ast.expr) -> str:
    """Return the name, or the last one after a dot, that an expression is; or ``""``."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def blocks(node: ast.AST) -> list[ast.AST]:
    """Return the statements, handlers and cases that a statement is made of."""
    return [each for field in _BLOCKS for each in getattr(node, field, ())]


_BLOCKS = ("body", "handlers", "cases", "orelse", "finalbody")


def _names_bound(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each name that a statement binds, with its value and the node that names it."""
    if isinstance(statement, DEFINITIONS):
        yield statement.name, statement, statement
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name.partition(".")[0]), statement, alias
    else:
        for target in _assigned_names(statement):
            yield target.id, _value(statement, target), target


def _assigned_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that a statement or a part assigns, without those in its blocks."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node
        return
    # a comprehension has its own variables, but an assignment in its condition binds outside
    children = node.ifs if isinstance(node, ast.comprehension) else ast.iter_child_nodes(node)
    for child in children:
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case | ast.Lambda):
            yield from _assigned_names(child)


def _value(statement: ast.stmt, target: ast.Name) -> ast.AST:
    """Return the value assigned to a name, or the statement if it has no single value."""
    if isinstance(statement, ast.Assign) and target in statement.targets:
        return statement.value
    if isinstance(statement, ast.AnnAssign) and target is statement.target:
        return statement.value or statement
    return statement
