"""A locked registry loads what was reviewed, and nothing else."""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from sovl_tools import SovlToolsError, Tooler, ToolRegistry
from tests.conftest import Run, Write, code_of, manifest_of

WITH_DATA = manifest_of("echo", reload=["*.csv"])
READING = """\
from pathlib import Path

TEXT = (Path(__file__).parent / "words.csv").read_text()


def echo(text: str) -> str:
    return TEXT
"""


Lock = Callable[[], str]


@pytest.fixture
def lock(run: Run, tmp_path: Path) -> Lock:
    """Return what locks the tools as they are, and returns the text of the file."""

    def write() -> str:
        assert run("lock").code == 0
        return (tmp_path / "sovl-tools.lock").read_text()

    return write


def locked(root: Path) -> ToolRegistry:
    return ToolRegistry.from_directory(root / "tools", locked=root / "sovl-tools.lock")


def told(registry: ToolRegistry) -> list[tuple[str | None, str]]:
    return [(each.tool, each.message) for each in registry.report.errors if each.code == "ST107"]


def test_a_tool_that_changed_is_rejected_and_the_others_go_on(
    tmp_path: Path, write: Write, lock: Lock
) -> None:
    folder = write("echo")
    write("other")
    lock()
    assert len(locked(tmp_path)) == 2
    (folder / "echo.py").write_text("raise SystemExit('it runs')\n")
    registry = locked(tmp_path)
    assert told(registry) == [("echo", "the code changed since the tool was locked")]
    assert Tooler(registry).call_sync("other", {"text": "hi"}).value == "hi"


def test_a_new_tool_is_rejected_and_one_that_is_gone_is_no_concern(
    tmp_path: Path, write: Write, lock: Lock
) -> None:
    (tmp_path / "tools").mkdir()
    lock()
    write("echo")
    assert told(locked(tmp_path)) == [("echo", "the tool 'echo' is not in the lock file")]
    lock()
    for file in (tmp_path / "tools" / "echo").iterdir():
        file.unlink()
    (tmp_path / "tools" / "echo").rmdir()
    assert told(locked(tmp_path)) == []


def test_a_reload_keeps_what_was_locked(tmp_path: Path, write: Write, lock: Lock) -> None:
    folder = write("echo")
    lock()
    registry = locked(tmp_path)
    (folder / "echo.py").write_text(code_of("echo").replace("return text", "return 'other'"))
    (tmp_path / "sovl-tools.lock").write_text("")  # it was read when the registry was made
    change = registry.reload()
    assert change.rejected == ("echo",)
    assert told(registry) == [("echo", "the code changed since the tool was locked")]
    assert Tooler(registry).call_sync("echo", {"text": "hi"}).value == "hi"
    (folder / "echo.py").write_text(code_of("echo"))
    registry.reload()
    assert told(registry) == []


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(lambda f: (f / "words.csv").write_text("other"), id="changed"),
        pytest.param(lambda f: (f / "words.csv").unlink(), id="removed"),
        pytest.param(lambda f: (f / "more").mkdir() or (f / "more/a.csv").touch(), id="added"),
    ],
)
def test_data_that_a_manifest_lists_is_locked(
    edit: Callable[[Path], object], tmp_path: Path, write: Write, lock: Lock
) -> None:
    folder = write("echo", WITH_DATA, READING)
    (folder / "words.csv").write_text("a\n")
    (folder / "notes.txt").write_text("not listed")
    lock()
    (folder / "notes.txt").write_text("not listed, and other")
    assert locked(tmp_path)["echo"]
    edit(folder)
    assert told(locked(tmp_path)) == [("echo", "the data changed since the tool was locked")]


def test_data_that_cannot_be_read_cannot_be_locked(
    tmp_path: Path, write: Write, lock: Lock, run: Run
) -> None:
    folder = write("echo", WITH_DATA)
    lock()
    (folder / "words.csv").symlink_to("nothing")
    assert "can't be locked" in run("lock").err
    assert [each.code for each in locked(tmp_path).report.errors] == ["ST104"]


