"""A registry that is asked to reload: what it says, whom it tells, and what readers see."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import shutil
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.loading.folders import News, answer, answers, gives, loaded, says, statuses
from tests.patience import PATIENCE
from tests.schema.strategies import examples, moderate
from tests.tables import check_each


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


def test_a_reload_says_what_changed_and_tells_whoever_wants_to_know(
    write: Write, tools: Path
) -> None:
    write("a")
    write("b")
    registry, news = loaded(tools)
    assert not registry.reload()
    write("a", code=says(2, "a"))
    shutil.rmtree(tools / "b")
    write("c")
    write("d", code="broken(")
    change = registry.reload()
    assert change[:4] == (("c",), ("a",), ("b",), ("d",))
    assert [each.code for each in change.diagnostics] == ["ST502"]
    assert 0 < change.duration < PATIENCE
    assert news.so_far() == [change]
    assert registry.report.diagnostics == change.diagnostics


def test_what_has_changed_is_logged(
    write: Write, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in "ab":
        write(name)
    registry, _ = loaded(tools)
    caplog.set_level(logging.INFO, "sovl_tools")
    write("a", code=says(2, "a"))
    write("b", code="broken(")
    write("c")
    registry.reload()
    (tools / "a").rename(tools / "_a")
    registry.reload()
    said = [(each.levelname, each.message.partition(": ")[0]) for each in caplog.records]
    assert said == [
        ("INFO", "tool c was added"),
        ("INFO", "tool a was updated"),
        ("WARNING", f"tool {tools}/b was rejected"),
        ("INFO", "tool a was removed"),
    ]


def test_nobody_is_told_after_he_has_had_enough(write: Write, tools: Path) -> None:
    write("echo")
    registry, news = loaded(tools)
    told: list[CatalogChange] = []
    unsubscribe = registry.subscribe(told.append)
    again = registry.subscribe(told.append)
    write("echo", code=says(1))
    registry.reload()
    assert len(told) == 2
    unsubscribe()
    unsubscribe()
    write("echo", code=says(2))
    registry.reload()
    assert len(told) == 3
    again()
    write("echo", code=says(3))
    registry.reload()
    assert len(told) == 3
    assert len(news.so_far()) == 3


@pytest.mark.parametrize("failure", [ValueError, SystemExit, asyncio.CancelledError])
def test_a_subscriber_that_fails_disturbs_nobody(
    write: Write, tools: Path, caplog: pytest.LogCaptureFixture, failure: type[BaseException]
) -> None:
    write("echo")
    registry = ToolRegistry.from_directory(tools)

    def fail(change: CatalogChange) -> None:
        raise failure(change)

    registry.subscribe(fail)
    news = News(registry)
    write("echo", code=says(1))
    assert registry.reload().updated == ("echo",)
    assert news.next().updated == ("echo",)
    assert caplog.messages == ["a subscriber failed at a change of the catalog"]
    assert answer(registry.catalog.tools) == 1


def interrupt(change: CatalogChange) -> None:
    raise KeyboardInterrupt


def test_whoever_interrupts_a_subscriber_keeps_no_other_from_hearing(
    write: Write, tools: Path
) -> None:
    write("echo")
    registry = ToolRegistry.from_directory(tools)
    registry.subscribe(interrupt)
    news = News(registry)
    write("echo", code=says(1))
    with pytest.raises(KeyboardInterrupt):
        registry.reload()
    assert news.next().updated == ("echo",)
    assert not registry.reload()


def test_an_interrupt_of_a_subscriber_s_own_keeps_no_other_from_hearing(
    write: Write, tools: Path
) -> None:
    write("echo")
    registry = ToolRegistry.from_directory(tools)
    registry.subscribe(interrupt)
    news = News(registry)
    with registry.watch():
        for version in (1, 2):
            write("echo", code=says(version))
            news.until({"echo": version})


async def later(change: CatalogChange) -> None: ...


@check_each("subscriber", [later, "no function", None])
def test_what_can_not_be_called_at_once_is_refused(subscriber: Any) -> None:
    with pytest.raises(TypeError, match="a subscriber must be a sync function"):
        ToolRegistry().subscribe(subscriber)


def test_a_subscriber_may_reload_and_leave(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry = ToolRegistry.from_directory(tools)
    seen: list[tuple[object, CatalogChange]] = []

    def react(change: CatalogChange) -> None:
        seen.append((answer(registry.catalog.tools), change))
        leave()
        write("echo", code=says(2))
        registry.reload()

    leave = registry.subscribe(react)
    news = News(registry)
    write("echo", code=says(1))
    registry.reload()
    assert answer(registry.catalog.tools) == 2
    assert [(each, change.updated) for each, change in seen] == [(1, ("echo",))]
    assert len(news.so_far()) == 2


def test_phrases_follow_the_changes(write: Write, tools: Path) -> None:
    write("a", manifest_of("a", activation_phrases=["say it"]))
    registry, _ = loaded(tools)
    text = "Please say it or shout it."
    assert [each.tool for each in registry.match(text)] == ["a"]
    write("a", manifest_of("a", activation_phrases=["shout it"]))
    write("b", manifest_of("b", activation_phrases=["say it"]))
    registry.reload()
    assert [(each.tool, each.phrase) for each in registry.match(text)] == [
        ("b", "say it"), ("a", "shout it")
    ]  # fmt: skip
    write("b", "broken")
    shutil.rmtree(tools / "a")
    registry.reload()
    assert [each.tool for each in registry.match(text)] == ["b"]


def test_the_version_before_is_not_kept_for_the_sake_of_a_clash(write: Write, tools: Path) -> None:
    manifests = {name: manifest_of(name, activation_phrases=["do it"]) for name in "ab"}
    for name in "ab":
        write(name, manifests[name], says(0, name))
    registry, _ = loaded(tools)
    before = weakref.ref(registry["b"].function)
    write("b", manifests["b"], says(1, "b"))
    assert registry.reload().updated == ("b",)
    gc.collect()
    assert before() is None


def test_the_report_tells_of_a_broken_tool_that_serves(write: Write, tools: Path) -> None:
    write("echo", code=says(1))
    registry, _ = loaded(tools)
    tooler = Tooler(registry)
    write("echo", "broken")
    registry.reload()
    assert tooler.call_sync("echo", {"text": ""}).value == 1
    assert statuses(registry.catalog) == {f"{tools}/echo": "rejected"}
    assert [each.code for each in registry.report.errors] == ["ST201"]
    write("echo", code=says(1))
    registry.reload()
    assert registry.report.diagnostics == ()
    assert tooler.call_sync("echo", {"text": ""}).value == 1


@pytest.fixture
def _eager_threads() -> Iterator[None]:
    """Let threads take turns so often that they meet everywhere."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.unmeasured
