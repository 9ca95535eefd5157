from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Run, Write, code_of, manifest_of

GIVEN_UP = "its thread was given up and may still be at it"


def test_the_result_is_all_that_goes_to_the_standard_output(run: Run, echo: Path) -> None:
    done = run("call", "echo", "text=hello")
    assert (done.code, done.out) == (0, '{"said": "hello"}\n')
    assert done.err.splitlines() == ["imported", "called", "from a child"]


def test_values_are_read_as_their_types_say(run: Run, write: Write) -> None:
    properties = {
        name: {"type": kind, "description": "x"}
        for name, kind in {"a": "string", "b": "integer", "c": "array", "d": "boolean"}.items()
    }
    properties["c"]["items"] = {}  # type: ignore[assignment]  # a schema within the schema
    manifest = manifest_of("show", parameters={"type": "object", "properties": properties})
    write("show", manifest, code="def show(**given):\n    return given\n")
    done = run("call", "show", "a=5", "b=5", "c=[1, 2]", "d=true")
    assert json.loads(done.out) == {"a": "5", "b": 5, "c": [1, 2], "d": True}
    assert run("call", "show", "a==x=").out == '{"a": "=x="}\n'


@pytest.mark.parametrize("given", ['{"text": "hi"}', "-", "@arguments.json"])
def test_arguments_come_as_text_from_the_input_or_from_a_file(
    given: str, run: Run, echo: Path, tmp_path: Path
) -> None:
    (tmp_path / "arguments.json").write_text('{"text": "hi"}')
    done = run("call", "echo", "--args", given, stdin='{"text": "hi"}')
    assert done.out == '{"said": "hi"}\n'


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], "there is no tool 'nothing'"),
        (["ehco"], "did you mean 'echo'?"),
        (["echo"], "- text: is required"),
        (["echo", "txt=a"], "- txt: is not a parameter; did you mean 'text'?"),
        (["echo", "text"], "'text' is not KEY=VALUE"),
        (["echo", "text=a", "text=b"], "'text' is given twice"),
        (["echo", "text=a", "--args", "{}"], "not both"),
        (["echo", "--args", "{"], "they are no JSON"),
        (["echo", "--args", "@nowhere.json"], "No such file"),
        (["echo", "--timeout", "0", "text=a"], "--timeout"),
    ],
)
def test_misuse_ends_with_two_and_one_clear_message(
    arguments: list[str], words: str, run: Run, echo: Path
) -> None:
    done = run("call", *arguments)
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_tool_that_fails_ends_with_one(run: Run, write: Write) -> None:
    write("echo", code="def echo(text: str):\n    raise ValueError(text)\n")
    done = run("call", "echo", "text=no\x1b[31m")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("ValueError: no\\x1b[31m\n")
    assert "Traceback" not in done.err
    assert "Traceback" in run("-v", "call", "echo", "text=no").err


def test_a_tool_that_takes_too_long_ends_with_one(run: Run, write: Write) -> None:
    code = "import threading\n\n\ndef echo(text: str):\n    threading.Event().wait()\n"
    write("echo", code=code)
    done = run("call", "echo", "text=a", "--timeout", "0.2")
    assert (done.code, done.err) == (1, f"tool 'echo' was not done after 0.2 s; {GIVEN_UP}\n")


def test_a_result_that_is_no_json_is_told_about(run: Run, write: Write) -> None:
    write("echo", code="def echo(text: str):\n    return {'said': object()}\n")
    done = run("call", "echo", "text=a")
    assert (done.code, done.out) == (1, "")
    assert done.err == "result.said is an object, which is no JSON\n"


PROGRESS = """
from sovl_tools import ToolContext


def echo(text: str, context: ToolContext):
    context.report_progress(1, 2, "half")
    context.report_progress(2)
    context.log("warning", text)
"""


def test_what_a_tool_says_of_its_progress_goes_to_the_error_output(run: Run, write: Write) -> None:
    write("echo", code=PROGRESS)
    done = run("call", "echo", "text=careful")
    assert done.out == "null\n"
    assert done.err == "echo: 1 of 2 (50%): half\necho: 2\necho: warning: careful\n"
    assert run("-q", "call", "echo", "text=careful").err == ""


def test_arguments_are_repaired_on_request(run: Run, write: Write) -> None:
    write("echo")
    assert run("call", "echo", "--args", '{"text": 5}').code == 2
    done = run("call", "echo", "--args", '{"text": 5}', "--lenient")
    assert (done.out, done.err) == ('"5"\n', "$.text: 5 was taken as '5'\n")


def test_a_line_about_each_call_is_appended_to_a_file(
    run: Run, write: Write, tmp_path: Path
) -> None:
    write("echo")
    for given in ("text=a", "txt=a"):
        run("call", "echo", given, "--events", "calls.jsonl")
    lines = (tmp_path / "calls.jsonl").read_text().splitlines()
    assert [json.loads(line)["ok"] for line in lines] == [True, False]
    done = run("stats", "calls.jsonl", "--format", "json")
    assert json.loads(done.out)[0]["calls"] == 2
    done = run("call", "echo", "text=a", "--events", "absent/calls.jsonl")
    assert done.code == 2
    assert "--events absent/calls.jsonl: No such file or directory" in done.err


def test_a_broken_tool_says_why_it_did_not_load(run: Run, write: Write) -> None:
    write("echo", code="import nothing_of_that_name\n")
    done = run("call", "echo", "text=a")
    assert done.code == 1
    assert "tools/echo/echo.py:1:1: ST501 ModuleNotFoundError" in done.err


def test_only_the_tool_that_is_called_is_imported(run: Run, echo: Path, write: Write) -> None:
    write("odd", code="import os\n\nos._exit(9)\n")
    assert run("call", "echo", "text=a").code == 0


def test_a_disabled_tool_says_so(run: Run, write: Write) -> None:
    write("echo", manifest_of("echo", enabled=False))
    done = run("call", "echo", "text=a")
    assert (done.code, "disabled" in done.err or '"enabled": false' in done.err) == (1, True)


def test_an_async_tool_is_called_like_any_other(run: Run, write: Write) -> None:
    write("echo", code="async " + code_of("echo"))
    assert run("call", "echo", "text=a").out == '"a"\n'


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_descriptors_do_no_harm(closed: str, echo: Path, tmp_path: Path) -> None:
    command = f"{sys.executable} -m sovl_tools call echo text=a {closed}"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout in {'{"said": "a"}\n', ""}


def test_a_result_can_be_read_whatever_the_output_holds(run: Run, write: Write) -> None:
    text = "é😀\x9b[31m\u202e"
    write("echo", code=f"def echo(text: str):\n    return {text!r}\n")
    for encoding in ("ascii", "utf-8"):
        done = run("call", "echo", "text=a", PYTHONIOENCODING=encoding)
        assert json.loads(done.out) == text
        assert "\x9b" not in done.out
        assert "\u202e" not in done.out


@pytest.mark.parametrize("limit", ["nan", "inf", "1e10", "-1", "soon"])
def test_a_time_limit_that_is_none_is_misuse(limit: str, run: Run, echo: Path) -> None:
    for arguments in (["call", "echo", "text=a", "--timeout"], ["validate", "--import-timeout"]):
        done = run(*arguments, limit)
        assert (done.code, "Traceback" in done.err) == (2, False)
