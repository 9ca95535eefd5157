"""What a tool does to the process that imports it stays in that process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools.loading.collecting import collect
from sovl_tools.loading.isolation import load_in_child
from sovl_tools.loading.pipeline import Settings
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.folder import ToolFolder
from tests.conftest import Write, code_of, is_running

GIL_HOLDER = "import re\n\nre.match('(a+)+$', 'a' * 60 + '!')\n"
ENDINGS = {
    "os._exit": ("import os\n\nos._exit(7)\n", "exit code 7", 1),
    "a segmentation fault": (
        "import ctypes\n\n\ndef crash():\n    ctypes.string_at(0)\n\n\ncrash()\n",
        "SIGSEGV",
        5,
    ),
    "a signal": ("import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL", 1),
    "a keyboard interrupt": ("raise KeyboardInterrupt\n", "SIGINT", 1),
    "a closed report": ("import os\n\nos.closerange(3, 64)\n", "process", 1),
}


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., dict[str, Candidate]]:
    def run(limit: float = 5.0, **options: Any) -> dict[str, Candidate]:
        folders = collect([tmp_path / "tools"]).folders
        candidates = load_in_child(folders, Settings(limit=limit), **options)
        return {candidate.name: candidate for candidate in candidates}

    return run


def only(candidate: Candidate) -> Diagnostic:
    (diagnostic,) = candidate.diagnostics
    return diagnostic


Load = Callable[..., dict[str, Candidate]]


@pytest.mark.parametrize("name", ENDINGS)
def test_the_end_of_the_process_is_told_about_and_the_next_tool_loads(
    name: str, write: Write, load: Load
) -> None:
    code, words, line = ENDINGS[name]
    write("a_first")
    write("b_odd", code=code)
    write("c_last")
    found = load()
    assert [found[each].status for each in found] == ["loaded", "rejected", "loaded"]
    assert only(found["b_odd"]).code == "ST505"
    assert words in only(found["b_odd"]).message
    assert only(found["b_odd"]).line == line


def test_an_endless_loop_is_rejected_at_its_line_by_the_child_itself(
    write: Write, load: Load
) -> None:
    write("a_odd", code="x = 1\nwhile True:\n    x += 1\n")
    write("b_last")
    found = load(limit=0.3)
    assert only(found["a_odd"]).code == "ST504"
    assert only(found["a_odd"]).line in {2, 3}
    assert found["b_last"].status == "loaded"


def test_a_loop_that_lets_no_other_thread_run_is_ended_from_outside(
    write: Write, load: Load
) -> None:
    write("a_first")
    write("b_odd", code=GIL_HOLDER)
    write("c_last")
    found = load(limit=0.3)
    assert only(found["b_odd"]).code == "ST504"
    assert only(found["b_odd"]).line == 3
    assert found["c_last"].status == "loaded"


def test_a_flood_of_output_is_ended_and_told_about(write: Write, load: Load) -> None:
    write("a_odd", code="while True:\n    print('x' * 10_000)\n")
    write("b_last")
    printed: list[bytes] = []
    found = load(echo=printed.append)
    assert only(found["a_odd"]).code == "ST506"
    assert sum(map(len, printed)) <= 1 << 20
    assert found["b_last"].status == "loaded"


def test_what_a_tool_prints_is_passed_on_and_hurts_nothing(write: Write, load: Load) -> None:
    write("echo", code=f"import os\n\nprint('hello')\nos.write(1, b'again')\n\n\n{code_of('echo')}")
    printed: list[bytes] = []
    assert load(echo=printed.append)["echo"].status == "loaded"
    assert b"hello" in b"".join(printed)
    assert b"again" in b"".join(printed)


def test_a_tool_that_reads_the_standard_input_gets_none(write: Write, load: Load) -> None:
    write("echo", code=f"import sys\n\nassert sys.stdin.read() == ''\n\n\n{code_of('echo')}")
    assert load()["echo"].status == "loaded"


def test_threads_that_a_tool_starts_are_not_waited_for(write: Write, load: Load) -> None:
    code = "import threading\n\nthreading.Thread(target=threading.Event().wait).start()\n\n\n"
    write("echo", code=code + code_of("echo"))
    assert load()["echo"].status == "loaded"


def test_children_of_a_tool_end_with_it(write: Write, load: Load, tmp_path: Path) -> None:
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
    )
    write("echo", code=f"{code}\n\n{code_of('echo')}")
    assert load()["echo"].status == "loaded"
    deadline = time.monotonic() + 20
    while is_running(int(note.read_text())):
        assert time.monotonic() < deadline
        os.sched_yield()


def test_candidates_come_with_phrases_actions_and_diagnostics(write: Write, load: Load) -> None:
    code = "ACTIVATION_PHRASES = ['say it', '']\nSTEP_HANDLERS = {'say': lambda s, c: 1}\n\n\n"
    write("echo", code=code + code_of("echo"))
    echo = load()["echo"]
    assert (echo.phrases, echo.has_own_phrases, echo.actions) == (("say it", ""), True, ("say",))
    assert echo.definition is None
    assert only(echo).code == "ST602"


def test_every_candidate_is_observed_as_it_comes(write: Write, load: Load) -> None:
    write("a_first")
    write("b_odd", code="import os\n\nos._exit(0)\n")
    seen: list[Candidate | ToolFolder] = []
    load(observe=seen.append)
    assert [each.name for each in seen] == ["a_first", "b_odd"]


def test_a_child_that_can_not_start_is_the_callers_trouble(
    write: Write, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("echo")
    monkeypatch.setattr("sys.path", [os.devnull])
    with pytest.raises(SovlToolsError, match="did not start"):
        load()