@pytest.mark.usefixtures("_eager_threads")
def test_readers_always_see_a_whole_catalog(write: Write, tools: Path) -> None:
    def save(version: int) -> None:
        for name in ("a", "b"):
            write(name, code=says(version, name))

    save(0)
    registry, _ = loaded(tools)
    is_over = threading.Event()
    seen: set[tuple[object, ...]] = set()

    def read() -> None:
        while not is_over.is_set():
            seen.add(tuple(each.execute(text="") for each in registry))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for each in readers:
        each.start()
    for version in range(1, 20):
        save(version)
        assert registry.reload().updated == ("a", "b")
    is_over.set()
    for each in readers:
        each.join(PATIENCE)
    assert all(len(versions) == 2 and len({*versions}) == 1 for versions in seen)
    assert len(seen) > 2


def test_data_that_the_manifest_lists_runs_a_tool_again_and_other_files_do_not(
    write: Write, tools: Path
) -> None:
    manifest = manifest_of("echo", reload=["*.csv"])
    folder = write("echo", manifest, code=says(0), helper="WORD = 1\n")
    (folder / "words.csv").write_text("a,b")
    time.sleep(0.02)  # what is as young as a tick of the file system may be younger than the load
    registry, _ = loaded(tools)
    before = registry["echo"]
    assert not registry.reload()
    for name in ("README.md", "echo.sqlite", "helper.py"):
        (folder / name).write_text("WORD = 2\n")
        assert not registry.reload()
    assert registry["echo"] is before
    (folder / "words.csv").write_text("a,b,c")
    assert registry.reload().updated == ("echo",)
    assert registry["echo"] is not before


