"""The journal of runs: what each did, so that one that was killed can go on."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

from sovl_tools.model.document import JSON
from sovl_tools.model.suggestion import nearest
from sovl_tools.procedures.errors import (
    JournalError,
    RunBusyError,
    RunNotFoundError,
    RunOverError,
)
from sovl_tools.procedures.journal.database import (
    ENDED,
    FORMAT,
    Database,
    Ending,
    Lock,
    RunRecord,
    StepRecord,
    discard,
    is_held,
    record_of,
    row_of,
    written,
)

_RUN, _STEP = ", ".join(RunRecord._fields), ", ".join(StepRecord._fields)
_RUNS = f"SELECT lock, {_RUN} FROM runs"  # noqa: S608 - names of ours
_ONE = f"{_RUNS} WHERE id = ?"
_STEPS = f"SELECT {_STEP} FROM steps WHERE run = ? ORDER BY number"  # noqa: S608 - names of ours
_BEGIN_RUN = f"""
    INSERT INTO runs (lock, {_RUN}) VALUES (?{", ?" * len(RunRecord._fields)})
    ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - names of ours
_RESUME = """
    UPDATE runs SET state = 'running', result = NULL, error = NULL, ended = NULL,
        pid = ?, host = ?, resumed = resumed + 1, lock = ?
    WHERE id = ?
"""


class Journal:
    """A file in which any number of processes and threads write down their runs.

    With ``create`` a file that is missing or empty becomes a journal. Beside the file lies a small
    one for each run that is under way; only that of a run whose process was killed stays, until
    the run is resumed.

    Attributes:
        path: of the file.

    Raises:
        JournalError: the file can't be opened, is no journal, or is one of a newer format. The
            methods raise it too, if the file can't be read or written.
    """

    def __init__(self, path: str | os.PathLike[str], *, create: bool = True) -> None:
        self.path = os.path.realpath(path)
        self._database = Database(self.path, create=create)
        self._locks: set[Lock] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let others take up the runs that have not ended, and close the file."""
        for lock in tuple(self._locks):  # a copy, since each release takes one out
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
        """Write down that a run begins, and return its log; see ``RunRecord`` for the arguments."""
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
        with self._new_lock() as lock:
            while True:  # until the name is one that no other run has
                record = record._replace(id=f"{moment}-{os.urandom(2).hex()}")
                if self._database.write(_BEGIN_RUN, (_token(lock), *row_of(record))):
                    return self._opened(record, lock)

    def resume(
        self, run_id: str, check: Callable[[list[StepRecord]], object] = lambda _: None
    ) -> RunLog:
        """Take up a run that has not succeeded and that nobody else has; return its log.

        Of any number who try at once, in one process or in many, one gets it. ``check`` is given
        the steps of the run; if it raises, the run is left as it was.

        Raises:
            RunNotFoundError: there is none of that id.
            RunOverError: it has succeeded.
            RunBusyError: it is under way.
        """
        with self._new_lock() as lock:
            # Nobody can change the run between the look at it and the change of its lock.
            with self._database.transaction():
                former, record = self._found(run_id)
                if record.state == "succeeded":
                    raise RunOverError(record.id, record.state)
                if record.state == "running":
                    raise RunBusyError(record.id, record.pid, record.host)
                check(self.steps(run_id))
                values = os.getpid(), written(platform.node()), _token(lock), run_id
                self._database.write(_RESUME, values)
                _, record = self._found(run_id)
            discard(former)
            return self._opened(record, lock, self.steps(run_id))

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Return the runs, or a number of them, the latest first."""
        values = (-1 if limit is None else limit,)
        query = f"{_RUNS} ORDER BY number DESC LIMIT ?"
        return [
            self._current(*each)[1] for each in self._database.records(self._run, query, values)
        ]

    def run(self, run_id: str) -> RunRecord:
        """Return a run.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        return self._found(run_id)[1]

    def steps(self, run_id: str) -> list[StepRecord]:
        """Return the steps of a run, in the order in which they first began.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        self._found(run_id)
        return self._database.records(partial(record_of, StepRecord), _STEPS, (run_id,))

    def export(self, run_id: str) -> dict[str, JSON]:
        """Return all that is known of a run as a JSON object: its fields, and ``steps``.

        Raises:
            RunNotFoundError: there is none of that id.
        """
        run, steps = self.run(run_id), self.steps(run_id)
        return {"version": FORMAT, **run._asdict(), "steps": [step._asdict() for step in steps]}

    @contextmanager
    def _new_lock(self) -> Iterator[Lock]:
        """Yield a lock of a new name; release it only if an exception leaves this."""
        lock = Lock(self._lock_path(os.urandom(8).hex()))
        try:
            yield lock
        except BaseException:
            lock.release()
            raise

    def _lock_path(self, token: str) -> str:
        return f"{self.path}-lock-{token}"

    def _opened(self, record: RunRecord, lock: Lock, before: Iterable[StepRecord] = ()) -> RunLog:
        self._locks.add(lock)
        return RunLog(self._database, record, partial(self._release, lock), before)

    def _release(self, lock: Lock) -> None:
        self._locks.discard(lock)
        lock.release()

    def _found(self, run_id: str) -> tuple[str, RunRecord]:
        """Return the path of a run's lock, and the run."""
        # SQLite takes no lone surrogates, which a command line may hold.
        values = (run_id.encode(errors="replace").decode(),)
        for each in self._database.records(self._run, _ONE, values):
            return self._current(*each)
        # Enough for a suggestion, however long the journal is.
        known = self._database.rows("SELECT id FROM runs ORDER BY number DESC LIMIT 500")
        raise RunNotFoundError(run_id, nearest(run_id, (str(each) for (each,) in known)))

    def _run(self, row: tuple[Any, ...]) -> tuple[str, RunRecord]:
        """Return the path of a run's lock, and the run.

        Raises:
            ValueError: a column holds what no journal of ours has there.
        """
        token, *columns = row
        if not (isinstance(token, str) and _TOKEN.fullmatch(token)):
            raise ValueError(f"nobody wrote {token!r:.60} as 'lock'")
        return self._lock_path(token), record_of(RunRecord, columns)

    def _current(self, path: str, record: RunRecord) -> tuple[str, RunRecord]:
        """Return the same, read once more if the run seems interrupted.

        For it may have ended, and its lock with it, after the row was read.
        """
        while record.state == "running" and not is_held(path):
            before = path, record
            ((path, record),) = self._database.records(self._run, _ONE, (record.id,))
            if (path, record) == before:
                return path, record._replace(state="interrupted")
        return path, record


