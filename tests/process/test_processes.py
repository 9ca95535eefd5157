"""Tools in worker processes: what they do there costs their own call and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import (
    Answer,
    Host,
    LogMessage,
    Question,
    ToolDefinition,
    Tooler,
    ToolRegistry,
    definition_of,
)
from sovl_tools.loading import requirements
from tests.conftest import REPOSITORY, is_running
from tests.dispatch.toolbox import Call, each_way, tooler
from tests.patience import PATIENCE, wait_until
from tests.process import tools_in_code

pytestmark = pytest.mark.slow

MANIFEST = """{
  "name": "act",
  "description": "Do something.",
  "parameters": {
    "type": "object", "required": ["what"],
    "properties": {"what": {"type": "string", "description": "What to do."}}
  },
  "execution": {"mode": "process"}
}"""
CODE = """
import os
import re
import signal
import subprocess
import sys
import time

from sovl_tools import ToolContext


def act(what: str, context: ToolContext):
    return globals()[what](context)


def plain(context):
    return "done"


def whereabouts(context):
    return os.getpid()


def segfault(context):
    import ctypes
    ctypes.string_at(0)


def leave(context):
    print("farewell", file=sys.stderr)
    os._exit(3)


def leave_well(context):
    os._exit(0)


def memory(context):
    return len(bytearray(2 << 30))


def busy(context):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    context.log("info", f"{os.getpid()} {child.pid}")
    re.match("(a+)+$", "a" * 100 + "b")


def polite(context):
    context.log("info", "begun")
    while not context.cancelled:
        time.sleep(0.002)
    context.log("info", "ended")


def fork(context):
    if os.fork():
        return "parent"
    return "child"


def items(context):
    yield "one"
    yield {"two": 2}


def registry(context):
    return context.registry.catalog


def tooler(context):
    return context.tooler.call_sync("act", {"what": "plain"})


def state(context):
    context.state["x"] = 1


def question(context):
    return context.elicit_sync("Sure?").action