def test_an_edit_of_the_manifest_alone_runs_nothing_again_also_after_data_did(
    write: Write, tools: Path
) -> None:
    folder = write("echo", manifest_of("echo", reload=["*.csv"]), code=says(0))
    registry, _ = loaded(tools)
    first = registry["echo"].function
    (folder / "words.csv").write_text("a,b")
    assert registry.reload().updated == ("echo",)
    second = registry["echo"].function
    write("echo", manifest_of("echo", reload=["*.csv"], tags=["new"]), says(0))
    assert registry.reload().updated == ("echo",)
    assert first is not second is registry["echo"].function


@pytest.mark.parametrize("looks", [True, False])
@pytest.mark.parametrize("may_have_helpers", [True, False])
def test_files_belong_to_a_tool_from_the_moment_at_which_it_names_them(
    write: Write, tools: Path, *, looks: bool, may_have_helpers: bool
) -> None:
    path = str(tools / "echo" / "words.csv")
    head = f"from pathlib import Path\n\nWORDS = Path({path!r}).read_text()"
    code = gives("WORDS", head=head + "  # __" * may_have_helpers)
    folder = write("echo", code=code, helper="WORD = 1\n")
    (folder / "words.csv").write_text("old")
    time.sleep(0.02)
    registry, _ = loaded(tools)
    assert not (looks and registry.reload())
    (folder / "words.csv").write_text("newer")
    assert not (looks and registry.reload())
    write("echo", manifest_of("echo", reload=["*.csv"]), code)
    assert registry.reload().updated == ("echo",)
    assert registry["echo"].execute(text="") == "newer"
    write("echo", code=gives("helper.WORD", head="from . import helper"))
    assert registry.reload().updated == ("echo",)
    (folder / "helper.py").write_text("WORD = 22\n")
    assert registry.reload().updated == ("echo",)
    assert registry["echo"].execute(text="") == 22


COUNTING = """
import sqlite3
from pathlib import Path

CALLS = []

def echo(text: str) -> object:
    CALLS.append(text)
    place = Path(__file__).parent
    with sqlite3.connect(place / "calls.db") as connection:
        connection.execute("create table if not exists calls (text)")
        connection.execute("insert into calls values (?)", (text,))
    connection.close()
    with open(place / "calls.log", "a") as log:
        log.write(text)
    return len(CALLS)
"""


def test_a_tool_that_writes_beside_itself_keeps_its_module(write: Write, tools: Path) -> None:
    write("echo", code=COUNTING)
    registry, news = loaded(tools)
    tooler = Tooler(registry)
    with registry.watch():
        for number in range(1, 4):
            assert tooler.call_sync("echo", {"text": "a"}).value == number
            assert not registry.reload()
        write("other", code=says(1, "other"))
        assert news.next().added == ("other",)
        assert tooler.call_sync("echo", {"text": "a"}).value == 4
    assert news.so_far() == []


RESOURCES = """
from importlib.resources import as_file, files

FILES = files(__package__)
WORD = (FILES / "words.txt").read_text()

def echo(text: str) -> object:
    from . import helper
    place = files(__package__)
    with as_file(place / "deep" / "more.txt") as path:
        more = path.read_text()
    word = place.joinpath("words.txt").read_text("utf-8")
    return WORD, word, more, files(helper).is_dir(), (place / "absent.txt").is_file()
"""


