"""The line of a file that a diagnostic speaks of."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.reporting.plain import plain

_WIDTH = 100
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|\w+|\S')
_SUFFIXES = (".json", ".py", ".yaml", ".yml", ".toml")
_MAX_BYTES = 8 << 20


LinesOf: TypeAlias = Callable[[str], Sequence[str]]
"""Returns the lines of a file."""


class Excerpt(NamedTuple):
    """A line of source, and where and how long the caret under it is, in characters."""

    source: str
    indent: int
    length: int


def read_lines(path: str) -> Sequence[str]:
    """Return the lines of a file; none if it is no text file that can be read."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_BYTES:
            return ()
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
    except (OSError, ValueError):
        return ()
    return [line.rstrip("\r").replace("\t", " ") for line in text.split("\n")]


def excerpt(diagnostic: Diagnostic, lines_of: LinesOf = read_lines) -> Excerpt | None:
    """Return the line with its caret; None if the place is no line of a readable text file."""
    if diagnostic.tool is None or not diagnostic.path.endswith(_SUFFIXES):
        return None
    lines = lines_of(diagnostic.path)
    if not 1 <= diagnostic.line <= len(lines):
        return None
    line, start = lines[diagnostic.line - 1], diagnostic.column - 1
    found = _TOKEN.match(line, start)
    end = found.end() if found else start + 1
    return _window(line, start, max(end, start + 1))


def _window(line: str, start: int, end: int) -> Excerpt:
    """Cut a long line so that the place is within it."""
    first = max(0, start - _WIDTH // 2) if len(line) > _WIDTH else 0
    last = first + _WIDTH
    before, marked = plain(line[first:start]), plain(line[start : min(end, last)])
    rest = plain(line[end:last]) if end < last else ""
    lead, tail = "…" * (first > 0), "…" * (len(line) > last)
    source = f"{lead}{before}{marked}{rest}{tail}"
    return Excerpt(source, len(lead) + len(before), max(1, len(marked)))
