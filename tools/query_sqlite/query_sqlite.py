"""Read-only SQL on SQLite databases that lie under one root directory.

SQLite itself may add the `-wal` and `-shm` files of a database that is in WAL mode.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice

from .confinement import file_status, resolve
from .permissions import restrict
from .rows import column_names, read_rows

_SECONDS = 5.0
_SECONDS_TO_WAIT_FOR_A_LOCK = 2.0

_REFUSALS = ("not authorized", "authorization denied", "prohibited")

Value = str | float | bool | None


def query_sqlite(
    path: str, query: str, *, parameters: list[Value] | None, max_rows: int = 100
) -> dict[str, object]:
    """Return the rows of a query; raise ValueError if it does anything but read, or fails."""
    try:
        with _connected(path) as connection:
            return _answer(connection.execute(query, parameters or []), max_rows)
    except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
        raise ValueError(_explained(str(error))) from None


@contextmanager
def _connected(path: str) -> Iterator[sqlite3.Connection]:
    place = resolve(path)
    checked = file_status(place)
    address = f"{place.as_uri()}?mode=ro"
    with closing(
        sqlite3.connect(address, uri=True, timeout=_SECONDS_TO_WAIT_FOR_A_LOCK)
    ) as connection:
        if not os.path.samestat(checked, file_status(place)):
            raise ValueError(f"{path!r} was replaced while it was being opened")
        connection.text_factory = _text
        restrict(connection, seconds=_SECONDS)
        yield connection


def _text(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _answer(cursor: sqlite3.Cursor, max_rows: int) -> dict[str, object]:
    if cursor.description is None:
        raise ValueError("the query returns nothing: write one SELECT statement")
    names = column_names(cursor)
    rows = list(islice(read_rows(cursor, names), max_rows))
    return {
        "columns": names,
        "rows": rows,
        "row_count": len(rows),
        "truncated": next(cursor, None) is not None,
    }


def _explained(message: str) -> str:
    if "interrupted" in message:
        return f"the query takes longer than {_SECONDS:g} seconds"
    if any(word in message for word in _REFUSALS):
        return f"only reading is allowed, with one SELECT statement: {message}"
    return f"the query failed: {message[:1].lower()}{message[1:]}"
