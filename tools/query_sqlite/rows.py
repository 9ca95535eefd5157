"""The rows of a query as JSON values."""

import base64
import math
import sqlite3
from collections.abc import Iterator, Sequence

_MAXIMUM_CHARACTERS = 1_000_000

Row = dict[str, object]


def column_names(cursor: sqlite3.Cursor) -> list[str]:
    """Return the names of the columns, a repeated one numbered so that no value is lost."""
    names: list[str] = []
    for column in cursor.description:
        names.append(_free_name(str(column[0]), names))
    return names


def _free_name(name: str, taken: Sequence[str]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def read_rows(cursor: sqlite3.Cursor, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows by column name, until they hold too many characters for one answer."""
    room = _MAXIMUM_CHARACTERS
    for values in cursor:
        row = dict(zip(names, map(_plain, values), strict=True))
        yield row
        room -= sum(len(str(value)) for value in row.values())
        if room < 0:
            return


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
