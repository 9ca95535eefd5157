"""What a query may do and how much it may take: SQLite's own means of defence."""

import contextlib
import sqlite3
import time
from collections.abc import Callable

_MAXIMUM_VALUE = 500_000
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
# printf and format may count to a billion within one instruction, where no time limit reaches them.
_FORBIDDEN_FUNCTIONS = {"load_extension", "fts3_tokenizer", "printf", "format"}
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


def restrict(connection: sqlite3.Connection, *, seconds: float) -> None:
    """Let the connection only read, for so many seconds, and values of limited size."""
    connection.execute("PRAGMA query_only = ON")
    _load_schema(connection)
    _replace_slow_functions(connection)
    for category, limit in _LIMITS.items():
        connection.setlimit(category, limit)
    deadline = time.monotonic() + seconds
    connection.set_progress_handler(
        lambda: time.monotonic() > deadline, _INSTRUCTIONS_BETWEEN_CHECKS
    )
    connection.set_authorizer(_authorize)


def _load_schema(connection: sqlite3.Connection) -> None:
    """Read the tables and set up the table-valued functions before limits and permissions bind.

    So a wide table that exists does not break the limit on columns, and a query that uses json_each
    need not be permitted to create a virtual table.
    """
    connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall()
    for function in _TABLE_FUNCTIONS:
        with contextlib.suppress(sqlite3.OperationalError):
            connection.execute(f"SELECT 1 FROM {function} LIMIT 1").fetchall()  # noqa: S608


def _replace_slow_functions(connection: sqlite3.Connection) -> None:
    """Put linear functions in the place of SQLite's own, which take the product of both lengths."""
    trims = {"trim": str.strip, "ltrim": str.lstrip, "rtrim": str.rstrip}
    for name, strip in trims.items():
        connection.create_function(name, 2, _trimming(strip), deterministic=True)


def _trimming(strip: Callable[[str, str], str]) -> Callable[[object, object], str | None]:
    def trim(value: object, characters: object) -> str | None:
        if value is None or characters is None:
            return None
        return strip(_as_text(value), "".join(set(_as_text(characters))))

    return trim


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if _allowed(action, first, second) else sqlite3.SQLITE_DENY


def _allowed(action: int, first: str | None, second: str | None) -> bool:
    if action == sqlite3.SQLITE_PRAGMA:
        return str(first).lower() in _READING_PRAGMAS
    if action == sqlite3.SQLITE_FUNCTION:
        return str(second).lower() not in _FORBIDDEN_FUNCTIONS
    return action in _ACTIONS
