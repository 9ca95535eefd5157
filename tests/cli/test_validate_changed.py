"""``validate`` with files that someone hands over, and with those that git says have changed."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Run, Write, code_of
from tests.tables import check_each

Git = Callable[..., None]
SOUND = "name: sound\ndescription: d\nsteps: [{action: tool, tool: echo, arguments: {text: a}}]\n"


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Run git in ``tmp_path``, where a repository is made, with nothing of the user's own."""

    def command(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True, capture_output=True)

    command("init", "-q", "-b", "main")
    command("config", "user.email", "somebody@example.org")
    command("config", "user.name", "Somebody")
    return command


@pytest.fixture
def tree(write: Write, tmp_path: Path) -> Path:
    """A tree with two sound tools, two broken ones, and much that isn't one."""
    write("echo")
    write("other")
    write("odd", "{")
    write("bare", "{", code="def other(): ...\n")
    for name in (
        *("README.md", "src/app.py", "tools/tool.schema.json", "tools/logo.png", "compose.yaml"),
        *("tools/echo/helpers/helpers.py", "tools/echo/data/words.txt", "tools/notes/README.md"),
        *("tools/_drafts/x.py", "tools/.hidden/x.py"),
    ):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def checked(run: Run, *arguments: str, code: int | None = None, **settings: object) -> list[str]:
    """Return the names of the tools and how many procedures were checked, if any."""
    done = run("validate", "--no-import", "--format", "json", *arguments, **settings)
    assert done.code == code or (code is None and done.code in {0, 1}), done.err
    found = json.loads(done.out)
    procedures = [f"+{found['summary']['procedures']}"] * bool(found["summary"]["procedures"])
    return [*sorted(each["name"] for each in found["tools"]), *procedures]


@check_each(
    ("files", "names"),
    [
        (["tools/echo/echo.py"], ["echo"]),
        (["tools/echo/helpers/helpers.py"], ["echo"]),
        (["tools/echo/data/words.txt", "README.md", "tools/other/other.json"], ["echo", "other"]),
        (["tools/notes/README.md"], ["notes"]),  # as from above: the folder lacks its files
        (["README.md", "src/app.py", "compose.yaml", "pyproject.toml"], []),
        (["tools/_drafts/x.py", "tools/.hidden/x.py"], []),
    ],
)
def test_files_stand_for_their_tools(
    run: Run, tree: Path, files: list[str], names: list[str]
) -> None:
    assert checked(run, *files) == names
    assert checked(run, *(str(tree / each) for each in files)) == names


def test_what_is_left_out_is_told(run: Run, tree: Path) -> None:
    done = run("validate", "README.md", "src/app.py")
    assert done.code == 0
    assert done.out.startswith("0 tools checked in ")
    assert done.err == "not checked, because no tool or procedure has them: README.md, src/app.py\n"
    assert run("validate", "-q", "README.md").err == ""


@pytest.mark.parametrize("path", ["", "tols", "tools/echo/gone.py"])
def test_a_path_that_is_not_there_is_misuse(run: Run, tree: Path, path: str) -> None:
    done = run("validate", "tools/echo/echo.py", path)
    assert (done.code, done.out) == (2, "")
    assert f"there's no {path!r}" in done.err


def test_procedures_among_files_are_checked_with_all_tools(run: Run, tree: Path) -> None:
    (tree / "sound.yaml").write_text(SOUND)
    shutil.rmtree(tree / "tools" / "odd")
    shutil.rmtree(tree / "tools" / "bare")
    shutil.rmtree(tree / "tools" / "notes")
    assert checked(run, "sound.yaml", "tools/other/other.py", code=0) == ["echo", "other", "+1"]


def test_git_says_what_has_changed(run: Run, tree: Path, git: Git) -> None:
    for name in ("odd", "bare", "notes"):
        shutil.rmtree(tree / "tools" / name)
    (tree / "procedures").mkdir()
    (tree / "procedures" / "sound.yaml").write_text(SOUND)
    git("add", ".")
    git("commit", "-qm", "Start")
    done = run("validate", "--since", "HEAD")
    assert (done.code, done.err, len(done.out.splitlines())) == (0, "", 1)
    tools = tree / "tools"
    (tools / "echo" / "echo.py").write_text(code_of("echo") + "# more\n")
    assert checked(run, "--since", "HEAD", code=0) == ["echo"]
    deep = tree / "src"
    assert checked(run, "--since", "HEAD", "--tools", "../tools", code=0, cwd=deep) == ["echo"]
    git("add", ".")
    assert checked(run, "--since", "HEAD", code=0) == ["echo"]
    (tools / "echo" / "echo.py").write_text(code_of("echo"))  # staged alone
    assert checked(run, "--since", "HEAD", code=0) == ["echo"]
    git("commit", "-qm", "Staged")
    assert checked(run, "--since", "HEAD", code=0) == ["echo"]
    git("checkout", "-q", "--", ".")
    assert checked(run, "--since", "HEAD~1", code=0) == ["echo"]
    assert checked(run, "--since", "HEAD~1", "tools/other") == []
    (tools / "new é").mkdir()
    (tools / "new é" / "x.txt").touch()
    assert checked(run, "--since", "HEAD", code=1) == ["new é"]
    shutil.rmtree(tools / "new é")
    (tools / "echo").rename(tools / "echo2")
    assert checked(run, "--since", "HEAD", code=1) == ["echo2"]
    shutil.rmtree(tools / "echo2")
    assert checked(run, "--since", "HEAD", code=0) == []
    (tools / "other" / "other.py").unlink()
    assert checked(run, "--since", "HEAD", code=1) == ["other"]
    (tree / "procedures" / "sound.yaml").write_text(SOUND + "\n")
    assert checked(run, "--since", "HEAD", code=1) == ["other", "+1"]


@pytest.mark.parametrize("revision", ["nowhere", "", "--help"])
def test_a_revision_that_is_not_there_is_misuse(
    run: Run, tree: Path, git: Git, revision: str
) -> None:
    git("commit", "-qm", "Start", "--allow-empty")
    done = run("validate", f"--since={revision}")
    assert (done.code, done.out) == (2, "")
    assert "unknown git revision " in done.err
