"""What commands say of tools that are in code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, Write
from tests.loading.plugins import decorated


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
    assert "there is no tool 'plugge'; did you mean 'plugged'?" in done.err


@pytest.mark.parametrize("command", [["list"], ["call", "plugged"]])
def test_a_plugin_that_breaks_is_told(run: Run, plugin: Path, command: list[str]) -> None:
    plugin.write_text("1 / 0\n")
    done = run(*command)
    assert "ST701 the module can't be imported: ZeroDivisionError" in done.err
    assert "there is no 'tools'" not in done.err


def test_a_directory_of_plugins_that_is_not_there_is_told(run: Run) -> None:
    done = run("list", SOVL_TOOLS_PLUGINS_DIR="nowhere")
    assert "ST701 the directory can't be listed" in done.err


def test_a_sound_plugin_serves_where_the_folder_of_its_name_is_broken(
    run: Run, plugin: Path, write: Write
) -> None:
    write("plugged", code="1 / 0\n")
    assert "plugged" in run("list").out
    assert run("call", "plugged").out == "1\n"


def test_a_plugin_behind_a_folder_is_told(run: Run, plugin: Path, write: Write) -> None:
    write("plugged")
    done = run("list")
    assert "ST801 there is already a tool 'plugged'" in done.err
    assert run("-q", "list").err == ""
