from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Shell
from tests.conftest import Run, Write, clean_environment, code_of, manifest_of
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
    manifest = manifest_of("show", parameters={"type": "object", "properties": properties})
    write("show", manifest, code="def show(**given):\n    return given\n")
    done = run("call", "show", "a=5", "b=5", "c=[1, 2]", "d=true")
    assert json.loads(done.out) == {"a": "5", "b": 5, "c": [1, 2], "d": True}
    assert run("call", "show", "a==x=").out == '{"a": "=x="}\n'


TEXTS: dict[str, Any] = {
    "type": ["string", "null"],
    "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "one": {"oneOf": [{"type": "string"}, {"type": "null"}]},
    "enum": {"enum": ["1", "2"]},
    "const": {"const": "7"},
    "reference": {"$ref": "#/$defs/a~1b%20c"},
    "all": {"allOf": [{"type": "string"}]},
    "pattern": {"type": ["string", "null"], "pattern": "^[0-9]+$"},
}


@pytest.fixture
def answering(write: Write) -> None:
    """A tool that answers with its arguments; each can be a string in another way."""
    schemas = {
        name: each if isinstance(each, dict) else {"type": each} for name, each in TEXTS.items()
    }
    properties = {
        **{name: {"description": "x", **each} for name, each in schemas.items()},
        "either": {"type": ["integer", "string"], "description": "x"},
        "number": {"type": "number", "description": "x"},
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "$defs": {"a/b c": {"type": "string"}},
        "patternProperties": {"^is_": {"type": "boolean"}, "^t_": {"type": ["string", "null"]}},
        "additionalProperties": {"type": ["string", "null"]},
    }
    code = "def show(**given):\n    return given\n"
    write("show", manifest_of("show", parameters=parameters), code=code)


@pytest.mark.usefixtures("answering")
def test_a_value_is_text_where_that_alone_fits(run: Run) -> None:
    texts = {"enum": "1", "const": "7"}
    given = {name: texts.get(name, "5") for name in [*TEXTS, "t_x", "other"]}
    done = run("call", "show", *(f"{name}={text}" for name, text in given.items()))
    assert (json.loads(done.out), done.err) == (given, "")


@pytest.mark.usefixtures("answering")
def test_a_value_is_json_where_that_fits(run: Run) -> None:
    done = run("call", "show", "type=null", "either=5", "number=1e3", "is_x=true", "any=01234")
    expected = {"type": None, "either": 5, "number": 1000.0, "is_x": True, "any": "01234"}
    assert json.loads(done.out) == expected


@pytest.mark.usefixtures("answering")
@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("enum=3", '- enum: must be one of "1", "2", not 3'),
        ("number=true", "- number: must be a number, not the boolean true"),
        ("number=NaN", "out of range"),
        ("is_x=5", "- is_x: must be a boolean, not the integer 5"),
        (f"type={'[' * 300}{']' * 300}", ""),
    ],
)
def test_of_a_value_that_fits_neither_way_the_json_is_told(pair: str, words: str, run: Run) -> None:
    done = run("call", "show", pair)
    if words:
        assert (done.code, words in done.err) == (2, True)
    else:
        assert json.loads(done.out) == {"type": pair.removeprefix("type=")}


@pytest.mark.parametrize("option", ["-", "@arguments.json"])
def test_a_byte_order_mark_is_no_part_of_the_arguments(
    option: str, run: Run, echo: Path, tmp_path: Path
) -> None:
    text = '\ufeff{"text": "é"}'
    (tmp_path / "arguments.json").write_text(text, encoding="utf-8")
    assert run("call", "echo", "--args", option, stdin=text).out == '{"said": "é"}\n'


@pytest.mark.parametrize("option", ["-", "@arguments.json", '{"text": "\udcff"}'])
def test_arguments_that_are_not_utf8_are_misuse(option: str, echo: Path, tmp_path: Path) -> None:
    data = b'{"text": "\xff"}'
    (tmp_path / "arguments.json").write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "sovl_tools", "call", "echo", "--args", os.fsencode(option)],
        cwd=tmp_path,
        env=clean_environment(),
        input=data,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the text is not UTF-8, byte 11 can't be read" in done.stderr


@pytest.mark.parametrize("text", ['{"text": "a", "text": "b"}', '{"x": [{"text": 1, "text": 1}]}'])
def test_a_key_that_is_there_twice_is_misuse(text: str, run: Run, echo: Path) -> None:
    done = run("call", "echo", "--args", text)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("Error: --args: the key 'text' is there twice in one object\n")


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
        (["echo"], "- text: is required"),
        (["echo", "txt=a"], "- txt: is not a parameter; did you mean 'text'?"),
        (["echo", "text"], "'text' is not KEY=VALUE"),
        (["echo", '{"text": 1}'], "is not KEY=VALUE; give a JSON object with --args"),
        (["echo", "text=a", "text=b"], "'text' is given twice"),
        (["echo", "text=a", "--args", "{}"], "not both"),
        (["echo", "--args", "{"], "they aren't JSON"),
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


