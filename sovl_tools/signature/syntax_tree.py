"""What a module binds and how its functions can be called, without running a line of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import decode_source
from typing import Any, NamedTuple
from unicodedata import normalize

from sovl_tools.annotations.hints import HIDDEN, HIDDEN_CLASS
from sovl_tools.model.context import ToolContext
from sovl_tools.model.diagnostic import ModulePlace
from sovl_tools.signature.signature import (
    ANYTHING,
    REQUIRED,
    UNKNOWN,
    Annotation,
    Lookup,
    Parameter,
    ParameterKind,
    Signature,
    conventional,
    evaluate,
    from_node,
)


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
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _statements(
    body: Iterable[ast.AST], *, is_conditional: bool = False
) -> Iterator[tuple[ast.stmt, bool]]:
    """Yield the statements that run at the top level, and whether it is in a branch."""
    for node in body:
        if isinstance(node, ast.stmt):
            yield node, is_conditional
        inner = () if isinstance(node, _DEFINITIONS) else blocks(node)
        if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
            # names there are not bound when the module runs
            yield from _statements(node.orelse, is_conditional=is_conditional)
        elif inner:
            is_branch = is_conditional or not isinstance(node, ast.With | ast.AsyncWith)
            yield from _statements(inner, is_conditional=is_branch)


def _name(node: ast.expr) -> str:
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
        *_DEFINITIONS, ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try,
        ast.TryStar, ast.ExceptHandler, ast.Match, ast.match_case,
    )
}  # fmt: skip


def _names_bound(statement: ast.stmt, *, anywhere: bool) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yield each name that a statement binds, with its value and the node that names it.

    ``anywhere`` tells whether expressions may bind names, too.
    """
    if isinstance(statement, _DEFINITIONS):
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


_VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
_TRANSPARENT = frozenset({"cache", "final", "hook", "lru_cache", "override", "tool"})
"""Names of well-known decorators that pass all arguments on."""


def from_name(name: str, found: Bindings) -> Signature | None:
    """Return how what a name is bound to can be called; None if the module surely lacks it.

    Nothing is known of what is imported, called or bound in one of several branches. A function
    with a decorator can be called in ways that the text does not tell.
    """
    node, seen = found.names.get(name), {name}
    while isinstance(node, ast.Name) and node.id in found.names and node.id not in seen:
        seen.add(node.id)
        node = found.names[node.id]
    # on the way to the definition one of the names may mean something else
    if not seen.isdisjoint(found.unsettled):
        return ANYTHING
    if node is None:
        return ANYTHING if found.is_open else None
    return from_expression(node, found)


def from_expression(node: ast.AST, found: Bindings) -> Signature:
    """Return how the value of a definition or an expression can be called."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        decorators = (
            each.func if isinstance(each, ast.Call) else each for each in node.decorator_list
        )
        is_certain = all(_name(each) in _TRANSPARENT for each in decorators)
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
    """Return the value of a literal, UNKNOWN of any other expression, None of nothing."""
    if node is None:
        return None
    try:
        return ast.literal_eval(node) if isinstance(node, ast.expr) else UNKNOWN
    except (ValueError, TypeError, MemoryError, RecursionError, SyntaxError):
        return UNKNOWN


def lookup_in(found: Bindings) -> Lookup:
    """Return what the names in a module's annotations stand for, as far as its text tells."""
    pending: set[str] = set()

    def lookup(name: str) -> Any:
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
        return getattr(_library(node.module or ""), alias.name, HIDDEN)
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
"""Modules with types of which importing them does nothing else."""


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
    if isinstance(target, _DEFINITIONS):
        # the parser tells where ``def`` or ``class`` begins
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
