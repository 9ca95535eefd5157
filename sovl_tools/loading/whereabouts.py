"""Where in Python files functions and classes are defined, and where their code is at work."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import re
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any, NamedTuple

from sovl_tools.model.functions import underlying


class Whereabouts(NamedTuple):
    """A file and a position in it; both numbers count from 1.

    ``path`` is relative to the current directory if the file is below it.
    """

    path: str
    line: int = 1
    column: int = 1


def whereabouts_of(value: Any, parameter: str | None = None) -> Whereabouts:
    """Return where a function or a class is defined, or where one of its parameters stands.

    Of any other object it is where its class is defined.
    """
    value = value if isinstance(value, type) else underlying(value)
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        return Whereabouts(shown(code.co_filename), *_of_function(code, parameter))
    kind = value if isinstance(value, type) else type(value)
    try:
        path = inspect.getfile(kind)
    except (TypeError, OSError):
        return Whereabouts(kind.__module__)
    indent = r"\s+" if "." in kind.__qualname__ else ""
    return Whereabouts(shown(path), *_head(path, rf"{indent}class\s+", kind.__name__))


def innermost(
    origin: BaseException | FrameType | None, is_own: Callable[[FrameType], bool]
) -> Whereabouts | None:
    """Return the innermost place in somebody's own code, with its path as it was compiled.

    Args:
        origin: an exception, or a frame that runs.
        is_own: tells whether the code of a frame is that somebody's.
    """
    for frame, instruction, line in _running(origin):
        if is_own(frame):
            positions = list(frame.f_code.co_positions())
            index = instruction // 2
            start = positions[index][2] if 0 <= index < len(positions) else None
            return Whereabouts(frame.f_code.co_filename, line or 1, (start or 0) + 1)
    return None


def _running(
    origin: BaseException | FrameType | None,
) -> Iterator[tuple[FrameType, int, int | None]]:
    """Yield frames, innermost first, each with its instruction and its line."""
    if isinstance(origin, BaseException):
        traces = []
        trace = origin.__traceback__
        while trace is not None:
            traces.append((trace.tb_frame, trace.tb_lasti, trace.tb_lineno))
            trace = trace.tb_next
        yield from reversed(traces)
        return
    frame = origin
    while frame is not None:
        yield frame, frame.f_lasti, frame.f_lineno
        frame = frame.f_back


def shown(path: str) -> str:
    """Return a path relative to the current directory, if it is below it."""
    here = os.getcwd()
    return os.path.relpath(path) if path.startswith(f"{here}{os.sep}") else path


def _of_function(code: CodeType, parameter: str | None) -> tuple[int, int]:
    place = None if parameter is None else _of_parameter(code, parameter)
    if place is not None:
        return place
    first = max(code.co_firstlineno, 1)
    return _head(code.co_filename, r"\s*(?:async\s+)?def\s+", code.co_name, first)


def _head(path: str, keyword: str, name: str, first: int = 1) -> tuple[int, int]:
    """Return where a name stands that follows a keyword, from a line on; without parsing."""
    linecache.checkcache(path)
    head = re.compile(rf"{keyword}(?={re.escape(name)}\b)")
    for line, text in enumerate(linecache.getlines(path)[first - 1 :], first):
        found = head.match(text)
        if found:
            return line, found.end() + 1
    return first, 1


def _of_parameter(code: CodeType, parameter: str) -> tuple[int, int] | None:
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            starts = {node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))}
            found = _argument(node.args, parameter)
            if code.co_firstlineno in starts and found is not None:
                before = lines[found.lineno - 1].encode()[: found.col_offset]
                return found.lineno, len(before.decode()) + 1
    return None


def _argument(given: ast.arguments, name: str) -> ast.arg | None:
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return next((each for each in every if each is not None and each.arg == name), None)
