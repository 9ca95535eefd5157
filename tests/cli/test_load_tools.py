"""What commands say of tools that are in code."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY, Run
from tests.loading.plugins import Site, decorated


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """Configure a directory of modules, and write one that has a tool."""
    (tmp_path / "pyproject.toml").write_text('[tool.sovl-tools]\nplugins = ["plugins"]\n')
    file = tmp_path / "plugins" / "module.py"
    file.parent.mkdir()
    file.write_text(decorated("plugged", 1))
    return file


def test_without_folders_plugins_are_enough(run: Run, plugin: Path) -> None:
    assert "plugged" in run("list").out
    done = run("call", "plugge")
    assert (done.code, done.out) == (2, "")
    assert "there's no tool 'plugge'; did you mean 'plugged'?" in done.err


@pytest.mark.parametrize("command", [["list"], ["call", "plugged"]])
def test_a_plugin_that_breaks_is_told(run: Run, plugin: Path, command: list[str]) -> None:
    plugin.write_text("1 / 0\n")
    done = run(*command)
    words = "plugins/module.py:1:1: ST701 the module can't be imported: ZeroDivisionError"
    assert done.err.startswith(words)
    assert "there's no 'tools'" not in done.err
    assert run("validate").out.startswith(words)


def test_an_entry_point_that_breaks_is_told(run: Run, tmp_path: Path) -> None:
    Site(tmp_path / "site").install("broken", broken="no_such_module:echo")
    path = os.pathsep.join([str(REPOSITORY), str(tmp_path / "site")])
    (tmp_path / "tools").mkdir()
    done = run("list", PYTHONPATH=path)
    assert "ST701 the entry point 'broken' (no_such_module:echo) can't be imported" in done.err
    assert run("-q", "list", PYTHONPATH=path).err == ""