def test_a_tool_that_says_why_it_fails_says_no_more(run: Run, write: Write) -> None:
    code = "from sovl_tools import ToolError\ndef echo(text: str):\n    raise ToolError(text)\n"
    write("echo", code=code)
    assert run("call", "echo", "text=no").err == "no\n"


def test_a_tool_that_takes_too_long_ends_with_one(run: Run, write: Write) -> None:
    code = "import threading\n\n\ndef echo(text: str):\n    threading.Event().wait()\n"
    write("echo", code=code)
    done = run("call", "echo", "text=a", "--timeout", "0.2")
    assert (done.code, done.err) == (1, f"tool 'echo' was not done after 0.2 s; {GIVEN_UP}\n")


def test_a_result_that_is_no_json_is_told_about(run: Run, write: Write) -> None:
    write("echo", code="def echo(text: str):\n    return {'said': object()}\n")
    done = run("call", "echo", "text=a")
    assert (done.code, done.out) == (1, "")
    assert done.err == "result.said is an object, which isn't JSON\n"


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


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_closed_descriptors_do_no_harm(closed: str, echo: Path, shell: Shell) -> None:
    done = shell(f"call echo text=a {closed}")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout == '{"said": "a"}\n'


@pytest.mark.parametrize(
    ("closed", "command"), [(">&-", "call echo text=a"), ("<&- >&-", "validate")]
)
def test_a_closed_output_is_a_failure(closed: str, command: str, echo: Path, shell: Shell) -> None:
    done = shell(f"{command} {closed}")
    assert (done.returncode, done.stdout) == (1, "")
    last = "Error: the result can't be written: the standard output is closed"
    assert done.stderr.splitlines()[-1] == last
    assert "said" not in done.stderr
    assert "Traceback" not in done.stderr
    assert shell(f"{command} >&- 2>&-").returncode == 1


def test_without_a_result_a_closed_output_does_no_harm(
    echo: Path, tmp_path: Path, shell: Shell
) -> None:
    assert shell("-q export -o tools.json >&-").returncode == 0
    assert json.loads((tmp_path / "tools.json").read_text())[0]["name"] == "echo"


def test_a_result_can_be_read_whatever_the_output_holds(run: Run, write: Write) -> None:
    text = "é😀\x9b[31m\u202e"
    write("echo", code=f"def echo(text: str):\n    return {text!r}\n")
    for encoding in ("ascii", "utf-8"):
        done = run("call", "echo", "text=a", PYTHONIOENCODING=encoding)
        assert json.loads(done.out) == text
        assert "\x9b" not in done.out
        assert "\u202e" not in done.out


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


def test_arguments_that_never_end_are_misuse(run: Run, echo: Path) -> None:
    done = run("call", "echo", "--args", "@/dev/zero")
    assert (done.code, done.out) == (2, "")
    assert "--args @/dev/zero: there are more than 67,108,864 bytes" in done.err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there's no fork")
def test_a_process_that_a_tool_forks_writes_no_result(run: Run, write: Write) -> None:
    code = "import os\n\ndef echo(text):\n    child = os.fork()\n"
    write("echo", code=f"{code}    if child:\n        os.waitpid(child, 0)\n    return child > 0\n")
    done = run("call", "echo", "text=a")
    assert (done.code, done.out, done.err) == (0, "true\n", "")


def test_what_is_typed_is_utf_8_whatever_the_locale_says(run: Run, write: Write) -> None:
    write("echo")
    latin = "ü".encode("latin-1").decode("utf-8", "surrogateescape")
    done = run("call", "echo", f"text=F{latin}")
    assert done.code == 2
    assert done.err.endswith("the text is not UTF-8, byte 7 can't be read\n")
    typed = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("call", "echo", "text=Füße", **typed)
    assert (done.code, json.loads(done.out)) == (0, "Füße")


def test_the_log_of_a_tool_is_shown_with_its_name(run: Run, write: Write) -> None:
    head = "import logging\n\nLOG = logging.getLogger(__name__)\n"
    write("echo", code=f"{head}\n\ndef echo(text: str):\n    LOG.info('said %s', text)\n")
    assert "INFO echo: said hi\n" in run("-v", "call", "echo", "text=hi").err
    assert "said" not in run("call", "echo", "text=hi").err
