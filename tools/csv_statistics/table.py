"""CSV text as a table of columns."""

import csv
import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

_DELIMITERS = ",;\t|"
_SAMPLED_ROWS = 50
_MAXIMUM_ROWS = 500_000
_MAXIMUM_COLUMNS = 200
_MAXIMUM_CELLS = 5_000_000
_FORBIDDEN_DELIMITERS = '"\r\n\0'


@dataclass(frozen=True, slots=True)
class Table:
    """The columns of a table by position, and how regular its rows are."""

    names: list[str]
    columns: list[list[str]]
    rows: int
    irregular_rows: int
    delimiter: str


def read_table(text: str, *, delimiter: str | None, has_header: bool) -> Table:
    """Return the table; raise ValueError if there isn't one, or it is malformed or too wide."""
    separator = _checked(delimiter) if delimiter else _sniffed(text)
    rows = list(itertools.islice(_rows(text, separator), _MAXIMUM_ROWS + 1))
    if not rows:
        raise ValueError("the table is empty")
    if len(rows) > _MAXIMUM_ROWS:
        raise ValueError(f"the table has more than {_MAXIMUM_ROWS} rows")
    header = rows.pop(0) if has_header else []
    width = len(header) or max(map(len, rows))
    if width > _MAXIMUM_COLUMNS:
        raise ValueError(f"the table has {width} columns, more than {_MAXIMUM_COLUMNS}")
    if width * len(rows) > _MAXIMUM_CELLS:
        raise ValueError(f"the table has more than {_MAXIMUM_CELLS} cells")
    return Table(
        names=_names(header, width),
        columns=[
            [row[index] if index < len(row) else "" for row in rows] for index in range(width)
        ],
        rows=len(rows),
        irregular_rows=sum(len(row) != width for row in rows),
        delimiter=separator,
    )


def _checked(delimiter: str) -> str:
    if len(delimiter) != 1 or delimiter in _FORBIDDEN_DELIMITERS:
        raise ValueError(
            "the delimiter must be one character, and neither a quote nor a line break"
        )
    return delimiter


def _sniffed(text: str) -> str:
    """Return the delimiter that splits the first rows into the most regular cells."""
    return max(_DELIMITERS, key=lambda delimiter: _regularity(text, delimiter))


def _regularity(text: str, delimiter: str) -> tuple[int, int]:
    try:
        widths = Counter(map(len, itertools.islice(_rows(text, delimiter), _SAMPLED_ROWS)))
    except ValueError:
        return (0, 0)
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(0, 0))
    return (count, width) if width > 1 else (0, width)


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True):
            if row:
                yield row
    except csv.Error as error:
        raise ValueError(f"the CSV is malformed: {error}") from None


def _names(header: list[str], width: int) -> list[str]:
    given = [*header, *[""] * (width - len(header))]
    return [name.strip() or f"column {number}" for number, name in enumerate(given, start=1)]
