"""The journal of runs: the record of their steps, so that a killed run can continue.

An SQLite database in WAL mode keeps the runs and their steps. Next to it is a lock file for each
run in progress. The operating system releases that lock when the process dies.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from threading import RLock
from typing import Any, Self

from filelock import FileLock

from sovl_tools.model.document import JSON
from sovl_tools.model.suggestion import nearest
from sovl_tools.procedures.errors import (
    JournalError,
    RunBusyError,
    RunNotFoundError,
    RunOverError,
)
from sovl_tools.procedures.records import (
    ENDED,
    Ending,
    Record,
    RunRecord,
    StepRecord,
    record_of,
    row_of,
    written,
)

FORMAT = 1
"""The version of the tables, stored as ``user_version``."""

_PATIENCE = 30.0
"""The number of seconds to wait for other processes that write to the file."""

_APPLICATION = 0x534F564C
"""Stored as ``application_id``; identifies a journal among databases."""

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
        lock TEXT NOT NULL -- no longer used
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
    """An open journal file; several threads can call its methods.

    Attributes:
        path: of the file.

    Raises:
        JournalError: the file can't be opened, isn't a journal, or has a newer format.
    """

    def __init__(self, path: str, *, create: bool) -> None:
        self.path = path
        self._lock = RLock()
        if not create and not os.path.exists(path):
            raise JournalError(path, "there's no such file")
        with self._translated():
            self._connection = sqlite3.connect(
                path,
                timeout=_PATIENCE,
                isolation_level=None,  # transactions are explicit
                check_same_thread=False,  # _lock sees to it that threads take turns
            )
        try:
            if create and self._is_empty():
                self._create()
            self._check()
            self.rows("PRAGMA fullfsync = ON")  # or macOS leaves it in the cache of the disk
        except BaseException:
            self.close()
            raise

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change rows, wait for the disk, and return their number."""
        with self._translated():
            return self._connection.execute(statement, values).rowcount

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._translated():
            return self._connection.execute(query, values).fetchall()

    def records(self, kind: type[Record], query: str, values: Sequence[Any] = ()) -> list[Record]:
        """Return the runs or steps of a query."""
        return [record_of(kind, row) for row in self.rows(query, values)]

    def close(self) -> None:
        """Close the file; can be called again."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Lock the connection, and raise SQLite's errors as ``JournalError``."""
        try:
            with self._lock:
                yield
        except (sqlite3.Error, UnicodeError) as error:  # damaged names of tables
            raise JournalError(self.path, str(error)) from error

    def _is_empty(self) -> bool:
        return not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")

    def _create(self) -> None:
        """Create the tables; another process may do so at the same time."""
        with self._translated(), self._connection:  # all of the tables, or none
            # A plain BEGIN reads first, and fails if another process has written since.
            self._connection.execute("BEGIN IMMEDIATE")
            if self._is_empty():  # no other process was quicker
                for statement in _TABLES:
                    self._connection.execute(statement)
        with suppress(JournalError):  # another process reads it: without WAL, it works as well
            self.rows("PRAGMA journal_mode = WAL")

    def _check(self) -> None:
        ((application,),) = self.rows("PRAGMA application_id")
        ((version,),) = self.rows("PRAGMA user_version")
        if application != _APPLICATION:
            raise JournalError(self.path, "it isn't a journal of runs", "name another file")
        if version > FORMAT:
            message = f"it is a journal of format {version}, newer than {FORMAT}"
            raise JournalError(self.path, message, "update sovl-tools")


_RUN, _STEP = ", ".join(RunRecord._fields), ", ".join(StepRecord._fields)
_RUNS = f"SELECT {_RUN} FROM runs"  # noqa: S608 - our own names
_ONE = f"{_RUNS} WHERE id = ?"
_STEPS = f"SELECT {_STEP} FROM steps WHERE run = ? ORDER BY number"  # noqa: S608 - our own names
_BEGIN_RUN = f"""
    INSERT INTO runs (lock, {_RUN}) VALUES (''{", ?" * len(RunRecord._fields)})
    ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - our own names
_RESUME = """
    UPDATE runs SET state = 'running', result = NULL, error = NULL, ended = NULL,
        pid = ?, host = ?, resumed = resumed + 1
    WHERE id = ?
