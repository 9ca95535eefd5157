"""What a tool does to the process that imports it stays in that process."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sovl_tools import Diagnostic, SovlToolsError
from sovl_tools.loading.isolation import loaded_in_child
from sovl_tools.loading.sources import collect
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.folder import Settings
from tests.conftest import Write, code_of, is_running
from tests.patience import wait_until

PYTHON = sys.executable
GIL_HOLDER = "import re\n\nre.match('(a+)+$', 'a' * 60 + '!')\n"
ENDINGS = {
    "os._exit": ("import os\n\nos._exit(7)\n", "exit code 7", 1),
    "a segmentation fault": (
        "import ctypes\n\n\ndef crash():\n    ctypes.string_at(0)\n\n\ncrash()\n",
        "SIGSEGV",
        5,
    ),
    "a signal": ("import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL", 1),
    "an interrupt": ("import os, signal\n\nos.kill(os.getpid(), signal.SIGINT)\n", "SIGINT", 1),
    "a parent that leaves": ("import os\n\nif os.fork():\n    os._exit(3)\n", "exit code 3", 1),
    "a closed report": ("import os\n\nos.closerange(3, 64)\n", "process", 1),
}


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., dict[str, Candidate]]:
    def run(
        limit: float = 5.0, observe: Callable[[Candidate], object] = repr, **options: Any
    ) -> dict[str, Candidate]:
        folders = collect([tmp_path / "tools"]).folders
        candidates = {}
        for candidate in loaded_in_child(folders, Settings(limit=limit), **options):
            candidates[candidate.name] = candidate
            observe(candidate)
        return candidates

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


def test_a_child_is_replaced_after_an_import_that_was_given_up(write: Write, load: Load) -> None:
    endless = (
        "import sys\n\nsys.setrecursionlimit(10**9)\n\n\ndef again(depth):\n"
        "    while True:\n        depth += 1\n\n\nagain(0)\n"
    )
    write("a_odd", code=endless)
    write("b_last", code="import os\n\nPARENT = os.getpid()\n" + code_of("b_last"))
    found = load(limit=1.0)
    assert [each.status for each in found.values()] == ["rejected", "loaded"]


def test_an_endless_loop_is_rejected_at_its_line_by_the_child_itself(
    write: Write, load: Load
) -> None:
    write("a_odd", code="x = 1\nwhile True:\n    x += 1\n")
    write("b_last")
    found = load(limit=1.0)
    assert only(found["a_odd"]).code == "ST504"
    assert only(found["a_odd"]).line in {2, 3}
    assert found["b_last"].status == "loaded"


def test_a_loop_that_lets_no_other_thread_run_is_ended_from_outside(
    write: Write, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", PYTHON)  # signals without a go-between
    write("a_first")
    write("b_odd", code=GIL_HOLDER)
    write("c_last")
    found = load(limit=1.0)
    assert only(found["b_odd"]).code == "ST504"
    assert only(found["b_odd"]).line == 3
    assert found["c_last"].status == "loaded"


def test_a_keyboard_interrupt_of_a_tool_is_told_at_its_line(write: Write, load: Load) -> None:
    write("a_odd", code="x = 1\nraise KeyboardInterrupt\n")
    write("b_last")
    printed: list[bytes] = []
    found = load(echo=printed.append)
    assert str(only(found["a_odd"])).endswith(
        "a_odd.py:2:1: ST503 KeyboardInterrupt while importing"
    )
    assert found["b_last"].status == "loaded"
    assert printed == []


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


def test_children_of_a_tool_end_with_it(
    write: Write, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # a fork that ends by itself before it is ended would leave them behind
    monkeypatch.setattr(sys, "executable", PYTHON)
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
    )
    write("echo", code=f"{code}\n\n{code_of('echo')}")
    assert load()["echo"].status == "loaded"
    wait_until(lambda: not is_running(int(note.read_text())))


def test_a_child_that_can_not_start_is_the_callers_trouble(
    write: Write, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("echo")
    # a fork would find all modules loaded, wherever they are looked for
    monkeypatch.setattr("sys.executable", shutil.which("false"))
    with pytest.raises(SovlToolsError, match="did not start"):
        load()
