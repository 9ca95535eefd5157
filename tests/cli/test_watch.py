from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

import pytest

from tests.conftest import Write, clean_environment, code_of
from tests.patience import PATIENCE

SUMMARY = "Ctrl-C ends it"
BROKEN = "def echo(text: str) -> str\n"


class Lines:
    """The lines of a stream, which are awaited as they come."""

    def __init__(self, stream: IO[str]) -> None:
        self._queue = SimpleQueue[str | None]()
        self._thread = Thread(target=self._read, args=[stream])
        self._thread.start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                self._queue.put(line)
        self._queue.put(None)

    def until(self, words: str) -> str:
        """Return all up to the line that has the words."""
        lines: list[str] = []
        while not lines or words not in lines[-1]:
            line = self._next(f"{words!r} did not follow {lines}")
            assert line is not None, f"{words!r} did not precede the end of {lines}"
            lines.append(line)
        return "".join(lines)

    def rest(self) -> str:
        """Return what comes until the stream ends."""
        return "".join(iter(lambda: self._next("the stream does not end") or "", ""))

    def close(self) -> None:
        """Wait for the end of the stream."""
        self._thread.join(PATIENCE)

    def _next(self, failure: str) -> str | None:
        try:
            return self._queue.get(timeout=PATIENCE)
        except Empty:
            raise AssertionError(failure) from None


class Watching:
    """A running ``sovl-tools watch``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self.out, self.err = Lines(process.stdout), Lines(process.stderr)

    def event(self) -> dict[str, Any]:
        """Return the next JSON object."""
        found: dict[str, Any] = json.loads(self.out.until("\n"))
        return found

    def end(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal; return the exit code."""
        self._process.send_signal(number)
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        """End it whatever it does."""
        self._process.kill()
        self._process.wait()
        self.out.close()
        self.err.close()


Start = Callable[..., Watching]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``sovl-tools`` with the arguments in ``tmp_path``."""
    started: list[Watching] = []

    def command(*arguments: str, **environment: str) -> Watching:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "sovl_tools", *arguments],
            cwd=tmp_path,
            env={**clean_environment(), **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(Watching(process))
        return started[-1]

    yield command
    for each in started:
        each.close()


def save(folder: Path, code: str) -> None:
    """Save a tool's module as editors do."""
    draft = folder / ".draft"
    draft.write_text(code)
    draft.replace(folder / f"{folder.name}.py")


def test_a_day_of_edits_is_a_readable_log(start: Start, write: Write, tmp_path: Path) -> None:
    folder = write("echo")
    watching = start("watch")
    assert watching.err.until(SUMMARY) == f"watching tools: 1 tool loaded; {SUMMARY}\n"
    save(folder, code_of("echo") + "# edited\n")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  updated  +[\d,]+ ms  echo\n", watching.out.until("updated")
    )
    save(folder, BROKEN)
    broken = watching.out.until("echo.py:1:")
    assert "  rejected  " in broken
    assert "echo: the last good version keeps serving" in broken
    assert "1 | def echo(text: str) -> str" in watching.out.until("^")
    save(folder, code_of("echo"))
    assert "  updated   " in watching.out.until("  echo")
    write("shout")
    assert "shout" in watching.out.until("  added     ")
    folder.rename(tmp_path / "echo")
    assert "echo" in watching.out.until("  removed   ")
    assert watching.end() == 0
    assert (watching.out.rest(), watching.err.rest()) == ("", "")


def test_as_json_the_start_and_each_change_are_an_object(start: Start, write: Write) -> None:
    folder = write("echo")
    write("odd", "{")
    watching = start("-q", "watch", "--format", "json")
    first = watching.event()
    assert (first["added"], first["rejected"], first["serving"]) == (["echo"], ["odd"], [])
    assert [each["code"] for each in first["diagnostics"]] == ["ST201"]
    save(folder, BROKEN)
    broken = watching.event()
    assert (broken["rejected"], broken["serving"]) == (["echo"], ["echo"])
    assert [each["severity"] for each in broken["diagnostics"]] == ["error"]
    assert 0 < broken["duration"] < PATIENCE
    assert datetime.fromisoformat(broken["time"]).utcoffset() is not None
    assert watching.end() == 0
    assert watching.err.rest() == ""


def test_a_second_tool_of_a_name_is_no_version_of_the_first(
    start: Start, write: Write, tmp_path: Path
) -> None:
    folder = write("echo")
    (tmp_path / "drafts").mkdir()
    watching = start("watch", "--tools", "tools", "--tools", "drafts")
    watching.err.until(SUMMARY)
    shutil.copytree(folder, tmp_path / "aside")
    (tmp_path / "aside").rename(tmp_path / "drafts" / "echo")
    assert watching.out.until("rejected").endswith("  echo: not served\n")
    assert "ST801 there is already a tool 'echo'" in watching.out.until("ST801")


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("arguments", "number"), [(("watch",), signal.SIGINT), (("serve",), signal.SIGTERM)]
)
def test_a_signal_ends_it_in_order_while_the_tools_are_loaded(
    start: Start, write: Write, arguments: tuple[str, ...], number: signal.Signals
) -> None:
    write(
        "echo",
        code="import sys\n\nprint('slow', file=sys.stderr, flush=True)\nsys.stdin.read()\n"
        "import time\ntime.sleep(60)\n",
    )
    watching = start(*arguments)
    watching.err.until("slow")
    assert watching.end(number) == 0
    assert watching.err.rest() == ""


def test_a_directory_that_is_not_there_is_waited_for(
    start: Start, write: Write, tmp_path: Path
) -> None:
    watching = start("watch", "--tools", "tools", "--tools", "drafts")
    assert "watching tools, drafts: 0 tools loaded" in watching.err.until(SUMMARY)
    assert watching.err.until("tools") == "'tools' is not there yet; waiting for it\n"
    assert watching.err.until("drafts") == "'drafts' is not there yet; waiting for it\n"
    write("echo")
    (tmp_path / "tools").rename(tmp_path / "drafts")
    assert watching.out.until("added").endswith("  echo\n")
    assert watching.end() == 0


@pytest.mark.unmeasured
def test_validate_checks_every_change_until_ctrl_c(start: Start, write: Write) -> None:
    folder = write("echo")
    watching = start("validate", "--watch", "--format", "concise")
    watching.out.until("1 loaded; no problems")
    save(folder, "def other(): ...\n")
    watching.out.until("ST401")
    save(folder, code_of("echo"))
    watching.out.until("1 loaded; no problems")
    write("more")
    watching.out.until("2 loaded; no problems")
    assert watching.end() == 0
