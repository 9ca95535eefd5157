"""The names that a module binds at its top level, read from its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple
from unicodedata import normalize


class Bindings(NamedTuple):
    """The names that a module binds at its top level.

    Attributes:
        tree: the whole module.
        names: what each name is bound to at last: a definition, an import, or an expression.
        targets: the node that names it, for its place.
        unsettled: names of which only running the module tells to what they are bound at last.
        is_open: whether the module may bind names that its text does not show.
    """

    tree: ast.Module
    names: dict[str, ast.AST]
    targets: dict[str, ast.AST]
    unsettled: set[str]
    is_open: bool


# Several findings in a row are about one module, and each asks for its place.
@lru_cache(maxsize=4)
def bindings(source: bytes) -> Bindings:
    """Return the names that a module binds, branches of ``if`` and ``try`` included.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: the source is no Python.
    """
    tree = ast.parse(source)
    # what is looked for in the whole tree has words in the text
    every = [*ast.walk(tree)] if _is_telling(source) else []
    unsettled = {name for node in every if isinstance(node, ast.Global) for name in node.names}
    # a star import binds any name, and so may a call of one of these
    is_open = any(
        any(alias.name == "*" for alias in node.names)
        if isinstance(node, ast.ImportFrom)
        else isinstance(node, ast.Name) and node.id in _OPENING
        for node in every
    )
    found = Bindings(tree, {}, {}, unsettled, is_open)
    anywhere = b":=" in source or b"coding" in source
    for statement, is_conditional in _statements(tree.body):
        deleted = statement.targets if isinstance(statement, ast.Delete) else ()
        for name in [each.id for each in deleted if isinstance(each, ast.Name)]:
            if is_conditional:
                unsettled.add(name)
            else:
                found.names.pop(name, None)
        for name, value, target in _names_bound(statement, anywhere=anywhere):
            if is_conditional and name in found.names:
                unsettled.add(name)
            found.names[name] = value
            found.targets[name] = target
    return found


def _is_telling(source: bytes) -> bool:
    """Tell whether a module's text has words that say something of names anywhere in it."""
    text = source.decode(errors="replace")
    if not text.isascii():  # Python takes names for what their letters stand for
        text = normalize("NFKC", text)
    return any(word in text and pattern.search(text) for word, pattern in _TELLING.items())


_OPENING = frozenset({"exec", "globals", "locals", "setattr", "vars"})
_TELLING = {
    "global": re.compile(r"global[\s\\]+\w+[^\S\r\n]*(?:[,;#\r\n\\]|\Z)"),
    "import": re.compile(r"import[\s\\(]*\*"),
    # in which words may be spelt otherwise
    "coding": re.compile(r"\A(?:.*[\r\n]+)?\s*#.*?coding[:=]"),
    **{word: re.compile(rf"{word}\b") for word in sorted(_OPENING)},
}
"""Patterns, by what is in whatever they find."""
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


def last_name(node: ast.expr) -> str:
    """Return the name, or the last one after a dot, that an expression is; or ``""``."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def blocks(node: ast.AST) -> list[ast.AST]:
    """Return the statements, handlers and cases that a statement is made of."""
    # most have none, which one look tells, where asking for five fields takes five
    return [each for field in _BLOCKS.get(type(node), ()) for each in getattr(node, field)]


_BLOCKS: dict[type[ast.AST], list[str]] = {
    kind: [
        field
        for field in ("body", "handlers", "cases", "orelse", "finalbody")
        if field in kind._fields
    ]
    for kind in (
        *DEFINITIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try,
        ast.TryStar, ast.ExceptHandler, ast.Match, ast.match_case,
    )
}  # fmt: skip


def _names_bound(statement: ast.stmt, *, anywhere: bool) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each name that a statement binds, with its value and the node that names it.

    ``anywhere`` tells whether expressions may bind names, too.
    """
    if isinstance(statement, DEFINITIONS):
        yield statement.name, statement, statement
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield (alias.asname or alias.name.partition(".")[0]), statement, alias
    else:
        for node in [statement] if anywhere else _targets(statement):
            for target in _assigned_names(node):
                yield target.id, _value(statement, target), target


def _targets(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that name what is assigned to."""
    yield from getattr(statement, "targets", ())
    yield from getattr(statement, "items", ())
    if hasattr(statement, "target") and getattr(statement, "value", statement) is not None:
        yield statement.target
    name = getattr(statement, "name", None)
    if isinstance(name, ast.AST):  # of ``type``
        yield name


def _assigned_names(node: ast.AST) -> Iterator[ast.Name]:
    """Yield the names that are assigned to in a statement or a part, not those in its blocks."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node
        return
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case | ast.Lambda):
            yield from _assigned_names(child)


def _value(statement: ast.stmt, target: ast.Name) -> ast.AST:
    """Return what a name is assigned, or the statement where that is not said outright."""
    if isinstance(statement, ast.Assign) and target in statement.targets:
        return statement.value
    if isinstance(statement, ast.AnnAssign) and target is statement.target:
        return statement.value or statement
    return statement
