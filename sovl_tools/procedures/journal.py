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
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Self

from sovl_tools.model.actions import ACTIONS
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
        if not os.path.exists(os.path.dirname(path) if create else path):
            what = "directory" if create else "file"
            raise JournalError(path, f"there's no such {what}")
        with self._translated():
            self._connection = sqlite3.connect(
                address(path, "rwc" if create else "rw"),
                uri=True,
                timeout=_PATIENCE,
                isolation_level=None,  # transactions are explicit
                check_same_thread=False,  # _lock sees to it that threads take turns
            )
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change rows, and return their number."""
        with self._translated():
            return self._connection.execute(statement, values).rowcount

    def write_to_disk(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change rows, return their number, and wait for the disk, so that a crash loses nothing.

        Changes written otherwise are visible to every process, but don't wait.
        """
        with self._lock:
            self.rows("PRAGMA synchronous = FULL")
            try:
                return self.write(statement, values)
            finally:
                self.rows("PRAGMA synchronous = NORMAL")

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._translated():
            return self._connection.execute(query, values).fetchall()

    def records(self, kind: type[Record], query: str, values: Sequence[Any] = ()) -> list[Record]:
        """Return the runs or steps of a query.

        Raises:
            JournalError: a row isn't a journal's.
        """
        try:
            return [record_of(kind, row) for row in self.rows(query, values)]
        except (TypeError, ValueError) as error:
            raise JournalError(self.path, f"it is damaged: {error}") from error

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
        except (sqlite3.Error, UnicodeDecodeError) as error:  # damaged names of tables
            raise JournalError(self.path, str(error)) from error

    def _prepare(self, *, create: bool) -> None:
        if create and self._is_empty():
            self._become_journal()
        self._check()
        self.rows("PRAGMA synchronous = NORMAL")
        self.rows("PRAGMA fullfsync = ON")  # or macOS leaves it in the cache of the disk

    def _is_empty(self) -> bool:
        return self._marks() == (0, 0) and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1")

    def _marks(self) -> tuple[int, int]:
        """Return the application ID and the format of the file."""
        try:
            ((application,),) = self.rows("PRAGMA application_id")
            ((version,),) = self.rows("PRAGMA user_version")
        except JournalError as error:
            if _code(error) != sqlite3.SQLITE_NOTADB:
                raise
            return -1, 0  # not a database
        return application, version

    def _become_journal(self) -> None:
        """Create the tables; another process may do so at the same time."""
        end = time.monotonic() + _PATIENCE
        while True:  # SQLite itself doesn't wait to change to WAL mode
            try:
                self.write("PRAGMA journal_mode = WAL")
            except JournalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                break
        with self._translated(), self._connection:  # all of the tables, or none
            # A plain BEGIN reads first, and fails if another process has written since.
            self._connection.execute("BEGIN IMMEDIATE")
            if self._is_empty():  # no other process was quicker
                for statement in _TABLES:
                    self._connection.execute(statement)

    def _check(self) -> None:
        application, version = self._marks()
        if application != _APPLICATION:
            raise JournalError(self.path, "it isn't a journal of runs", "name another file")
        if version > FORMAT:
            message = f"it is a journal of format {version}, newer than {FORMAT}"
            raise JournalError(self.path, message, "update sovl-tools")


def address(path: str, mode: str) -> str:
    """Return the URI with which SQLite opens a file in a mode: ``ro``, ``rw`` or ``rwc``."""
    return f"{Path(path).absolute().as_uri()}?mode={mode}"


