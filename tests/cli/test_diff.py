"""``sovl-tools diff``."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run, Write, manifest_of

OTHER = manifest_of("echo", description="Say it.", version="1.1")
OTHER["parameters"]["properties"]["text"]["maxLength"] = 9


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository without a commit, next to whatever lies in ``tmp_path``."""
    git(tmp_path, "init", "-q")
    return tmp_path


def git(place: Path, *arguments: str) -> None:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *arguments], cwd=place, check=True)


def commit(place: Path) -> None:
    git(place, "add", "-A")
    git(place, "commit", "-qm", "tools")


def test_a_revision_is_compared_with_what_is_there(
    run: Run, write: Write, repository: Path
) -> None:
    write("echo")
    gone = write("gone")
    commit(repository)
    assert run("diff", "HEAD") == (0, "no tool has changed\n", "")
    write("echo", {**OTHER, "version": "1.0"})
    shutil.rmtree(gone)
    write("third")
    code, out, _ = run("diff", "HEAD")
    assert code == 1
    assert out.splitlines() == [
        "echo (no version) → 1.0",
        "  breaking    'text': maxLength 9 is new",
        "  compatible  version changed",
        "  wording     description changed",
        "gone",
        "  breaking    the tool is gone, disabled or broken",
        "third",
        "  compatible  the tool is new",
        "3 tools changed; 1 with breaking changes and no higher version",
    ]


def test_two_revisions_are_compared_and_nothing_is_imported(
    run: Run, write: Write, repository: Path
) -> None:
    module = "raise SystemExit\n\n\ndef echo(text: str) -> str:\n    return text\n"
    write("echo", OTHER, module)
    commit(repository)
    write("echo", manifest_of("echo", version="1.1"), module)
    commit(repository)
    done = run("diff", "HEAD~1", "HEAD", "--format", "json")
    assert done.code == 0, done.err
    (tool,) = json.loads(done.out)["tools"]
    assert tool == {
        "name": "echo", "status": "changed", "old_version": "1.1", "new_version": "1.1",
        "breaks": False,
        "changes": [
            {"kind": "compatible", "message": "'text': maxLength 9 is gone"},
            {"kind": "wording", "message": "description changed"},
        ],
    }  # fmt: skip
    assert run("diff", "HEAD", "HEAD~1").code == 1


def test_a_breaking_change_is_in_order_with_a_higher_version(
    run: Run, write: Write, tmp_path: Path
) -> None:
    folder = write("echo", manifest_of("echo", version="1.0"))
    shutil.copytree(folder.parent, tmp_path / "old")
    write("echo", OTHER)
    code, out, _ = run("diff", "old", "tools")
    assert (code, "breaking" in out) == (0, True)
    assert out.splitlines()[0] == "echo 1.0 → 1.1"
    assert run("diff", "old") == (code, out, ""), "by default it is what is configured"


def test_a_link_in_a_revision_leads_nowhere(run: Run, write: Write, repository: Path) -> None:
    folder = write("echo")
    (folder / "notes.txt").symlink_to("/etc/hostname")
    commit(repository)
    assert run("diff", "HEAD", "tools").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing",), "there's no directory 'nothing', and unknown git revision 'nothing'"),
        (("empty", "empty"), "there's no sound tool on either side"),
        (("HEAD", "--tools", ".."), "'..' is outside of the repository"),
    ],
)
def test_what_is_neither_a_directory_nor_a_revision_is_misuse(
    arguments: tuple[str, ...], words: str, run: Run, write: Write, repository: Path
) -> None:
    write("echo")
    commit(repository)
    (repository / "empty").mkdir()
    code, out, err = run("diff", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_without_a_commit_a_repository_or_git_there_is_one_clear_message(
    run: Run, write: Write, repository: Path, tmp_path: Path
) -> None:
    write("echo")
    assert "there's no commit yet" in run("diff", "HEAD").err
    shutil.rmtree(repository / ".git")
    ceiling = {"GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = run("diff", "HEAD", **ceiling)
    words = "there's no directory 'HEAD', and git can't list the changes: not a git"
    assert (done.code, words in done.err) == (2, True)
    done = run("diff", "HEAD", PATH="/nowhere")
    assert (done.code, "git can't be run" in done.err) == (2, True)
