"""A registry's folders brought up to date with what was touched."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.loading.catalog_builder import combine
from sovl_tools.loading.load import load
from sovl_tools.loading.pipeline import Settings
from sovl_tools.loading.reload_state import ReloadState
from sovl_tools.model.catalog import CatalogChange
from sovl_tools.watching.places import Place
from tests.conftest import Write, manifest_of
from tests.loading.folders import answer, answers, says, statuses


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


def shelved(*paths: str | Path, **options: Any) -> ReloadState:
    return ReloadState(load([str(path) for path in paths], settings=Settings(), **options))


def touch(shelf: ReloadState, *paths: Path) -> CatalogChange:
    return shelf.reload({str(path) for path in paths})


def test_the_tools_are_those_that_were_loaded(write: Write, tools: Path) -> None:
    write("echo")
    loaded = load([tools], settings=Settings())
    shelf = ReloadState(loaded)
    assert shelf.catalog is loaded.catalog
    assert not shelf.reload()
    assert shelf.catalog is loaded.catalog


def test_only_what_was_touched_is_loaded(write: Write, tools: Path) -> None:
    for name in ("a", "b", "c"):
        write(name, code=says(1, name))
    shelf = shelved(tools)
    folders = [write(name, code=says(2, name)) for name in ("a", "b", "c")]
    assert touch(shelf, folders[0] / "a.py", folders[2] / "c.json").updated == ("a", "c")
    assert answers(shelf.catalog) == {"a": 2, "b": 1, "c": 2}
    assert shelf.reload().updated == ("b",)


def test_any_path_in_a_folder_leads_to_the_tool(write: Write, tools: Path) -> None:
    folder = write("echo", code=says(1))
    shelf = shelved(tools)
    for number, path in enumerate(["", "echo.py", "no/such/file.txt", "data"]):
        write("echo", code=says(number))
        touch(shelf, folder / path)
        assert answer(shelf.catalog.tools) == number


def test_a_touch_without_a_change_changes_nothing(write: Write, tools: Path) -> None:
    folder = write("echo")
    shelf = shelved(tools)
    catalog = shelf.catalog
    os.utime(folder / "echo.py", ns=(1, 1))
    assert not touch(shelf, folder / "echo.py", folder, tools)
    assert shelf.catalog is catalog


def test_folders_come_and_go(write: Write, tools: Path) -> None:
    write("b", code=says("b", "b"))
    shelf = shelved(tools)
    assert touch(shelf, write("a", code=says("a", "a")) / "a.py").added == ("a",)
    assert touch(shelf, write("c", code=says("c", "c"))).added == ("c",)
    assert list(statuses(shelf.catalog)) == [f"{tools}/{name}" for name in "abc"]
    shutil.rmtree(tools / "a")
    assert touch(shelf, tools / "a" / "a.py").removed == ()
    assert touch(shelf, tools / "a").removed == ("a",)
    (tools / "c").rename(tools / "d")
    assert touch(shelf, tools / "c", tools / "d").removed == ("c",)
    assert statuses(shelf.catalog) == {f"{tools}/b": "loaded", f"{tools}/d": "waiting"}


def test_a_folder_that_a_file_replaces_is_gone(write: Write, tools: Path) -> None:
    shutil.rmtree(write("echo"))
    write("echo")
    shelf = shelved(tools)
    shutil.rmtree(tools / "echo")
    (tools / "echo").touch()
    assert touch(shelf, tools / "echo").removed == ("echo",)


def test_a_new_folder_waits_for_all_its_files(write: Write, tools: Path) -> None:
    tools.mkdir()
    shelf = shelved(tools)
    (tools / "echo").mkdir()
    change = touch(shelf, tools / "echo")
    assert (change.waiting, change.rejected) == (("echo",), ())
    assert shelf.catalog.unavailable == {
        "echo": ("echo.json and echo.py have not arrived yet",)
    }  # fmt: skip
    folder = write("echo", code="")
    assert touch(shelf, folder / "echo.json").waiting == ("echo",)
    assert shelf.catalog.unavailable == {"echo": ("echo.py has not arrived yet",)}
    assert not touch(shelf, folder / "echo.json")
    write("echo")
    assert touch(shelf, folder / "echo.py").added == ("echo",)
    (folder / "echo.py").write_text("")
    assert touch(shelf, folder / "echo.py").rejected == ("echo",)


def test_whoever_asks_for_all_gets_an_answer_about_half_a_folder(write: Write, tools: Path) -> None:
    tools.mkdir()
    shelf = shelved(tools)
    (tools / "echo").mkdir()
    assert shelf.reload().rejected == ("echo",)
    touch(shelf, tools / "echo")
    assert statuses(shelf.catalog) == {f"{tools}/echo": "waiting"}


@pytest.mark.parametrize("gone", ["the folder", "both files"])
def test_what_was_deleted_does_not_serve_any_more(gone: str, write: Write, tools: Path) -> None:
    folder = write("echo")
    shelf = shelved(tools)
    shutil.rmtree(folder)
    if gone == "both files":
        folder.mkdir()
    assert touch(shelf, folder, folder / "echo.py").removed == ("echo",)
    write("echo", code="def echo(:\n")
    touch(shelf, folder)
    assert "echo" not in shelf.catalog.tools


@pytest.mark.parametrize("name", ["echo.py", "echo.json"])
def test_one_missing_file_is_a_broken_edit(name: str, write: Write, tools: Path) -> None:
    folder = write("echo", code=says(1))
    shelf = shelved(tools)
    (folder / name).unlink()
    assert touch(shelf, folder / name).rejected == ("echo",)
    assert answer(shelf.catalog.tools) == 1
    write("echo", code=says(1))
    assert touch(shelf, folder / name).updated == ("echo",)


@pytest.mark.parametrize(
    "keys", [{"enabled": False}, {"requires": {"packages": ["no_such_package"]}}], ids=str
)
def test_what_its_author_takes_out_is_out_at_once(
    keys: dict[str, Any], write: Write, tools: Path
) -> None:
    folder = write("echo")
    shelf = shelved(tools)
    write("echo", manifest_of("echo", **keys))
    assert touch(shelf, folder / "echo.json").removed == ("echo",)
    write("echo")
    assert touch(shelf, folder / "echo.json").added == ("echo",)


def test_of_two_directories_the_first_wins_whatever_happens(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    folder = write("echo", code=says("second"))
    tools.rename(tmp_path / "second")
    write("echo", code=says("first"))
    shelf = shelved(tools, tmp_path / "second")
    assert answer(shelf.catalog.tools) == "first"
    assert shelf.catalog.diagnostics[0].code == "ST801"
    folder.rename(tmp_path / "elsewhere")
    assert touch(shelf, folder).updated == ("echo",)
    assert answer(shelf.catalog.tools) == "second"
    assert shelf.catalog.diagnostics == ()
    (tmp_path / "elsewhere").rename(folder)
    assert touch(shelf, folder).updated == ("echo",)
    assert answer(shelf.catalog.tools) == "first"


def test_a_directory_may_come_and_go(write: Write, tools: Path) -> None:
    shelf = shelved(tools)
    assert [each.code for each in shelf.diagnostics] == ["ST101"]
    write("echo")
    assert touch(shelf, tools).added == ("echo",)
    assert shelf.diagnostics == ()
    shutil.rmtree(tools)
    change = touch(shelf, tools)
    assert change.removed == ("echo",)
    assert [each.code for each in change.diagnostics] == ["ST101"]
    assert not touch(shelf, tools)
    tools.mkdir()
    assert [each.code for each in touch(shelf, tools).diagnostics] == ["ST106"]


def test_only_tools_of_the_wanted_names_come(write: Write, tools: Path) -> None:
    write("a")
    shelf = shelved(tools, names=["a", "b"])
    assert touch(shelf, write("b"), write("c")).added == ("b",)


def test_step_handlers_of_the_other_tools_are_seen(write: Write, tools: Path) -> None:
    handlers = "STEP_HANDLERS = {'greet': lambda step, context: 1}\n"
    write("a", code=says("a", "a", head=handlers))
    seen = "def register_step_handlers(handlers):\n    SEEN.extend(handlers)\n"
    write("b", code=says("b", "b", head=f"SEEN = []\n{seen}"))
    shelf = shelved(tools)
    folder = write("b", code=says(2, "b", head=f"{handlers}SEEN = []\n{seen}"))
    change = touch(shelf, folder / "b.py")
    assert change.rejected == ("b",)
    assert answer(shelf.catalog.tools, "b") == "b"
    write("b", code=says(3, "b", head=f"SEEN = []\n{seen}"))
    touch(shelf, folder / "b.py")
    assert shelf.catalog.tools["b"].function.__globals__["SEEN"] == ["greet"]


def test_a_tool_may_claim_its_own_actions_again(write: Write, tools: Path) -> None:
    register = (
        "def register_step_handlers(handlers):\n"
        "    assert 'greet' not in handlers\n"
        "    handlers['greet'] = lambda step, context: {}\n"
    )
    folder = write("echo", code=says(1, head=register.format(1)))
    shelf = shelved(tools)
    before = shelf.catalog.step_handlers["greet"]
    write("echo", code=says(2, head=register.format(2)))
    assert touch(shelf, folder / "echo.py").updated == ("echo",)
    assert shelf.catalog.step_handlers["greet"] is not before


def test_a_module_that_writes_beside_itself_does_not_run_for_ever(
    write: Write, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_more = f"with open({str(tools / 'echo' / 'log.txt')!r}, 'a') as log:\n    log.write('x')"
    folder = write("echo", code=says(1, head=write_more))
    shelf = shelved(tools)
    for _ in range(20):
        touch(shelf, folder / "log.txt")
    assert len((folder / "log.txt").read_text()) <= 12
    assert caplog.messages == [f"tool {folder} writes into its own folder when it is imported"]
    (folder / "log.txt").write_text("")
    assert touch(shelf, folder / "log.txt").updated == ("echo",)


def test_nor_does_one_that_writes_its_own_helper(write: Write, tools: Path) -> None:
    helper = tools / "echo" / "build.py"
    stamp = (
        f"from . import build\nwith open({str(helper)!r}, 'w') as file:\n"
        "    file.write(f'NUMBER = {build.NUMBER + 1}')"
    )
    folder = write("echo", code=says(1, head=stamp))
    helper.write_text("NUMBER = 0")
    shelf = shelved(tools)
    for _ in range(20):
        touch(shelf, helper)
    assert int(helper.read_text().rpartition(" ")[2]) <= 12
    write("echo", code=says(2))
    assert touch(shelf, folder / "echo.py").updated == ("echo",)


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
    thread.join(20)
    return changes.pop()


def test_in_the_background_an_interrupt_is_the_tools_own_failure(write: Write, tools: Path) -> None:
    folders = [write(name, code=says(1, name)) for name in "ab"]
    shelf = shelved(tools)
    for code in (INTERRUPTED, "raise SystemExit\n"):
        write("a", code=code)
        write("b", code=says(code, "b"))
        change = in_background(lambda: touch(shelf, *folders))
        assert (change.rejected, change.updated) == (("a",), ("b",))
        assert [each.code for each in change.diagnostics] == ["ST503"]
        assert answers(shelf.catalog) == {"a": 1, "b": code}


def test_whoever_reloads_himself_may_interrupt_it(write: Write, tools: Path) -> None:
    write("echo", code=says(1))
    shelf = shelved(tools)
    write("echo", code=USER)
    with pytest.raises(KeyboardInterrupt):
        shelf.reload()
    write("echo", code=says(2))
    assert shelf.reload().updated == ("echo",)


def test_a_reload_after_one_that_was_interrupted_makes_up_for_it(write: Write, tools: Path) -> None:
    for name in ("b", "c"):
        write(name, code=says(1, name))
    shelf = shelved(tools)
    shutil.rmtree(tools / "b")
    write("a", code=says(1, "a"))
    write("c", code=says(2, "c"))
    odd = write("d", code=USER)
    with pytest.raises(KeyboardInterrupt):
        shelf.reload()
    write("d", code=says(1, "d"))
    change = touch(shelf, odd / "d.py")
    assert (change.added, change.updated, change.removed) == (("a", "d"), ("c",), ("b",))
    assert answers(shelf.catalog) == {"a": 1, "c": 2, "d": 1}
    assert list(statuses(shelf.catalog)) == [f"{tools}/{name}" for name in "acd"]


@pytest.mark.parametrize("path", ["tools", "tools/echo", "tools/echo/echo.json"])
def test_a_path_may_be_a_directory_a_tool_or_a_file(
    path: str, write: Write, tmp_path: Path
) -> None:
    folder = write("echo", code=says(1))
    shelf = shelved(tmp_path / path)
    watched = [each for each in shelf.places() if each.only is None and each.recursive]
    root = tmp_path / "tools" if path == "tools" else folder
    assert watched == [Place(str(root.resolve()), str(root))]
    write("echo", code=says(2))
    assert touch(shelf, folder / "echo.py").updated == ("echo",)


def test_a_relative_path_stays_where_it_was(
    write: Write, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write("echo", code=says(1))
    monkeypatch.chdir(tools.parent)
    shelf = shelved("tools")
    monkeypatch.chdir(folder)
    write("echo", code=says(2))
    assert {each.logical for each in shelf.places()} == {str(tools)}
    assert shelf.reload().updated == ("echo",)
    assert statuses(shelf.catalog) == {"tools/echo": "loaded"}


def test_libraries_and_the_targets_of_links_are_watched(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.csv").touch()
    link = write("echo") / "words.csv"
    link.symlink_to(tmp_path / "words.csv")
    shelf = shelved(tools)
    shelf.libraries.add([str(tmp_path)])
    shelf.reload()
    real = tmp_path.resolve()
    others = {Place(str(real / "tools"), str(tools)), Place(str(real), str(tmp_path))}
    target = Place(str(real), str(link), recursive=False, only="words.csv")
    assert shelf.places() == {*others, target}
    shutil.rmtree(link.parent)
    touch(shelf, link.parent)
    assert shelf.places() == others


def test_what_changed_before_somebody_looked_is_learnt(write: Write, tools: Path) -> None:
    for name in ("a", "b", "c"):
        write(name)
    shelf = shelved(tools)
    new = write("d")
    shutil.rmtree(tools / "b")
    (tools / "c" / "c.py").unlink()
    learnt = shelf.learn()
    assert {str(new), str(tools / "b"), str(tools / "c")} <= learnt
    change = shelf.reload(learnt)
    assert (change.added, change.removed, change.rejected) == (("d",), ("b",), ("c",))


def test_what_has_changed_is_found_by_looking(write: Write, tools: Path) -> None:
    write("a", code=says(1, "a"))
    write("b", code=says(1, "b"))
    shelf = shelved(tools)
    write("a", code=says(2, "a"))
    write("c", code=says(1, "c"))
    shutil.rmtree(tools / "b")
    change = shelf.reload(shelf.changed())
    assert (change.updated, change.added, change.removed) == (("a",), ("c",), ("b",))


def test_the_catalog_is_what_its_candidates_make(write: Write, tools: Path) -> None:
    write("a", code=says(1, "a"))
    shelf = shelved(tools)
    for code in (says(2, "a"), "broken(", says(1, "a"), says(3, "a")):
        touch(shelf, write("a", code=code) / "a.py")
        assert shelf.catalog == combine(shelf.catalog.candidates)
