"""The child process of `query_sqlite`: reads one request as JSON, answers with the rows.

It imports nothing of its folder, since it is run as a script. Its parent kills it when it is late,
because SQLite checks the clock between two instructions only, and one function of SQL can be one
instruction of minutes.
"""

import base64
import contextlib
import json
import math
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_MAXIMUM_CHARACTERS = 1_000_000
_MAXIMUM_VALUE = 500_000
_MAXIMUM_HEAP = 200_000_000
_MAXIMUM_MEMORY = 1_000_000_000
_INSTRUCTIONS_BETWEEN_CHECKS = 200

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAXIMUM_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 50,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 500,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_ACTIONS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
# They run code that is no SQL: one loads a library, the other takes addresses as pointers.
_FUNCTIONS_THAT_RUN_CODE = {"load_extension", "fts3_tokenizer"}
_READING_PRAGMAS = {
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
}
_TABLE_FUNCTIONS = [
    "json_each('[]')",
    "json_tree('[]')",
    *(f"pragma_{pragma}('sqlite_master')" for pragma in sorted(_READING_PRAGMAS - {"table_list"})),
    "pragma_table_list",
]

Row = dict[str, object]


def answer(request: str) -> str:
    """Return the answer to a request, both as JSON.

    The request has the keys path, query, parameters, max_rows, seconds, and seconds_for_lock. The
    answer is the tool's result, or {"error": "…"}.
    """
    asked = json.loads(request)
    try:
        with contextlib.closing(_connect(asked)) as connection:
            cursor = connection.execute(asked["query"], asked["parameters"])
            return json.dumps(_result(cursor, asked["max_rows"]))
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        return json.dumps({"error": str(error)})
    except MemoryError:
        return json.dumps({"error": "it needs too much memory"})
    except ValueError as error:
        return json.dumps({"refusal": str(error)})


def _connect(asked: dict[str, Any]) -> sqlite3.Connection:
    """Open the database so that a query can only read, for so many seconds, values of some size."""
    address = f"{Path(asked['path']).as_uri()}?mode=ro"
    connection = sqlite3.connect(address, uri=True, timeout=asked["seconds_for_lock"])
    connection.text_factory = lambda content: content.decode("utf-8", "replace")
    # What a query sorts or materializes counts as memory, which is limited, and fills no disk.
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA query_only = ON")
    _load_schema(connection)
    for category, limit in _LIMITS.items():
        connection.setlimit(category, limit)
    deadline = time.monotonic() + asked["seconds"]
    connection.set_progress_handler(
        lambda: time.monotonic() > deadline, _INSTRUCTIONS_BETWEEN_CHECKS
    )
    connection.set_authorizer(_authorize)
    return connection


def _load_schema(connection: sqlite3.Connection) -> None:
    """Read the tables and set up the table-valued functions before limits and permissions bind.

    So a wide table that exists does not break the limit on columns, and a query that uses json_each
    need not be permitted to create a virtual table.
    """
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    for function in _TABLE_FUNCTIONS:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute(f"SELECT 1 FROM {function} LIMIT 1").fetchall()  # noqa: S608


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    allowed = action in _ACTIONS
    if action == sqlite3.SQLITE_PRAGMA:
        allowed = str(first).lower() in _READING_PRAGMAS
    elif action == sqlite3.SQLITE_FUNCTION:
        allowed = str(second).lower() not in _FUNCTIONS_THAT_RUN_CODE
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _result(cursor: sqlite3.Cursor, max_rows: int) -> dict[str, object]:
    if cursor.description is None:
        raise ValueError("the query returns nothing: write one SELECT statement")
    names = _column_names(cursor)
    rows: list[Row] = []
    room = _MAXIMUM_CHARACTERS
    truncated = False
    for row in _rows(cursor, names):
        room -= len(json.dumps(row, ensure_ascii=False))
        if room < 0 and not rows:
            raise ValueError(
                f"one row holds more than the {_MAXIMUM_CHARACTERS:,} characters of a result: "
                "choose fewer columns, or parts of them with substr"
            )
        truncated = room < 0 or len(rows) == max_rows
        if truncated:
            break
        rows.append(row)
    return {"columns": names, "rows": rows, "row_count": len(rows), "truncated": truncated}


def _column_names(cursor: sqlite3.Cursor) -> list[str]:
    """Return the names of the columns, a repeated one numbered so that no value is lost."""
    names: list[str] = []
    for column in cursor.description:
        name = free = str(column[0])
        number = 2
        while free in names:
            free, number = f"{name}_{number}", number + 1
        names.append(free)
    return names


def _rows(cursor: sqlite3.Cursor, names: Sequence[str]) -> Iterator[Row]:
    for values in cursor:
        yield dict(zip(names, map(_plain, values), strict=True))


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def limit_memory() -> None:
    """Keep a query that hoards memory from taking the machine's, where SQLite and system can."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit = {_MAXIMUM_HEAP}")
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource  # noqa: PLC0415 - not on every system

        resource.setrlimit(resource.RLIMIT_AS, (_MAXIMUM_MEMORY, _MAXIMUM_MEMORY))


if __name__ == "__main__":
    limit_memory()
    sys.stdout.write(answer(sys.stdin.read()))
