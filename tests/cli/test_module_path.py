"""What the modules in a project's root are imported for, and what not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.procedures import GREETINGS
from tests.conftest import Write, clean_environment, code_of

LIBRARIES = (
    *("click", "json", "jsonschema", "jsonschema_rs", "referencing", "yaml"),
    *("sitecustomize", "usercustomize", "conftest"),
)


@pytest.fixture
def project(tmp_path: Path, write: Write) -> Path:
    """A project whose root has modules named like the libraries that sovl-tools imports."""
    (tmp_path / "pyproject.toml").write_text("[tool.sovl-tools]\n")
    for name in LIBRARIES:
        write_marker(tmp_path / f"{name}.py")
    (tmp_path / "procedures").mkdir()
    (tmp_path / "procedures" / "greetings.yaml").write_text(GREETINGS)
    write("echo")
    return tmp_path


def write_marker(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("with open('imported', 'a') as file:\n    file.write(__name__ + ' ')\n")


def validated(project: Path, *options: str) -> str:
    """Validate the project in a process from the beginning; return the last line."""
    done = subprocess.run(
        [sys.executable, *options],
        cwd=project,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("start", "options"),
    [(("-m", "sovl_tools"), ("--no-import",)), (("-P", "-m", "sovl_tools"), ())],
)
def test_no_module_of_a_project_is_taken_for_a_library(
    start: tuple[str, ...], options: tuple[str, ...], project: Path
) -> None:
    assert "1 procedure and 1 tool checked" in validated(project, *start, "validate", *options)
    assert not (project / "imported").exists()


def test_without_imports_no_module_of_a_project_runs_even_if_nothing_is_installed_by_its_name(
    project: Path,
) -> None:
    # the standard library and jsonschema try to import these, and go on without them
    for name in ("org/python/core", "fqdn", "rfc3987", "src/webcolors"):
        write_marker(project / f"{name}.py")
    validated(project, "-m", "sovl_tools", "validate", "--no-import")
    assert not (project / "imported").exists()


REPORT_PATH = """\
import sys
from contextlib import suppress
from sovl_tools.cli.main import main
with suppress(SystemExit):
    main()
print([each for each in sys.path if each.startswith(PROJECT)])
"""


@pytest.mark.parametrize("command", ["validate", "validate --no-import", "-q lock", "diff tools"])
def test_the_directories_of_a_project_are_on_the_path_of_children_alone(
    command: str, project: Path, write: Write
) -> None:
    (project / "plugins").mkdir()
    (project / "plugins" / "more.py").write_text("import own_code\n")
    (project / "own_code.py").touch()
    (project / "pyproject.toml").write_text("[tool.sovl-tools]\nplugins = ['plugins']\n")
    write("echo", code=f"import own_code\n\n\n{code_of('echo')}")
    program = f"PROJECT = {str(project)!r}\n{REPORT_PATH}"
    assert validated(project, "-P", "-c", program, *command.split()) == "[]"
    assert not (project / "imported").exists()


def test_tools_import_what_a_project_has_and_nothing_else_is_called(
    project: Path, write: Write
) -> None:
    write_marker(project / "src" / "own_code.py")
    write("echo", code=f"import own_code\nimport yaml\n\nyaml.safe_load\n\n\n{code_of('echo')}")
    validated(project, "-m", "sovl_tools", "validate", "tools")
    assert (project / "imported").read_text() == "own_code "


def test_without_imports_a_module_of_the_project_is_no_helper_in_the_wrong_place(
    project: Path, write: Write
) -> None:
    write("echo", code=f"import own_code\n\n\n{code_of('echo')}", own_code="")
    write_marker(project / "own_code.py")
    validated(project, "-m", "sovl_tools", "validate", "--no-import")
    assert not (project / "imported").exists()
