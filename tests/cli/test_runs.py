from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.procedures import FAILING, GREETINGS, TWO_STEPS, Put
from tests.cli.procedures import put as put  # noqa: PLC0414 - a fixture
from tests.conftest import Run, Write

LIST = ("run", "--journal", "runs.db", "--list")
SHOW = ("run", "--journal", "runs.db", "--show")


@pytest.fixture
def two(run: Run, put: Put, write: Write) -> list[str]:
    """Make a journal with two runs; return their IDs, the latest first."""
    write("rest", code=FAILING)
    put("greetings.yaml", GREETINGS)
    put("two_steps.yaml", TWO_STEPS)
    run("run", "greetings.yaml", "--input", 'names=["Ada"]', "--journal", "runs.db")
    run("run", "two_steps.yaml", "--journal", "runs.db")
    listed = json.loads(run(*LIST, "--format", "json").out)
    return [each["id"] for each in listed]


def timeless(text: str) -> str:
    text = re.sub(r"\d+\.\d\d s", "0.00 s", text)
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "2026-11-22 10:15:30", text)


def test_runs_are_listed_the_latest_first(run: Run, two: list[str]) -> None:
    done = run(*LIST)
    assert timeless(done.out).splitlines() == [
        "RUN                   PROCEDURE  STATE      STARTED              TOOK",
        f"{two[0]}  two_steps  failed     2026-11-22 10:15:30  0.00 s",
        f"{two[1]}  greetings  succeeded  2026-11-22 10:15:30  0.00 s",
    ]


def test_runs_as_json_tell_everything_but_the_text(run: Run, two: list[str]) -> None:
    first, second = json.loads(run(*LIST, "--format", "json").out)
    assert (first["state"], first["error"]) == ("failed", "steps.1: ValueError: first")
    assert (second["state"], second["result"]) == ("succeeded", ["Ada!"])
    assert second["inputs"] == {"names": ["Ada"], "mark": "!"}
    assert "text" not in first


def test_a_run_is_shown_with_its_steps(run: Run, two: list[str]) -> None:
    assert (
        timeless(run(*SHOW, two[0]).out)
        == f"""\
run {two[0]} of two_steps: failed
file: two_steps.yaml
inputs: {{}}
started: 2026-11-22 10:15:30
took: 0.00 s
error: steps.1: ValueError: first
steps:
  succeeded  steps.0  tool echo  0.00 s
             "first"
  failed     steps.1  tool rest  0.00 s
             ValueError: first
"""
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--journal", "nowhere.db", "--list"], "there's no such file"),
        (["--journal", "runs.db", "--show", "nothing"], "there's no run 'nothing'"),
        (["--list"], "--list, --show and --resume need --journal"),
        (["--journal", "greetings.yaml", "--list"], "file is not a database"),
    ],
)
def test_misuse_ends_with_two_and_one_clear_message(
    arguments: list[str], words: str, run: Run, two: list[str], tmp_path: Path
) -> None:
    done = run("run", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "nowhere.db").exists()
