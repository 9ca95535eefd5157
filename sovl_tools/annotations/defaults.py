"""Telling constant defaults of functions from defaults that were computed at import.

A computed default, such as ``os.environ.get("KEY", "")``, can be a secret and differs between
machines: for a model such a parameter is just optional.
"""

from __future__ import annotations

import ast
import builtins
import linecache
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import resolve_name
from itertools import chain
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, NamedTuple, TypeAlias

from sovl_tools.annotations.bindings import DEFINITIONS, bindings, last_name
from sovl_tools.annotations.hints import is_field, marker_of

_WRITTEN = re.compile(
    r"(\w+)\s*(?::[^=,\n]*)?=(?!=)\s*"
    r"""(?:("[^"\\\n]*"|'[^'\\\n]*'|-?\d[\w.]*|True|False|\[\]|\{\}|\(\))(?=\s*[,)]))?"""
)
"""A name that is given a value, and the value if it is a simple literal."""
_LONGEST_HEAD = 100
"""The number of lines of a function that are searched for simple literals."""
_SHORTEST_SECRET = 6

_PURE = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.Starred, ast.Subscript, ast.Slice,
    ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.FormattedValue,
    ast.unaryop, ast.operator, ast.boolop, ast.cmpop, ast.expr_context, ast.keyword,
)  # fmt: skip
"""Nodes that are constant if all of their parts are."""
_UNREADABLE = SyntaxError, ValueError, RecursionError, MemoryError

_Names: TypeAlias = dict[str, Any]
_Local: TypeAlias = Mapping[str, ast.expr | None]


def computed(function: Any, defaults: Mapping[str, Any]) -> set[str]:
    """Return the names of the parameters whose defaults aren't constant expressions.

    Where the source can't be read, a string that is the value of an environment variable counts
    as computed, and everything else as constant.

    Args:
        function: the function with the parameters, or another callable, without source.
        defaults: the defaults by parameter; a partial can have other ones than its function.
    """
    own = _own_defaults(function) if isinstance(function, FunctionType) else {}
    found: set[str] = set()
    doubtful: dict[str, Any] = {}
    for name, value in defaults.items():
        if name in own and own[name] is value:
            if value is not None and not (is_field(value) or marker_of(value)):
                doubtful[name] = value
        elif _is_in_environment(value):
            found.add(name)
    return found | _computed(function, doubtful) if doubtful else found


def computed_fields(kind: type, defaults: Mapping[str, Any]) -> set[str]:
    """Return the names of the fields of a class whose defaults aren't constant expressions.

    Args:
        kind: a dataclass, a NamedTuple, a model of pydantic, or a class with its own ``__init__``.
        defaults: the defaults by field.
    """
    found: set[str] = set()
    for name, value in defaults.items():
        owners = [each for each in kind.__mro__ if name in vars(each).get("__annotations__", ())]
        own = kind.__init__ if not owners else None  # type: ignore[misc]
        if own is not None:
            found |= computed(own, {name: value})
        elif isinstance(value, _TRIVIAL):
            continue
        elif _is_computed_field(owners[0], name, value):
            found.add(name)
    return found


def _is_computed_field(owner: type, name: str, value: Any) -> bool:
    names = getattr(sys.modules.get(owner.__module__), "__dict__", {})
    source = "".join(_lines(str(names.get("__file__")), names))
    try:
        expressions = _classes(source).get(owner.__qualname__, {})
    except _UNREADABLE:
        expressions = {}
    if name not in expressions:
        return _is_in_environment(value)
    expression: ast.expr | None = expressions[name]
    if isinstance(expression, ast.Call) and last_name(expression.func) in _FIELDS:
        given = {each.arg: each.value for each in expression.keywords}
        expression = given.get("default") or next(iter(expression.args), None)
    try:
        if expression is None:
            return False
        return _is_in_environment(value) or not _is_constant(expression, names)
    except RecursionError:
        return True


_FIELDS = frozenset({"Field", "field"})
"""Functions that describe a field of a class, its default included."""
_TRIVIAL = (bool, type(None))
_NOTHING = ast.Constant(None)


