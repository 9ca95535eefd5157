"""What a journal keeps of runs and steps: an SQLite database in WAL mode, with one writer."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args

from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import JournalError

Ending = Literal["succeeded", "failed", "cancelled"]
"""How a run ends."""

RunState: TypeAlias = Literal["running", "interrupted"] | Ending
"""Where a run is; ``interrupted`` if its process has gone without an ending."""

StepState = Literal["started", "succeeded", "failed", "skipped"]
"""Where a step is."""

ENDED = frozenset({"failed", "succeeded"})
"""The states of steps of which something has come."""


class RunRecord(NamedTuple):
    """A run.

    Attributes:
        id: its name, such as ``20261122-101530-7f3a``: when it began (UTC), and four digits.
        procedure: the procedure's name.
        path: of the procedure's file; ``""`` if it had none.
        text: of the procedure, as it was.
        digest: the SHA-256 of the text in UTF-8, in hexadecimal.
        inputs: that it was given.
        tools: the hash of each tool that the procedure uses, by name.
        state: where it is.
        result: what came of it; None unless it succeeded.
        error: why it ended otherwise; None if nobody said.
        started: when, in seconds since 1970.
        ended: when, in the same way; None if it has not.
        pid: the number of the process that ran it last.
        host: the machine on which that was.
        resumed: how often it was taken up again.
    """

    id: str
    procedure: str
    path: str
    text: str
    digest: str
    inputs: JSON
    tools: Mapping[str, str]
    state: RunState
    result: JSON
    error: str | None
    started: float
    ended: float | None
    pid: int
    host: str
    resumed: int


class StepRecord(NamedTuple):
    """A step of a run, as its last attempt left it.

    Attributes:
        key: its path with the iterations, such as ``steps.2[3].steps.0``.
        action: what it does.
        tool: that it calls; None if it calls none.
        state: where it is.
        arguments: with templates filled in.
        result: what came of it; None unless it succeeded.
        error: why it failed; None unless it did.
        attempt: how often it was begun.
        started: when the last time, in seconds since 1970.
        ended: when, in the same way; None if it has not.
    """

    key: str
    action: str
    tool: str | None
    state: StepState
    arguments: JSON
    result: JSON
    error: str | None
    attempt: int
    started: float
    ended: float | None


def written(value: JSON) -> str | None:
    """Return a value as a journal keeps it: JSON in ASCII, which no text is too odd for."""
    return None if value is None else json.dumps(value, separators=(",", ":"))


def row_of(record: RunRecord | StepRecord) -> tuple[Any, ...]:
    """Return the columns of a record, in the order of its fields."""
    pairs = zip(record._fields, record, strict=True)
    return tuple(written(value) if field in _WRITTEN else value for field, value in pairs)


_Record = TypeVar("_Record", RunRecord, StepRecord)


def record_of(kind: type[_Record], row: Sequence[Any]) -> _Record:
    """Return the run or the step whose columns are given.

    Raises:
        ValueError: a column holds what no journal of ours has there.
    """
    return kind._make(_read(kind._fields, row))


def _read(fields: Sequence[str], row: Sequence[Any]) -> Iterator[Any]:
    # "interrupted" is never written: it is a run that says running and that nobody holds.
    states = get_args(StepState) if "key" in fields else (*get_args(Ending), "running")
    for field, value in zip(fields, row, strict=True):
        found = value
        try:
            if field in _WRITTEN and value is not None:
                found = json.loads(value)  # a result may be infinite
            is_sound = found in states if field == "state" else _CHECKS[field](found)
        except (ValueError, TypeError, RecursionError):
            is_sound = False
        if not is_sound:
            raise ValueError(f"nobody wrote {value!r:.60} as {field!r}")
        yield found


def _is_moment(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value < _LAST_MOMENT


_LAST_MOMENT = 253_370_764_800
"""The year 9999 in seconds since 1970, beyond which no calendar goes."""

_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(
        ("id", "procedure", "path", "text", "digest", "host", "key", "action"),
        lambda value: isinstance(value, str),
    ),
    **dict.fromkeys(("error", "tool"), lambda value: value is None or isinstance(value, str)),
    **dict.fromkeys(("inputs", "result", "arguments"), lambda _: True),
    **dict.fromkeys(("pid", "resumed", "attempt"), lambda value: isinstance(value, int)),
    "tools": lambda value: (
        isinstance(value, dict) and all(isinstance(each, str) for each in value.values())
    ),
    "started": _is_moment,
    "ended": lambda value: value is None or _is_moment(value),
}
"""What a column may hold, once it is read; a file may hold anything."""

_RUN_WRITTEN = {"procedure", "path", "text", "inputs", "tools", "result", "error", "host"}
_STEP_WRITTEN = {"key", "action", "tool", "arguments", "result", "error"}
_WRITTEN = frozenset(_RUN_WRITTEN | _STEP_WRITTEN)
"""What comes from outside, and so is kept as JSON."""


Record = TypeVar("Record")

FORMAT = 1
"""The version of the tables, kept as ``user_version``."""

_APPLICATION = 0x534F564C
"""Kept as ``application_id``; tells a journal from other databases."""

_TABLES = (
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        procedure TEXT NOT NULL,
        path TEXT NOT NULL,
        text TEXT NOT NULL,
        digest TEXT NOT NULL,
        inputs TEXT,
        tools TEXT NOT NULL,
        state TEXT NOT NULL,
        result TEXT,
        error TEXT,
        started REAL NOT NULL,
        ended REAL,
        pid INTEGER NOT NULL,
        host TEXT NOT NULL,
        resumed INTEGER NOT NULL,
        lock TEXT NOT NULL
    )""",
    """CREATE TABLE steps (
        number INTEGER PRIMARY KEY,
        run TEXT NOT NULL REFERENCES runs (id),
        key TEXT NOT NULL,
        action TEXT NOT NULL,
        tool TEXT,
        state TEXT NOT NULL,
        arguments TEXT,
        result TEXT,
        error TEXT,
        attempt INTEGER NOT NULL,
        started REAL NOT NULL,
        ended REAL,
        UNIQUE (run, key)
    )""",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)


