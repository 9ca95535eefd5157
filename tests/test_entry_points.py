"""What holds for a call holds wherever it is made: each promise at each entry point."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sovl_tools.loading.requirements import processes_missing
from tests import entry_points
from tests.conftest import Run, Write, manifest_of
from tests.entry_points import Call, Found, at_a_terminal

SETTINGS = """\
timeout = 0.5
coerce = "lenient"
max-result-bytes = 100
approval = ["zap"]
env-file = "settings.env"
locked = true
"""
SOURCES = {
    "tarry": "import time\n\n\ndef tarry(number: int) -> None:\n    time.sleep(30)\n",
    "double": "def double(number: int) -> int:\n    return 2 * number\n",
    "long": "def long(number: int) -> str:\n    return number * 'x'\n",
    "flaky": """
from pathlib import Path

from sovl_tools import ToolError


def flaky(number: int) -> str:
    with Path(f"calls-{number}.txt").open("a") as file:
        file.write("x")
    calls = len(Path(f"calls-{number}.txt").read_text())
    if calls < 3:
        raise ToolError("not yet")
    return f"call {calls}"
""",
    "zap": "def zap(number: int) -> str:\n    return f'zapped {number}'\n",
    "ask": """
from sovl_tools import ToolContext

SCHEMA = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}


async def ask(number: int, context: ToolContext) -> str:
    answer = await context.elicit("Why?", SCHEMA)
    return f"because {answer.content['reason']}"
""",
    "tell": """
from sovl_tools import ToolContext


def tell(number: int, context: ToolContext) -> str:
    context.report_progress(1, 2, "halfway")
    context.log("warning", "careful")
    return "told"
""",
    "helped": "import shopcode\n\n\ndef helped(number: int) -> str:\n    return shopcode.HELP\n",
    "keyed": "import os\n\n\ndef keyed(number: int) -> str:\n    return os.environ['DESK_KEY']\n",
    "changed": "def changed(number: int) -> int:\n    return number\n",
    "where": "import os\n\n\ndef where(number: int) -> int:\n    return os.getpid()\n",
}
NUMBER = {
    "type": "object",
    "properties": {"number": {"type": "integer", "description": "Any."}},
    "required": ["number"],
}
MORE: dict[str, dict[str, Any]] = {
    "flaky": {"execution": {"retry": 3}},
    "zap": {"annotations": {"destructive": True}},
    "keyed": {"requires": {"env": ["DESK_KEY"]}},
    "where": {"execution": {"mode": "process"}},
}


class Promise(NamedTuple):
    """Something that holds for a call.

    Attributes:
        call: what is called.
        holds: tells by what came of the call whether it was kept.
    """

    call: Call
    holds: Callable[[Found], bool]


def promise(tool: str, number: Any, *words: str) -> Promise:
    return Promise(
        (tool, {"number": number}), lambda found: all(each in str(found) for each in words)
    )


PROMISES = {
    "timeout": promise("tarry", 1, "0.5"),
    "coerce": promise("double", "21", "42"),
    "max_result_bytes": Promise(
        ("long", {"number": 500}), lambda found: "xxx" in found.text and "x" * 101 not in found.text
    ),
    "retry": promise("flaky", 1, "call 3"),
    "approval": promise("zap", 7, "zapped 7"),
    "elicit": promise("ask", 1, "because broken"),
    "log and progress": promise("tell", 1, "halfway", "careful", "told"),
    "project packages": promise("helped", 1, "from the project"),
    ".env": promise("keyed", 1, "from the file"),
    "lock": promise("changed", 1, "lock"),
    "mode": Promise(
        ("where", {"number": 1}), lambda found: str(os.getpid()) not in found.text.split()
    ),
}

NOT_A_TERMINAL = "the user can't be asked, because the input isn't a terminal"
NO_HOST = "or set on_"
EXCEPTIONS: dict[tuple[str, str], Callable[[Found], bool]] = {
    # many calls, whose questions no person could keep apart
    ("map", "approval"): lambda found: NO_HOST in found.text,
    ("map", "elicit"): lambda found: NO_HOST in found.text,
    # results alone, as JSON Lines
    ("map", "log and progress"): lambda found: "told" in found.text,
    # a test has no one to ask; --include names the destructive tools that may run
    ("pytest", "approval"): lambda found: NO_HOST in found.text,
    ("pytest", "elicit"): lambda found: NO_HOST in found.text,
    ("pytest", "log and progress"): lambda found: "told" in found.text,
    # in a pipe; the tests of the terminal answer
    ("call", "approval"): lambda found: NOT_A_TERMINAL in found.text,
    ("call", "elicit"): lambda found: NOT_A_TERMINAL in found.text,
    ("run", "approval"): lambda found: NOT_A_TERMINAL in found.text,
    ("run", "elicit"): lambda found: NOT_A_TERMINAL in found.text,
    # what a procedure passes is checked before anything runs
    ("run", "coerce"): lambda found: "must be an integer" in found.text,
    # the stand-in knows the tools that are loaded
    ("chat", "lock"): lambda found: "did not load" in found.text and "- changed" not in found.text,
    ("chat", "approval"): lambda found: NOT_A_TERMINAL in found.text,
    ("chat", "elicit"): lambda found: NOT_A_TERMINAL in found.text,
}
"""Where a promise can't be kept, and what a user learns; docs/how-to/context.md has the reasons."""

