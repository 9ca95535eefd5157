"""A registry that follows its directories by itself."""

from __future__ import annotations

import asyncio
import gc
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import CatalogChange, Tooler, ToolRegistry
from tests.conftest import Write, clean_environment
from tests.loading.folders import answer, answers, gives, loaded, says, statuses
from tests.patience import PATIENCE, wait_until
from tests.tables import check_each


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


@check_each(
    "links",
    [
        {"current": "rel/v1", "tools/echo": "../current/echo"},
        {"current": "rel/v1", "tools": "current"},
        {"current": "rel/v1", "b": "current", "c": "b", "tools/echo": "../c/echo"},
    ],
)
def test_a_link_of_a_chain_can_be_switched(
    links: dict[str, str], write: Write, tmp_path: Path
) -> None:
    place = tmp_path / str(len(str(links)))
    for version in (1, 2):
        (place / "rel" / f"v{version}").mkdir(parents=True)
        write("echo", code=says(version)).rename(place / "rel" / f"v{version}" / "echo")
    for name, target in links.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).symlink_to(target)
    registry, news = loaded(place / "tools")
    with registry.watch():
        save(place / "rel" / "v1", says("one"))
        news.until({"echo": "one"})
        (place / ".new").symlink_to("rel/v2")
        (place / ".new").replace(place / "current")
        news.until({"echo": 2})
        # the target of the new chain is followed as well
        save(place / "rel" / "v2", says(3))
        news.until({"echo": 3})


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


LIMITED = """
import sys
from sovl_tools import ToolRegistry
kind, number, tools = sys.argv[1:]
with open(f"/proc/sys/user/max_inotify_{kind}", "w") as file:
    file.write(number)
with ToolRegistry.from_directory(tools).watch() as watch:
    print(watch.notice)
"""


@check_each(
    ("kind", "number", "words"),
    [
        (
            "instances",
            "0",
            "no inotify instances left (fs.inotify.max_user_instances)",
        ),
        ("watches", "2", "no inotify watches left (fs.inotify.max_user_watches)"),
        ("watches", "20", "None"),
    ],
)
def test_a_system_without_watches_is_polled_with_a_notice(
    kind: str, number: str, words: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tools = tmp_path_factory.mktemp("tools")
    for name in ("a", "b", "c"):
        (tools / name).mkdir()
    script = tools.with_suffix(".py")
    script.write_text(LIMITED)
    command = ["unshare", "--user", "--map-root-user", sys.executable, str(script)]
    done = subprocess.run(
        [*command, kind, number, str(tools)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if "unshare" in done.stderr or "Permission" in done.stderr:
        pytest.skip("this user may not limit the watches of a child process")
    assert words in done.stdout


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