@lru_cache(maxsize=4)
def _classes(source: str) -> dict[str, dict[str, ast.expr]]:
    """Return the values that classes give their annotated fields, by the classes' full names."""
    found: dict[str, dict[str, ast.expr]] = {}
    pending: list[tuple[ast.AST, str]] = [(bindings(source.encode()).tree, "")]
    for node, prefix in pending:  # which grows meanwhile
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, DEFINITIONS):
                inner = f"{prefix}{child.name}."
            if isinstance(child, ast.ClassDef):
                found[inner[:-1]] = {
                    each.target.id: each.value
                    for each in child.body
                    if isinstance(each, ast.AnnAssign)
                    and isinstance(each.target, ast.Name)
                    and each.value is not None
                }
            elif isinstance(child, DEFINITIONS):
                inner += "<locals>."
            pending.append((child, inner))
    return found


def _own_defaults(function: FunctionType) -> dict[str, Any]:
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(names, values, strict=True)), **(function.__kwdefaults__ or {})}


def _computed(function: FunctionType, defaults: Mapping[str, Any]) -> set[str]:
    code, names = function.__code__, function.__globals__
    lines = _lines(code.co_filename, names)
    literals = _literals(lines, code.co_firstlineno, code.co_name, defaults)
    found = {name for name, value in defaults.items() if not _is_literal(value, literals.get(name))}
    if not found:
        return found
    definition = _definition("".join(lines), code.co_firstlineno, code.co_name)
    expressions, local = definition or _Definition({}, {})
    for name in tuple(found):
        with suppress(RecursionError):  # such as ``LIMIT = LIMIT``
            # a decorator can have set it
            expression = expressions.get(name, _NOTHING)
            is_secret = _is_in_environment(defaults[name])
            if not is_secret and _is_constant(expression, names, local):
                found.remove(name)
    return found


def _lines(file: str, names: _Names) -> list[str]:
    """Return the source lines of a file, from the loader of its module if that keeps them."""
    loader = names.get("__loader__")
    # a tool's folder can have been edited since it was loaded
    is_ours = hasattr(loader, "get_source") and not isinstance(loader, SourceFileLoader)
    if loader is not None and is_ours and names.get("__file__") == file:
        with suppress(ImportError, OSError, *_UNREADABLE):
            text = loader.get_source(names["__name__"])
            if text:
                return [f"{each}\n" for each in text.split("\n")]
    linecache.checkcache(file)
    return linecache.getlines(file, names)


def _literals(
    lines: list[str], first: int, name: str, wanted: Mapping[str, Any]
) -> dict[str, str | None]:
    """Return the wanted defaults of a function that are simple literals.

    Nearly all defaults are, and this is faster than parsing.
    """
    text = "".join(lines[first - 1 : first + _LONGEST_HEAD])
    start = text.find(f"def {name}")
    found: dict[str, str | None] = {}
    for each in _WRITTEN.finditer(text, start) if start >= 0 else ():
        found.setdefault(each[1], each[2])  # a later assignment is in the body
        if wanted.keys() <= found.keys():
            break
    return found


def _is_literal(value: Any, text: str | None) -> bool:
    if text is None:
        return False
    if isinstance(value, str):
        return text[1:-1] == value
    is_empty = type(value) in {list, dict, tuple} and not value
    return (is_empty or type(value) in {bool, int, float}) and text == repr(value)


def _is_in_environment(value: Any) -> bool:
    """Return whether a value is, or contains, the value of an environment variable."""
    if isinstance(value, Mapping):
        return any(map(_is_in_environment, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_is_in_environment, value))
    if is_dataclass(value) or hasattr(type(value), "__pydantic_fields__"):
        return any(map(_is_in_environment, getattr(value, "__dict__", {}).values()))
    is_long = isinstance(value, str) and len(value) >= _SHORTEST_SECRET
    return is_long and value in os.environ.values()


class _Definition(NamedTuple):
    """A function in the source.

    Attributes:
        defaults: the expressions of its defaults.
        local: the names that classes and functions around it bind, with the values in a
            class.
    """

    defaults: dict[str, ast.expr]
    local: _Local


