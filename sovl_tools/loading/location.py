"""Places in the files of tools: in manifests, modules and running code."""

from __future__ import annotations

import ast
import inspect
import json
import linecache
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, NamedTuple, TypeGuard

from sovl_tools.loading.jsontext import Places, line_and_column
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import MAX_MANIFEST_BYTES, MAX_MODULE_BYTES, read_file
from sovl_tools.model.diagnostic import (
    Diagnostic,
    ManifestPlace,
    ModulePlace,
    Place,
    Verdict,
    in_order,
)
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.redaction import variables_of, without_values


class Locator:
    """Finds places in the files of one folder.

    ``text`` is the loaded manifest, ``source`` the loaded module; by default they are read.
    """

    def __init__(
        self, folder: ToolFolder, text: str | None = None, source: bytes | None = None
    ) -> None:
        self.folder = folder
        self._text = text
        self._source = source
        self._places = Places("")

    def _manifest(self) -> str:
        if self._text is None:
            data = read_file(self.folder, self.folder.manifest_name, limit=MAX_MANIFEST_BYTES)
            data = b"" if isinstance(data, Unreadable) else data
            self._text = data.decode(errors="replace").removeprefix("\ufeff")
        return self._text

    def _module(self) -> bytes:
        if self._source is None:
            data = read_file(self.folder, self.folder.module_name, limit=MAX_MODULE_BYTES)
            self._source = b"" if isinstance(data, Unreadable) else data
        return self._source

    def diagnostics(self, verdicts: Iterable[Verdict]) -> tuple[Diagnostic, ...]:
        """Return the verdicts as diagnostics of this folder's tool, ordered by place."""
        found, verdicts = [], [*verdicts]
        places = [place for each in verdicts for place in (each.finding.place, each.finding.other)]
        if any(isinstance(each, ManifestPlace) for each in places):
            self._places = Places(self._manifest())
        for verdict in verdicts:
            path, line, column = self._located(verdict.finding.place)
            each = verdict.at(path, line, column, tool=self.folder.name)
            if verdict.finding.other is not None:
                other = ":".join(map(str, self._located(verdict.finding.other)))
                each = each._replace(help=f"{each.help}; the other side is {other}")
            found.append(each)
        secrets = self._secrets() if found else ()
        if secrets:
            found = [without_values(each, secrets) for each in found]
        return in_order(found)

    def _secrets(self) -> tuple[str, ...]:
        """Return the environment variables that the manifest requires, if it can be read."""
        try:
            document = json.loads(self._manifest())
        except (ValueError, RecursionError):
            return ()
        return variables_of(document.get("requires")) if isinstance(document, dict) else ()

    def _located(self, place: Place) -> tuple[str, int, int]:
        if isinstance(place, ManifestPlace):
            file = self.folder.manifest_name
            line, column = line_and_column(self._manifest(), self._places.offset(place))
        elif isinstance(place, ModulePlace):
            from sovl_tools.signature.syntax_tree import (  # noqa: PLC0415 - 15 ms, for modules
                place_of,
            )

            file = self.folder.module_name
            line, column = place_of(self._module(), place)
        else:
            file, line, column = place
        # what concerns the folder as a whole is in no file of it
        return f"{self.folder.path}/{file}" if file else self.folder.path, line, column


class SourceLocation(NamedTuple):
    """A file and a position in it; both numbers count from 1.

    ``path`` is relative to the current directory if the file is below it.
    """

    path: str
    line: int = 1
    column: int = 1


def location_of(value: Any, parameter: str | None = None) -> SourceLocation:
    """Return the place of a function, a class, or one of its parameters.

    Other objects have the place of their class.
    """
    from sovl_tools.annotations.hints import underlying  # noqa: PLC0415 - 5 ms, for code

    value = value if isinstance(value, type) else underlying(value)
    code = getattr(value, "__code__", None)
    if isinstance(code, CodeType):
        place = None if parameter is None else _of_parameter(code, parameter)
        if place is None:
            first, head = max(code.co_firstlineno, 1), r"\s*(?:async\s+)?def\s+"
            place = _head(code.co_filename, head, code.co_name, first)
        return SourceLocation(relative_path(code.co_filename), *place)
    kind = value if isinstance(value, type) else type(value)
    try:
        path = inspect.getfile(kind)
    except (TypeError, OSError):
        return SourceLocation(kind.__module__)
    indent = r"\s+" if "." in kind.__qualname__ else ""
    return SourceLocation(relative_path(path), *_head(path, rf"{indent}class\s+", kind.__name__))


def innermost(
    origin: BaseException | FrameType | None, is_own: Callable[[FrameType], bool]
) -> SourceLocation | None:
    """Return the innermost place in an author's code, with the path from its compilation.

    Args:
        origin: an exception, or a frame that runs.
        is_own: returns whether the code of a frame is the author's.
    """
    for frame, instruction, line in _running(origin):
        if is_own(frame):
            positions = list(frame.f_code.co_positions())
            # an instruction has two bytes
            index = instruction // 2
            start = positions[index][2] if 0 <= index < len(positions) else None
            return SourceLocation(frame.f_code.co_filename, line or 1, (start or 0) + 1)
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


def relative_path(path: str) -> str:
    """Return a path relative to the current directory, if it is below it."""
    here = os.getcwd()
    return os.path.relpath(path) if path.startswith(f"{here}{os.sep}") else path


def _head(path: str, keyword: str, name: str, first: int = 1) -> tuple[int, int]:
    """Return the place of the name after a keyword, searching from a line, without parsing."""
    # the file can have changed since it was read for a traceback
    linecache.checkcache(path)
    head = re.compile(rf"{keyword}(?={re.escape(name)}\b)")
    for line, text in enumerate(linecache.getlines(path)[first - 1 :], first):
        found = head.match(text)
        if found:
            return line, found.end() + 1
    return first, 1


def _parsed(path: str) -> tuple[list[str], ast.Module] | None:
    """Return the lines of a module and its tree; None if it can't be parsed by now."""
    linecache.checkcache(path)
    lines = linecache.getlines(path)
    try:
        return lines, _tree("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# one module can have many tools
_tree = lru_cache(maxsize=1)(ast.parse)


def _is_function(
    node: ast.AST, code: CodeType
) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    starts = {node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))}
    return code.co_firstlineno in starts


def _column(lines: list[str], line: int, offset: int) -> int:
    # ``ast`` counts bytes, people count characters
    return len(lines[line - 1].encode()[:offset].decode(errors="replace")) + 1


def _of_parameter(code: CodeType, parameter: str) -> tuple[int, int] | None:
    lines, tree = _parsed(code.co_filename) or ([], ast.Module([], []))
    for node in ast.walk(tree):
        if _is_function(node, code):
            found = [each for each in ast.walk(node.args) if isinstance(each, ast.arg)]
            for each in found:
                if each.arg == parameter:
                    return each.lineno, _column(lines, each.lineno, each.col_offset)
    return None
