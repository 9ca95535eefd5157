from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.procedures import FAILING, GREETINGS, TWO_STEPS, WAITING, Put
from tests.cli.procedures import put as put  # noqa: PLC0414 - a fixture
from tests.conftest import Run, Write, clean_environment, manifest_of


def run_id(text: str) -> str:
    """Return the ID that a command has printed."""
    found = re.search(r"\d{8}-\d{6}-[0-9a-f]{4}", text)
    assert found is not None, text
    return found[0]


def test_the_result_is_all_that_goes_to_the_standard_output(run: Run, put: Put) -> None:
    put("greetings.yaml", GREETINGS)
    done = run("run", "greetings.yaml", "--input", 'names=["Ada", "Grace"]')
    assert (done.code, done.out) == (0, '["Ada!", "Grace!"]\n')
    lines = re.sub(r"in \d\.\d\d s", "in 0.00 s", done.err).splitlines()
    assert lines == [
        "greetings",
        "started          for_each  [steps.0]",
        "started            tool echo  [steps.0[0].steps.0]",
        "done               tool echo  [steps.0[0].steps.0]  in 0.00 s",
        "started            tool echo  [steps.0[1].steps.0]",
        "done               tool echo  [steps.0[1].steps.0]  in 0.00 s",
        "done             for_each  [steps.0]  in 0.00 s",
    ]


@pytest.mark.parametrize("given", ['{"names": ["b"]}', "-", "@inputs.json"])
def test_inputs_come_as_text_from_the_input_or_from_a_file(given: str, run: Run, put: Put) -> None:
    put("greetings.yaml", GREETINGS)
    put("inputs.json", '{"names": ["b"]}')
    done = run("run", "greetings.yaml", "--inputs", given, stdin='{"names": ["b"]}')
    assert done.out == '["b!"]\n'


NAMES = ("--inputs", '{"names": []}')


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the file of a procedure"),
        (["nowhere.yaml"], "there's no file 'nowhere.yaml'"),
        (["greetings.yaml"], "names: is required"),
        (["greetings.yaml", "--input", "nams=[]"], "did you mean 'names'?"),
        (["greetings.yaml", "--inputs", "{"], "they aren't JSON"),
        (["greetings.yaml", "--resume", "x"], "--resume need --journal"),
        (["--resume", "x", "--journal", "runs.db"], "there's no such file"),
        (["greetings.yaml", *NAMES, "--journal", "greetings.yaml"], "file is not a database"),
    ],
)
def test_misuse_ends_with_two_and_one_clear_message(
    arguments: list[str], words: str, run: Run, put: Put
) -> None:
    put("greetings.yaml", GREETINGS)
    done = run("run", *arguments)
    assert (done.code, done.out) == (2, ""), done
    assert words in done.err
    assert "Traceback" not in done.err
    assert "started" not in done.err


UNSOUND = """\
name: unsound
description: Calls what is not there.
steps:
  - {action: tool, tool: echo, arguments: {text: a}}
  - {action: tool, tool: ehco}
  - {action: procedure, procedure: other}
  - {action: set, values: {a: "{{ nothing }}"}}
"""
DOUBTFUL = """\
name: doubtful
description: Has a step that is never reached.
steps:
  - {action: return, value: 1}
  - {action: wait, seconds: 1}
"""


def test_an_unsound_procedure_is_told_with_excerpts_before_anything_runs(
    run: Run, put: Put
) -> None:
    put("unsound.yaml", UNSOUND)
    put("other.yaml", DOUBTFUL.replace("doubtful", "other").replace("wait", "wiat"))
    done = run("run", "unsound.yaml")
    assert (done.code, done.out) == (1, "")
    assert "started" not in done.err
    assert done.err.splitlines()[:5] == [
        "unsound.yaml:5:26: ST754 there's no tool 'ehco'",
        "  |",
        "5 |   - {action: tool, tool: ehco}",
        "  |                          ^^^^",
        "help: did you mean 'echo'?",
    ]
    assert "unsound.yaml:7:31: ST760 there's no variable 'nothing'" in done.err
    assert "other.yaml:5:14: ST753 there's no action 'wiat'" in done.err


def test_a_step_that_fails_is_named_with_its_place(run: Run, put: Put, write: Write) -> None:
    write("rest", code=FAILING)
    put("two_steps.yaml", TWO_STEPS)
    done = run("run", "two_steps.yaml")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1] == ("Error: two_steps.yaml:5:5: steps.1: ValueError: first")


def test_a_failure_in_another_procedure_is_named_where_it_is(run: Run, put: Put) -> None:
    put(
        "outer.yaml", "name: outer\ndescription: d\nsteps:\n- {action: procedure, procedure: inner}"
    )
    put("inner.yaml", 'name: inner\ndescription: d\nsteps:\n- {action: fail, message: "no"}')
    done = run("run", "outer.yaml")
    assert done.err.splitlines()[-1] == "Error: inner.yaml:4:3: steps.0/inner:steps.0: no"
    assert done.err.count(": no") == 2, "the steps around it do not say it again"


