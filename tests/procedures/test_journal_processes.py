"""Journals that several processes and threads use, some of which are killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sovl_tools.procedures.errors import RunBusyError
from sovl_tools.procedures.journal import Journal

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
