"""A registry that follows its directories: asked, watched, told of, and read meanwhile."""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from sovl_tools import Tooler, ToolRegistry
from sovl_tools.model.catalog import CatalogChange
from tests.conftest import Write, manifest_of
from tests.loading.folders import answer, answers, gives, says, statuses

PATIENCE = 30


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = {*threading.enumerate()}
    yield
    left = [each.name for each in {*threading.enumerate()} - before if is_watching(each)]
    assert left == []


def is_watching(thread: threading.Thread) -> bool:
    return thread.name.startswith("sovl-tools") or type(thread).__module__.startswith("watchdog.")


class News:
    """The changes of a registry in the order in which they come."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._changes: SimpleQueue[CatalogChange] = SimpleQueue()
        registry.subscribe(self._changes.put)

    def next(self) -> CatalogChange:
        return self._changes.get(timeout=PATIENCE)

    def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for changes until something is so."""
        while not is_so():
            self.next()

    def so_far(self) -> list[CatalogChange]:
        return [self._changes.get() for _ in range(self._changes.qsize())]


def loaded(*paths: Path) -> tuple[ToolRegistry, News]:
    registry = ToolRegistry.from_directory(*paths)
    return registry, News(registry)


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


def test_a_subscriber_that_fails_disturbs_nobody(
    write: Write, tools: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write("echo")
    registry = ToolRegistry.from_directory(tools)

    def fail(change: CatalogChange) -> None:
        raise ValueError(change)

    registry.subscribe(fail)
    news = News(registry)
    write("echo", code=says(1))
    assert registry.reload().updated == ("echo",)
    assert news.next().updated == ("echo",)
    assert caplog.messages == ["a subscriber failed at a change of the catalog"]
    assert answer(registry.catalog.tools) == 1


async def later(change: CatalogChange) -> None: ...


class Later:
    async def __call__(self, change: CatalogChange) -> None: ...


@pytest.mark.parametrize("subscriber", [later, "no function", None])
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


def test_readers_always_see_a_whole_catalog(write: Write, tools: Path) -> None:
    def save(version: int) -> None:
        for name in ("a", "b"):
            phrases = [f"version {version}"]
            write(name, manifest_of(name, activation_phrases=phrases), says(version, name))

    save(0)
    registry, _ = loaded(tools)
    is_over = threading.Event()
    seen: list[set[tuple[object, ...]]] = []

    def read() -> None:
        while not is_over.is_set():
            every = {(answer({each.name: each}, each.name),) for each in registry}
            seen.append(every | {(answer(registry.catalog.tools, "a"),)} if False else every)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for each in readers:
        each.start()
    for version in range(1, 60):
        save(version)
        assert registry.reload().updated == ("a", "b")
    is_over.set()
    for each in readers:
        each.join(PATIENCE)
    assert {len(each) for each in seen} == {1}
    assert len(set(map(frozenset, seen))) > 1


def test_a_save_is_noticed(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    tooler = Tooler(registry)
    with registry.watch() as watch:
        assert watch.notice is None
        for version in (1, 2):
            write("echo", code=says(version))
            news.until(lambda version=version: answer(registry.catalog.tools) == version)  # type: ignore[misc]  # a default
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
        count = sum(map(is_watching, threading.enumerate()))
        with registry.watch() as inner:
            assert inner is outer
            assert sum(map(is_watching, threading.enumerate())) == count
        write("echo", code=says(1))
        news.next()
    assert not any(map(is_watching, threading.enumerate()))
    with registry.watch() as another:
        assert another is not outer


def test_blocks_need_not_end_in_order(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    first, second = registry.watch(), registry.watch()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    write("echo", code=says(1))
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
    write("echo", code=says(1))
    assert ended.wait(PATIENCE)
    thread.pop().join(PATIENCE)


def test_it_can_look_again_and_again(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tools)
    with registry.watch(poll=True) as watch:
        assert watch.notice is None
        write("echo", code=says(1))
        news.until(lambda: answer(registry.catalog.tools) == 1)
        write("new")
        news.until(lambda: "new" in registry)
        shutil.rmtree(tools)
        news.until(lambda: len(registry) == 0)


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
        news.until(lambda: answers(registry.catalog) == {"a": 0, "b": 1})
        news.until(lambda: statuses(registry.catalog)[f"{tools}/a"] == "rejected")
        write("a", code=says(2, "a"))
        news.until(lambda: answers(registry.catalog) == {"a": 2, "b": 1})


def test_a_directory_that_comes_later_is_waited_for(write: Write, tools: Path) -> None:
    registry, news = loaded(tools)
    with registry.watch():
        write("echo", code=says(0))
        news.until(lambda: "echo" in registry)
        assert registry.report.diagnostics == ()
        shutil.rmtree(tools)
        news.until(lambda: "echo" not in registry)
        write("echo", code=says(1))
        news.until(lambda: "echo" in registry)
    assert answer(registry.catalog.tools) == 1


@pytest.mark.parametrize("path", ["tools/echo", "tools/echo/echo.json", "tools/echo/echo.py"])
def test_a_single_tool_can_be_watched(path: str, write: Write, tmp_path: Path) -> None:
    write("echo", code=says(0))
    registry, news = loaded(tmp_path / path)
    with registry.watch():
        write("echo", code=says(1))
        write("other")
        news.until(lambda: answer(registry.catalog.tools) == 1)
    assert [each.name for each in registry] == ["echo"]


def test_of_several_directories_the_first_wins_while_they_change(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    write("echo", code=says("second"))
    tools.rename(tmp_path / "second")
    registry, news = loaded(tools, tmp_path / "second")
    with registry.watch():
        write("echo", code=says("first"))
        news.until(lambda: answer(registry.catalog.tools) == "first")
        shutil.rmtree(tools / "echo")
        news.until(lambda: answer(registry.catalog.tools) == "second")


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
        news.until(lambda: answer(registry.catalog.tools) == "three")


async def test_changes_can_be_awaited(write: Write, tools: Path) -> None:
    write("echo", code=says(0))
    registry = ToolRegistry.from_directory(tools)
    one, two = following(registry), following(registry)
    async with aclosing(one), aclosing(two):
        waiting = [asyncio.create_task(anext(each)) for each in (one, two)]
        await asyncio.to_thread(wait_for_a_watch, registry, 2)
        write("echo", code=says(1))
        first, second = await asyncio.wait_for(asyncio.gather(*waiting), PATIENCE)
        assert first is second
        assert first.updated == ("echo",)
        await one.aclose()
        write("echo", code=says(2))
        assert (await asyncio.wait_for(anext(two), PATIENCE)).updated == ("echo",)
    await asyncio.to_thread(wait_for_a_watch, registry, 0)


def following(registry: ToolRegistry, **options: Any) -> Any:
    return registry.changes(**options)


def wait_for_a_watch(registry: ToolRegistry, blocks: int) -> None:
    """Wait until so many blocks watch; without any, until the threads have ended."""
    while registry._reloading()._blocks != blocks:
        pass
    for each in threading.enumerate() if not blocks else ():
        if is_watching(each):
            each.join(PATIENCE)


async def test_waiting_for_changes_can_be_cancelled(write: Write, tools: Path) -> None:
    write("echo")
    registry = ToolRegistry.from_directory(tools)

    async def follow() -> None:
        async for _ in registry.changes():
            pass

    following = asyncio.create_task(follow())
    await asyncio.to_thread(wait_for_a_watch, registry, 1)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following
    await asyncio.to_thread(wait_for_a_watch, registry, 0)
    assert registry._subscribers == {}
