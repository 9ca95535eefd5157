"""A registry's folders brought up to date with what was touched."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import CatalogChange
from sovl_tools.loading.load import load
from sovl_tools.model.folder import Settings
from sovl_tools.reloading.reload_state import ReloadState
from tests.conftest import Write, manifest_of
from tests.loading.folders import answer, answers, says, statuses
from tests.patience import PATIENCE


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


def loaded(*paths: str | Path, **options: Any) -> ReloadState:
    return ReloadState(load([str(path) for path in paths], settings=Settings(), **options))


def touch(state: ReloadState, *paths: Path) -> CatalogChange:
    return state.reload({str(path) for path in paths})


def test_a_touch_without_a_change_changes_nothing(write: Write, tools: Path) -> None:
    folder = write("echo")
    state = loaded(tools)
    catalog = state.catalog
    os.utime(folder / "echo.py", ns=(1, 1))
    assert not touch(state, folder / "echo.py", folder, tools)
    assert state.catalog is catalog


@pytest.mark.parametrize(
    "keys", [{"enabled": False}, {"requires": {"packages": ["no_such_package"]}}], ids=str
)
def test_what_its_author_takes_out_is_out_at_once(
    keys: dict[str, Any], write: Write, tools: Path
) -> None:
    folder = write("echo")
    state = loaded(tools)
    write("echo", manifest_of("echo", **keys))
    assert touch(state, folder / "echo.json").removed == ("echo",)
    write("echo")
    assert touch(state, folder / "echo.json").added == ("echo",)


def test_a_directory_may_come_and_go(write: Write, tools: Path) -> None:
    state = loaded(tools)
    assert [each.code for each in state.diagnostics] == ["ST101"]
    write("echo")
    assert touch(state, tools).added == ("echo",)
    assert state.diagnostics == ()
    shutil.rmtree(tools)
    change = touch(state, tools)
    assert change.removed == ("echo",)
    assert [each.code for each in change.diagnostics] == ["ST101"]
    assert not touch(state, tools)
    tools.mkdir()
    assert [each.code for each in touch(state, tools).diagnostics] == ["ST106"]


def test_a_tool_may_claim_its_own_actions_again(write: Write, tools: Path) -> None:
    register = (
        "def register_step_handlers(handlers):\n"
        "    assert 'greet' not in handlers\n"
        "    handlers['greet'] = lambda step, context: {}\n"
    )
    folder = write("echo", code=says(1, head=register.format(1)))
    state = loaded(tools)
    before = state.catalog.step_handlers["greet"]
    write("echo", code=says(2, head=register.format(2)))
    assert touch(state, folder / "echo.py").updated == ("echo",)
    assert state.catalog.step_handlers["greet"] is not before


def test_a_module_that_writes_beside_itself_does_not_run_for_ever(
    write: Write, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_more = f"with open({str(tools / 'echo' / 'log.txt')!r}, 'a') as log:\n    log.write('x')"
    listing = manifest_of("echo", reload=["*.txt"])
    folder = write("echo", listing, code=says(1, head=write_more))
    state = loaded(tools)
    for _ in range(20):
        touch(state, folder / "log.txt")
    assert len((folder / "log.txt").read_text()) <= 12
    assert caplog.messages == [f"tool {folder} writes into its own folder when it is imported"]
    (folder / "log.txt").write_text("")
    assert touch(state, folder / "log.txt").updated == ("echo",)


def test_nor_does_one_that_writes_its_own_helper(write: Write, tools: Path) -> None:
    helper = tools / "echo" / "build.py"
    stamp = (
        f"from . import build\nwith open({str(helper)!r}, 'w') as file:\n"
        "    file.write(f'NUMBER = {build.NUMBER + 1}')"
    )
    folder = write("echo", code=says(1, head=stamp))
    helper.write_text("NUMBER = 0")
    state = loaded(tools)
    for _ in range(20):
        touch(state, helper)
    assert int(helper.read_text().rpartition(" ")[2]) <= 12
    write("echo", code=says(2))
    assert touch(state, folder / "echo.py").updated == ("echo",)


INTERRUPTED = "raise KeyboardInterrupt\n"
USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""


def in_background(work: Callable[[], CatalogChange]) -> CatalogChange:
    """Return what is returned in a thread that nobody interrupts."""
    changes: list[CatalogChange] = []
    thread = threading.Thread(target=lambda: changes.append(work()))
    thread.start()
    thread.join(PATIENCE)
    return changes.pop()


def test_in_the_background_an_interrupt_is_the_tools_own_failure(write: Write, tools: Path) -> None:
    folders = [write(name, code=says(1, name)) for name in "ab"]
    state = loaded(tools)
    for code in (INTERRUPTED, "raise SystemExit\n"):
        write("a", code=code)
        write("b", code=says(code, "b"))
        change = in_background(lambda: touch(state, *folders))
        assert (change.rejected, change.updated) == (("a",), ("b",))
        assert [each.code for each in change.diagnostics] == ["ST503"]
        assert answers(state.catalog) == {"a": 1, "b": code}


def test_whoever_reloads_himself_may_interrupt_it(write: Write, tools: Path) -> None:
    write("echo", code=says(1))
    state = loaded(tools)
    write("echo", code=USER)
    with pytest.raises(KeyboardInterrupt):
        state.reload()
    write("echo", code=says(2))
    assert state.reload().updated == ("echo",)


def test_a_reload_after_one_that_was_interrupted_makes_up_for_it(write: Write, tools: Path) -> None:
    for name in ("b", "c"):
        write(name, code=says(1, name))
    state = loaded(tools)
    shutil.rmtree(tools / "b")
    write("a", code=says(1, "a"))
    write("c", code=says(2, "c"))
    odd = write("d", code=USER)
    with pytest.raises(KeyboardInterrupt):
        state.reload()
    write("d", code=says(1, "d"))
    change = touch(state, odd / "d.py")
    assert (change.added, change.updated, change.removed) == (("a", "d"), ("c",), ("b",))
    assert answers(state.catalog) == {"a": 1, "c": 2, "d": 1}
    assert list(statuses(state.catalog)) == [f"{tools}/{name}" for name in "acd"]


def test_libraries_and_the_targets_of_links_are_watched(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.csv").touch()
    link = write("echo", manifest_of("echo", reload=["*.csv"])) / "words.csv"
    link.symlink_to(tmp_path / "words.csv")
    state = loaded(tools)
    state.libraries.add([str(tmp_path)])
    state.reload()
    target = {str(link): str(tmp_path.resolve() / "words.csv")}
    assert state.watched() == (frozenset({str(tools), str(tmp_path)}), target)
    shutil.rmtree(link.parent)
    touch(state, link.parent)
    assert state.watched() == (frozenset({str(tools), str(tmp_path)}), {})


def test_what_changed_before_somebody_looked_is_found(write: Write, tools: Path) -> None:
    for name in ("a", "b", "c"):
        write(name)
    state = loaded(tools)
    new = write("d")
    shutil.rmtree(tools / "b")
    (tools / "c" / "c.py").unlink()
    learnt = state.changed()
    assert {str(new), str(tools / "b"), str(tools / "c")} <= learnt
    change = state.reload(learnt)
    assert (change.added, change.removed, change.rejected) == (("d",), ("b",), ("c",))


def test_what_has_changed_is_found_by_looking(write: Write, tools: Path) -> None:
    write("a", code=says(1, "a"))
    write("b", code=says(1, "b"))
    state = loaded(tools)
    write("a", code=says(2, "a"))
    write("c", code=says(1, "c"))
    shutil.rmtree(tools / "b")
    change = state.reload(state.changed())
    assert (change.updated, change.added, change.removed) == (("a",), ("c",), ("b",))


def test_a_new_folder_waits_for_all_its_files(write: Write, tools: Path) -> None:
    tools.mkdir()
    state = loaded(tools)
    (tools / "echo").mkdir()
    change = touch(state, tools / "echo")
    assert (change.waiting, change.rejected) == (("echo",), ())
    assert state.catalog.unavailable == {
        "echo": ("echo.json and echo.py have not arrived yet",)
    }  # fmt: skip
    folder = write("echo", code="")
    assert touch(state, folder / "echo.json").waiting == ("echo",)
    assert state.catalog.unavailable == {"echo": ("echo.py has not arrived yet",)}
    assert not touch(state, folder / "echo.json")
    write("echo")
    assert touch(state, folder / "echo.py").added == ("echo",)
    (folder / "echo.py").write_text("")
    assert touch(state, folder / "echo.py").rejected == ("echo",)


def test_whoever_asks_for_all_gets_an_answer_about_half_a_folder(write: Write, tools: Path) -> None:
    tools.mkdir()
    state = loaded(tools)
    (tools / "echo").mkdir()
    assert state.reload().rejected == ("echo",)
    (tools / "echo" / "notes.txt").touch()
    touch(state, tools / "echo")
    assert statuses(state.catalog) == {f"{tools}/echo": "waiting"}


@pytest.mark.parametrize("name", ["echo.py", "echo.json"])
def test_one_missing_file_is_a_broken_edit(name: str, write: Write, tools: Path) -> None:
    folder = write("echo", code=says(1))
    state = loaded(tools)
    (folder / name).unlink()
    assert touch(state, folder / name).rejected == ("echo",)
    assert answer(state.catalog.tools) == 1
    write("echo", code=says(1))
    assert touch(state, folder / name).updated == ("echo",)
