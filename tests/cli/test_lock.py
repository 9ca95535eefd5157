"""``sovl-tools lock``, and commands that hold to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Run, Write


def edit(folder: Path) -> None:
    module = folder / f"{folder.name}.py"
    module.write_text(module.read_text().replace("return text", "return text.upper()"))


def test_lock_writes_what_is_there_and_tells_what_that_changes(run: Run, write: Write) -> None:
    folder = write("echo")
    write("other")
    assert run("lock") == (0, "echo: new\nother: new\n", "sovl-tools.lock: 2 tools, 2 changed\n")
    assert run("lock") == (0, "", "sovl-tools.lock: 2 tools, 0 changed\n")
    edit(folder)
    write("third")
    (folder.parent / "other").rename(folder.parent / "_other")
    done = run("-q", "lock", "--check")
    assert done == (1, "echo: code changed\nother: removed\nthird: new\n", "")
    assert run("lock").code == 0
    assert run("lock", "--check").code == 0


def test_lock_check_needs_a_sound_lock_file(run: Run, write: Write, tmp_path: Path) -> None:
    write("echo")
    done = run("lock", "--check")
    missing = "Error: sovl-tools.lock: there's no such file; sovl-tools lock writes it\n"
    assert done == (2, "", missing)
    (tmp_path / "sovl-tools.lock").write_text("damaged")
    assert run("lock", "--check").code == 2
    assert run("lock").code == 0
    assert run("lock", "--check").code == 0


def test_validate_tells_what_is_not_as_it_was_locked(run: Run, write: Write) -> None:
    folder = write("echo")
    write("other")
    write("gone")
    assert run("validate", "--locked").code == 2
    run("lock")
    assert run("validate", "--locked").code == 0
    edit(folder)
    write("third")
    (folder.parent / "gone").rename(folder.parent / "_gone")
    for arguments in ((), ("--no-import",), ("tools",)):
        code, out, _ = run("validate", "--locked", "--format", "concise", *arguments)
        assert code == 1
        assert out.splitlines()[:-1] == [
            "sovl-tools.lock:5:5: ST107 the tool 'gone' is locked, and not there anymore",
            "tools/echo/echo.py:1:1: ST107 the code changed since the tool was locked",
            "tools/third/third.json:1:1: ST107 the tool 'third' is not in the lock file",
        ]
    code, out, _ = run("validate", "--locked", "--format", "concise", "tools/other")
    assert (code, out.count("ST107")) == (1, 1), "what is gone, and nothing of other folders"
    assert run("validate").code == 0


@pytest.mark.parametrize("given", [("--locked",), ()], ids=["option", "configuration"])
def test_call_and_run_refuse_what_is_not_as_it_was_locked(
    given: tuple[str, ...], run: Run, write: Write, tmp_path: Path
) -> None:
    folder = write("echo")
    write("other")
    steps = "description: D.\nsteps:\n  - {action: tool, tool: NAME, arguments: {text: hi}}\n"
    for name in ("echo", "other"):
        (tmp_path / f"say_{name}.yaml").write_text(
            f"name: say_{name}\n{steps}".replace("NAME", name)
        )
    (tmp_path / "sovl-tools.toml").write_text("" if given else "locked = true\n")
    run("lock")
    assert run("call", *given, "echo", "text=hi").out == '"hi"\n'
    edit(folder)
    refused = run("call", *given, "echo", "text=hi")
    assert refused.code == 1
    assert "echo.py:1:1: ST107 the code changed since the tool was locked" in refused.err
    assert run("run", *given, "say_echo.yaml").code == 1
    for arguments in (("call", *given, "other", "text=hi"), ("run", *given, "say_other.yaml")):
        assert run(*arguments).code == 0, arguments
    assert run("call", "--no-locked", "echo", "text=hi").out == '"HI"\n'
