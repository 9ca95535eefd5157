"""Directories of modules, as ``validate`` checks them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Run, Write, manifest_of
from tests.loading.plugins import classed, decorated

DIVIDED = "ST701 the module can't be imported: ZeroDivisionError: division by zero"


@pytest.fixture
def plugins(tmp_path: Path) -> Path:
    """Configure a directory of modules with two sound ones; return it."""
    place = tmp_path / "plugins"
    place.mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\nplugins = ["plugins"]\n')
    (place / "one.py").write_text(decorated("plugged"))
    (place / "two.py").write_text(classed("classy"))
    return place


def lines(run: Run, *arguments: str, code: int = 1) -> list[str]:
    """Return what validate finds, and its summary without the time."""
    done = run("validate", "--ignore", "ST306", "--format", "concise", *arguments)
    assert (done.code, done.err) == (code, "")
    *found, last = done.out.splitlines()
    return [*found, re.sub(r" checked in [0-9.]+ s", "", last)]


def test_configured_plugins_are_checked_without_a_path(run: Run, plugins: Path) -> None:
    assert lines(run, code=0) == ["2 tools: 2 loaded; no problems"]
    (plugins / "two.py").write_text("1 / 0\n")
    assert lines(run) == [
        f"plugins/two.py:1:1: {DIVIDED}",
        "1 tool: 1 loaded; 1 error",
    ]


def test_tools_of_plugins_stand_in_the_report(run: Run, plugins: Path, write: Write) -> None:
    write("echo", manifest_of("echo"))
    (plugins / "one.py").write_text(decorated("bad", marks="(name='no tool')"))
    done = run("validate", "--ignore", "ST306", "--format", "json")
    document = json.loads(done.out)
    assert [(each["path"], each["status"]) for each in document["tools"]] == [
        ("tools/echo", "loaded"),
        ("plugins/one.py", "rejected"),
        ("plugins/two.py", "loaded"),
    ]
    (found,) = document["diagnostics"]
    assert (found["code"], found["path"], found["line"]) == ("ST704", "plugins/one.py", 5)


@pytest.mark.parametrize("path", ["plugins", "plugins/", "plugins/one.py"])
def test_a_path_may_name_configured_plugins(
    run: Run, plugins: Path, write: Write, path: str
) -> None:
    write("odd", "{")
    assert lines(run, path, code=0) == ["2 tools: 2 loaded; no problems"]
    assert lines(run, path, "tools/odd")[-1] == "3 tools: 2 loaded, 1 rejected; 1 error"


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> None:
    """Let nothing be configured, unless something is."""
    (tmp_path / "pyproject.toml").touch()


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os\n\nos._exit(0)\n", "exit code 0"),
        ("import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n", "signal 9 (SIGKILL)"),
    ],
)
def test_a_module_can_not_end_the_validation(
    code: str, words: str, run: Run, plugins: Path
) -> None:
    (plugins / "two.py").write_text(code)
    assert lines(run) == [
        f"plugins: ST701 importing its modules ended the process: {words}",
        "0 tools; 1 error",
    ]


def test_without_imports_plugins_are_not_checked(run: Run, plugins: Path, tmp_path: Path) -> None:
    (plugins / "two.py").write_text("1 / 0\n")
    assert lines(run, "--no-import", code=0) == ["0 tools; no problems"]
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\nplugins = ["plugins", "gone"]\n')
    assert "gone: ST701 the directory can't be listed: " in lines(run)[0]
