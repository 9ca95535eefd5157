from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Shell
from tests.conftest import Run, Write, clean_environment, manifest_of
from tests.patience import PATIENCE, wait_until
from tests.schema.strategies import examples

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


def test_failing_fast_stops_at_the_first(run: Run, double: Path, tmp_path: Path) -> None:
    put(tmp_path / "in.jsonl", 1000)
    done = run("map", "double", "--inputs", "in.jsonl", "--mode", "thread", "--fail-fast")
    assert done.code == 1
    assert len(done.out.splitlines()) < 100


def test_many_failures_are_summed_up(run: Run, double: Path) -> None:
    done = run("map", "double", "--inputs", "-", "--mode", "inline", stdin="{}\n" * 30)
    assert done.err.splitlines()[-2:] == ["… and 10 more", "30 calls failed"]


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
        (["--inputs", "in.jsonl", "--resume"], "--resume needs -o FILE and --inputs FILE"),
        (["--inputs", "in.jsonl", "-o", "none/x"], "none/x: No such file or directory"),
        (["--inputs", "in.jsonl", "-o", os.devnull], f"{os.devnull} is not a file; without -o"),
        (["--inputs", os.devnull, "-o", "x", "--resume"], f"{os.devnull} is not a file"),
        (["--inputs", "in.jsonl", "-o", "x.csv"], "x.csv: results are JSON Lines; name it x.jsonl"),
        (["--inputs", "bad.csv"], "bad.csv:1: each cell of the first row must name another"),
        (["--inputs", "long.csv"], "long.csv:2: the row has 2 cells for 1 columns"),
        (["--inputs", "bytes.csv"], "bytes.csv:1: this is not CSV"),
        (["--inputs", "quoted.csv"], "quoted.csv:3: this is not CSV"),
        (["--inputs", "huge.csv"], "huge.csv:1: the line has more than 67,108,864 bytes"),
        (["--inputs", "huge.jsonl"], "huge.jsonl:1: the line has more than 67,108,864 bytes"),
        (["--inputs", "in.jsonl", "-o", "in.jsonl"], "in.jsonl already exists"),
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
    (tmp_path / "bad.csv").write_text("number,number\n1,2\n")
    (tmp_path / "long.csv").write_text("number\n1,2\n")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\n1\n")
    (tmp_path / "quoted.csv").write_text('number\n"1"\n"1"2\n')
    for name in ("huge.csv", "huge.jsonl"):
        with (tmp_path / name).open("wb") as file:
            file.truncate((64 << 20) + 1)  # of a hole
    done = run("map", "double", "--mode", "inline", *options)
    assert done.code == 2
    assert words in done.err
    assert done.err.count("\n") == 1


def test_long_cells_are_read_again(run: Run, write: Write, tmp_path: Path) -> None:
    properties = {"text": {"type": "string", "description": "Any."}}
    text = {"type": "object", "properties": properties, "required": ["text"]}
    write("same", manifest_of("same", parameters=text), "def same(text: str):\n    return text\n")
    (tmp_path / "in.csv").write_text(f"text\n{'x' * 200_000}\ny\n")
    command = ["map", "same", "--inputs", "in.csv", "-o", "out.jsonl", "--mode", "inline"]
    assert run(*command).code == 0
    whole = (tmp_path / "out.jsonl").read_text()
    assert len(whole) > 200_000
    assert run(*command, "--resume").code == 0
    assert (tmp_path / "out.jsonl").read_text() == whole


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_inputs_that_can_be_read_once_are_read_once(run: Run, double: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=put, args=(tmp_path / "pipe", 3))
    writer.start()
    done = run("map", "double", "--inputs", "pipe", "--mode", "inline")
    writer.join()
    assert (done.code, done.out.count("value"), done.err) == (0, 3, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device is always full")
def test_an_output_that_is_full_or_closed_is_one_line(
    double: Path, tmp_path: Path, shell: Shell
) -> None:
    put(tmp_path / "in.jsonl", 2)
    for rest, words in (
        ("in.jsonl > /dev/full", "the result can't be written: No space left on device"),
        ("- <&-", "-: there's no standard input"),
    ):
        done = shell(f"map double --mode inline --inputs {rest}")
        assert done.returncode in {1, 2}
        assert done.stderr == f"Error: {words}\n"


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


def test_a_tool_that_can_not_be_called_ends_the_run(run: Run, write: Write) -> None:
    write("double", manifest_of("double", parameters=PARAMETERS, requires=ABSENT), DOUBLE)
    done = run("map", "double", "--inputs", "-", stdin='{"number": 1}\n')
    assert (done.code, done.out) == (1, "")
    assert "the environment variable NEVER_SET is not set" in done.err


ABSENT = {"env": ["NEVER_SET"]}


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


ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()),
    st.dictionaries(st.text(), st.integers()),
)  # fmt: skip


@given(st.lists(st.one_of(ODD, st.dictionaries(st.just("number"), ODD)), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_is_an_input_with_one_result(run: Run, double: Path, documents: list[Any]) -> None:
    command = ["map", "double", "--inputs", "-", "--mode", "inline", "--ordered"]
    done = run(*command, stdin="".join(json.dumps(each) + "\n" for each in documents))
    found = [json.loads(line) for line in done.out.split("\n")[:-1]]
    assert [each["index"] for each in found] == [*range(len(documents))]
    failed = [each["error"]["kind"] for each in found if "error" in each]
    assert {*failed} <= {"invalid_arguments", "tool_error"}
    assert done.code == (1 if failed else 0)


RESULT = {"index": 0, "input_hash": "0123456789abcdef", "value": 1}
DAMAGED = st.one_of(
    st.binary(max_size=60),
    st.builds(
        lambda key, value: json.dumps({**RESULT, key: value}).encode(),
        st.sampled_from(["index", "input_hash", "value"]),
        ODD,
    ),
)


@given(DAMAGED)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(600))
def test_damaged_results_are_misuse(run: Run, double: Path, tmp_path: Path, data: bytes) -> None:
    put(tmp_path / "in.jsonl", 1)
    (tmp_path / "out.jsonl").write_bytes(b"\x00\n" + data + b"\n")
    command = ["map", "double", "--inputs", "in.jsonl", "-o", "out.jsonl", "--resume"]
    done = run(*command, "--mode", "inline")
    assert done.code == 2
    assert done.err.startswith("Error: out.jsonl:1: this is not a result of map")
    (tmp_path / "out.jsonl").write_bytes(data + b"\n")
    done = run(*command, "--mode", "inline")
    # an input without a result, such as one of another index, is called
    assert done.code == 0 or done.err.startswith(("Error: out.jsonl:1: ", "Error: -o can't be"))


@given(st.binary(max_size=80), st.sampled_from(["in.jsonl", "in.csv"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(600))
def test_inputs_of_any_bytes_are_inputs_or_misuse(
    run: Run, double: Path, tmp_path: Path, data: bytes, name: str
) -> None:
    (tmp_path / name).write_bytes(data)
    done = run("map", "double", "--inputs", name, "--mode", "inline")
    assert done.code in {0, 1} or done.err.startswith(f"Error: {name}:")