"""


class Journal:
    """A file where any number of processes and threads record their runs.

    With ``create`` a file that is missing or empty becomes a journal. Next to it is a lock file for
    each run in progress; a killed process's lock stays until a process checks the run.

    Attributes:
        path: of the file.

    Raises:
        JournalError: the file can't be opened, isn't a journal, or has a newer format. The
            methods raise it too, if the file can't be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = os.path.realpath(path)
        self._database = Database(self.path, create=create)
        self._locks: dict[str, FileLock] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others resume the runs that haven't ended, and close the file."""
        for run_id in tuple(self._locks):  # a copy, since each release removes one
            self._unlock(run_id)
        self._database.close()

    def begin_run(
        self,
        procedure: str,
        *,
        path: str = "",
        text: str = "",
        inputs: JSON = None,
        tools: Mapping[str, str] | None = None,
    ) -> RunLog:
        """Record that a run begins, and return its log; see ``RunRecord`` for the arguments."""
        record = RunRecord(
            id="",
            procedure=procedure,
            path=path,
            text=text,
            digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            inputs=inputs,
            tools=dict(tools or {}),
            state="running",
            result=None,
            error=None,
            started=time.time(),
            ended=None,
            pid=os.getpid(),
            host=platform.node(),
            resumed=0,
        )
        moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(record.started))
        while True:  # until the ID is unique
            record = record._replace(id=f"{moment}-{os.urandom(2).hex()}")
            if self._lock(record.id):
                if self._database.write(_BEGIN_RUN, row_of(record)):
                    return self._opened(record)
                self._unlock(record.id)

    def resume(
        self, run_id: str, check: Callable[[list[StepRecord]], object] = lambda _: None
    ) -> RunLog:
        """Resume a run that hasn't succeeded and isn't running; return its log.

        Of any number of callers, in one process or in many, one gets the run. ``check`` gets the
        steps of the run; if it raises, the run stays unchanged.

        Raises:
            RunNotFoundError: the run doesn't exist.
            RunOverError: it has succeeded.
            RunBusyError: it is running.
        """
        self._found(run_id)  # before its ID becomes part of a path
        is_locked = self._lock(run_id)
        with ExitStack() as stack:
            if is_locked:
                stack.callback(self._unlock, run_id)
            record = self._found(run_id)
            if record.state == "succeeded":
                raise RunOverError(record.id, record.state)
            if not is_locked:
                raise RunBusyError(record.id, record.pid, record.host)
            steps = self.steps(run_id)
            check(steps)
            self._database.write(_RESUME, (os.getpid(), written(platform.node()), run_id))
            stack.pop_all()  # the log keeps the lock
        return self._opened(self._found(run_id), steps)

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Return the runs, or a number of them, the latest first."""
        values = (-1 if limit is None else limit,)
        query = f"{_RUNS} ORDER BY number DESC LIMIT ?"
        return [self._current(each) for each in self._database.records(RunRecord, query, values)]

    def run(self, run_id: str) -> RunRecord:
        """Return a run.

        Raises:
            RunNotFoundError: the run doesn't exist.
        """
        return self._current(self._found(run_id))

    def steps(self, run_id: str) -> list[StepRecord]:
        """Return the steps of a run, in the order in which they first began.

        Raises:
            RunNotFoundError: the run doesn't exist.
        """
        self._found(run_id)
        return self._database.records(StepRecord, _STEPS, (run_id,))

    def export(self, run_id: str) -> dict[str, JSON]:
        """Return a run as a JSON object: its fields, and ``steps``.

        Raises:
            RunNotFoundError: the run doesn't exist.
        """
        run, steps = self.run(run_id), self.steps(run_id)
        return {"version": FORMAT, **run._asdict(), "steps": [step._asdict() for step in steps]}

    def _lock(self, run_id: str) -> bool:
        """Return whether this got the lock of a run, which no other process has then."""
        path = f"{self.path}-lock-{run_id}"
        # Without flock, a file that only must exist would outlive a killed process.
        lock = FileLock(path, thread_local=False, fallback_to_soft=False)
        try:
            # Long enough for a reader with the lock to check the run.
            lock.acquire(timeout=0.1, poll_interval=0.01)
        except TimeoutError:
            return False
        except (OSError, NotImplementedError) as error:
            raise JournalError(path, f"it can't be locked: {error}") from error
        self._locks[run_id] = lock
        return True

    def _unlock(self, run_id: str) -> None:
        """Remove the file of a run's lock, and release the lock, if it is locked here."""
        lock = self._locks.pop(run_id, None)
        if lock is not None:
            with suppress(OSError):  # Windows removes no open file
                os.unlink(lock.lock_file)  # first: afterwards it can be another process's lock
            lock.release()

    def _opened(self, record: RunRecord, before: Iterable[StepRecord] = ()) -> RunLog:
        return RunLog(self._database, record, lambda: self._unlock(record.id), before)

    def _found(self, run_id: str) -> RunRecord:
        """Return a run's row; a killed run is still ``running`` there."""
        for record in self._database.records(RunRecord, _ONE, (run_id,)):
            return record
        # Enough for a suggestion, however long the journal is.
        known = self._database.rows("SELECT id FROM runs ORDER BY number DESC LIMIT 500")
        raise RunNotFoundError(run_id, nearest(run_id, (str(each) for (each,) in known)))

    def _current(self, record: RunRecord) -> RunRecord:
        """Return a run, interrupted if it is ``running`` and not locked by a process."""
        with suppress(JournalError):
            if record.state == "running" and self._lock(record.id):
                try:
                    record = self._found(record.id)  # it can have ended in the meantime
                    if record.state == "running":
                        record = record._replace(state="interrupted")
                finally:
                    self._unlock(record.id)
        return record