"""


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("process") / "tools"
    place = root / "act"
    place.mkdir(parents=True)
    (place / "act.json").write_text(MANIFEST)
    (place / "act.py").write_text(CODE)
    return root


@pytest.fixture(scope="module")
def acting(directory: Path) -> Iterator[Tooler]:
    registry = ToolRegistry.from_directory(directory)
    assert registry.report.errors == ()
    with Tooler(registry, max_processes=2) as calling:
        yield calling


@each_way
def test_a_tool_runs_in_another_process(call: Call, acting: Tooler) -> None:
    assert call(acting, "act", {"what": "whereabouts"}).value != os.getpid()
    assert call(acting, "act", {"what": "whereabouts"}, mode="thread").value == os.getpid()


@each_way
@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("segfault", "signal 11 (SIGSEGV): Fatal Python error: Segmentation fault"),
        ("leave", "exit code 3: farewell"),
        ("leave_well", "exit code 0"),
    ],
)
def test_a_worker_that_ends_costs_its_call_alone(
    call: Call, acting: Tooler, what: str, words: str
) -> None:
    error = call(acting, "act", {"what": what}).error
    assert error is not None
    assert (error.kind, error.error_type) == ("tool_error", "ProcessExpired")
    assert f"the process of tool 'act' ended with {words}" in error.message
    assert call(acting, "act", {"what": "plain"}).value == "done"


@pytest.mark.skipif(sys.platform != "linux", reason="there's no limit of memory")
def test_memory_has_a_limit() -> None:
    limited = ToolDefinition(
        "hungry", "", TAKES_BYTES, tools_in_code.hungry, execution={"memory_mb": 200}
    )
    with tooler(limited, max_processes=1) as calling:
        error = calling.call_sync("hungry", {"number": 2 << 30}).error
        assert error is not None
        assert (error.kind, error.error_type) == ("tool_error", "MemoryError")
        assert calling.call_sync("hungry", {"number": 1 << 20}).value == 1 << 20


TAKES_BYTES = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}


def test_busy_code_ends_with_its_limit_and_so_do_its_children(acting: Tooler) -> None:
    events: list[Any] = []
    error = acting.call_sync("act", {"what": "busy"}, timeout=3, on_event=events.append).error
    assert error is not None
    assert (error.kind, error.is_abandoned) == ("timeout", False)
    assert error.message == "tool 'act' was not done after 3 s"
    ids = [int(each) for each in events[0].message.split()]
    wait_until(lambda: not any(map(is_running, ids)))


def test_a_cancelled_tool_sees_it_and_may_clean_up(acting: Tooler) -> None:
    said: list[str] = []
    begun, ended = threading.Event(), threading.Event()

    def listen(event: Any) -> None:
        if isinstance(event, LogMessage):
            said.append(event.message)
            (begun if event.message == "begun" else ended).set()

    def cancel() -> None:
        begun.wait(PATIENCE)
        acting.cancel("polite")

    canceller = threading.Thread(target=cancel)
    canceller.start()
    error = acting.call_sync("act", {"what": "polite"}, call_id="polite", on_event=listen).error
    canceller.join()
    assert error is not None
    assert error.kind == "cancelled"
    assert ended.wait(PATIENCE)
    assert said == ["begun", "ended"]


def test_what_a_tool_forks_does_not_answer(acting: Tooler) -> None:
    assert acting.call_sync("act", {"what": "fork"}).value == "parent"
    assert acting.call_sync("act", {"what": "plain"}).value == "done"


def test_streams_come_item_by_item(acting: Tooler) -> None:
    stream = acting.stream("act", {"what": "items"})
    assert [*stream] == ["one", {"two": 2}]
    assert stream.result is not None
    assert stream.result.ok
    first = next(iter(acting.stream("act", {"what": "items"})))
    assert first == "one"


@each_way
@pytest.mark.parametrize("what", ["registry", "tooler", "state"])
def test_what_stays_with_the_caller_says_so(call: Call, acting: Tooler, what: str) -> None:
    error = call(acting, "act", {"what": what}).error
    assert error is not None
    words = "stays in the process of the caller; this tool runs in another"
    assert error.message == f"context.{what} {words}"


@each_way
def test_a_worker_asks_the_host_of_its_caller(call: Call, acting: Tooler) -> None:
    asked: list[str] = []

    def answer(question: Question) -> Answer:
        asked.append(question.message)
        return Answer("accept", {"reason": "broken"})

    async def fail(_: Question) -> Answer:
        raise ValueError("no")

    result = call(acting, "act", {"what": "question"}, host=Host(on_elicit=answer))
    assert result.value == "accept", result
    assert len(asked) == 1
    for host, words in (
        (
            Host(),
            "the user can't be reached; connect a client that supports elicitation, or set",
        ),
        (Host(on_elicit=fail), "on_elicit failed: ValueError: no"),
        (Host(on_elicit=lambda _: 5), "on_elicit must answer an Answer, not 5"),
        (Host(on_elicit=lambda _: lambda: 5), "the answer can't be sent to a worker process"),
    ):
        error = call(acting, "act", {"what": "question"}, host=host).error
        assert error is not None
        assert error.message.startswith(words)


def test_an_isolated_environment_has_a_base_and_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASKED_FOR", "yes")
    monkeypatch.setenv("A_SECRET", "no")
    isolated = ToolDefinition(
        "variables",
        "",
        {"type": "object", "properties": {}},
        tools_in_code.variables,
        execution={"isolated_env": True},
        requires={"env": ["ASKED_FOR"]},
    )
    open_tool = definition_of(tools_in_code.variables)
    with tooler(isolated, max_processes=1) as calling:
        found = calling.call_sync("variables").value
        assert "ASKED_FOR" in found
        assert "PATH" in found
        assert "A_SECRET" not in found
    with tooler(open_tool, mode="process", max_processes=1) as calling:
        assert "A_SECRET" in calling.call_sync("variables").value


def test_a_worker_that_dies_between_calls_is_replaced() -> None:
    definition = definition_of(tools_in_code.whereabouts)
    with tooler(definition, mode="process", max_processes=1) as calling:
        first = calling.call_sync("whereabouts", {"text": ""}).value[1]
        os.kill(first, signal.SIGKILL)
        wait_until(lambda: not is_running(first))
        second = calling.call_sync("whereabouts", {"text": ""})
    assert second.ok
    assert second.value[1] != first
    assert not is_running(second.value[1])


FORKED = """
import os, sys
from sovl_tools import Tooler, ToolRegistry
if __name__ == "__main__":
    with Tooler(ToolRegistry.from_directory(sys.argv[1]), max_processes=1) as tooler:
        ways = ["plain", "leave", "plain"]
        found = [tooler.call_sync("act", {"what": what}).ok for what in ways]
        child = os.fork()
        found += [tooler.call_sync("act", {"what": "plain"}).ok]
        with open(sys.argv[2], "a") as file:
            file.write(f"{found}\\n")
        if child:
            os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there's no fork")
