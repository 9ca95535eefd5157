from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, Write, clean_environment, manifest_of
from tests.patience import PATIENCE, wait_until

NUMBER = {"number": {"type": "integer", "description": "Which."}}
PARAMETERS = {"type": "object", "properties": NUMBER, "required": ["number"]}
DOUBLE = """
import time

def double(number: int):
    time.sleep(0.002)
    if number == 13:
        raise ValueError("unlucky\\nindeed")
    return {"doubled": 2 * number}
"""


@pytest.fixture
def double(write: Write) -> Path:
    return write("double", manifest_of("double", parameters=PARAMETERS), DOUBLE)


def put(path: Path, count: int) -> None:
    path.write_text("".join(f'{{"number": {number}}}\n' for number in range(count)))


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_input_has_one_result(run: Run, double: Path, tmp_path: Path) -> None:
    put(tmp_path / "in.jsonl", 20)
    done = run("map", "double", "--inputs", "in.jsonl", "--mode", "thread", "--ordered")
    assert done.code == 1
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [each["index"] for each in found] == [*range(20)]
    assert found[3]["value"] == {"doubled": 6}
    error = {"kind": "tool_error", "message": "ValueError: unlucky\nindeed"}
    assert found[13]["error"] == error
    assert done.err == "input 13: tool_error: ValueError: unlucky indeed\n1 call failed\n"


def test_lines_that_are_no_arguments_fail_alone(run: Run, double: Path) -> None:
    stdin = '{"number": 1}\n\n[1]\nnot json\n{"number": 2}\n'
    command = ["map", "double", "--inputs", "-", "--mode", "inline", "--ordered"]
    done = run(*command, stdin=stdin)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [each["index"] for each in found] == [0, 1, 2, 3]
    assert ["value" in each for each in found] == [True, False, False, True]
    assert done.code == 1


def test_inputs_can_be_rows_of_csv(run: Run, double: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("\ufeffnumber\n1\n13\n\n2\n", encoding="utf-8")
    command = ["map", "double", "--inputs", "in.csv", "-o", "out.jsonl", "--mode", "thread"]
    assert run(*command).code == 1
    found = {each["index"]: each.get("value") for each in rows(tmp_path / "out.jsonl")}
    assert found == {0: {"doubled": 2}, 1: None, 2: {"doubled": 4}}
    done = run(*command, "--resume")
    assert (done.code, done.err) == (1, "1 call failed, 1 of them before\n")


def test_a_run_goes_on_where_it_was(run: Run, double: Path, tmp_path: Path) -> None:
    put(tmp_path / "in.jsonl", 12)
    command = ["map", "double", "--inputs", "in.jsonl", "-o", "out.jsonl", "--mode", "thread"]
    assert run(*command).code == 0
    whole = (tmp_path / "out.jsonl").read_bytes()
    done = run(*command)
    assert (done.code, done.err) == (
        2,
        "Error: out.jsonl already exists; --resume continues it\n",
    )
    for cut in (0, 5, len(whole) // 2, len(whole) - 1, len(whole)):
        (tmp_path / "out.jsonl").write_bytes(whole[:cut])
        assert run(*command, "--resume").code == 0
        assert sorted(each["index"] for each in rows(tmp_path / "out.jsonl")) == [*range(12)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--inputs", "none.jsonl"], "none.jsonl: No such file or directory"),
        (["--inputs", "-", "--resume", "-o", "x"], "--resume needs -o FILE and --inputs FILE"),
        (["--inputs", "quoted.csv"], "this is not CSV"),
        (
            ["--inputs", "in.jsonl", "-o", "in.jsonl", "--resume"],
            "in.jsonl:1: this is not a result of map with these inputs",
        ),
    ],
    ids=str,
)
def test_misuse_is_one_line(
    run: Run, double: Path, tmp_path: Path, options: list[str], words: str
) -> None:
    put(tmp_path / "in.jsonl", 2)
    (tmp_path / "quoted.csv").write_text('number\n"1"\n"1"2\n')
    done = run("map", "double", "--mode", "inline", *options)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_results_of_other_inputs_are_not_gone_on_with(
    run: Run, double: Path, tmp_path: Path
) -> None:
    put(tmp_path / "in.jsonl", 3)
    command = ["map", "double", "--inputs", "in.jsonl", "-o", "out.jsonl", "--mode", "thread"]
    assert run(*command).code == 0
    (tmp_path / "in.jsonl").write_text('{"number": 7}\n' * 3)
    done = run(*command, "--resume")
    assert done.code == 2
    assert "it has a result of another input with the index 0" in done.err


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_a_run_that_was_ended_goes_on(
    run: Run, double: Path, tmp_path: Path, ending: signal.Signals
) -> None:
    put(tmp_path / "in.jsonl", 600)
    command = ["map", "double", "--inputs", "in.jsonl", "-o", "out.jsonl", "--mode", "thread"]
    out = tmp_path / "out.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "sovl_tools", *command],
        cwd=tmp_path,
        env=clean_environment(),
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") > 5)
        os.kill(process.pid, ending)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == (1 if ending is signal.SIGINT else -signal.SIGKILL)
    assert b"Traceback" not in said
    assert out.read_bytes().count(b"\n") < 600
    run(*command, "--resume")
    assert sorted(each["index"] for each in rows(out)) == [*range(600)]
