"""What people see in a terminal, drawn by rich; no other module imports it.

Data is never markup: strings arrive with their control characters written out, and rich is told to
search for neither markup nor emoji codes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from sovl_tools.reporting.text import Piece

_WIDTH = 80


def width_of(stream: TextIO) -> int:
    """Return the width of a terminal: ``COLUMNS``, or the system's answer, or 80."""
    with suppress(OSError, ValueError):
        found = int(os.environ.get("COLUMNS", "0"))
        return found or os.get_terminal_size(stream.fileno()).columns or _WIDTH
    return _WIDTH


def console(stream: TextIO) -> Console:
    """Return the console of a terminal; ``NO_COLOR`` omits all styles, not only colours."""
    return Console(
        file=stream,
        width=width_of(stream),
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def styled(pieces: Iterable[Piece], stream: TextIO) -> str:
    """Return pieces with their styles, wrapped between words; an indented line stays indented."""
    screen = console(stream)
    lines = Text.assemble(*pieces).split("\n", allow_blank=True)
    with screen.capture() as shown:
        for line in lines:
            indent = len(line.plain) - len(line.plain.lstrip(" "))
            if indent >= screen.width // 2:
                indent = 0
            for part in line[indent:].wrap(screen, screen.width - indent):
                part.rstrip()
                part.pad_left(indent)
                screen.print(part, no_wrap=True, overflow="ignore", crop=False)
    return shown.get().removesuffix("\n")


_MOST_COLOURED = 100_000


def highlighted(json_text: str, stream: TextIO) -> str:
    """Return JSON in colours; it isn't wrapped, so that it can be copied."""
    if len(json_text) > _MOST_COLOURED:  # a megabyte takes seconds, and no one reads it
        return json_text
    screen, text = console(stream), Text(json_text)
    JSONHighlighter().highlight(text)
    with screen.capture() as shown:
        screen.print(text, soft_wrap=True)
    return shown.get().removesuffix("\n")


_ANY_WIDTH = 1_000_000
_LEAST = 30
"""The width that the last column of a table should have; columns that can be omitted go first."""


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    stream: TextIO,
    *,
    numbers: Collection[int] = (),
    dim: Collection[str] = (),
    optional: Sequence[int] = (),
) -> str:
    """Return a table; in a terminal the last column is cut, and optional ones can be missing.

    Args:
        head: the headings.
        rows: the cells.
        stream: the terminal, whose width the table fits, or a file.
        numbers: the columns that are aligned to the right.
        dim: the first cells of rows that are dimmed.
        optional: the columns that are omitted in a narrow terminal, the first one first.
    """
    screen = console(stream)
    if not stream.isatty():
        screen.width = _ANY_WIDTH
    shown = list(range(len(head)))
    widths = [max(map(cell_len, column)) + 2 for column in zip(head, *rows, strict=True)]
    for column in optional:
        if sum(widths[each] for each in shown[:-1]) + min(widths[-1], _LEAST) > screen.width:
            shown.remove(column)
    made = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="")
    for column in shown:
        is_last = column == shown[-1]
        made.add_column(
            head[column],
            justify="right" if column in numbers else "left",
            no_wrap=not is_last,
            min_width=None if is_last else 1,
        )
    for row in rows:
        cells = [Text(row[column], no_wrap=True, overflow="ellipsis") for column in shown]
        made.add_row(*cells, style="dim" if row[0] in dim else "")
    with screen.capture() as drawn:
        screen.print(made)
    return "\n".join(line.rstrip() for line in drawn.get().removesuffix("\n").split("\n"))


class WordWrap:
    """Wraps a string between words while it comes in, piece by piece."""

    def __init__(self, stream: TextIO) -> None:
        self._width = width_of(stream)
        self._column = 0
        self._blank = ""
        self._word = ""

    def add(self, text: str) -> str:
        """Return what can be written by now; the last word may continue in the next piece."""
        parts = _PARTS.findall(self._word + text)
        self._word = parts.pop() if parts and not parts[-1].isspace() else ""
        return "".join(map(self._placed, parts))

    def end(self) -> str:
        """Return the last word, and begin a new line."""
        last = self._placed(self._word)
        self._column, self._blank, self._word = 0, "", ""
        return last

    def _placed(self, part: str) -> str:
        if part == "\n":
            self._column, self._blank = 0, ""
            return part
        if not part or part.isspace():
            self._blank += part
            return ""
        before, width = self._blank, cell_len(part)
        if self._column and self._column + len(before) + width > self._width:
            before, self._column = "\n", 0
        else:
            self._column += len(before)
        self._column += width
        self._blank = ""
        return before + part


_PARTS = re.compile(r"\n|[^\S\n]+|\S+")


@contextmanager
def progress_bar(
    total: int, done: int, name: str, stream: TextIO
) -> Iterator[Callable[[int, str], None]]:
    """Show one updating line, which is erased at its end; yield what updates it."""
    with Progress(
        BarColumn(30),
        MofNCompleteColumn(),
        TextColumn("{task.description}", markup=False),
        TimeRemainingColumn(compact=True),
        console=console(stream),
        transient=True,
    ) as bar:
        task = bar.add_task(name, total=total or None, completed=done)
        yield lambda done, name: bar.update(task, completed=done, description=name)
