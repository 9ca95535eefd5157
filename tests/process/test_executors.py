"""Any executor runs the tools, by what travels alone."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Answer, Host, ToolDefinition, Tooler, ToolRegistry, definition_of
from sovl_tools.loading.lock import hashes_of
from sovl_tools.loading.modules import sources_of
from sovl_tools.model.folder import Manifest
from tests.conftest import Write, manifest_of
from tests.dispatch.toolbox import TEXT, Call, each_way, tool, tooler
from tests.process import tools_in_code


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    """An executor whose workers are threads: what travels is all that they are given."""
    with ThreadPoolExecutor(2) as executor:
        yield executor


def code(*functions: Any) -> list[ToolDefinition]:
    return [each if isinstance(each, ToolDefinition) else definition_of(each) for each in functions]


@each_way
@pytest.mark.parametrize(
    ("function", "value"),
    [
        (tools_in_code.later, "hello"),
        (tools_in_code.once, "hellohello"),
        (tools_in_code.BARE, "hello"),
    ],
    ids=["async", "postprocess", "bare"],
)
def test_a_tool_in_code_runs_on_an_executor(
    call: Call, threads: Executor, function: Any, value: str
) -> None:
    (definition,) = code(function)
    result = call(tooler(definition, executor=threads), definition.name, {"text": "hello"})
    assert result.error is None
    assert result.value == value


def test_from_an_executor_nobody_can_be_asked(threads: Executor) -> None:
    host = Host(on_elicit=lambda _: Answer("accept", {}))
    calling = tooler(*code(tools_in_code.asker), executor=threads, host=host)
    error = calling.call_sync("asker", {"text": "Sure?"}).error
    assert error is not None
    words = "the user can't be reached from a cluster or an executor; run the tool in another mode"
    assert error.message == words


@each_way
def test_progress_and_messages_come_back(call: Call, threads: Executor) -> None:
    events: list[Any] = []
    calling = tooler(*code(tools_in_code.chatter), executor=threads, on_event=events.append)
    result = call(calling, "chatter", {"text": "hello"}, call_id="mine")
    assert result.value == ["mine", "chatter", "False"]
    assert [(type(each).__name__, each.message) for each in events] == [
        ("Progress", "hello"),
        ("LogMessage", "hello"),
    ]


@each_way
def test_a_folder_runs_in_the_version_of_the_caller(
    call: Call, threads: Executor, write: Write
) -> None:
    place = write("echo", code="from .words import text as echo\n", words=HELPER.format(1))
    registry = ToolRegistry.from_directory(place.parent)
    assert registry.report.errors == ()
    calling = Tooler(registry, executor=threads)
    assert call(calling, "echo", {"text": "a"}).value == "a1"
    (place / "words.py").write_text(HELPER.format(2))
    # not reloaded yet: the sources travel
    assert call(calling, "echo", {"text": "a"}).value == "a1"
    registry.reload()
    assert call(calling, "echo", {"text": "a"}).value == "a2"
    for file in place.glob("*.*"):
        file.unlink()
    assert call(calling, "echo", {"text": "a"}).value == "a2"


HELPER = "def text(text: str) -> str:\n    return text + '{}'\n"


@each_way
def test_failures_are_those_of_a_call_here(call: Call, threads: Executor, write: Write) -> None:
    source = "def echo(text: str) -> str:\n    return {}[text]\n"
    registry = ToolRegistry.from_directory(write("echo", code=source).parent)
    here = call(Tooler(registry), "echo", {"text": "a"}).error
    there = call(Tooler(registry, executor=threads), "echo", {"text": "a"}).error
    assert here == there
    assert there is not None
    assert there.place is not None
    assert there.place.endswith("echo.py:2")


@each_way
def test_a_result_is_held_to_the_output_schema_and_cut_here(
    call: Call, threads: Executor, write: Write
) -> None:
    manifest = {**manifest_of("echo"), "output_schema": {"type": "integer"}}
    registry = ToolRegistry.from_directory(write("echo", manifest).parent)
    result = call(Tooler(registry, executor=threads), "echo", {"text": "a"})
    assert result.error is not None
    assert result.error.kind == "invalid_result"
    (definition,) = code(tools_in_code.BARE)
    short = call(tooler(definition, executor=threads, max_result_bytes=40), "bare", LONG)
    assert len(short.value) <= 40


LONG = {"text": "a" * 1000}


def test_a_locked_folder_is_held_to_its_lock_there(threads: Executor, write: Write) -> None:
    manifest = {**manifest_of("echo"), "reload": ["*.txt"]}
    place = write("echo", manifest)
    (place / "data.txt").write_text("reviewed")
    found = sources_of(ToolRegistry.from_directory(place.parent)["echo"])
    assert found is not None
    hashes = hashes_of(Manifest(manifest, found.manifest), found.snapshot)
    lock = place.parent.parent / "lock"
    lock.write_text(json.dumps({"version": 1, "tools": {"echo": hashes}}))
    registry = ToolRegistry.from_directory(place.parent, locked=lock)
    assert registry.report.errors == ()
    (place / "data.txt").write_text("tampered")
    error = Tooler(registry, executor=threads).call_sync("echo", {"text": "a"}).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "does not load in the worker process" in error.message


def test_what_does_not_travel_is_unavailable_and_never_runs_here(threads: Executor) -> None:
    error = tooler(tools_in_code.within(), executor=threads).call_sync("local", LONG).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "local stands within a function" in error.message


@each_way
def test_a_tool_that_wants_a_thread_has_one(call: Call, threads: Executor) -> None:
    here = tool(os.getpid, name="here", mode="thread")
    result = call(tooler(here, executor=threads), "here")
    assert result.value == os.getpid()


class Broken(Executor):
    """Never runs anything."""

    def __init__(self, future: Future[Any]) -> None:
        self.future = future

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        return self.future


@each_way
def test_a_limit_cancels_what_has_not_begun_and_gives_up_what_has(call: Call) -> None:
    waiting: Future[Any] = Future()
    calling = tooler(*code(tools_in_code.BARE), executor=Broken(waiting))
    error = call(calling, "bare", LONG, timeout=0.01).error
    assert error is not None
    assert (error.kind, error.is_abandoned) == ("timeout", False)
    assert waiting.cancelled()
    running: Future[Any] = Future()
    running.set_running_or_notify_cancel()
    calling = tooler(*code(tools_in_code.BARE), executor=Broken(running))
    error = call(calling, "bare", LONG, timeout=0.01).error
    assert error is not None
    assert (error.kind, error.is_abandoned) == ("timeout", True)
    assert "its call was abandoned and can still be at it" in error.message


@pytest.mark.parametrize("execution", [{"memory_mb": 10}, {"isolated_env": True}], ids=str)
def test_limits_need_another_process(threads: Executor, execution: dict[str, Any]) -> None:
    limited = ToolDefinition("bare", "", TEXT, tools_in_code.bare, execution=execution)
    error = tooler(limited, executor=threads).call_sync("bare", LONG).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "its limits need another process" in error.message


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["standard", "loky"])
def test_other_pools_run_folders(engine: str, write: Write) -> None:
    registry = ToolRegistry.from_directory(write("echo").parent)
    executor: Executor
    if engine == "loky":
        executor = pytest.importorskip("loky").ProcessPoolExecutor(1)
    else:
        executor = ProcessPoolExecutor(1, mp_context=get_context("forkserver"))
    with executor:
        calling = Tooler(registry, executor=executor)
        assert calling.call_sync("echo", {"text": "a"}).value == "a"
        assert asyncio.run(calling.call("echo", {"text": "b"})).value == "b"


def test_what_is_brought_by_the_package_stays_with_the_caller(
    threads: Executor, write: Write, tmp_path: Path
) -> None:
    registry = ToolRegistry.from_directory(write("echo").parent)
    (tmp_path / "procedures").mkdir()
    (tmp_path / "procedures" / "say.yaml").write_text(PROCEDURE)
    registry.load_procedures(tmp_path / "procedures")
    result = Tooler(registry, executor=threads).call_sync("say", {})
    assert result.error is None


PROCEDURE = """
name: say
description: Say something.
steps:
  - action: tool
    tool: echo
    arguments: {text: hello}
    save_as: said
"""