@pytest.mark.parametrize("helper", ["helpers", "later"])
def test_modules_that_the_tool_can_import_are_locked(
    helper: str, tmp_path: Path, write: Write, lock: Lock
) -> None:
    code = f"from .helpers import say\n\n\n{code_of('echo')}"
    folder = write("echo", code=code, helpers="say = str\n")
    lock()
    (folder / f"{helper}.py").write_text("say = repr\n")
    assert told(locked(tmp_path)) == [("echo", "the code changed since the tool was locked")]


def test_line_endings_modes_and_compiled_code_are_no_change(
    tmp_path: Path, write: Write, lock: Lock
) -> None:
    folder = write("echo", WITH_DATA)
    (folder / "words.csv").write_bytes(b"a\nb\n")
    lock()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "echo.pyc").write_bytes(b"compiled")
    assert locked(tmp_path)["echo"]
    for file in folder.iterdir():
        if file.is_file():
            file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
            file.chmod(0o755)
    assert locked(tmp_path)["echo"]


def test_a_binary_file_is_locked_byte_for_byte(tmp_path: Path, write: Write, lock: Lock) -> None:
    folder = write("echo", WITH_DATA)
    (folder / "words.csv").write_bytes(b"\0\n")
    lock()
    (folder / "words.csv").write_bytes(b"\0\r\n")
    assert told(locked(tmp_path)) == [("echo", "the data changed since the tool was locked")]


def test_a_pyc_that_says_something_else_than_the_source_does_not_run(
    tmp_path: Path, write: Write, lock: Lock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    folder = write("echo", code=f"# of {tmp_path}\n{code_of('echo')}")
    lock()
    path = folder / "echo.py"
    foreign = compile(code_of("echo").replace("return text", "return 'foreign'"), path, "exec")
    assert ToolRegistry.from_directory(tmp_path / "tools")["echo"]
    cached = Path(cache_from_source(str(path)))
    cached.write_bytes(cached.read_bytes()[:16] + marshal.dumps(foreign))
    assert Tooler(locked(tmp_path)).call_sync("echo", {"text": "hi"}).value == "hi"


def test_a_disabled_tool_is_locked_too(tmp_path: Path, write: Write, lock: Lock) -> None:
    write("echo", manifest_of("echo", enabled=False))
    lock()
    assert told(locked(tmp_path)) == []
    write("echo", manifest_of("echo", enabled=False, tags=["more"]))
    assert told(locked(tmp_path)) == [("echo", "the manifest changed since the tool was locked")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "this isn't a lock file: Expecting value"),
        ("<<<<<<< HEAD\n{}", "this isn't a lock file: Expecting value"),
        ("{}", "this isn't a lock file: lacks 'version', 'tools'"),
        ('{"version": 2, "tools": {}}', "this isn't a lock file: version must be 1"),
        ('{"version": 1, "tools": {"a": {}}}', "this isn't a lock file: tools.a"),
        ('{"version": 1, "version": 1, "tools": {}}', "duplicate key"),
        ("[" * 100_000, "this isn't a lock file: it is nested too deep"),
        ("\xff", "this isn't a lock file: 'utf-8' codec"),
    ],
)
def test_a_damaged_lock_file_is_one_clear_error(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "sovl-tools.lock"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(SovlToolsError) as caught:
        locked(tmp_path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")


def test_a_missing_lock_file_or_a_folder_in_its_place_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(SovlToolsError, match="there's no such file; sovl-tools lock writes it"):
        ToolRegistry.from_directory(tmp_path, locked=tmp_path / "sovl-tools.lock")
    with pytest.raises(SovlToolsError, match="it is a folder, not a file"):
        ToolRegistry.from_directory(tmp_path, locked=tmp_path)


def test_each_tool_has_a_line_in_order_of_the_names(
    tmp_path: Path, write: Write, lock: Lock
) -> None:
    for name in ("beta", "alpha"):
        write(name)
    text = lock()
    assert [line.strip()[:8] for line in text.splitlines()[3:-2]] == ['"alpha":', '"beta": ']