def test_a_tool_reads_files_of_its_folder_as_resources(write: Write, tools: Path) -> None:
    folder = write("echo", manifest_of("echo", reload=["*.txt"]), code=RESOURCES)
    for name in ("helper/__init__.py", "deep/more.txt", "words.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    registry, _ = loaded(tools)
    for word in ("one", "two"):
        (folder / "words.txt").write_text(word)
        assert registry.reload().updated == ("echo",)
        found = registry["echo"].execute(text="")
        assert found == (word, word, "", True, False)


def test_a_file_for_want_of_which_a_tool_did_not_load_heals_it(write: Write, tools: Path) -> None:
    head = "from pathlib import Path\nWORD = Path(__file__).with_name('word.txt').read_text()"
    folder = write("echo", code=gives("WORD", head=head))
    registry, news = loaded(tools)
    (tools.parent / "whole.txt").write_text("here")
    with registry.watch():
        # whoever looks while it is being written would see an empty file
        (tools.parent / "whole.txt").rename(folder / "word.txt")
        assert news.next().added == ("echo",)
    assert answer(registry.catalog.tools) == "here"


def test_excluded_folders_stay_out_of_a_reload(
    write: Write, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tools.parent)
    write("kept")
    write("legacy_a")
    registry = ToolRegistry.from_directory("tools", exclude=["tools/legacy_*"])
    assert [each.name for each in registry] == ["kept"]
    write("legacy_b")
    write("other")
    assert registry.reload().added == ("other",)


def test_a_touch_without_a_change_changes_nothing(write: Write, tools: Path) -> None:
    folder = write("echo")
    registry, news = loaded(tools)
    catalog = registry.catalog
    os.utime(folder / "echo.py", ns=(1, 1))
    assert not registry.reload()
    assert registry.catalog is catalog
    assert news.so_far() == []


def test_what_is_made_of_the_same_is_not_updated(write: Write, tools: Path) -> None:
    head = "STEP_HANDLERS = {'x': print, 'y': print}"
    write("echo", manifest_of("echo", metadata={"a": [1, "b"]}), says(1, head=head))
    registry, _ = loaded(tools)
    before = registry["echo"]
    write("echo", manifest_of("echo", metadata={"a": [True, "b"]}), says(1, head=head))
    assert registry.reload().updated == ("echo",)
    for phrases in ([], ["say it"]):
        write("echo", manifest_of("echo", activation_phrases=phrases), says(1, head=head))
        assert registry.reload().updated == ("echo",)
    assert registry["echo"] is not before


def test_a_directory_may_come_and_go(write: Write, tools: Path) -> None:
    registry, _ = loaded(tools)
    assert [each.code for each in registry.report.diagnostics] == ["ST101"]
    write("echo")
    assert registry.reload().added == ("echo",)
    assert registry.report.diagnostics == ()
    shutil.rmtree(tools)
    change = registry.reload()
    assert change.removed == ("echo",)
    assert [each.code for each in change.diagnostics] == ["ST101"]
    assert not registry.reload()
    tools.mkdir()
    assert [each.code for each in registry.reload().diagnostics] == ["ST106"]


def test_a_tool_may_claim_its_own_actions_again(write: Write, tools: Path) -> None:
    register = (
        "def register_step_handlers(handlers):\n"
        "    assert 'greet' not in handlers\n"
        "    handlers['greet'] = lambda step, context: {}\n"
    )
    write("echo", code=says(1, head=register))
    registry, _ = loaded(tools)
    before = registry.step_handlers["greet"]
    write("echo", code=says(2, head=register))
    assert registry.reload().updated == ("echo",)
    assert registry.step_handlers["greet"] is not before


def test_of_many_broken_edits_the_version_before_the_first_serves(
    write: Write, tools: Path
) -> None:
    write("echo", manifest_of("echo", activation_phrases=["say it"]), says(1))
    registry, _ = loaded(tools)
    for code in ("one thing", "another thing", "raise SystemExit"):
        write("echo", manifest_of("echo", activation_phrases=["say it"]), code)
        assert registry.reload().rejected == ("echo",)
        assert answers(registry.catalog) == {"echo": 1}
        assert [each.tool for each in registry.match("say it")] == ["echo"]
        assert statuses(registry.catalog) == {f"{tools}/echo": "rejected"}
    write("echo", manifest_of("echo", enabled=False))
    assert registry.reload().removed == ("echo",)
    write("echo", code="broken(")
    assert registry.reload().rejected == ("echo",)
    assert answers(registry.catalog) == {}, "what was taken out does not come back"
    write("other", code="broken(")
    assert registry.reload().rejected == ("other",)
    write("other", code="also broken(")
    assert registry.reload().rejected == ("other",)
    assert answers(registry.catalog) == {}


def test_a_broken_winner_that_never_served_leaves_its_name_to_the_next(
    write: Write, tools: Path
) -> None:
    write("echo", code=says("second"))
    tools.rename(tools.with_name("second"))
    write("echo", code="broken(")
    registry, _ = loaded(tools, tools.with_name("second"))
    assert answers(registry.catalog) == {"echo": "second"}
    write("echo", code="still broken(")
    assert registry.reload().rejected == ("echo",)
    assert answers(registry.catalog) == {"echo": "second"}
    assert registry.catalog.unavailable == {}


@pytest.mark.parametrize(
    ("left", "serves"), [(["echo.json"], True), (["echo.py"], True), (["echo.txt"], False)]
)
def test_a_folder_without_both_of_its_files_serves_no_more(
    left: list[str], serves: object, write: Write, tools: Path
) -> None:
    folder = write("echo", code=says(1))
    (folder / "echo.txt").touch()
    registry, _ = loaded(tools)
    for path in folder.iterdir():
        if path.is_file() and path.name not in left:
            path.unlink()
    assert registry.reload().rejected == ("echo",)
    assert ("echo" in registry) is serves
    write("echo", code=says(1))
    assert registry.reload()
    assert answers(registry.catalog) == {"echo": 1}


@pytest.mark.parametrize("head", ["from . import build", "NUMBER = 0"])
def test_a_module_that_writes_beside_itself_does_not_run_for_ever(
    head: str, write: Write, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = tools / "echo" / "build.py"
    code = f"{head}\nwith open({str(log)!r}, 'a') as log:\n    log.write('# x\\n')"
    folder = write("echo", manifest_of("echo", reload=["build.py"]), says(1, head=code), build="")
    registry, _ = loaded(tools)
    for _ in range(20):
        registry.reload()
    assert len(log.read_text().splitlines()) <= 11
    assert caplog.messages == [f"tool {folder} writes into its own folder when it is imported"]
    write("echo", code=says(2))
    assert registry.reload().updated == ("echo",)


USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""


def test_in_the_background_an_interrupt_is_the_tools_own_failure(write: Write, tools: Path) -> None:
    for name in "ab":
        write(name, code=says(1, name))
    registry, news = loaded(tools)
    for code in ("raise KeyboardInterrupt\n", "raise SystemExit\n"):
        write("a", code=code)
        write("b", code=says(code, "b"))
        thread = threading.Thread(target=registry.reload)
        thread.start()
        thread.join(PATIENCE)
        change = news.next()
        assert (change.rejected, change.updated) == (("a",), ("b",))
        assert [each.code for each in change.diagnostics] == ["ST503"]
        assert answers(registry.catalog) == {"a": 1, "b": code}


def test_a_reload_after_one_that_the_user_interrupted_makes_up_for_it(
    write: Write, tools: Path
) -> None:
    for name in ("b", "c"):
        write(name, code=says(1, name))
    registry, _ = loaded(tools)
    shutil.rmtree(tools / "b")
    write("a", code=says(1, "a"))
    write("c", code=says(2, "c"))
    write("d", code=USER)
    with pytest.raises(KeyboardInterrupt):
        registry.reload()
    write("d", code=says(1, "d"))
    change = registry.reload()
    assert (change.added, change.updated, change.removed) == (("a", "d"), ("c",), ("b",))
    assert answers(registry.catalog) == {"a": 1, "c": 2, "d": 1}
    assert list(statuses(registry.catalog)) == [f"{tools}/{name}" for name in "acd"]


def test_a_change_tells_only_what_is_wrong_with_what_has_changed(write: Write, tools: Path) -> None:
    write("echo")
    roots = [tools, tools.with_name("second"), tools.with_name("third")]
    registry = ToolRegistry.from_directory(*roots)
    for each in roots[1:]:
        shutil.copytree(tools, each)
        change = registry.reload()
        assert [(each.code, each.path) for each in change.diagnostics] == [
            ("ST801", f"{each}/echo/echo.json")
        ]
    assert [each.code for each in registry.report.errors] == ["ST801"] * 2


FATES: dict[str, dict[str, Any]] = {
    "sound": {},
    "disabled": {"enabled": False},
    "unavailable": {"requires": {"packages": ["no_such_package"]}},
}
RIVALS = {"a": "greet", "b": "greet", "c": "wave"}
"""Tools and their actions; two want the same one."""
edits = st.dictionaries(
    st.sampled_from(["one/a", "one/b", "one/c", "two/a", "two/b"]),
    st.sampled_from(["gone", "sound", "sound", "disabled", "unavailable"]),
    min_size=1,
    max_size=3,
)


def edit(place: Path, fate: str, version: int) -> None:
    """Write the files of a tool that answers with a version, or delete them."""
    shutil.rmtree(place, ignore_errors=True)
    if fate == "gone":
        return
    place.mkdir(parents=True)
    phrases = ["say it", f"say {version}"]
    manifest = manifest_of(place.name, activation_phrases=phrases, **FATES[fate])
    (place / f"{place.name}.json").write_text(json.dumps(manifest))
    head = f"STEP_HANDLERS = {{{RIVALS[place.name]!r}: lambda step, context: {version}}}"
    (place / f"{place.name}.py").write_text(says(version, place.name, head))


def seen(registry: ToolRegistry) -> tuple[Any, ...]:
    """Return what anyone sees of a registry."""
    catalog, report = registry.catalog, registry.report
    handlers = {name: each({}, None) for name, each in catalog.step_handlers.items()}
    told = [str(each) for each in report.diagnostics]
    found = [(each.tool, each.phrase) for each in registry.match("Say it, say 3 and say 5!")]
    return answers(catalog), catalog.unavailable, handlers, statuses(catalog), told, found


@settings(moderate, max_examples=examples(100))
@given(st.lists(edits, min_size=1, max_size=8))
def test_after_any_edits_a_registry_is_as_one_that_is_loaded_anew(
    tmp_path_factory: pytest.TempPathFactory, sequence: list[dict[str, str]]
) -> None:
    base = tmp_path_factory.mktemp("edits")
    roots = [base / "one", base / "two"]
    for each in roots:
        each.mkdir()
    registry = ToolRegistry.from_directory(*roots)
    for version, step in enumerate(sequence, 1):
        before = registry.catalog.tools
        for path, fate in step.items():
            edit(base / path, fate, version)
        change, tools = registry.reload(), registry.catalog.tools
        assert seen(registry) == seen(ToolRegistry.from_directory(*roots))
        assert list(tools) == sorted(tools)
        assert change.added == tuple(sorted(tools.keys() - before.keys()))
        assert change.removed == tuple(sorted(before.keys() - tools.keys()))
        others = {name for name in before.keys() & tools if before[name] is not tools[name]}
        assert others <= {*change.updated}
        assert not registry.reload()