def _definition(source: str, first: int, name: str) -> _Definition | None:
    """Return the function that begins on a line; None if it isn't there or isn't the only one."""
    try:
        found = _definitions(source).get((first, name), [])
    except _UNREADABLE:
        return None
    return found[0] if len(found) == 1 else None


@lru_cache(maxsize=4)
def _definitions(source: str) -> dict[tuple[int, str], list[_Definition]]:
    found: dict[tuple[int, str], list[_Definition]] = {}

    def collect(node: ast.AST, local: _Local) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                starts = [child, *getattr(child, "decorator_list", ())]
                place = min(each.lineno for each in starts), getattr(child, "name", "<lambda>")
                found.setdefault(place, []).append(_Definition(_defaults(child.args), local))
            is_scope = isinstance(child, (*DEFINITIONS, ast.Lambda))
            collect(child, {**local, **_bound_in(child)} if is_scope else local)

    collect(bindings(source.encode()).tree, {})
    return found


def _bound_in(scope: ast.AST) -> dict[str, ast.expr | None]:
    """Return the names that a class or a function binds, with their values in a class."""
    if isinstance(scope, ast.ClassDef):
        assigned = [each for each in scope.body if isinstance(each, ast.Assign | ast.AnnAssign)]
        return {
            target.id: each.value
            for each in assigned
            for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
            if isinstance(target, ast.Name)
        }
    return {
        each.id if isinstance(each, ast.Name) else each.arg: None
        for each in ast.walk(scope)
        if isinstance(each, ast.arg)
        or (isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    }


def _defaults(arguments: ast.arguments) -> dict[str, ast.expr]:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: Iterator[tuple[ast.arg, ast.expr | None]] = chain(
        zip(reversed(positional), reversed(arguments.defaults), strict=False),
        zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    )
    return {parameter.arg: default for parameter, default in pairs if default is not None}


def _is_constant(node: ast.AST, names: _Names, local: _Local = MappingProxyType({})) -> bool:
    """Return whether an expression has the same value on every machine.

    Args:
        node: the expression.
        names: what its module has.
        local: names that classes and functions around it bind.
    """
    match node:
        case ast.Name(id=name):
            value = local.get(name)
            if value is not None:
                return _is_constant(value, names, local)
            return name not in local and _is_constant_name(name, names)
        case ast.Attribute(value=inner, attr=name):
            owner = _value(inner, names)
            if isinstance(owner, ModuleType):
                return _is_constant_name(name, vars(owner))
            return isinstance(owner, Enum) or isinstance(getattr(owner, name, None), Enum)
        case ast.Call(func=function, args=arguments, keywords=keywords):
            parts = [*arguments, *keywords]
            is_class = isinstance(_value(function, names), type)
            return is_class and all(_is_constant(each, names, local) for each in parts)
    parts = [*ast.iter_child_nodes(node)]
    return isinstance(node, _PURE) and all(_is_constant(each, names, local) for each in parts)


def _value(node: ast.expr, names: _Names) -> Any:
    """Return the value of a dotted name; None if that is unknown."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = _value(node.value, names)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType | type) else None
    return None


def _is_constant_name(name: str, names: _Names) -> bool:
    """Return whether a module binds a name to a constant, possibly from another module."""
    source = "".join(_lines(str(names.get("__file__")), names))
    try:
        found = bindings(source.encode())
    except _UNREADABLE:
        return False
    if not source:  # a module in C, or of a notebook
        value = names.get(name)
        return isinstance(value, str | int | float) and not _is_in_environment(value)
    node = found.names.get(name)
    if name in found.unsettled or node is None:
        return False
    if isinstance(node, ast.ImportFrom):
        return _is_constant_import(name, node, names)
    return isinstance(node, ast.expr) and _is_constant(node, names)


def _is_constant_import(name: str, node: ast.ImportFrom, names: _Names) -> bool:
    module = "." * node.level + (node.module or "")
    origin = next(each.name for each in node.names if name in {each.asname, each.name})
    with suppress(ImportError):
        package = names.get("__package__") or names.get("__name__")
        other = sys.modules.get(resolve_name(module, str(package)))
        return other is not None and _is_constant_name(origin, vars(other))
    return False