_TOKEN = re.compile("[0-9a-f]{16}")
"""By which a lock is known; nothing else may become a part of a path."""


def _token(lock: Lock) -> str:
    return lock.path.rpartition("-")[2]


_LATER = ", ".join(
    f"{field} = excluded.{field}" for field in StepRecord._fields if field not in ("key", "attempt")
)
_BEGIN_STEP = f"""
    INSERT INTO steps (run, {_STEP}) VALUES (?{", ?" * len(StepRecord._fields)})
    ON CONFLICT (run, key) DO UPDATE SET {_LATER}, attempt = attempt + excluded.attempt
"""  # noqa: S608 - names of ours
_FINISH = """
    UPDATE steps SET state = ?, result = ?, error = ?, ended = ?
    WHERE run = ? AND key = ? AND state = 'started'
"""
_END = "UPDATE runs SET state = ?, result = ?, error = ?, ended = ? WHERE id = ?"


class RunLog:
    """A run that is under way: nobody else can take it up until this is closed.

    What a method writes down is there for good when it returns, whatever becomes of the process.
    Methods may be called from several threads. All raise ``JournalError`` if the journal can't be
    read or written, and those that write if this is closed.

    Attributes:
        run_id: of the run.
        record: the run as it was when this was opened.
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
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def known(self, key: str, action: str, tool: str | None, arguments: JSON) -> StepRecord | None:
        """Return the record of an attempt that ended in an earlier process.

        None if there is none, or if it was of another step: the procedure has changed since.
        """
        found = self._before.get(key)
        if found is None or found.state not in ENDED:
            return None
        # Compared as they are written: JSON tells 1 from 1.0 and from true, Python doesn't.
        before = found.action, found.tool, written(found.arguments)
        return found if before == (action, tool, written(arguments)) else None

    def begin(
        self,
        key: str,
        action: str,
        tool: str | None,
        arguments: JSON,
        *,
        is_durable: bool = True,
    ) -> None:
        """Write down that a step begins, for the first time or once more.

        What is not durable survives the end of the process, but may be lost with the machine: so
        it costs no wait for the disk. That is right for steps that are taken again anyway.
        """
        moment = time.time()
        step = StepRecord(key, action, tool, "started", arguments, None, None, 1, moment, None)
        self._insert(step, is_durable=is_durable)

    def succeed(self, key: str, result: JSON, *, is_durable: bool = True) -> None:
        """Write down what came of a step that had begun."""
        self._finish(key, "succeeded", written(result), None, is_durable=is_durable)

    def fail(self, key: str, error: str, *, is_durable: bool = True) -> None:
        """Write down why a step failed that had begun."""
        self._finish(key, "failed", None, written(error), is_durable=is_durable)

    def skip(self, key: str, action: str = "") -> None:
        """Write down that a step was not to be taken."""
        moment = time.time()
        step = StepRecord(key, action, None, "skipped", None, None, None, 0, moment, moment)
        self._insert(step, is_durable=False)

    def end(self, state: Ending, *, result: JSON = None, error: str | None = None) -> None:
        """Write down how the run ended, and close this."""
        self._check_open()
        outcome = written(result) if state == "succeeded" else None
        values = state, outcome, written(error), time.time(), self.run_id
        self._database.write(_END, values)
        self.close()

    def close(self) -> None:
        """Let others take up the run; one that has not ended is interrupted from now on."""
        self._is_closed = True
        self._release()

    def _insert(self, step: StepRecord, *, is_durable: bool) -> None:
        self._check_open()
        values = (self.run_id, *row_of(step))
        self._database.write(_BEGIN_STEP, values, is_durable=is_durable)

    def _finish(self, key: str, *values: str | None, is_durable: bool) -> None:
        self._check_open()
        row = (*values, time.time(), self.run_id, written(key))
        # No row has changed: the step was never begun, or has ended already.
        if not self._database.write(_FINISH, row, is_durable=is_durable):
            raise JournalError(self._database.path, f"step {key!r} of {self.run_id} has not begun")

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError(self._database.path, f"the log of run {self.run_id} is closed")
