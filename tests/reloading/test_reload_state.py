"""A registry's folders brought up to date with what was touched."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import CatalogChange
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.load import load
from sovl_tools.model.folder import Settings
from sovl_tools.reloading.events import Place
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


def test_the_tools_are_those_that_were_loaded(write: Write, tools: Path) -> None:
    write("echo")
    loaded = load([tools], settings=Settings())
    state = ReloadState(loaded)
    assert state.catalog is loaded.catalog
    assert not state.reload()
    assert state.catalog is loaded.catalog


def test_only_what_was_touched_is_loaded(write: Write, tools: Path) -> None:
    for name in ("a", "b", "c"):
        write(name, code=says(1, name))
    state = loaded(tools)
    folders = [write(name, code=says(2, name)) for name in ("a", "b", "c")]
    assert touch(state, folders[0] / "a.py", folders[2] / "c.json").updated == ("a", "c")
    assert answers(state.catalog) == {"a": 2, "b": 1, "c": 2}
    assert state.reload().updated == ("b",)


def test_any_path_in_a_folder_leads_to_the_tool(write: Write, tools: Path) -> None:
    folder = write("echo", code=says(1))
    state = loaded(tools)
    for number, path in enumerate(["", "echo.py", "no/such/file.txt", "data"]):
        write("echo", code=says(number))
        touch(state, folder / path)
        assert answer(state.catalog.tools) == number


def test_a_touch_without_a_change_changes_nothing(write: Write, tools: Path) -> None:
    folder = write("echo")
    state = loaded(tools)
    catalog = state.catalog
    os.utime(folder / "echo.py", ns=(1, 1))
    assert not touch(state, folder / "echo.py", folder, tools)
    assert state.catalog is catalog


def test_folders_come_and_go(write: Write, tools: Path) -> None:
    write("b", code=says("b", "b"))
    state = loaded(tools)
    assert touch(state, write("a", code=says("a", "a")) / "a.py").added == ("a",)
    assert touch(state, write("c", code=says("c", "c"))).added == ("c",)
    assert list(statuses(state.catalog)) == [f"{tools}/{name}" for name in "abc"]
    shutil.rmtree(tools / "a")
    assert touch(state, tools / "a" / "a.py").removed == ()
    assert touch(state, tools / "a").removed == ("a",)
    (tools / "c").rename(tools / "d")
    assert touch(state, tools / "c", tools / "d").removed == ("c",)
    assert statuses(state.catalog) == {f"{tools}/b": "loaded", f"{tools}/d": "waiting"}


def test_a_folder_that_a_file_replaces_is_gone(write: Write, tools: Path) -> None:
    shutil.rmtree(write("echo"))
    write("echo")
    state = loaded(tools)
    shutil.rmtree(tools / "echo")
    (tools / "echo").touch()
    assert touch(state, tools / "echo").removed == ("echo",)


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


@pytest.mark.parametrize("gone", ["the folder", "both files"])
def test_what_was_deleted_does_not_serve_any_more(gone: str, write: Write, tools: Path) -> None:
    folder = write("echo")
    state = loaded(tools)
    shutil.rmtree(folder)
    if gone == "both files":
        folder.mkdir()
    assert touch(state, folder, folder / "echo.py").removed == ("echo",)
    write("echo", code="def echo(:\n")
    touch(state, folder)
    assert "echo" not in state.catalog.tools


@pytest.mark.parametrize("name", ["echo.py", "echo.json"])
def test_one_missing_file_is_a_broken_edit(name: str, write: Write, tools: Path) -> None:
    folder = write("echo", code=says(1))
    state = loaded(tools)
    (folder / name).unlink()
    assert touch(state, folder / name).rejected == ("echo",)
    assert answer(state.catalog.tools) == 1
    write("echo", code=says(1))
    assert touch(state, folder / name).updated == ("echo",)


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


def test_of_two_directories_the_first_wins_whatever_happens(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    folder = write("echo", code=says("second"))
    tools.rename(tmp_path / "second")
    write("echo", code=says("first"))
    state = loaded(tools, tmp_path / "second")
    assert answer(state.catalog.tools) == "first"
    assert state.catalog.diagnostics[0].code == "ST801"
    folder.rename(tmp_path / "elsewhere")
    assert touch(state, folder).updated == ("echo",)
    assert answer(state.catalog.tools) == "second"
    assert state.catalog.diagnostics == ()
    (tmp_path / "elsewhere").rename(folder)
    assert touch(state, folder).updated == ("echo",)
    assert answer(state.catalog.tools) == "first"


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


def test_only_tools_of_the_wanted_names_come(write: Write, tools: Path) -> None:
    write("a")
    state = loaded(tools, names=["a", "b"])
    assert touch(state, write("b"), write("c")).added == ("b",)


def test_step_handlers_of_the_other_tools_are_seen(write: Write, tools: Path) -> None:
    handlers = "STEP_HANDLERS = {'greet': lambda step, context: 1}\n"
    write("a", code=says("a", "a", head=handlers))
    seen = "def register_step_handlers(handlers):\n    SEEN.extend(handlers)\n"
    write("b", code=says("b", "b", head=f"SEEN = []\n{seen}"))
    state = loaded(tools)
    folder = write("b", code=says(2, "b", head=f"{handlers}SEEN = []\n{seen}"))
    change = touch(state, folder / "b.py")
    assert change.rejected == ("b",)
    assert answer(state.catalog.tools, "b") == "b"
    write("b", code=says(3, "b", head=f"SEEN = []\n{seen}"))
    touch(state, folder / "b.py")
    assert state.catalog.tools["b"].function.__globals__["SEEN"] == ["greet"]


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


@pytest.mark.parametrize("path", ["tools", "tools/echo", "tools/echo/echo.json"])
def test_a_path_may_be_a_directory_a_tool_or_a_file(
    path: str, write: Write, tmp_path: Path
) -> None:
    folder = write("echo", code=says(1))
    state = loaded(tmp_path / path)
    watched = [each for each in state.places() if each.only is None and each.recursive]
    root = tmp_path / "tools" if path == "tools" else folder
    assert watched == [Place(str(root.resolve()), str(root))]
    write("echo", code=says(2))
    assert touch(state, folder / "echo.py").updated == ("echo",)


def test_a_relative_path_stays_where_it_was(
    write: Write, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write("echo", code=says(1))
    monkeypatch.chdir(tools.parent)
    state = loaded("tools")
    monkeypatch.chdir(folder)
    write("echo", code=says(2))
    assert {each.logical for each in state.places()} == {str(tools)}
    assert state.reload().updated == ("echo",)
    assert statuses(state.catalog) == {"tools/echo": "loaded"}


def test_libraries_and_the_targets_of_links_are_watched(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.csv").touch()
    link = write("echo", manifest_of("echo", reload=["*.csv"])) / "words.csv"
    link.symlink_to(tmp_path / "words.csv")
    state = loaded(tools)
    state.libraries.add([str(tmp_path)])
    state.reload()
    real = tmp_path.resolve()
    others = {Place(str(real / "tools"), str(tools)), Place(str(real), str(tmp_path))}
    target = Place(str(real), str(link), recursive=False, only="words.csv")
    assert state.places() == {*others, target}
    shutil.rmtree(link.parent)
    touch(state, link.parent)
    assert state.places() == others


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


def test_the_catalog_is_what_its_candidates_make(write: Write, tools: Path) -> None:
    write("a", code=says(1, "a"))
    state = loaded(tools)
    for code in (says(2, "a"), "broken(", says(1, "a"), says(3, "a")):
        touch(state, write("a", code=code) / "a.py")
        assert state.catalog == combine(state.catalog.candidates)


def test_what_looks_as_before_is_not_loaded_again(write: Write, tools: Path) -> None:
    write("a", code=says(1, "a"))
    state = loaded(tools)
    state.reload()
    tool = state.catalog.tools["a"]
    for change in (state.reload(), state.reload({str(tools / "a" / "a.py")})):
        assert not change
        assert state.catalog.tools["a"] is tool


def test_a_tool_that_needs_more_than_files_is_tried_again(
    write: Write, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a", manifest_of("a", requires={"env": ["WORD_OF_A"]}))
    state = loaded(tools)
    assert statuses(state.catalog) == {f"{tools}/a": "unavailable"}
    monkeypatch.setenv("WORD_OF_A", "x")
    assert state.reload().added == ("a",)
    monkeypatch.delenv("WORD_OF_A")
    assert state.reload().removed == ("a",)


def test_a_folder_in_the_place_of_another_is_loaded_even_if_its_files_are_old(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    write("a", code=says(1, "a"))
    other = tmp_path / "other"
    shutil.copytree(tools / "a", other)
    (other / "a.py").write_text(says(2, "a"))
    time.sleep(0.05)
    state = loaded(tools)
    shutil.rmtree(tools / "a")
    other.rename(tools / "a")
    assert state.reload().updated == ("a",)
    assert answers(state.catalog) == {"a": 2}
