"""A registry that follows its directories by itself."""

from __future__ import annotations

import asyncio
import gc
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from sovl_tools.reloading.watcher import stream
from tests.conftest import Write
from tests.loading.folders import News, answer, answers, gives, loaded, says, statuses
from tests.patience import PATIENCE, wait_until


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = watching()
    yield
    # stop() waits for some seconds, in which a busy machine may not have looked at all folders
    wait_until(lambda: watching() <= before)


def watching() -> set[threading.Thread]:
    """Return the threads that watch something, and those that load."""
    return {
        each
        for each in threading.enumerate()
        if each.name.startswith("sovl-tools") or type(each).__module__.startswith("watchdog.")
    }


def save(tools: Path, code: str, name: str = "echo") -> None:
    """Save a tool's module in one moment."""
    part = tools / name / ".part"
    part.write_text(code)
    part.replace(tools / name / f"{name}.py")


def test_a_save_is_noticed(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    tooler = Tooler(registry)
    with registry.watch() as watch:
        assert watch.notice is None
        for version in (1, 2):
            write("echo", code=says(version))
            news.until({"echo": version})
            assert tooler.call_sync("echo", {"text": ""}).value == version
    write("echo", code=says(9))
    assert registry.reload().updated == ("echo",)


def test_what_happened_between_the_load_and_the_watch_is_noticed(write: Write, tools: Path) -> None:
    for name in ("a", "b", "c"):
        write(name, code=says(0, name))
    registry, news = loaded(tools)
    write("a", code=says(1, "a"))
    write("b", "broken")
    shutil.rmtree(tools / "c")
    write("d", code=says(0, "d"))
    with registry.watch():
        change = news.next()
    assert change[:4] == (("d",), ("a",), ("c",), ("b",))
    assert answers(registry.catalog) == {"a": 1, "b": 0, "d": 0}


def test_blocks_in_one_another_share_a_thread_and_the_last_one_ends_it(
    write: Write, tools: Path
) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    with registry.watch() as outer:
        with registry.watch() as inner:
            assert inner is outer
            assert [each.name for each in watching()].count("sovl-tools-watcher") == 1
        save(tools, says(1))
        news.next()
    assert "sovl-tools-watcher" not in [each.name for each in watching()]
    with registry.watch() as another:
        assert another is not outer


def test_blocks_need_not_end_in_order(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    first, second = registry.watch(), registry.watch()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    save(tools, says(1))
    assert news.next().updated == ("echo",)
    second.__exit__(None, None, None)


def test_a_subscriber_may_end_the_watch(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, _ = loaded(tools)
    watch, ended = registry.watch(), threading.Event()
    thread: list[threading.Thread] = []

    def end(change: CatalogChange) -> None:
        thread.append(threading.current_thread())
        watch.__exit__(None, None, None)
        ended.set()

    registry.subscribe(end)
    watch.__enter__()
    save(tools, says(1))
    assert ended.wait(PATIENCE)
    thread.pop().join(PATIENCE)


def test_a_registry_without_directories_has_nothing_to_watch() -> None:
    registry = ToolRegistry()
    with registry.watch() as watch:
        assert watch.notice is None
        assert not registry.reload()


def test_it_can_look_again_and_again(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    with registry.watch(poll=True) as watch:
        assert watch.notice is None
        write("echo", code=says(1))
        news.until({"echo": 1})
        write("new", code=says("new", "new"))
        news.until({"echo": 1, "new": "new"})
        shutil.rmtree(tools)
        news.until({})


@pytest.mark.parametrize("code", ["raise KeyboardInterrupt\n", "raise SystemExit(1)\n"])
def test_what_a_tool_raises_at_import_does_not_end_the_watch(
    code: str, write: Write, tools: Path
) -> None:
    for name in ("a", "b"):
        write(name, code=says(0, name))
    registry, news = loaded(tools)
    with registry.watch():
        write("a", code=code)
        write("b", code=says(1, "b"))
        news.until({"a": 0, "b": 1})
        while statuses(registry.catalog)[f"{tools}/a"] != "rejected":
            news.next()
        write("a", code=says(2, "a"))
        news.until({"a": 2, "b": 1})


def test_a_directory_that_comes_later_is_waited_for(write: Write, tools: Path) -> None:
    registry, news = loaded(tools)
    with registry.watch():
        write("echo", code=says(0))
        news.until({"echo": 0})
        assert registry.report.diagnostics == ()
        shutil.rmtree(tools)
        news.until({})
        write("echo", code=says(1))
        news.until({"echo": 1})


def test_a_new_folder_waits_for_all_its_files(write: Write, tools: Path) -> None:
    tools.mkdir()
    registry, news = loaded(tools)
    with registry.watch():
        (tools / "echo").mkdir()
        change = news.next()
        assert (change.waiting, change.rejected) == (("echo",), ())
        reason = "echo.json and echo.py have not arrived yet"
        assert registry.catalog.unavailable == {"echo": (reason,)}
        (tools / "echo" / "old.json").write_text("{}")
        while "rename 'old.json' to 'echo.json'" not in registry.catalog.unavailable["echo"][0]:
            news.next()
        (tools / "echo" / "old.json").unlink()
        write("echo", code="")
        while registry.catalog.unavailable["echo"] != ("echo.py has not arrived yet",):
            news.next()
        save(tools, says(1))
        news.until({"echo": 1})
        save(tools, "")
        while statuses(registry.catalog)[f"{tools}/echo"] != "rejected":
            news.next()
        assert answers(registry.catalog) == {"echo": 1}


def test_whoever_asks_for_all_gets_an_answer_about_half_a_folder(tools: Path) -> None:
    tools.mkdir()
    registry, _ = loaded(tools)
    (tools / "echo").mkdir()
    assert registry.reload().rejected == ("echo",)


def test_a_link_to_all_files_of_the_machine_stops_nobody(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    with registry.watch():
        (tools / "echo" / "all").symlink_to("/")
        for version in (1, 2):
            write("echo", code=says(version))
            news.until({"echo": version})


CHAINS: dict[str, tuple[dict[str, str], str]] = {
    "a folder": ({"current": "rel/v1", "tools/echo": "../current/echo"}, "current"),
    "an absolute one": ({"current": "rel/v1", "tools/echo": "{here}/current/echo"}, "current"),
    "its files": (
        {
            "current": "rel/v1",
            "tools/echo/echo.json": "../../current/echo/echo.json",
            "tools/echo/echo.py": "../../current/echo/echo.py",
        },
        "current",
    ),
    "its module": (
        {"current": "rel/v1", "tools/echo/echo.py": "../../current/echo/echo.py"},
        "current",
    ),
    "the directory": ({"current": "rel/v1", "tools": "current"}, "current"),
    "one above the directory": (
        {"a": "rel", "rel/current": "v1", "tools": "a/current"},
        "rel/current",
    ),
    "three in a row": (
        {"a": "rel/v1", "b": "a", "c": "b", "tools/echo": "../c/echo"},
        "a",
    ),
    "the middle of three": (
        {"x/a": "../rel/v1", "y/b": "../x/a", "z/c": "../y/b", "tools/echo": "../z/c/echo"},
        "y/b",
    ),
    "one through a parent": (
        {"rel/at": "v1", "tools/echo": "../rel/v2/../at/echo"},
        "rel/at",
    ),
    "a neighbour": (
        {"rel/at": "v1/echo", "tools/other": "../rel/at", "tools/echo": "other"},
        "rel/at",
    ),
    "a hidden one": ({".current": "rel/v1", "tools/echo": "../.current/echo"}, ".current"),
}


@pytest.mark.parametrize("is_atomic", [True, False])
@pytest.mark.parametrize(("links", "switched"), CHAINS.values(), ids=CHAINS)
def test_a_link_of_a_chain_can_be_switched(
    links: dict[str, str], switched: str, *, is_atomic: bool, write: Write, tmp_path: Path
) -> None:
    for version in (1, 2):
        folder = write("echo", code=says(version))
        (tmp_path / "rel" / f"v{version}").mkdir(parents=True)
        folder.rename(tmp_path / "rel" / f"v{version}" / "echo")
    (tmp_path / "tools").rmdir()
    for name, target in links.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(target.format(here=tmp_path))
    if "tools/echo/echo.py" in links and "tools/echo/echo.json" not in links:
        shutil.copy(tmp_path / "rel" / "v1" / "echo" / "echo.json", tmp_path / "tools" / "echo")
    registry, news = loaded(tmp_path / "tools")
    link, target = tmp_path / switched, links[switched]
    other = target.replace("v1", "v2") if "v1" in target else "../x/d"
    if other == "../x/d":
        (tmp_path / "x" / "d").symlink_to("../rel/v2")
    with registry.watch():
        # the first are seen by the scans at the start, the last by an event behind the links
        for word in "abc":
            save(tmp_path / "rel" / "v1", says(word))
            news.until({"echo": word})
        if is_atomic:
            (link.parent / ".new").symlink_to(other)
            (link.parent / ".new").replace(link)
        else:
            link.unlink()
            link.symlink_to(other)
        news.until({"echo": 2})
        # the target of the new chain is followed as well
        save(tmp_path / "rel" / "v2", says(3))
        news.until({"echo": 3})


@pytest.mark.parametrize("path", ["tools/echo", "tools/echo/echo.json", "tools/echo/echo.py"])
def test_a_single_tool_can_be_watched(path: str, write: Write, tmp_path: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tmp_path / path)
    with registry.watch():
        write("echo", code=says(1))
        write("other")
        news.until({"echo": 1})


def test_of_several_directories_the_first_wins_while_they_change(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    write("echo", code=says("second"))
    tools.rename(tmp_path / "second")
    registry, news = loaded(tools, tmp_path / "second")
    with registry.watch():
        write("echo", code=says("first"))
        news.until({"echo": "first"})
        shutil.rmtree(tools / "echo")
        news.until({"echo": "second"})


def test_libraries_are_watched_too(
    write: Write, tools: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    library = tmp_path / f"words_of_{tmp_path.parent.name.replace('-', '_')}.py"
    library.write_text("WORD = 'one'\n")
    write("echo", code=gives("words.WORD", head=f"import {library.stem} as words\n"))
    registry, news = loaded(tools)
    with registry.watch(libraries=[library]):
        library.write_text("WORD = 'three'\n")
        assert news.next().updated == ("echo",)
        assert answer(registry.catalog.tools) == "three"


LATE = """
def echo(text: str) -> object:
    from {0} import a, c
    import {0}.b
    return a.WORD, {0}.b.WORD, c.__name__
"""


@pytest.mark.parametrize("broken", ["WORD =", "raise SystemExit", "while True: pass"])
def test_a_broken_library_serves_imports_inside_functions_as_it_was(
    write: Write,
    tools: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    broken: str,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    library = tmp_path / f"late_{abs(hash(tmp_path))}"
    library.mkdir()
    for name in ("__init__", "a", "b", "c"):
        (library / f"{name}.py").write_text("WORD = 'one'\n")
    write("echo", code=LATE.format(library.name))
    registry = ToolRegistry.from_directory(tools, import_timeout=0.5)
    news = News(registry)
    same = f"{library.name}.c"
    with registry.watch(libraries=[library]):
        assert answers(registry.catalog) == {"echo": ("one", "one", same)}
        (library / "a.py").write_text(f"{broken}\n")
        news.next()
        assert answers(registry.catalog) == {"echo": ("one", "one", same)}
        assert sys.modules[library.name].a.WORD == "one"
        (library / "a.py").write_text("WORD = 'three'\n")
        news.until({"echo": ("three", "one", same)})


def following(registry: ToolRegistry) -> Any:
    """Return the changes; what is returned can be closed, though its type does not say so."""
    return registry.changes()


async def begun(changes: Any) -> asyncio.Task[CatalogChange]:
    """Wait for the next change, and return when that is being done."""
    task = asyncio.create_task(anext(changes))
    await asyncio.sleep(0)
    return task


async def ended(threads: set[threading.Thread]) -> None:
    """Wait until all that is ending has ended, these threads as well."""
    gc.collect()
    await asyncio.sleep(0)
    current = asyncio.current_task()
    await asyncio.gather(*[each for each in asyncio.all_tasks() if each is not current])
    await asyncio.get_running_loop().shutdown_default_executor()
    for each in threads:
        each.join(PATIENCE)


async def test_changes_can_be_awaited(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry = ToolRegistry.from_directory(tools)
    before = watching()
    one, two = following(registry), following(registry)
    async with aclosing(one), aclosing(two):
        waiting = await begun(one), await begun(two)
        save(tools, says(1))
        first, second = await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE)
        assert first is second
        assert first.updated == ("echo",)
        await one.aclose()
        save(tools, says(2))
        assert (await asyncio.wait_for(anext(two), PATIENCE)).updated == ("echo",)
    await ended(watching() - before)
    assert registry._subscribers == {}


@pytest.mark.parametrize("when", ["at once", "after a change"])
async def test_whoever_waits_for_changes_can_be_cancelled(
    when: str, write: Write, tools: Path
) -> None:
    write("echo", code=says(0))
    registry = ToolRegistry.from_directory(tools)
    before = watching()
    changes = following(registry)
    waiting = await begun(changes)
    if when == "after a change":
        save(tools, says(1))
        await asyncio.wait_for(waiting, PATIENCE)
        waiting = await begun(changes)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await ended(watching() - before)
    assert registry._subscribers == {}


class Source:
    """What has one subscriber, and a watch that notes where it is begun and ended."""

    notice: str | None = None

    def __init__(self) -> None:
        self.tellers: list[Callable[[CatalogChange], object]] = []
        self.threads: list[threading.Thread] = []
        self.changes: Any = stream(self.subscribe, self.watch())

    def subscribe(self, tell: Callable[[CatalogChange], object]) -> Callable[[], None]:
        self.tellers.append(tell)
        return self.tellers.clear

    @contextmanager
    def watch(self) -> Iterator[Source]:
        self.threads.append(threading.current_thread())
        try:
            yield self
        finally:
            self.threads.append(threading.current_thread())

    async def first(self) -> CatalogChange:
        waiting = await begun(self.changes)
        self.tellers[0](CatalogChange(("a",)))
        return await waiting


async def test_a_watch_is_begun_and_ended_beside_the_loop() -> None:
    source = Source()
    assert (await source.first()).added == ("a",)
    await source.changes.aclose()
    assert len(source.threads) == 2
    assert threading.current_thread() not in source.threads
    assert source.tellers == []


def test_a_loop_that_was_closed_is_told_nothing(caplog: pytest.LogCaptureFixture) -> None:
    source = Source()
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(source.first()).added == ("a",)
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    source.tellers[0](CatalogChange(("b",)))
    assert caplog.messages == []
