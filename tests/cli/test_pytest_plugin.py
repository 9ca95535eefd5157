"""The plugin of pytest, run by pytest inside of pytest, and in its own process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from tests.conftest import Done, Write, manifest_of

Pytest = Callable[..., Done]
SAYS = {"input": {"text": "a"}}
TEST = "def test_nothing():\n    pass\n"


@pytest.fixture
def run_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pytest:
    """Run pytest in ``tmp_path``, and in this process; the plugin need not be installed."""

    def command(*arguments: str) -> Done:
        out, err = io.StringIO(), io.StringIO()
        with monkeypatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(tmp_path)
            patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
            patch.setenv("COLUMNS", "200")
            patch.setattr(sys, "path", sys.path.copy())
            patch.setattr(sys, "meta_path", sys.meta_path.copy())
            code = pytest.main([*_OPTIONS, *arguments])
        for name in ("checks", "checks.test_project"):  # of this project, and not of the next one
            sys.modules.pop(name, None)
        return Done(int(code), out.getvalue(), err.getvalue())

    return command


_OPTIONS = (
    *("-p", "sovl_tools.pytest_plugin", "-p", "no:faulthandler", "--import-mode=importlib"),
    *("-W", "ignore"),
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, write: Write) -> None:
    """Write a project with a test, two tools and a folder that isn't one."""
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = checks\n")
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_project.py").write_text(TEST)
    passing = {**SAYS, "output": "a", "description": "Quietly."}
    write("echo", manifest_of("echo", examples=[passing, {**SAYS, "output": "b"}]))
    reaching = {"annotations": {"open_world": True}, "examples": [SAYS]}
    write("fetch", manifest_of("fetch", **reaching))


def outcomes(done: Done) -> dict[str, str]:
    """Return what ``-v`` says of each item."""
    lines = [line.split() for line in done.out.splitlines() if "::" in line]
    return {
        each[0]: each[1]
        for each in lines
        if each[1:] and each[1] in {"PASSED", "FAILED", "SKIPPED"}
    }


EXAMPLES = {
    "tools/echo/echo.json::example[0]": "PASSED",
    "tools/echo/echo.json::example[1]": "FAILED",
    "tools/fetch/fetch.json::example[0]": "SKIPPED",
}
OWN = {"checks/test_project.py::test_nothing": "PASSED"}


def test_it_is_off_until_it_is_asked_for(run_pytest: Pytest) -> None:
    done = run_pytest("-v")
    assert done.code == 0
    assert outcomes(done) == OWN
    assert outcomes(run_pytest("-v", ".")) == OWN


def test_examples_are_items_with_their_places_in_the_manifest(run_pytest: Pytest) -> None:
    done = run_pytest("-v", "-rs", "--sovl-tools", "tools")
    assert done.code == 1
    assert outcomes(done) == {**OWN, **EXAMPLES}
    failure = (
        "tools/echo/echo.json:24:5: the output differs\n"
        '    $ is "a", expected "b"\n'
        '  input: {"text": "a"}\n'
    )
    assert failure in done.out
    reason = "the tool is open_world; --include network runs it"
    assert f"SKIPPED [1] tools/fetch/fetch.json: {reason}" in done.out


def test_the_ini_file_asks_for_it(run_pytest: Pytest, tmp_path: Path) -> None:
    ini = "[pytest]\ntestpaths = checks\nsovl_tools = tools\n"
    (tmp_path / "pytest.ini").write_text(ini)
    assert outcomes(run_pytest("-v")) == {**OWN, **EXAMPLES}
    # whoever names files wants these alone
    assert outcomes(run_pytest("-v", "checks")) == OWN
    chosen = "tools/echo/echo.json::example[0]"
    assert outcomes(run_pytest("-v", chosen)) == {chosen: "PASSED"}
    assert outcomes(run_pytest("-v", "tools/echo")).keys() == EXAMPLES.keys() - {
        "tools/fetch/fetch.json::example[0]"
    }


def test_items_are_chosen_and_run_again_as_others_are(run_pytest: Pytest) -> None:
    options = ("-v", "--sovl-tools", "tools")
    quiet = outcomes(run_pytest(*options, "-k", "quietly or fetch"))
    assert list(quiet) == ["tools/echo/echo.json::example[0]", "tools/fetch/fetch.json::example[0]"]
    run_pytest(*options)
    assert list(outcomes(run_pytest(*options, "--lf"))) == ["tools/echo/echo.json::example[1]"]
    included = outcomes(run_pytest(*options, "--sovl-tools-include", "network", "-k", "fetch"))
    assert included == {"tools/fetch/fetch.json::example[0]": "PASSED"}


def test_fixtures_have_the_tools_and_a_provider(run_pytest: Pytest, tmp_path: Path) -> None:
    (tmp_path / "checks" / "test_project.py").write_text(
        "from sovl_tools.testing import says\n\n\n"
        "def test_tools(sovl_registry, sovl_tooler):\n"
        "    assert [each.name for each in sovl_registry] == ['echo', 'fetch']\n"
        "    assert sovl_tooler.call_sync('echo', {'text': 'a'}).value == 'a'\n\n\n"
        "def test_server(sovl_server):\n"
        "    assert sovl_server([]).url.startswith('http://127.0.0.1:')\n\n\n"
        "def test_unused(sovl_server):\n"
        "    sovl_server([says('Hello.')])\n\n\n"
        "def test_failed(sovl_server):\n"
        "    sovl_server([says('Hello.')])\n"
        "    assert False\n"
    )
    done = run_pytest("--sovl-tools", "tools", "-k", "test_")
    assert "1 failed, 3 passed, 3 deselected, 1 error" in done.out
    assert "1 of the replies were not used" in done.out
