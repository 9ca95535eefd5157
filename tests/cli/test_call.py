from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Run, Write, clean_environment, manifest_of
from tests.patience import PATIENCE

GIVEN_UP = "its thread was abandoned and can still be at it"


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
    properties["e"] = {"enum": ["1", "2"], "description": "x"}  # type: ignore[dict-item]
    properties["f"] = {"type": ["string", "null"], "description": "x"}  # type: ignore[dict-item]
    manifest = manifest_of("show", parameters={"type": "object", "properties": properties})
    write("show", manifest, code="def show(**given):\n    return given\n")
    done = run("call", "show", "a=5", "b=5", "c=[1, 2]", "d=true", "e=1", "f=null")
    expected = {"a": "5", "b": 5, "c": [1, 2], "d": True, "e": "1", "f": None}
    assert json.loads(done.out) == expected
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
        (["nothing"], "there's no tool 'nothing'"),
        (["ehco"], "did you mean 'echo'?"),
        (["echo", "txt=a"], "- txt: is not a parameter; did you mean 'text'?"),
        (["echo", '{"text": 1}'], "is not KEY=VALUE; give a JSON object with --args"),
        (["echo", "text=a", "--args", "{}"], "not both"),
        (["echo", "--args", "{"], "they aren't JSON"),
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
    place = os.path.join("tools", "echo", "echo.py")
    assert done.err == f"ValueError: no\\x1b[31m ({place}:2)\n"
    assert "Traceback" not in done.err


def test_its_traceback_has_lines_of_ours_only_on_request(run: Run, write: Write) -> None:
    write("echo", code="def echo(text: str):\n    return 1 / 0\n")
    told, more = (run(flag, "call", "echo", "text=no").err for flag in ("-v", "-vv"))
    for each in (told, more):
        assert "echo.py:2)\nTraceback" in each
        assert "return 1 / 0" in each
    assert "dispatch" not in told
    assert "dispatch" in more


def test_a_tool_that_takes_too_long_ends_with_one(run: Run, write: Write) -> None:
    code = "import threading\n\n\ndef echo(text: str):\n    threading.Event().wait()\n"
    write("echo", code=code)
    done = run("call", "echo", "text=a", "--timeout", "0.2")
    assert (done.code, done.err) == (1, f"tool 'echo' was not done after 0.2 s; {GIVEN_UP}\n")


def test_arguments_are_repaired_on_request(run: Run, write: Write) -> None:
    write("echo")
    assert run("call", "echo", "--args", '{"text": 5}').code == 2
    done = run("call", "echo", "--args", '{"text": 5}', "--lenient")
    assert (done.out, done.err) == ('"5"\n', "$.text: 5 was taken as '5'\n")


def test_the_command_ends_although_a_tool_waits_for_an_answer(write: Write, tmp_path: Path) -> None:
    folder = write("ask", manifest_of("ask"), code="def ask(text):\n    return input()\n")
    command = [sys.executable, "-m", "sovl_tools", "call", "ask", "text=x", "--timeout", "0.3"]
    with subprocess.Popen(
        [*command, "--tools", str(folder.parent)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=clean_environment(),
    ) as process:
        assert process.wait(PATIENCE) == 1
        assert process.stderr is not None
        said = process.stderr.read()
    assert GIVEN_UP in said
    assert "Fatal" not in said


def test_the_log_of_a_tool_is_shown_with_its_name(run: Run, write: Write) -> None:
    head = "import logging\n\nLOG = logging.getLogger(__name__)\n"
    write("echo", code=f"{head}\n\ndef echo(text: str):\n    LOG.info('said %s', text)\n")
    assert "INFO echo: said hi\n" in run("-v", "call", "echo", "text=hi").err
    assert "said" not in run("call", "echo", "text=hi").err
