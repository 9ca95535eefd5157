"""A journal whose file holds anything: it is rejected in a line, and nothing else happens."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools.cli.main import group
from sovl_tools.procedures.errors import JournalError, RunBusyError, RunNotFoundError
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.records import RunRecord, StepRecord
from tests.procedures.workshop import add, call, manager_of, procedure, values
from tests.schema.strategies import examples, moderate

COLUMNS = [("runs", name) for name in (*RunRecord._fields, "lock")] + [
    ("steps", name) for name in (*StepRecord._fields, "run")
]
WRONG = [
    None, 0, -1, 2.5, 1e300, 2**62, "", "x", "[", '"x"', "[]", "{}", '{"a": 1}', "1e999", "NaN",
    "[" * 50_000, b"\xff", "\x00", "../../etc/passwd", "running", "started",
]  # fmt: skip


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a journal of a run that failed, and the ID of the run."""
    path = tmp_path_factory.mktemp("journal") / "runs.db"
    source = procedure(
        values(x=1), call("add", a="{{ x }}", b=1), {"action": "fail", "message": "no"}
    )
    with Journal(path) as journal:
        with pytest.raises(Exception, match="no"):
            manager_of(add).run_sync(source, journal=journal)
        (run,) = journal.runs()
    return path, run.id


def uses(run_id: str) -> list[Callable[[Journal], object]]:
    return [
        lambda journal: journal.runs(),
        lambda journal: journal.run(run_id),
        lambda journal: journal.steps(run_id),
        lambda journal: journal.export(run_id),
        lambda journal: manager_of(add).unfinished_step(journal, run_id, procedure(values(x=1))),
        lambda journal: journal.resume(run_id),
    ]


def try_all(path: Path, run_id: str) -> None:
    """Use a journal in every way: what is rejected is rejected by its own class."""
    for use in uses(run_id):
        with (
            suppress(JournalError, RunNotFoundError, RunBusyError),
            Journal(path, create=False) as journal,
        ):
            use(journal)


@settings(moderate, max_examples=examples(100))
@given(place=st.sampled_from(COLUMNS), value=st.sampled_from(WRONG))
def test_a_column_that_holds_anything_is_a_journal_error(
    place: tuple[str, str], value: Any, sound: tuple[Path, str]
) -> None:
    table, column = place
    path, run_id = sound
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(shutil.copy(path, directory))
        with closing(sqlite3.connect(copy)) as connection:
            try:
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
            except sqlite3.IntegrityError:
                return  # the file itself refuses it
            connection.commit()
        try_all(copy, run_id)
        for arguments in (["--list"], ["--show", run_id, "--format", "json"]):
            done = CliRunner().invoke(group, ["run", "--journal", str(copy), *arguments])
            assert done.exit_code in {0, 1, 2}
            assert done.exception is None or isinstance(done.exception, SystemExit)


@settings(moderate, max_examples=examples(100))
@given(data=st.data())
def test_bytes_that_change_are_a_journal_error(
    data: st.DataObject, sound: tuple[Path, str]
) -> None:
    path, run_id = sound
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    with tempfile.TemporaryDirectory() as directory:
        copy = Path(directory) / "runs.db"
        copy.write_bytes(bytes(content[: data.draw(st.integers(1, len(content)))]))
        try_all(copy, run_id)
