"""``sovl-tools test``: the examples of manifests as tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.sessions import CTRL_C, session
from tests.conftest import Run, Write, is_running, manifest_of
from tests.patience import wait_until
from tests.reporting.jenkins import jenkins
from tests.tables import check_each

SAYS = {"input": {"text": "a"}}


@pytest.fixture
def examples(write: Write) -> Any:
    """Write a tool with examples: ``examples("echo", {"input": …}, code=…, tags=…)``."""

    def tool(name: str, *documents: Any, code: str | None = None, **keys: Any) -> Path:
        return write(name, manifest_of(name, examples=list(documents), **keys), code)

    return tool


def returns(name: str, value: Any) -> str:
    return f"def {name}(text: str) -> object:\n    return {value!r}\n"


def statuses(run: Run, *arguments: str, **environment: str) -> dict[str, str]:
    done = run("test", "--format", "json", *arguments, **environment)
    found = json.loads(done.out)["examples"]
    return {each["id"].removeprefix("tools/"): each["status"] for each in found}


def test_a_failure_has_the_place_the_differences_and_what_was_printed(
    run: Run, examples: Any
) -> None:
    code = "def echo(text: str) -> dict:\n    print('called')\n    return {'said': text}\n"
    examples("echo", {**SAYS, "output": {"said": "b", "to": "me"}}, code=code)
    done = run("test")
    assert done.code == 1
    place, *lines, summary = done.out.splitlines()
    assert place == ("tools/echo/echo.json:17:5: example[0] failed: the output differs")
    assert lines == [
        '    $.said is "a", expected "b"',
        '    $.to is missing, expected "me"',
        '  input: {"text": "a"}',
        "  printed:",
        "    called",
    ]
    assert summary.endswith(": 1 failed")


@check_each(
    ("match", "expected", "passes"),
    [
        ("subset", {"a": [1.0, 2]}, True),
        ("exact", {"a": [1, 2]}, False),
        ("approx", {"a": [1, 2.0000001]}, True),
        ("schema", "anything", True),
        (None, {"a": [1]}, False),
    ],
)
def test_outputs_are_compared_as_the_example_says(
    match: str | None,
    expected: Any,
    passes: bool,  # noqa: FBT001 - a column
    run: Run,
    examples: Any,
) -> None:
    key = {} if match is None else {"output_match": match}
    code = returns("echo", {"a": [1, 2], "b": None})
    schema = {"type": "object", "required": ["a", "b"]}
    examples("echo", {**SAYS, "output": expected, **key}, code=code, output_schema=schema)
    assert run("test").code == (0 if passes else 1)


@check_each(
    ("keys", "options", "expected"),
    [
        ({"annotations": {"destructive": True}}, [], ("skipped", "the tool is destructive")),
        ({"annotations": {"open_world": True}}, [], ("skipped", "--include network runs it")),
        (
            {"annotations": {"open_world": True, "destructive": True}},
            ["--include", "network,destructive"],
            ("passed", ""),
        ),
        ({"enabled": False}, [], ("skipped", 'its manifest says "enabled": false')),
        ({"requires": {"env": ["NOT_THERE"]}}, [], ("skipped", "NOT_THERE is not set")),
    ],
)
def test_what_is_not_run_says_why(
    keys: dict[str, Any], options: list[str], expected: tuple[str, str], run: Run, examples: Any
) -> None:
    status, reason = expected
    examples("echo", SAYS, **keys)
    done = run("test", *options)
    assert done.code == 0
    assert done.out.splitlines()[-1].endswith(f": 1 {status}")
    assert reason in done.out


HOSTILE = {
    "hangs": ("    import time\n    time.sleep(1000)\n", "was not done after 0.5 s"),
    "exits": ("    import os\n    os._exit(3)\n", "the call ended its process: exit code 3"),
    "prints": ("    while True:\n        print('x' * 10_000)\n", "more than 1,048,576 bytes"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_example_fails_alone(name: str, run: Run, examples: Any, tmp_path: Path) -> None:
    body, words = HOSTILE[name]
    code = f"def {name}(text: str) -> object:\n{body}"
    examples(name, SAYS, code=code)
    examples("zebra", {**SAYS, "output": "a"})
    (tmp_path / "sovl-tools.toml").write_text("import-timeout = 0.5\n")
    done = run("test", "--timeout", "0.5")
    assert done.code == 1
    assert words in done.out
    assert done.out.splitlines()[-1].endswith(": 1 passed, 1 failed")


def test_a_tool_that_can_t_be_loaded_fails_once(run: Run, examples: Any, write: Write) -> None:
    write("broken", "{")
    examples("absent", SAYS, SAYS, code="import not_there\n\n\ndef absent(text): return text\n")
    examples("ended", SAYS, code="import os\n\nos._exit(1)\n\n\ndef ended(text): ...\n")
    assert statuses(run) == {
        "absent/absent.json::example[0]": "failed",
        "absent/absent.json::example[1]": "failed",
        "broken/broken.json::load": "failed",
        "ended/ended.json::example[0]": "failed",
    }


def test_examples_run_in_a_directory_of_their_own_with_copies_of_their_data(
    run: Run, examples: Any, tmp_path: Path
) -> None:
    code = (
        "from pathlib import Path\n\n\n"
        "def notes(text: str) -> list:\n"
        "    found = [path.name for path in Path().iterdir()]\n"
        "    Path('data.txt').write_text('changed')\n"
        "    return found\n"
    )
    folder = examples("notes", *[{**SAYS, "output": ["data.txt"]}] * 2, code=code)
    (folder / "examples").mkdir()
    (folder / "examples" / "data.txt").write_text("kept")
    assert run("test").code == 0
    assert (folder / "examples" / "data.txt").read_text() == "kept"
    assert not (tmp_path / "data.txt").exists()


def test_names_and_expressions_choose(run: Run, examples: Any) -> None:
    examples("echo", SAYS, {**SAYS, "description": "Loudly."})
    examples("other", SAYS)
    assert list(statuses(run, "other")) == ["other/other.json::example[0]"]
    assert list(statuses(run, "-k", "loudly")) == ["echo/echo.json::example[1]"]
    chosen = statuses(run, "-k", "LOUDLY", "-k", "other.json", "-n", "2")
    assert list(chosen) == ["echo/echo.json::example[1]", "other/other.json::example[0]"]


@check_each(
    ("arguments", "words"),
    [
        (["ehco"], "there's no tool folder 'ehco'; did you mean 'echo'?"),
        (["-k", "nothing"], "no example has the words of -k"),
        (["--include", "netwrk"], "there's no group 'netwrk'; did you mean 'network'?"),
        (["--tools", "empty"], "there's no tool in 'empty'"),
    ],
)
def test_misuse_is_told(
    arguments: list[str], words: str, run: Run, examples: Any, tmp_path: Path
) -> None:
    examples("echo", SAYS)
    (tmp_path / "empty").mkdir(exist_ok=True)
    done = run("test", *arguments)
    assert done.code == 2
    assert words in done.err


def test_junit_has_a_case_for_each_example(run: Run, examples: Any, tmp_path: Path) -> None:
    examples("echo", {**SAYS, "output": "b"}, SAYS, {"input": "text"})
    assert run("test", "--junit", "report.xml").code == 1
    [suite] = ET.parse(tmp_path / "report.xml").getroot()
    counts = {key: suite.attrib[key] for key in ("name", "tests", "failures", "skipped")}
    assert counts == {"name": "sovl-tools test", "tests": "3", "failures": "1", "skipped": "1"}
    failed, passed, skipped = suite
    assert (failed.attrib["classname"], failed.attrib["name"]) == (
        "tools/echo/echo.json",
        "example[0]",
    )
    assert failed[0].attrib["message"] == "the output differs"
    assert failed[0].text == (
        'tools/echo/echo.json:17:5: the output differs\n$ is "a", expected "b"'
    )
    assert list(passed) == []
    assert skipped[0].attrib == {"message": "its input is text that is only shown"}
    jenkins().validate(str(tmp_path / "report.xml"))


def test_an_interrupt_ends_what_runs(tmp_path: Path, examples: Any) -> None:
    code = (
        "import os, time\n\n\ndef slow(text: str) -> str:\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(1000)\n"
    )
    examples("slow", SAYS, SAYS, code=code)
    with session(tmp_path, "test") as terminal:
        wait_until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
        terminal.type(CTRL_C, end="")
        assert terminal.await_end() == 1
    pid = int((tmp_path / "pid").read_text())
    wait_until(lambda: not is_running(pid))