PROCEDURE = """\
name: once
description: Calls a tool.
steps:
  - action: tool
    tool: {tool}
    arguments: {arguments}
    save_as: found
output: "{{{{ found }}}}"
"""
TEST_FILE = """\
import json
from pathlib import Path


def test_calls(sovl_tooler):
    results = [sovl_tooler.call_sync(*each) for each in json.loads(Path("calls.json").read_text())]
    strings = [str(each.error or each.value) for each in results]
    Path("results.json").write_text(json.dumps(strings))
"""


@pytest.fixture
def _project(tmp_path: Path, write: Write, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(os, "environ", {**os.environ})
    for name, source in SOURCES.items():
        write(name, manifest_of(name, parameters=NUMBER, **MORE.get(name, {})), source)
    (tmp_path / "shopcode.py").write_text("HELP = 'from the project'\n")
    (tmp_path / "settings.env").write_text("DESK_KEY='from the file'\n")
    (tmp_path / "sovl-tools.toml").write_text(SETTINGS.replace("locked = true", ""))
    assert run("lock").code == 0
    (tmp_path / "sovl-tools.toml").write_text(SETTINGS)
    with (tmp_path / "tools" / "changed" / "changed.py").open("a") as file:
        file.write("# edited\n")
    for name in [each for each in sys.modules if each == "shopcode"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def ways(run: Run, tmp_path: Path) -> dict[str, entry_points.Way]:
    """Return every way in which tools are called."""

    def by_call(calls: Sequence[Call]) -> list[Found]:
        done = [run("call", name, f"number={given['number']}") for name, given in calls]
        return [Found(each.out + each.err) for each in done]

    def by_chat(calls: Sequence[Call]) -> list[Found]:
        lines = [f"{name} number={given['number']}" for name, given in calls]
        done = [run("chat", "--provider", "local", stdin=f"{line}\n") for line in lines]
        return [Found(each.out + each.err) for each in done]

    def by_map(calls: Sequence[Call]) -> list[Found]:
        found = []
        for name, given in calls:
            done = run("map", name, "--inputs", "-", stdin=f"{json.dumps(given)}\n")
            found.append(Found(done.out + done.err))
        return found

    def by_run(calls: Sequence[Call]) -> list[Found]:
        found = []
        for name, given in calls:
            text = PROCEDURE.format(tool=name, arguments=json.dumps(given))
            (tmp_path / "once.yaml").write_text(text)
            done = run("run", "once.yaml")
            found.append(Found(done.out + done.err))
        return found

    def by_pytest(calls: Sequence[Call]) -> list[Found]:
        (tmp_path / "calls.json").write_text(json.dumps(calls))
        (tmp_path / "test_calls.py").write_text(TEST_FILE)
        plugin = ["-p", "sovl_tools.pytest_plugin", "--sovl-tools", "tools"]
        entry_points.run_pytest(*plugin, "-k", "test_calls")
        return [Found(each) for each in json.loads((tmp_path / "results.json").read_text())]

    return {
        "Tooler": entry_points.by_tooler,
        "Agent": entry_points.by_agent,
        "chat": by_chat,
        "call": by_call,
        "map": by_map,
        "run": by_run,
        "MCP, stdio": entry_points.by_stdio,
        "MCP, HTTP": entry_points.by_http,
        "JSON API": entry_points.by_json_api,
        "pytest": by_pytest,
    }


WAYS = (
    *("Tooler", "Agent", "chat", "call", "map", "run"),
    *("MCP, stdio", "MCP, HTTP", "JSON API", "pytest"),
)


@pytest.mark.usefixtures("_project")
@pytest.mark.parametrize("name", WAYS)
def test_each_promise_holds_at_each_entry_point(
    name: str, ways: dict[str, entry_points.Way]
) -> None:
    wanted = {
        feature: each
        for feature, each in PROMISES.items()
        if feature != "mode" or processes_missing() is None
    }
    found = ways[name]([each.call for each in wanted.values()])
    broken = {
        feature: result
        for (feature, each), result in zip(wanted.items(), found, strict=True)
        if not EXCEPTIONS.get((name, feature), each.holds)(result)
    }
    assert broken == {}


@pytest.mark.usefixtures("_project")
def test_at_a_terminal_the_user_is_asked(tmp_path: Path) -> None:
    reason, consent = ("reason (string):", "broken"), ("[y/N]", "y")
    assert "because broken" in at_a_terminal("call", "ask", "number=1", prompts=[reason]).text
    assert "zapped 7" in at_a_terminal("call", "zap", "number=7", prompts=[consent]).text
    for tool, prompt, words in (("ask", reason, "because broken"), ("zap", consent, "zapped 7")):
        text = PROCEDURE.format(tool=tool, arguments='{"number": 7}')
        (tmp_path / "once.yaml").write_text(text)
        assert words in at_a_terminal("run", "once.yaml", prompts=[prompt]).text


@pytest.mark.usefixtures("_project")
def test_examples_are_called_with_the_same_settings(write: Write, run: Run, tmp_path: Path) -> None:
    outputs = {
        "double": {"input": {"number": 21}, "output": 42},
        "helped": {"input": {"number": 1}, "output": "from the project"},
        "keyed": {"input": {"number": 1}, "output": "from the file"},
        "zap": {"input": {"number": 7}, "output": "zapped 7"},
    }
    (tmp_path / "sovl-tools.toml").write_text(SETTINGS.replace("locked = true", ""))
    for name, example in outputs.items():
        more = {**MORE.get(name, {}), "examples": [example]}
        write(name, manifest_of(name, parameters=NUMBER, **more), SOURCES[name])
    done = run("test", "--include", "destructive", *outputs)
    assert done.code == 0, done.out
