"""The file in which a journal is kept, and what lies next to it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sovl_tools.procedures.errors import JournalError
from sovl_tools.procedures.journal import Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs of ä?#%20.db"


def _message(path: Path, *, create: bool) -> str:
    with pytest.raises(JournalError) as caught:
        Journal(path, create=create)
    assert caught.value.path == str(path)
    return str(caught.value).removeprefix(f"{path}: ")


def test_a_journal_that_must_be_there_is_not_made(path: Path) -> None:
    assert _message(path, create=False) == "there's no such file"
    assert os.listdir(path.parent) == []


def test_a_file_of_text_is_no_journal_and_stays_as_it_is(path: Path) -> None:
    path.write_text("steps: []\n" * 500)
    for create in (True, False):
        assert _message(path, create=create) == "file is not a database"
    assert path.read_text() == "steps: []\n" * 500


def test_a_database_of_something_else_is_no_journal_and_stays_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE runs (id)")
    before = path.read_bytes()
    assert _message(path, create=True) == "it isn't a journal of runs; name another file"
    assert path.read_bytes() == before


def test_an_empty_file_becomes_a_journal_if_one_may_be_made(path: Path) -> None:
    path.touch()
    assert _message(path, create=False) == "it isn't a journal of runs; name another file"
    with Journal(path) as journal:
        assert journal.runs() == []


def test_a_journal_of_a_newer_format_is_refused(path: Path) -> None:
    Journal(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    expected = "it is a journal of format 2, newer than 1; update sovl-tools"
    assert _message(path, create=True) == expected
    assert _message(path, create=False) == expected


def test_a_damaged_journal_is_told_of(path: Path) -> None:
    with Journal(path) as journal:
        journal.begin_run("one").end("succeeded", result="x" * 50_000)
    with path.open("r+b") as file:
        file.seek(2 * 4096)
        file.write(b"\xff" * 20_000)
    with Journal(path, create=False) as journal, pytest.raises(JournalError, match="malformed"):
        journal.runs()


def test_readers_leave_nothing_behind(path: Path) -> None:
    with Journal(path) as journal:
        run_id = journal.begin_run("one").run_id
    before = path.read_bytes()
    with Journal(path, create=False) as journal:
        assert journal.export(run_id)["state"] == "interrupted"
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