class Database:
    """A journal's file, open; its methods may be called from several threads.

    Attributes:
        path: of the file.
        patience: for how many seconds it waits for what other processes do to the file.

    Raises:
        JournalError: the file can't be opened, is no journal, or is one of a newer format.
    """

    def __init__(self, path: str, *, create: bool, patience: float = 30.0) -> None:
        self.path = path
        self.patience = patience
        self._lock = RLock()
        if not os.path.exists(os.path.dirname(path) if create else path):
            what = "directory" if create else "file"
            raise JournalError(path, f"there is no such {what}")
        with self._translated():
            self._connection = sqlite3.connect(
                address(path, "rwc" if create else "rw"),
                uri=True,
                timeout=patience,
                isolation_level=None,  # transactions begin where this module says so
                check_same_thread=False,  # _lock sees to it that threads take turns
            )
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def write(self, statement: str, values: Sequence[Any] = (), *, is_durable: bool = True) -> int:
        """Change something, for good when it returns; return how many rows have changed.

        What is not durable is there for every process, but waits for no disk.
        """
        with self._translated():
            if is_durable:
                return self._connection.execute(statement, values).rowcount
            # In WAL mode NORMAL writes without waiting for the disk; the next FULL one waits.
            self._connection.execute("PRAGMA synchronous = NORMAL")
            try:
                return self._connection.execute(statement, values).rowcount
            finally:
                self._connection.execute("PRAGMA synchronous = FULL")

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows that a query finds."""
        with self._translated():
            return self._connection.execute(query, values).fetchall()

    def records(
        self, make: Callable[[tuple[Any, ...]], Record], query: str, values: Sequence[Any] = ()
    ) -> list[Record]:
        """Return what is made of the rows that a query finds.

        Raises:
            JournalError: nothing can be made of a row.
        """
        try:
            return [make(row) for row in self.rows(query, values)]
        except ValueError as error:
            raise JournalError(self.path, f"it is damaged: {error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do all that is written within at once or, if an exception leaves it, not at all."""
        with self._translated(), self._connection:
            # A plain BEGIN would read first, and fail where another has written meanwhile.
            self._connection.execute("BEGIN IMMEDIATE")
            yield

    def close(self) -> None:
        """Close the file; once more does no harm."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Be alone with the connection, and turn what SQLite raises into ours."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged names of tables
            raise JournalError(self.path, str(error)) from error

    def _prepare(self, *, create: bool) -> None:
        if create and self._is_empty():
            self._become_journal()
        self._check()
        self.rows("PRAGMA synchronous = FULL")
        self.rows("PRAGMA fullfsync = ON")  # or macOS leaves it in the cache of the disk

    def _is_empty(self) -> bool:
        return self._marks() == (0, 0) and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")

    def _marks(self) -> tuple[int, int]:
        """Return the application and the format that the file says it is of."""
        try:
            ((application,),) = self.rows("PRAGMA application_id")
            ((version,),) = self.rows("PRAGMA user_version")
        except JournalError as error:
            if _code(error) != sqlite3.SQLITE_NOTADB:
                raise
            return -1, 0  # of no application: some other file
        return application, version

    def _become_journal(self) -> None:
        """Make the tables; another process may do so at the same time."""
        end = time.monotonic() + self.patience
        while True:  # SQLite does not wait by itself for the change to WAL mode
            try:
                self.write("PRAGMA journal_mode = WAL")
            except JournalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                break
        with self.transaction():
            if self._is_empty():  # nobody else was quicker
                for statement in _TABLES:
                    self._connection.execute(statement)

    def _check(self) -> None:
        application, version = self._marks()
        if application != _APPLICATION:
            raise JournalError(self.path, "it is no journal of runs", "name another file")
        if version > FORMAT:
            message = f"it is a journal of format {version}, newer than {FORMAT}"
            raise JournalError(self.path, message, "update sovl-tools")


def address(path: str, mode: str) -> str:
    """Return the URI by which SQLite opens a file in a mode: ``ro``, ``rw`` or ``rwc``."""
    return f"{Path(path).absolute().as_uri()}?mode={mode}"


def _code(error: JournalError) -> int:
    """Return SQLite's number of what went wrong, without further particulars."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF


class Lock:
    """An exclusive lock on a new file that nobody else makes.

    Attributes:
        path: of the file.

    Raises:
        JournalError: the file can't be made.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            # Nothing is written, so that no journal has to lie beside the file.
            self._connection.execute("PRAGMA journal_mode = OFF")
            # The operating system lets go of it when the process dies, however that happens.
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise JournalError(path, f"it can't be made: {error}") from error

    def release(self) -> None:
        """Give up the lock, and remove the file; once more does no harm."""
        self._connection.close()
        discard(self.path)


def is_held(path: str) -> bool:
    """Tell whether anybody holds the lock on a file; nobody does if there is none."""
    try:
        with closing(sqlite3.connect(address(path, "ro"), uri=True, timeout=0)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master")
    except sqlite3.Error:  # it is locked, or is not there
        return os.path.exists(path)
    return False


def discard(path: str) -> None:
    """Remove the file of a lock that nobody holds."""
    with suppress(OSError):
        os.unlink(path)