def test_a_program_and_its_forked_child_have_workers(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "forked.py").write_text(FORKED)
    command = [sys.executable, str(tmp_path / "forked.py"), str(directory), str(tmp_path / "found")]
    subprocess.run(command, check=True, timeout=PATIENCE, cwd=REPOSITORY)
    assert (tmp_path / "found").read_text() == 2 * "[True, False, True, True]\n"


ENDLESS = """
import sys
from sovl_tools import Tooler, ToolRegistry
if __name__ == "__main__":
    Tooler(ToolRegistry.from_directory(sys.argv[1])).call_sync(
        "act", {"what": "busy"}, on_event=lambda event: print(event.message, flush=True)
    )
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no one tells a worker that computes")
def test_workers_end_with_a_program_that_is_killed(tmp_path: Path, directory: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, str(tmp_path / "endless.py"), str(directory)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )
    with process:
        assert process.stdout is not None
        ids = [int(each) for each in process.stdout.readline().split()]
        assert len(ids) == 2  # the worker and what its tool has started
        process.kill()
        wait_until(lambda: not any(map(is_running, ids)))


def test_closing_ends_calls_that_are_under_way(directory: Path) -> None:
    calling = Tooler(ToolRegistry.from_directory(directory), max_processes=1)
    ids: list[int] = []

    def listen(event: Any) -> None:
        ids.extend(int(each) for each in event.message.split())
        threading.Thread(target=calling.close).start()

    async def main() -> list[Any]:
        async with calling:
            first = asyncio.create_task(calling.call("act", {"what": "busy"}, on_event=listen))
            second = asyncio.create_task(calling.call("act", {"what": "plain"}))
            return [await first, await second]

    results = asyncio.run(main())
    assert [each.error and each.error.kind for each in results] == ["cancelled", "cancelled"]
    wait_until(lambda: not any(map(is_running, ids)))
    calling.close()
    error = calling.call_sync("act", {"what": "plain"}).error
    assert error is not None
    assert error.kind == "unavailable"
    assert "its Tooler is closed" in error.message
    assert calling.call_sync("act", {"what": "plain"}, mode="inline").value == "done"


def test_without_the_extra_a_tool_is_unavailable(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "is_importable", lambda _: False)
    registry = ToolRegistry.from_directory(directory)
    assert registry.report.errors == ()
    assert [each.status for each in registry.report.folders] == ["unavailable"]
    words = "the extra sovl-tools[process] alone, which is not installed"
    error = Tooler(registry).call_sync("act", {"what": "plain"}).error
    assert error is not None
    assert (error.kind, words in error.message) == ("unavailable", True)
    calling = tooler(definition_of(tools_in_code.whereabouts))
    error = calling.call_sync("whereabouts", {"text": ""}, mode="process").error
    assert error is not None
    assert (error.kind, words in error.message) == ("unavailable", True)


def run(path: Path, source: str) -> subprocess.CompletedProcess[str]:
    path.write_text(source)
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        timeout=2 * PATIENCE,
    )


def test_a_script_without_a_guard_is_told_and_one_with_it_ends(
    tmp_path: Path, directory: Path
) -> None:
    script = (
        "from sovl_tools import Tooler, tool, ToolRegistry\n"
        "@tool\ndef own(text: str) -> str:\n    '''Say it.'''\n    return text\n"
        "registry = ToolRegistry()\nregistry.register(own)\n"
        "print('begin')\n"
    )
    calls = "print(Tooler(registry, mode='process').call_sync('own', {'text': 'a'})[1:3])\n"
    done = run(tmp_path / "unguarded.py", script + calls)
    assert done.stdout.count("begin") == 2  # here, and in one worker
    assert "An attempt has been made to start a" in done.stdout
    # it has not closed its Tooler: the end of the program does
    done = run(tmp_path / "guarded.py", f"{script}if __name__ == '__main__':\n    {calls}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "begin\nbegin\n('a', None)\n", "")
