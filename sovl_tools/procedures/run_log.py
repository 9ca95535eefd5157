"""What is written down of a run while it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from sovl_tools.model.document import JSON
from sovl_tools.procedures.database import Database
from sovl_tools.procedures.journal_errors import JournalError
from sovl_tools.procedures.records import (
    Ending,
    RunRecord,
    StepRecord,
    row_of,
    step_record,
    written,
)

_FIELDS = ", ".join(StepRecord._fields)
_STEPS = f"SELECT {_FIELDS} FROM steps WHERE run = ?"  # noqa: S608 - names of ours
_LATER = ", ".join(
    f"{field} = excluded.{field}" for field in StepRecord._fields if field not in ("key", "attempt")
)
_BEGIN = f"""
    INSERT INTO steps (run, {_FIELDS}) VALUES (?{", ?" * len(StepRecord._fields)})
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
        self, database: Database, record: RunRecord, release: Callable[[], object]
    ) -> None:
        self.run_id = record.id
        self.record = record
        self._database = database
        self._release = release
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

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

    def step(self, key: str) -> StepRecord | None:
        """Return what is known of a step; None if it has never begun."""
        values = (self.run_id, written(key))
        found = self._database.records(step_record, f"{_STEPS} AND key = ?", values)
        return found[0] if found else None

    def finished(self, key: str) -> StepRecord | None:
        """Return what is known of a step if it has succeeded or was skipped, or else None."""
        found = self.step(key)
        return found if found is not None and found.state in _FINISHED else None

    def unfinished(self) -> tuple[StepRecord, ...]:
        """Return the steps that have begun and not ended, in the order in which they first did."""
        query = f"{_STEPS} AND state = 'started' ORDER BY number"
        return tuple(self._database.records(step_record, query, (self.run_id,)))

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
        self._database.write(_BEGIN, values, is_durable=is_durable)

    def _finish(self, key: str, *values: str | None, is_durable: bool) -> None:
        self._check_open()
        row = (*values, time.time(), self.run_id, written(key))
        if not self._database.write(_FINISH, row, is_durable=is_durable):
            raise JournalError(self._database.path, f"step {key!r} of {self.run_id} has not begun")

    def _check_open(self) -> None:
        if self._is_closed:
            raise JournalError(self._database.path, f"the log of run {self.run_id} is closed")


_FINISHED = {"succeeded", "skipped"}
