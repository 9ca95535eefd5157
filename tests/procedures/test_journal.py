"""What a journal keeps of runs and of their steps."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.procedures.errors import JournalError, RunNotFoundError
from sovl_tools.procedures.journal import Journal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    with Journal(path) as opened:
        yield opened


def test_a_run_is_kept_as_it_was_begun(journal: Journal) -> None:
    before = time.time()
    text = "name: weekly\r\nsteps: []\n"
    log = journal.begin_run(
        "weekly", path="a/weekly.yaml", text=text, inputs={"url": "x"}, tools={"fetch": "12ab"}
    )
    run = journal.run(log.run_id)
    assert run == log.record
    assert run.procedure == "weekly"
    assert run.path == "a/weekly.yaml"
    assert run.text == text
    assert run.digest == hashlib.sha256(text.encode()).hexdigest()
    assert run.inputs == {"url": "x"}
    assert run.tools == {"fetch": "12ab"}
    assert run.state == "running"
    assert before <= run.started <= time.time()
    assert (run.result, run.error, run.ended, run.resumed) == (None, None, None, 0)
    assert run.pid == os.getpid()
    assert run.host


def test_a_closed_journal_lets_go_of_its_runs(path: Path) -> None:
    with Journal(path) as journal:
        log = journal.begin_run("one")
    with pytest.raises(JournalError, match="closed"):
        log.begin("steps.0", "tool", "fetch", {})
    with pytest.raises(JournalError, match="closed"):
        journal.runs()
    with Journal(path) as journal:
        assert journal.run(log.run_id).state == "interrupted"


def test_runs_are_listed_from_the_latest(journal: Journal) -> None:
    ids = [journal.begin_run("one").run_id for _ in range(4)]
    assert [run.id for run in journal.runs()] == ids[::-1]
    assert [run.id for run in journal.runs(2)] == ids[:1:-1]
    assert journal.runs(0) == []


@pytest.mark.parametrize("ask", [Journal.run, Journal.steps, Journal.export, Journal.resume])
def test_an_unknown_run_is_refused_with_the_nearest(journal: Journal, ask: Any) -> None:
    run_id = journal.begin_run("one").run_id
    near = run_id[:-1] + "x"
    with pytest.raises(RunNotFoundError) as caught:
        ask(journal, near)
    assert str(caught.value) == f"there's no run {near!r}; did you mean {run_id!r}?"


def test_an_export_is_json_with_all_there_is(journal: Journal) -> None:
    log = journal.begin_run("one", text="name: one", inputs={"a": 1}, tools={"fetch": "12"})
    log.begin("steps.0", "tool", "fetch", {"url": "x"})
    log.succeed("steps.0", None)
    log.end("succeeded", result=[1])
    export = journal.export(log.run_id)
    assert json.loads(json.dumps(export)) == export
    steps = export.pop("steps")
    assert export.pop("version") == 1
    assert export == journal.run(log.run_id)._asdict()
    assert steps == [step._asdict() for step in journal.steps(log.run_id)]
