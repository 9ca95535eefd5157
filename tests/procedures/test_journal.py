"""What a journal keeps of runs and of their steps."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from sovl_tools.procedures.errors import JournalError, RunNotFoundError, RunOverError
from sovl_tools.procedures.journal import Journal, RunLog
from sovl_tools.procedures.records import StepRecord
from tests.schema.strategies import examples

texts = st.text(st.characters(), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


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


def test_a_runs_id_tells_when_it_began(journal: Journal) -> None:
    run = journal.begin_run("one").record
    moment = time.strftime("%Y%m%d-%H%M%S", time.gmtime(run.started))
    assert re.fullmatch(rf"{moment}-[0-9a-f]{{4}}", run.id)


def test_no_two_runs_get_the_same_id(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    digits, random = iter([b"\0\0", b"\0\0", b"\0\1"]), os.urandom
    monkeypatch.setattr(os, "urandom", lambda size: next(digits) if size == 2 else random(size))
    monkeypatch.setattr(time, "time", lambda: 1e9)
    ids = [journal.begin_run("one").run_id for _ in range(2)]
    assert ids == ["20010909-014640-0000", "20010909-014640-0001"]


def test_only_a_step_that_has_begun_can_end(journal: Journal) -> None:
    log = journal.begin_run("one")
    with pytest.raises(JournalError, match=f"step 'steps.0' of {log.run_id} has not begun"):
        log.succeed("steps.0", 1)
    log.begin("steps.0", "tool", "fetch", {})
    log.succeed("steps.0", 1)
    with pytest.raises(JournalError, match="has not begun"):
        log.fail("steps.0", "late")
    assert journal.steps(log.run_id)[0].result == 1


def test_a_log_that_is_closed_writes_nothing(journal: Journal, path: Path) -> None:
    log = journal.begin_run("one")
    log.begin("steps.0", "tool", "fetch", {})
    log.close()
    log.close()
    message = f"{path}: the log of run {log.run_id} is closed"
    writes: list[Callable[[], None]] = [
        lambda: log.begin("steps.1", "tool", "fetch", {}),
        lambda: log.succeed("steps.0", 1),
        lambda: log.skip("steps.2"),
        lambda: log.end("succeeded"),
    ]
    for write in writes:
        with pytest.raises(JournalError) as caught:
            write()
        assert str(caught.value) == message
    assert [step.state for step in journal.steps(log.run_id)] == ["started"]


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


def test_a_run_that_ends_while_it_is_listed_is_not_taken_for_interrupted(journal: Journal) -> None:
    log = journal.begin_run("one")
    log.end("succeeded", result=1)
    assert journal._current(log.record).state == "succeeded"


@pytest.mark.parametrize("ask", [Journal.run, Journal.steps, Journal.export, Journal.resume])
def test_an_unknown_run_is_refused_with_the_nearest(journal: Journal, ask: Any) -> None:
    run_id = journal.begin_run("one").run_id
    near = run_id[:-1] + "x"
    with pytest.raises(RunNotFoundError) as caught:
        ask(journal, near)
    assert str(caught.value) == f"there's no run {near!r}; did you mean {run_id!r}?"
    with pytest.raises(RunNotFoundError) as caught:
        ask(journal, "\udc80?")
    assert str(caught.value) == "there's no run '\\udc80?'"


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


@pytest.mark.unmeasured
def test_large_values_are_kept_whole(journal: Journal) -> None:
    log = journal.begin_run("one")
    large = ["ä" * 3_000_000, {"b": list(range(50_000))}]
    log.begin("steps.0", "tool", "fetch", large)
    log.succeed("steps.0", large)
    (step,) = journal.steps(log.run_id)
    assert step.arguments == large
    assert step.result == large


def test_halves_of_surrogate_pairs_are_kept_as_they_are(journal: Journal) -> None:
    odd = "a\ud800\0b"
    log = journal.begin_run(odd, path=odd, text=odd, inputs={odd: odd}, tools={odd: odd})
    log.begin(odd, odd, odd, odd)
    log.fail(odd, odd)
    log.end("failed", error=odd)
    run, (step,) = journal.run(log.run_id), journal.steps(log.run_id)
    assert (run.procedure, run.path, run.text, run.error) == (odd, odd, odd, odd)
    assert (run.inputs, run.tools) == ({odd: odd}, {odd: odd})
    assert (step.key, step.action, step.tool, step.arguments, step.error) == (odd,) * 5


class Journals(RuleBasedStateMachine):
    """A journal, and dictionaries that say what should are in it."""

    keys = (
        st.sampled_from(["steps.0", "steps.1[0].steps.0", "steps.1[1].steps.0", "ä\ud800"]) | texts
    )
    places = st.integers(0, 2)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.journal = Journal(Path(self.folder.name, "runs.db"))
        self.runs: list[dict[str, Any]] = []
        self.logs: list[RunLog | None] = []

    @precondition(lambda self: len(self.runs) < 3)
    @rule()
    def begin_run(self) -> None:
        self.logs.append(self.journal.begin_run("one"))
        self.runs.append({"state": "running", "outcome": (None, None), "resumed": 0, "steps": {}})

    @rule(place=places, key=keys, value=values)
    def begin(self, place: int, key: str, value: Any) -> None:
        log, steps = self._open(place)
        if log is not None:
            attempt = steps[key][4] + 1 if key in steps else 1
            log.begin(key, "tool", "fetch", value)
            steps[key] = ("started", value, None, None, attempt)

    @rule(
        place=places, data=st.data(), value=values, ending=st.sampled_from(["failed", "succeeded"])
    )
    def finish(self, place: int, data: st.DataObject, value: Any, ending: str) -> None:
        log, steps = self._open(place)
        begun = [key for key, step in steps.items() if step[0] == "started"]
        if log is None or not begun:
            return
        key = data.draw(st.sampled_from(begun))
        if ending == "failed":
            log.fail(key, str(value))
            steps[key] = ("failed", steps[key][1], None, str(value), steps[key][4])
        else:
            log.succeed(key, value)
            steps[key] = ("succeeded", steps[key][1], value, None, steps[key][4])

    @rule(place=places, key=keys)
    def skip(self, place: int, key: str) -> None:
        log, steps = self._open(place)
        if log is not None:
            log.skip(key)
            attempt = steps[key][4] if key in steps else 0
            steps[key] = ("skipped", None, None, None, attempt)

    @rule(place=places, state=st.sampled_from(["succeeded", "failed", "cancelled"]), value=values)
    def end(self, place: int, state: Any, value: Any) -> None:
        log, _ = self._open(place)
        if log is not None:
            log.end(state, result=value, error=None if state == "succeeded" else "why")
            outcome = (value, None) if state == "succeeded" else (None, "why")
            self.runs[place].update(state=state, outcome=outcome)
            self.logs[place] = None

    @rule(place=places)
    def interrupt(self, place: int) -> None:
        log, _ = self._open(place)
        if log is not None:
            log.close()
            self.runs[place]["state"] = "interrupted"
            self.logs[place] = None

    @rule(place=places)
    def resume(self, place: int) -> None:
        if place < len(self.runs) and self.logs[place] is None:
            run, run_id = self.runs[place], self.journal.runs()[-1 - place].id
            if run["state"] == "succeeded":
                with pytest.raises(RunOverError):
                    self.journal.resume(run_id)
                return
            self.logs[place] = self.journal.resume(run_id)
            run.update(state="running", outcome=(None, None), resumed=run["resumed"] + 1)

    @rule()
    def reopen(self) -> None:
        self.journal.close()
        self.journal = Journal(self.journal.path, create=False)
        for run in self.runs:
            run["state"] = "interrupted" if run["state"] == "running" else run["state"]
        self.logs = [None] * len(self.runs)

    def _open(self, place: int) -> tuple[RunLog | None, dict[str, Any]]:
        if place >= len(self.runs):
            return None, {}
        return self.logs[place], self.runs[place]["steps"]

    @rule()
    def compare(self) -> None:
        with Journal(self.journal.path, create=False) as reader:
            records = reader.runs()[::-1]
            told: list[dict[str, Any]] = [
                {
                    "state": run.state,
                    "outcome": (run.result, run.error),
                    "resumed": run.resumed,
                    "steps": {step.key: _told(step) for step in reader.steps(run.id)},
                }
                for run in records
            ]
        assert told == self.runs
        assert [list(run["steps"]) for run in told] == [list(run["steps"]) for run in self.runs]

        held = sum(log is not None for log in self.logs)
        assert len([name for name in os.listdir(self.folder.name) if "-lock-" in name]) == held

    def teardown(self) -> None:
        with self.folder:
            with self.journal:
                self.compare()
            assert os.listdir(self.folder.name) == ["runs.db"]


def _told(step: StepRecord) -> tuple[Any, ...]:
    return step.state, step.arguments, step.result, step.error, step.attempt


TestJournals = Journals.TestCase
TestJournals.settings = settings(max_examples=examples(60), stateful_step_count=20, deadline=None)