def _code(error: JournalError) -> int:
    """Return SQLite's primary error code."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF


class RunLock:
    """A run's lock while a process works on it.

    Attributes:
        path: of the lock's file.
    """

    def __init__(self, path: str) -> None:
        from filelock import FileLock  # noqa: PLC0415 - only journals need it; takes 40 ms

        self.path = path
        # Without flock, a file that only must exist would outlive a killed process.
        self._lock = FileLock(path, thread_local=False, fallback_to_soft=False)

    def acquire(self) -> bool:
        """Return whether this got the lock.

        Raises:
            JournalError: the file can't be made or locked.
        """
        try:
            # Long enough for a reader with the lock to check the run.
            self._lock.acquire(timeout=0.1, poll_interval=0.01)
        except TimeoutError:
            return False
        except (OSError, NotImplementedError) as error:
            raise JournalError(self.path, f"it can't be locked: {error}") from error
        return True

    def release(self) -> None:
        """Remove the file and release the lock, if it is locked here."""
        if self._lock.is_locked:
            with suppress(OSError):  # Windows removes no open file
                os.unlink(self.path)  # first: afterwards it can be another process's lock
            self._lock.release()


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
        self._locks: set[RunLock] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others resume the runs that haven't ended, and close the file."""
        for lock in tuple(self._locks):  # a copy, since each release removes one
            self._release(lock)
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
            with self._held(record.id) as lock:
                if lock is not None and self._database.write(_BEGIN_RUN, row_of(record)):
                    return self._opened(record, lock)

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
        with self._held(run_id) as lock:
            record = self._found(run_id)
            if record.state == "succeeded":
                raise RunOverError(record.id, record.state)
            if lock is None:
                raise RunBusyError(record.id, record.pid, record.host)
            steps = self.steps(run_id)
            check(steps)
            self._database.write(_RESUME, (os.getpid(), written(platform.node()), run_id))
            return self._opened(self._found(run_id), lock, steps)

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

    @contextmanager
    def _held(self, run_id: str) -> Iterator[RunLock | None]:
        """Yield the lock of a run, or None if another has it; release it unless a log keeps it."""
        lock = RunLock(f"{self.path}-lock-{run_id}")
        if not lock.acquire():
            yield None
            return
        try:
            yield lock
        finally:
            if lock not in self._locks:
                lock.release()

    def _opened(
        self, record: RunRecord, lock: RunLock, before: Iterable[StepRecord] = ()
    ) -> RunLog:
        self._locks.add(lock)
        return RunLog(self._database, record, lambda: self._release(lock), before)

    def _release(self, lock: RunLock) -> None:
        self._locks.discard(lock)
        lock.release()

    def _found(self, run_id: str) -> RunRecord:
        """Return a run's row; a killed run is still ``running`` there."""
        # A command line may contain lone surrogates, which SQLite rejects.
        values = (run_id.encode(errors="replace").decode(),)
        for record in self._database.records(RunRecord, _ONE, values):
            return record
        # Enough for a suggestion, however long the journal is.
        known = self._database.rows("SELECT id FROM runs ORDER BY number DESC LIMIT 500")
        raise RunNotFoundError(run_id, nearest(run_id, (str(each) for (each,) in known)))

    def _current(self, record: RunRecord) -> RunRecord:
        """Return a run, interrupted if it is ``running`` and not locked by a process."""
        if record.state == "running":
            with suppress(JournalError), self._held(record.id) as lock:
                if lock is not None:
                    record = self._found(record.id)  # it can have ended in the meantime
                    if record.state == "running":
                        return record._replace(state="interrupted")
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

    A method's record survives the process as soon as it returns. Several threads can call
    the methods. All raise ``JournalError`` if the journal can't be read or written, and the ones
    that write also if this is closed.

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
        self._with_effects: set[str] = set()
        self._is_closed = False

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

    def begin(
        self,
        key: str,
        action: str,
        tool: str | None,
        arguments: JSON,
    ) -> None:
        """Record that a step begins, for the first time or again.

        The records of a step with effects are on the disk when a method returns. Others survive
        the process, but not a crash of the machine: a resumed run repeats those steps anyway.
        """
        if action not in ACTIONS or ACTIONS[action].has_effects:
            self._with_effects.add(key)
        moment = time.time()
        step = StepRecord(key, action, tool, "started", arguments, None, None, 1, moment, None)
        self._insert(step)

    def succeed(self, key: str, result: JSON) -> None:
        """Record the result of a step."""
        self._finish(key, "succeeded", written(result), None)

    def fail(self, key: str, error: str) -> None:
        """Record why a step failed."""
        self._finish(key, "failed", None, written(error))

    def skip(self, key: str, action: str = "") -> None:
        """Record that a step was skipped."""
        moment = time.time()
        step = StepRecord(key, action, None, "skipped", None, None, None, 0, moment, moment)
        self._insert(step)

    def end(self, state: Ending, *, result: JSON = None, error: str | None = None) -> None:
        """Record how the run ended, and close this."""
        self._check_open()
        outcome = written(result) if state == "succeeded" else None
        values = state, outcome, written(error), time.time(), self.run_id
        self._database.write_to_disk(_END, values)
        self.close()

    def close(self) -> None:
        """Let others resume the run; if it hasn't ended, it is interrupted from now on."""
        self._is_closed = True
        self._release()

    def _insert(self, step: StepRecord) -> None:
        self._check_open()
        self._write(step.key, _BEGIN_STEP, (self.run_id, *row_of(step)))

    def _finish(self, key: str, *values: str | None) -> None:
        self._check_open()
        row = (*values, time.time(), self.run_id, written(key))
        # No row has changed: the step was never begun, or has ended already.
        if not self._write(key, _FINISH, row):
            raise JournalError(self._database.path, f"step {key!r} of {self.run_id} has not begun")

    def _write(self, key: str, statement: str, values: Sequence[Any]) -> int:
        database = self._database
        write = database.write_to_disk if key in self._with_effects else database.write
        return write(statement, values)

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError(self._database.path, f"the log of run {self.run_id} is closed")
