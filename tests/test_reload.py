"""A registry that is asked to reload: what it says, whom it tells, and what readers see."""

from __future__ import annotations

import json
import logging
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sovl_tools import CatalogChange, ToolRegistry
from tests.conftest import Write, manifest_of
from tests.loading.folders import answers, loaded, says, statuses
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


async def later(change: CatalogChange) -> None: ...


@check_each("subscriber", [later, "no function", None])
def test_what_can_not_be_called_at_once_is_refused(subscriber: Any) -> None:
    with pytest.raises(TypeError, match="a subscriber must be a sync function"):
        ToolRegistry().subscribe(subscriber)


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


USER = (
    "import signal, threading\n\n"
    "signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)\n"
)
"""Sends what the terminal sends when a user presses Ctrl-C."""


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
