"""Journals that several processes and threads use, some of which are killed."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from sovl_tools.procedures.errors import JournalError, RunBusyError
from sovl_tools.procedures.journal import Journal, RunLock, RunLog
from sovl_tools.procedures.records import StepRecord
from tests.patience import PATIENCE

WRITER = """
import itertools, sys
from sovl_tools.procedures.journal import Journal
log = Journal(sys.argv[1]).begin_run("one", inputs={"url": "x"})
print(log.run_id, flush=True)
for number in itertools.count():
    log.begin(f"steps.0[{number}]", "tool", "fetch", {"number": number})
    log.succeed(f"steps.0[{number}]", "x" * number)
    print(number, flush=True)
"""
RESUMER = """
import sys
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.errors import RunBusyError
sys.stdin.readline()
journal = Journal(sys.argv[1])
print("open", flush=True)
for run_id in map(str.strip, sys.stdin):
    try:
        log = journal.resume(run_id)
    except RunBusyError:
        print("busy", flush=True)
        sys.stdin.readline()
    else:
        print("won", flush=True)
        sys.stdin.readline()
        log.close()
    print("done", flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def start(path: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    with ExitStack() as stack:

        def starter(script: str) -> subprocess.Popen[str]:
            command = [sys.executable, "-c", script, str(path)]
            pipe = subprocess.PIPE
            child = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
            stack.enter_context(child)
            stack.callback(child.kill)
            return child

        yield starter


def _line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def _tell(child: subprocess.Popen[str], line: str) -> None:
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


@pytest.mark.parametrize("count", [1, 7])
def test_what_was_written_down_outlives_a_process_that_is_killed(
    path: Path, start: Callable[[str], subprocess.Popen[str]], count: int
) -> None:
    child = start(WRITER)
    run_id = _line(child)
    told = [int(_line(child)) for _ in range(count)]
    with Journal(path, create=False) as journal:
        assert journal.run(run_id).state == "running"
        with pytest.raises(RunBusyError, match=f"^run '{run_id}' is running in process") as busy:
            journal.resume(run_id)
        assert busy.value.pid == child.pid
        child.kill()
        assert child.stdout is not None
        told += map(int, child.stdout.read().split())
        child.wait()
        assert journal.run(run_id).state == "interrupted"
        with journal.resume(run_id) as log:
            assert log.record.inputs == {"url": "x"}
            assert (log.record.pid, log.record.resumed) == (os.getpid(), 1)
            steps = {step.key: step for step in journal.steps(run_id)}
            for number in told:
                step = steps[f"steps.0[{number}]"]
                known = step.state, step.arguments, step.result
                assert known == ("succeeded", {"number": number}, "x" * number)
            cut = [key for key, step in steps.items() if step.state == "started"]
            assert cut in ([], [f"steps.0[{told[-1] + 1}]"])
        rest = [step.key for step in journal.steps(run_id)[len(told) :]]
        assert rest in ([], [f"steps.0[{told[-1] + 1}]"])
    assert os.listdir(path.parent) == [path.name]


def test_of_processes_that_resume_a_run_at_once_one_gets_it(
    path: Path, start: Callable[[str], subprocess.Popen[str]]
) -> None:
    children = [start(RESUMER) for _ in range(3)]
    for child in children:
        _tell(child, "open it, and make it if no one else has")
    assert [_line(child) for child in children] == ["open"] * 3
    with Journal(path, create=False) as journal:
        run_id = journal.begin_run("one").run_id
        for child in children:
            _tell(child, run_id)
        assert [_line(child) for child in children] == ["busy"] * 3
        for child in children:
            _tell(child, "continue")
        assert [_line(child) for child in children] == ["done"] * 3
    with Journal(path, create=False) as journal:
        for number in range(8):
            for child in children:
                _tell(child, run_id)
            assert sorted(map(_line, children)) == ["busy", "busy", "won"]
            run = journal.run(run_id)
            assert (run.state, run.resumed) == ("running", number + 1)
            assert run.pid in [child.pid for child in children]
            for child in children:
                _tell(child, "continue")
            assert [_line(child) for child in children] == ["done"] * 3
            assert journal.run(run_id).state == "interrupted"


def test_of_threads_that_resume_a_run_at_once_one_gets_it(path: Path) -> None:
    with ExitStack() as stack, ThreadPoolExecutor(6) as pool:
        journals = [stack.enter_context(Journal(path)) for _ in range(3)] * 2
        with journals[0].begin_run("one") as log:
            run_id = log.run_id
            for journal in journals:
                with pytest.raises(RunBusyError):
                    journal.resume(run_id)
        for _ in range(5):
            barrier = threading.Barrier(len(journals))

            def resume(journal: Journal, barrier: threading.Barrier = barrier) -> RunLog | None:
                barrier.wait(PATIENCE)
                try:
                    return journal.resume(run_id)
                except RunBusyError:
                    return None

            logs = list(filter(None, pool.map(resume, journals)))
            assert len(logs) == 1
            logs[0].close()


def test_threads_write_the_steps_of_one_run_at_a_time(path: Path) -> None:
    with Journal(path) as journal, ThreadPoolExecutor(4) as pool:
        log = journal.begin_run("one")

        def write(branch: int) -> None:
            for number in range(5):
                key = f"steps.0.branches.{branch}.{number}"
                log.begin(key, "tool", "fetch", {})
                log.succeed(key, [branch, number])

        list(pool.map(write, range(4)))
        steps = {step.key: step.result for step in journal.steps(log.run_id)}
    assert steps == {
        f"steps.0.branches.{branch}.{number}": [branch, number]
        for branch in range(4)
        for number in range(5)
    }


def test_readers_see_a_run_grow_and_do_not_disturb_it(
    path: Path, start: Callable[[str], subprocess.Popen[str]]
) -> None:
    child = start(WRITER)
    run_id, seen = _line(child), -1
    for _ in range(10):
        told = int(_line(child))
        with Journal(path, create=False) as journal:
            (run,) = journal.runs()
            steps = journal.steps(run_id)
        assert (run.id, run.state) == (run_id, "running")
        assert len(steps) > max(told, seen)
        assert all(step.result == "x" * number for number, step in enumerate(steps[:-1]))
        seen = told
    assert child.poll() is None


def test_two_processes_write_runs_into_one_journal(
    path: Path, start: Callable[[str], subprocess.Popen[str]]
) -> None:
    children = [start(WRITER) for _ in range(2)]
    ids = [_line(child) for child in children]
    for child in children:
        assert [int(_line(child)) for _ in range(10)] == list(range(10))
    with Journal(path, create=False) as journal:
        assert {run.id for run in journal.runs()} == set(ids)
        for run_id in ids:
            steps: list[StepRecord] = journal.steps(run_id)
            assert [step.state for step in steps[:10]] == ["succeeded"] * 10


def test_a_lock_is_held_until_it_is_released(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    lock, other = RunLock(path), RunLock(path)
    assert lock.acquire()
    assert not other.acquire()
    other.release()
    assert os.listdir(tmp_path) == ["lock"]
    lock.release()
    assert os.listdir(tmp_path) == []
    assert other.acquire()
    lock.release()
    assert os.listdir(tmp_path) == ["lock"]
    other.release()


def test_a_run_whose_lock_can_not_be_looked_at_counts_as_running(path: Path) -> None:
    with Journal(path) as journal:
        run_id = journal.begin_run("one").run_id
    lock = path.with_name(f"{path.name}-lock-{run_id}")
    lock.mkdir()
    with Journal(path) as journal:
        assert journal.run(run_id).state == "running"
        with pytest.raises(JournalError, match="it can't be locked: "):
            journal.resume(run_id)
        lock.rmdir()
        journal.resume(run_id).close()


def test_a_reader_that_takes_its_time_holds_nobody_up(path: Path) -> None:
    with Journal(path) as journal, closing(sqlite3.connect(path)) as reader:
        log = journal.begin_run("one")
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (0,)
        log.begin("steps.0", "tool", "fetch", {})
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (0,)
        reader.execute("COMMIT")
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (1,)
