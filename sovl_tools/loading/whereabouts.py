"""Where a function or a class stands in a Python file."""

from __future__ import annotations

import ast
import inspect
import os
from typing import Any, NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Whereabouts(NamedTuple):
    """A file and a position in it; both numbers count from 1.

    ``path`` is relative to the current directory if the file is below it.
    """

    path: str
    line: int = 1
    column: int = 1


def whereabouts_of(value: Any, parameter: str | None = None) -> Whereabouts:
    """Return where a function or a class is defined, or where one of its parameters stands."""
    value = inspect.unwrap(getattr(value, "__func__", value))
    code = getattr(value, "__code__", None)
    if code is None and not isinstance(value, type):
        value = type(value)
    try:
        path = code.co_filename if code is not None else inspect.getfile(value)
    except (TypeError, OSError):
        return Whereabouts(f"{getattr(value, '__module__', '?')}")
    first = code.co_firstlineno if code is not None else 0
    line, column = _position(path, value.__name__, first, parameter)
    return Whereabouts(_shown(path), line, column)


def _shown(path: str) -> str:
    here = os.getcwd()
    return os.path.relpath(path) if path.startswith(f"{here}{os.sep}") else path


def _position(path: str, name: str, first: int, parameter: str | None) -> tuple[int, int]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return max(first, 1), 1
    for node in ast.walk(tree):
        if isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name:
            starts = {node.lineno, *(each.lineno for each in node.decorator_list)}
            if isinstance(node, ast.ClassDef) or first in starts:
                return _place_in(node, parameter)
    return max(first, 1), 1


def _place_in(
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, parameter: str | None
) -> tuple[int, int]:
    if parameter is not None and not isinstance(node, ast.ClassDef):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for each in every:
            if each is not None and each.arg == parameter:
                return each.lineno, each.col_offset + 1
    return node.lineno, node.col_offset + len(_KEYWORDS[type(node)]) + 1


_KEYWORDS: dict[type, str] = {
    ast.FunctionDef: "def ",
    ast.AsyncFunctionDef: "async def ",
    ast.ClassDef: "class ",
}
