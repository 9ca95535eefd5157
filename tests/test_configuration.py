from __future__ import annotations

import os
import sys
from pathlib import Path
from uuid import uuid4

import pytest

from sovl_tools import ToolRegistry
from sovl_tools.configuration import Configuration, configuration
from sovl_tools.model.errors import ConfigurationError
from tests.conftest import Write
from tests.tables import check_each

VARIABLE = "SOVL_TOOLS_PATH"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty directory, two levels below the temporary one."""
    place = tmp_path / "project" / "deep"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    monkeypatch.delenv(VARIABLE, raising=False)
    return place


def project(place: Path, text: str) -> Path:
    """Write what ``[tool.sovl-tools]`` says; return the file."""
    file = place / "pyproject.toml"
    file.write_text(f"[tool.sovl-tools]\n{text}\n", encoding="utf-8")
    return file


def test_without_a_word_the_tools_are_in_tools() -> None:
    assert configuration() == Configuration(("tools",), "the default", 10.0)


def test_a_flag_wins_over_the_environment_and_that_over_the_project(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project(here, 'paths = ["from_project"]')
    monkeypatch.setenv(VARIABLE, "from_environment")
    flagged = configuration(["from_flag", "second"])
    assert (flagged.paths, flagged.source) == (("from_flag", "second"), "--tools")
    named = configuration()
    assert (named.paths, named.source) == (("from_environment",), VARIABLE)
    monkeypatch.delenv(VARIABLE)
    found = configuration()
    assert (found.paths, found.source) == (("from_project",), str(file))


def test_paths_are_relative_to_the_file_that_names_them(here: Path) -> None:
    project(here.parent, f'paths = ["tools", "deep/own", "{here.parent.parent}/other"]')
    found = [Path(path).resolve() for path in configuration().paths]
    assert found == [here.parent / "tools", here / "own", here.parent.parent / "other"]
    assert configuration().paths[1] == "own"


def test_below_a_project_its_tools_hold_unless_there_are_some_here(here: Path) -> None:
    (here.parent / "tools").mkdir()
    assert configuration().paths == ("tools",)
    file = project(here.parent, "")
    assert configuration().paths == ("tools",), "it says nothing of tools"
    file.write_text("[tool.sovl-tools]\nignore = ['ST306']\n")
    found = configuration()
    assert (found.paths, found.source) == ((os.path.join("..", "tools"),), "the default")
    (here / "tools").mkdir()
    assert configuration().paths == ("tools",)


@check_each(
    ("text", "message"),
    [
        ("path = ['a']", "'path' is not a key; did you mean 'paths'?"),
        ("colour = 1", "'colour' is not a key; the keys are paths, import-timeout, watch"),
        ("paths = []", "paths must have at least 1 item, not 0 items"),
        ("paths = ['a', 5]", "paths[1] must be a string, not the integer 5"),
        ("import_timeout = 0", "import_timeout must be more than 0, not 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(here: Path, text: str, message: str) -> None:
    file = project(here, text)
    with pytest.raises(ConfigurationError) as caught:
        configuration()
    assert str(caught.value).startswith(f"{file}: [tool.sovl-tools]: {message}")


def test_a_table_of_nearly_that_name_is_not_passed_over(here: Path) -> None:
    name = "sovl_tools"
    file = here / "pyproject.toml"
    file.write_text(f"[tool.{name}]\npaths = ['a']")
    with pytest.raises(ConfigurationError) as caught:
        configuration()
    assert str(caught.value) == f"{file}: [tool.{name}]: the table is [tool.sovl-tools]"


@pytest.mark.parametrize(
    "content",
    [b"[tool.sovl-tools", b"tool.sovl-tools = 5", b"x = '\xff'", b"[tool]\nsovl-tools = ['a']"],
)
def test_a_file_that_can_not_be_read_is_refused(here: Path, content: bytes) -> None:
    file = here / "pyproject.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml") as caught:
        configuration(["a flag does not excuse it"])
    assert caught.value.source.startswith(str(file))


def test_python_finds_the_packages_of_the_project_as_commands_do(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"package_{uuid4().hex}"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / f"{name}.py").write_text("LIMIT = 7\n")
    write("echo", code=f"from {name} import LIMIT\n\n\ndef echo(text):\n    return LIMIT\n")
    (tmp_path / "pyproject.toml").write_text("[tool.sovl-tools]\npaths = 5\n")
    assert "echo" not in ToolRegistry.from_directory("tools")  # a broken one is no hindrance
    (tmp_path / "pyproject.toml").write_text("[tool.sovl-tools]\n")
    assert "echo" not in ToolRegistry.from_directory("tools", pythonpath=False)
    before = [*sys.path]
    try:
        assert ToolRegistry.from_directory("tools")["echo"].execute(text="") == 7
    finally:
        sys.modules.pop(name, None)
    assert sys.path == [*before, str(tmp_path / "src"), str(tmp_path)]
