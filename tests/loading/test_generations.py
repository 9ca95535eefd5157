"""Two versions of a tool live side by side, and each leaves when no one needs it anymore."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import ref

import pytest

from sovl_tools import CatalogChange, Tooler, ToolRegistry, ToolResult
from tests.conftest import Write, manifest_of
from tests.loading.folders import Left, answer, generations, gives, says
from tests.patience import PATIENCE

LOGS = "import logging\n\nlogging.getLogger(__name__)\n"
READING = manifest_of("echo", reload=["words.*"])
"""Of a tool that reads a file next to it when it is imported."""

HELPED = gives("helpers.WORD", head=f"{LOGS}\nfrom . import helpers\n")
WAITS = """
from threading import Event

started, gate = Event(), Event()


def echo(text: str) -> str:
    started.set()
    gate.wait(60)
    from . import helpers

    return helpers.WORD
"""
AWAITS = WAITS.replace("from threading", "from asyncio").replace("def echo", "async def echo")
AWAITS = AWAITS.replace("gate.wait(60)", "await gate.wait()")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return tmp_path / "tools"


@pytest.fixture
def noting(tmp_path: Path) -> str:
    """Return code that leaves a trace outside of its folder each time that it runs."""
    return f"with open({str(tmp_path / 'trace')!r}, 'a') as trace:\n    trace.write('x')\n"


@pytest.fixture
def ran(tmp_path: Path) -> Callable[[], int]:
    """Return how often ``noting`` ran."""
    return lambda: len((tmp_path / "trace").read_text())


def members(registry: ToolRegistry) -> Mapping[str, Any]:
    """Return the variables of the module, without the tool."""
    found: Mapping[str, Any] = registry["echo"].function.__globals__
    return found


def reloaded(registry: ToolRegistry) -> CatalogChange:
    """Reload, and read the report: a registry remembers the catalog that it last reported on."""
    change = registry.reload()
    assert registry.report.folders is registry.catalog.candidates
    return change


def test_the_old_version_is_gone_after_an_update(write: Write, tools: Path) -> None:
    left = Left()
    write("echo", code=HELPED, helpers="import logging\nlogging.getLogger(__name__)\nWORD = 1\n")
    registry = ToolRegistry.from_directory(tools)
    package = members(registry)["__package__"].rpartition(".")[2]
    assert left.modules() == sorted([package, "echo", "helpers"])
    write("echo", code=says("new"))
    assert reloaded(registry).updated == ("echo",)
    assert left.modules() == ["echo"]
    assert len(generations(tools)) == 1


def test_a_call_on_a_thread_ends_with_the_version_it_began_with(write: Write, tools: Path) -> None:
    left = Left()
    write("echo", code=WAITS, helpers="WORD = 'old'\n")
    registry = ToolRegistry.from_directory(tools)
    tooler = Tooler(registry)
    results: list[ToolResult] = []

    def call() -> None:
        results.append(tooler.call_sync("echo", {"text": ""}))

    started, gate = members(registry)["started"], members(registry)["gate"]
    calling = threading.Thread(target=call)
    calling.start()
    started.wait(PATIENCE)
    write("echo", code=says("new"), helpers="WORD = 'new'\n")
    reloaded(registry)
    assert tooler.call_sync("echo", {"text": ""}).value == "new"
    assert left.modules() == ["echo", "echo"]
    gate.set()
    calling.join(PATIENCE)
    assert results.pop().value == "old"
    assert left.modules() == ["echo"]


async def test_a_suspended_call_ends_with_the_version_it_began_with(
    write: Write, tools: Path
) -> None:
    left = Left()
    write("echo", code=AWAITS, helpers="WORD = 'old'\n")
    registry = ToolRegistry.from_directory(tools)
    tooler = Tooler(registry)
    started, gate = members(registry)["started"], members(registry)["gate"]
    call = asyncio.create_task(tooler.call("echo", {"text": ""}))
    await started.wait()
    write("echo", code=says("new"), helpers="WORD = 'new'\n")
    reloaded(registry)
    assert (await tooler.call("echo", {"text": ""})).value == "new"
    assert left.modules() == ["echo", "echo"]
    gate.set()
    assert (await call).value == "old"
    del call
    assert left.modules() == ["echo"]


def test_a_registry_that_was_not_reloaded_keeps_its_version(write: Write, tools: Path) -> None:
    left = Left()
    write("echo", code=HELPED, helpers="WORD = 'old'\n")
    first, second = (ToolRegistry.from_directory(tools) for _ in range(2))
    write("echo", code=HELPED, helpers="WORD = 'new'\n")
    reloaded(first)
    assert (answer(first.catalog.tools), answer(second.catalog.tools)) == ("new", "old")
    reloaded(second)
    assert members(first) is members(second)
    assert len(left.modules()) == 3
    del first, second
    assert len(left.modules()) == 3
    assert len(generations(tools)) == 1


def test_going_back_to_a_version_that_still_runs_is_that_version(write: Write, tools: Path) -> None:
    left = Left()
    write("echo", code=HELPED, helpers="WORD = 'a'\n")
    registry = ToolRegistry.from_directory(tools)
    kept = registry["echo"]
    write("echo", code=HELPED, helpers="WORD = 'b'\n")
    reloaded(registry)
    write("echo", code=HELPED, helpers="WORD = 'a'\n")
    reloaded(registry)
    function = registry["echo"].function
    assert function is kept.function
    del kept
    assert answer(registry.catalog.tools) == "a"
    assert len(left.modules()) == 3
    del registry
    assert len(generations(tools)) == 1
    assert ToolRegistry.from_directory(tools)["echo"].function is function


def test_a_failed_import_leaves_nothing_and_the_old_version_whole(
    write: Write, tools: Path
) -> None:
    left = Left()
    code = HELPED.replace("from . import helpers\n", "").replace(
        "return", "from . import helpers\n    return"
    )
    write("echo", code=code, helpers="WORD = 'old'\n")
    registry = ToolRegistry.from_directory(tools)
    write("echo", code=f"{HELPED}\n1 / 0\n", helpers=f"{LOGS}\nWORD = 'new'\n")
    assert reloaded(registry).rejected == ("echo",)
    assert left.modules() == ["echo"]
    assert answer(registry.catalog.tools) == "old"


def test_an_undone_edit_is_the_version_before_and_runs_nothing(
    write: Write, tools: Path, ran: Callable[[], int], noting: str
) -> None:
    write("echo", code=says("old", head=noting))
    registry = ToolRegistry.from_directory(tools)
    before = registry["echo"].function
    write("echo", code="def echo(:\n")
    assert reloaded(registry).rejected == ("echo",)
    assert registry.report.folders[0].status == "rejected"
    assert [each.code for each in registry.report.errors] == ["ST502"]
    assert registry["echo"].function is before
    write("echo", code=says("old", head=noting))
    assert reloaded(registry).updated == ("echo",)
    assert registry["echo"].function is before
    assert not registry.report.diagnostics
    assert ran() == 1


def test_a_last_good_version_leaves_when_a_better_one_comes(write: Write, tools: Path) -> None:
    left = Left()
    write("echo", code=HELPED, helpers="WORD = 1\n")
    registry = ToolRegistry.from_directory(tools)
    gone = ref(registry["echo"])
    for broken in ("1 / 0\n", "def echo(:\n"):
        write("echo", code=broken)
        assert reloaded(registry).rejected == ("echo",)
        assert len(left.modules()) == 3
        assert gone() is registry["echo"]
    write("echo", code=says("new"))
    assert reloaded(registry).updated == ("echo",)
    assert left.modules() == ["echo"]
    assert gone() is None


def test_another_manifest_does_not_run_the_module_again(
    write: Write, tools: Path, ran: Callable[[], int], noting: str
) -> None:
    code = says("old", head=noting)
    write("echo", code=code)
    registry = ToolRegistry.from_directory(tools)
    write("echo", manifest_of("echo", description="Say it again."), code)
    assert reloaded(registry).updated == ("echo",)
    assert registry["echo"].description == "Say it again."
    assert ran() == 1


def test_a_source_that_is_only_read_runs_the_module_again(
    write: Write, tools: Path, tmp_path: Path
) -> None:
    read = f"with open({str(tools / 'echo' / 'words.py')!r}) as words:\n    TEXT = words.read()\n"
    write("echo", READING, code=gives("TEXT", head=read), words="one")
    registry = ToolRegistry.from_directory(tools)
    reloaded(registry)
    write("echo", READING, code=gives("TEXT", head=read), words="three")
    assert reloaded(registry).updated == ("echo",)
    assert answer(registry.catalog.tools) == "three"


def test_a_removed_folder_leaves_nothing(write: Write, tools: Path) -> None:
    left = Left()
    folder = write("echo", code=HELPED, helpers="WORD = 1\n")
    registry = ToolRegistry.from_directory(tools)
    kept = registry["echo"]
    folder.rename(tools.parent / "elsewhere")
    assert reloaded(registry).removed == ("echo",)
    assert len(left.modules()) == 3
    assert kept.execute(text="") == 1
    del kept
    assert left.modules() == []
    assert generations(tools) == []


@pytest.mark.unmeasured
def test_a_hundred_reloads_take_no_more_memory_than_a_few(write: Write, tools: Path) -> None:
    left = Left()
    write("other", code=HELPED.replace("echo", "other"), helpers="WORD = 1\n")
    write("echo", code=HELPED, helpers="WORD = 0\n")
    registry = ToolRegistry.from_directory(tools)
    tooler = Tooler(registry)
    sizes: set[tuple[int, ...]] = set()
    for number in range(1, 101):
        write("echo", code=HELPED, helpers=f"{LOGS}\nWORD = {number}\n")
        assert reloaded(registry).updated == ("echo",)
        assert tooler.call_sync("echo", {"text": ""}).value == number
        if number in {1, 10, 100}:
            sizes.add((len(left.modules()), len(generations(tools))))
    assert sizes == {(6, 2)}
