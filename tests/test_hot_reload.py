"""What editors, version control and people do to files: the next call runs the right code."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from sovl_tools import ToolRegistry
from tests.conftest import Write, manifest_of
from tests.loading.folders import News, answers, gives, loaded, says

Save: TypeAlias = Callable[[Path, str], object]
"""Writes a text to a file that exists, in the way of a program."""


@pytest.fixture
def tools(write: Write, tmp_path: Path) -> Path:
    """Two tools: ``echo`` is edited, and ``other`` must always answer."""
    write("echo", code=says("one"))
    write("other", code=says("steady", "other"))
    return tmp_path / "tools"


def renamed_over(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.tmp.4242")
    draft.write_text(text)
    draft.replace(path)


def restored(path: Path, text: str) -> None:
    """Put a file in place that differs from the one before only in its content."""
    draft = path.parent.parent.parent / "restored"
    draft.write_text(text)
    before = path.stat()
    os.utime(draft, ns=(before.st_atime_ns, before.st_mtime_ns))
    draft.replace(path)


def saved_by_vim(path: Path, text: str) -> None:
    probe, backup = path.with_name("4913"), path.with_name(f"{path.name}~")
    probe.touch()
    probe.unlink()
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def saved_by_jetbrains(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}___jb_tmp___")
    original = path.with_name(f"{path.name}___jb_old___")
    draft.write_text(text)
    path.rename(original)
    draft.rename(path)
    original.unlink()


def saved_by_vs_code(path: Path, text: str) -> None:
    with path.open("r+") as file:
        file.truncate()
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def emptied_first(path: Path, text: str) -> None:
    path.write_text("")
    time.sleep(0.1)
    path.write_text(text)


def copied_with_its_time(path: Path, text: str) -> None:
    """Do what ``rsync -a`` does: the file keeps the time of its source, an hour ago."""
    draft = path.with_name(f".{path.name}.Xy12Ab")
    draft.write_text(text)
    os.utime(draft, (time.time() - 3600,) * 2)
    draft.replace(path)


def checked_out(path: Path, text: str) -> None:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    known = {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *arguments]
        subprocess.run(command, cwd=path.parent.parent, check=True, capture_output=True, env=known)

    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-q", "-m", "before")
    git("checkout", "-q", "-b", "topic")
    path.write_text(text)
    git("commit", "-q", "-a", "-m", "after")
    git("checkout", "-q", "main")
    git("checkout", "-q", "topic")


def made_again(path: Path, text: str) -> None:
    manifest = path.with_suffix(".json").read_text()
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    path.with_suffix(".json").write_text(manifest)
    path.write_text(text)


SAVES: list[Save] = [
    Path.write_text,
    renamed_over,
    restored,
    saved_by_vim,
    saved_by_jetbrains,
    saved_by_vs_code,
    emptied_first,
    copied_with_its_time,
    checked_out,
    made_again,
]


@pytest.mark.parametrize("save", SAVES, ids=lambda each: each.__name__)
def test_a_save_is_followed_however_it_is_made(save: Save, tools: Path) -> None:
    registry, news = loaded(tools)
    with registry.watch():
        save(tools / "echo" / "echo.py", says("two"))
        news.until({"echo": "two", "other": "steady"})


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("echo.py", "def echo(:\n"),
        ("echo.py", "raise RuntimeError('broken')\n"),
        ("echo.py", "while True:\n    pass\n"),
        ("echo.py", "def echo(count: int) -> str:\n    return ''\n"),
        ("echo.json", '{"name": '),
        ("echo.json", '{"name": "echo", "description": "Echo.", "parameters": 3}'),
    ],
)
def test_a_broken_save_leaves_the_last_good_version_until_it_is_mended(
    file: str, text: str, tools: Path, write: Write
) -> None:
    registry = ToolRegistry.from_directory(tools, import_timeout=1.0)
    news = News(registry)
    with registry.watch():
        (tools / "echo" / file).write_text(text)
        while not (change := news.next()).rejected:
            pass
        assert change.rejected == ("echo",)
        assert answers(registry.catalog) == {"echo": "one", "other": "steady"}
        write("echo", code=says("two"))
        news.until({"echo": "two", "other": "steady"})


def renamed(tools: Path) -> None:
    place = (tools / "echo").rename(tools / "voice")
    for path in list(place.glob("echo.*")):
        path.rename(path.with_name(f"voice{path.suffix}"))
    for suffix in ("json", "py"):
        path = place / f"voice.{suffix}"
        path.write_text(path.read_text().replace("echo", "voice"))


def replaced_by_a_file(tools: Path) -> None:
    shutil.rmtree(tools / "echo")
    (tools / "echo").write_text("not a folder")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda tools: (tools / "echo").rename(tools.parent / "aside"), {}),
        (lambda tools: shutil.copytree(tools / "echo", tools / "_echo"), {"echo": "one"}),
        (lambda tools: shutil.rmtree(tools / "echo"), {}),
        (replaced_by_a_file, {}),
        (renamed, {"voice": "one"}),
    ],
)
def test_folders_come_and_go(
    edit: Callable[[Path], object], expected: dict[str, object], tools: Path
) -> None:
    registry, news = loaded(tools)
    with registry.watch():
        edit(tools)
        news.until({**expected, "other": "steady"})


def test_an_edit_of_the_manifest_imports_nothing(tools: Path, write: Write) -> None:
    registry, news = loaded(tools)
    before = registry["echo"].function
    with registry.watch():
        write("echo", manifest_of("echo", description="Say it aloud."), says("one"))
        while registry["echo"].description != "Say it aloud.":
            news.next()
        assert registry["echo"].function is before
        write("echo", manifest_of("echo", enabled=False), says("one"))
        news.until({"other": "steady"})


def test_a_helper_and_a_listed_file_count_as_the_module_does(tools: Path, write: Write) -> None:
    head = "from pathlib import Path\n\nfrom .parts import inner\n\n"
    head += "DATA = Path(__file__).with_name('data.txt').read_text()\n"
    folder = write(
        "echo", manifest_of("echo", reload=["data.txt"]), gives("DATA, inner.WORD", head=head)
    )
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").touch()
    (folder / "parts" / "inner.py").write_text("WORD = 'a'\n")
    (folder / "data.txt").write_text("a")
    registry, news = loaded(tools)
    with registry.watch():
        renamed_over(folder / "parts" / "inner.py", "WORD = 'b'\n")
        news.until({"echo": ("a", "b"), "other": "steady"})
        renamed_over(folder / "data.txt", "b")
        news.until({"echo": ("b", "b"), "other": "steady"})


def test_fifty_tools_that_are_saved_in_one_go_are_all_followed(tools: Path, write: Write) -> None:
    registry, news = loaded(tools)
    names = [f"tool{number}" for number in range(50)]
    with registry.watch():
        for word in ("one", "two"):
            for name in names:
                write(name, code=says(word, name))
            news.until({"echo": "one", "other": "steady", **dict.fromkeys(names, word)})
        shutil.rmtree(tools)
        news.until({})
        write("echo", code=says("two"))
        news.until({"echo": "two"})