_LATER = ", ".join(
    f"{field} = excluded.{field}" for field in StepRecord._fields if field not in ("key", "attempt")
)
_BEGIN_STEP = f"""
    INSERT INTO steps (run, {_STEP}) VALUES (?{", ?" * len(StepRecord._fields)})
    ON CONFLICT (run, key) DO UPDATE SET {_LATER}, attempt = attempt + excluded.attempt
"""  # noqa: S608 - our own names
_FINISH = """
    UPDATE steps SET state = ?, result = ?, error = ?, ended = ?
    WHERE run = ? AND key = ? AND state = 'started'
"""
_END = "UPDATE runs SET state = ?, result = ?, error = ?, ended = ? WHERE id = ?"


class RunLog:
    """A run in progress: no other caller can resume it until this is closed.

    A method's record is on the disk as soon as it returns. Several threads can call the methods.
    All raise ``JournalError`` if the journal can't be read or written.

    Attributes:
        run_id: of the run.
        record: the run's record when this was opened.
    """

    def __init__(
        self,
        database: Database,
        record: RunRecord,
        release: Callable[[], object],
        before: Iterable[StepRecord] = (),
    ) -> None:
        self.run_id = record.id
        self.record = record
        self._database = database
        self._release = release
        self._before = {each.key: each for each in before}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def known(self, key: str, action: str, tool: str | None, arguments: JSON) -> StepRecord | None:
        """Return the record of an attempt that ended in an earlier process.

        None if there isn't one, or if it belongs to another step: the procedure has changed since.
        """
        found = self._before.get(key)
        if found is None or found.state not in ENDED:
            return None
        # Compared as text: JSON distinguishes 1 from 1.0 and from true, Python doesn't.
        before = found.action, found.tool, written(found.arguments)
        return found if before == (action, tool, written(arguments)) else None

    def begin(self, key: str, action: str, tool: str | None, arguments: JSON) -> None:
        """Record that a step begins, for the first time or again."""
        self._insert(
            StepRecord(key, action, tool, "started", arguments, None, None, 1, time.time(), None)
        )

    def succeed(self, key: str, result: JSON) -> None:
        """Record the result of a step that has begun."""
        self._finish(key, "succeeded", written(result), None)

    def fail(self, key: str, error: str) -> None:
        """Record why a step that has begun failed."""
        self._finish(key, "failed", None, written(error))

    def skip(self, key: str, action: str = "") -> None:
        """Record that a step was skipped."""
        moment = time.time()
        self._insert(StepRecord(key, action, None, "skipped", None, None, None, 0, moment, moment))

    def end(self, state: Ending, *, result: JSON = None, error: str | None = None) -> None:
        """Record how the run ended, and close this."""
        outcome = written(result) if state == "succeeded" else None
        values = state, outcome, written(error), time.time(), self.run_id
        self._database.write(_END, values)
        self.close()

    def close(self) -> None:
        """Let others resume the run; if it hasn't ended, it is interrupted from now on."""
        self._release()

    def _insert(self, step: StepRecord) -> None:
        self._database.write(_BEGIN_STEP, (self.run_id, *row_of(step)))

    def _finish(self, key: str, *values: str | None) -> None:
        self._database.write(_FINISH, (*values, time.time(), self.run_id, written(key)))