def test_a_dry_run_prints_the_plan_and_runs_nothing(run: Run, put: Put) -> None:
    put(
        "outer.yaml",
        "name: outer\ndescription: d\nsteps: [{action: procedure, procedure: doubtful}]",
    )
    put("doubtful.yaml", DOUBTFUL)
    done = run("-q", "run", "outer.yaml", "--dry-run", "--journal", "runs.db")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "outer: d",
        "└ procedure doubtful",
        "",
        "doubtful: Has a step that is never reached.",
        "├ return 1",
        "└ wait 1 s",
    ]


def test_only_the_tools_that_are_called_are_imported(run: Run, put: Put, write: Write) -> None:
    write("loud", code="print('imported')\n\n\ndef loud(text: str): ...\n")
    put("greetings.yaml", GREETINGS)
    assert "imported" not in run("run", "greetings.yaml", "--input", "names=[]").err
    handled = "name: handled\ndescription: d\nsteps: [{action: shout}]\n"
    write("echo", code="def echo(text: str): ...\nSTEP_HANDLERS = {'shout': lambda s, c: 1}\n")
    put("handled.yaml", handled)
    done = run("run", "handled.yaml")
    assert done.code == 0
    assert "imported" in done.err


def test_a_run_that_takes_too_long_ends_and_can_go_on(run: Run, put: Put, write: Write) -> None:
    write("rest", manifest_of("rest", annotations={"idempotent": True}), WAITING)
    put("two_steps.yaml", TWO_STEPS)
    done = run("run", "two_steps.yaml", "--timeout", "0.5", "--journal", "runs.db")
    assert (done.code, done.out) == (1, "")
    *_, words, way_on = done.err.splitlines()
    assert words == "Error: the run took longer than 0.5 s"
    assert way_on == f"to continue: sovl-tools run --journal runs.db --resume {run_id(done.err)}"
    without = run("run", "two_steps.yaml", "--timeout", "0.5").err
    assert without.splitlines()[-1] == words


def test_a_run_that_failed_goes_on_where_it_stopped(
    run: Run, put: Put, write: Write, tmp_path: Path
) -> None:
    write("rest", code=FAILING)
    put("two_steps.yaml", TWO_STEPS)
    failed = run("run", "two_steps.yaml", "--journal", "runs.db")
    resume = ["run", "--journal", "runs.db", "--resume", run_id(failed.err)]
    write("rest")
    done = run(*resume)
    assert (done.code, done.out) == (0, '["first", "first"]\n')
    assert "done before      tool echo  [steps.0]\n" in done.err
    again = run(*resume)
    assert (again.code, again.out) == (0, done.out)
    assert again.err.endswith("has succeeded already; nothing was done\n")
    assert run(*resume[:-1], "nothing").code == 2


def test_a_procedure_that_has_changed_or_moved_needs_a_word(
    run: Run, put: Put, write: Write, tmp_path: Path
) -> None:
    write("rest", code=FAILING)
    path = put("two_steps.yaml", TWO_STEPS)
    failed = run("run", "two_steps.yaml", "--journal", "runs.db")
    write("rest")
    resume = ["run", "--journal", "runs.db", "--resume", run_id(failed.err)]
    path.write_text(f"# changed\n{TWO_STEPS}")
    refused = run(*resume)
    assert refused.code == 2
    assert "has changed since run" in refused.err
    assert "--force" in refused.err
    (tmp_path / "moved").mkdir()
    path.rename(tmp_path / "moved" / "two_steps.yaml")
    assert "two_steps.yaml'" in run(*resume).err
    done = run(*resume, "moved/two_steps.yaml", "--force")
    assert (done.code, done.out) == (0, '["first", "first"]\n')


def test_a_step_that_was_under_way_is_repeated_only_if_told_to(
    run: Run, put: Put, write: Write
) -> None:
    write("rest", manifest_of("rest"), WAITING)
    put("two_steps.yaml", TWO_STEPS)
    ended = run("run", "two_steps.yaml", "--timeout", "0.5", "--journal", "runs.db")
    resume = ["run", "--journal", "runs.db", "--resume", run_id(ended.err)]
    write("rest")
    refused = run(*resume)
    assert refused.code == 1
    assert "was running" in refused.err
    assert refused.err.endswith("; take it again with --repeat-unfinished\n")
    assert run(*resume, "--repeat-unfinished").out == '["first", "first"]\n'


def test_a_run_that_is_interrupted_ends_its_entry_and_says_how_to_go_on(
    run: Run, put: Put, write: Write, tmp_path: Path
) -> None:
    write("rest", manifest_of("rest", annotations={"idempotent": True}), WAITING)
    put("two_steps.yaml", TWO_STEPS)
    command = [sys.executable, "-P", "-m", "sovl_tools", "run", "two_steps.yaml"]
    process = subprocess.Popen(
        [*command, "--journal", "runs.db"],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        head = ""
        while "resting" not in head:
            head += process.stderr.readline()
        os.kill(process.pid, signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    *_, words, way_on = err.splitlines()
    assert words == "Error: the run was interrupted"
    assert way_on == f"to continue: sovl-tools run --journal runs.db --resume {run_id(head)}"
    listed = run("run", "--journal", "runs.db", "--list", "--format", "json")
    assert [each["state"] for each in json.loads(listed.out)] == ["cancelled"]
