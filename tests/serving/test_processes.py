"""The server as people start it: a command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from sovl_tools.serving.run_http import listen
from sovl_tools.serving.security import Security
from tests.conftest import Run, Write, clean_environment
from tests.patience import PATIENCE
from tests.serving.lines import ENVELOPE


@contextmanager
def serving(*arguments: str, log: Path) -> Iterator[str]:
    """Start a server on a free port, and yield its URL; a signal stops it."""
    command = [sys.executable, "-m", "sovl_tools", "serve", "--transport", "http", "--port", "0"]
    with (
        open(log, "wb") as errors,
        subprocess.Popen(
            [*command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=clean_environment(),
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_an_edit_changes_what_is_served(tmp_path: Path, write: Write) -> None:
    folder = write("echo")
    log = tmp_path / "log"
    with serving("--tools", str(folder.parent), log=log) as url:
        tag = httpx.get(f"{url}/tools", timeout=PATIENCE).headers["etag"]
        write("other", code="def other(text: str) -> str:\n    return text\n")
        while httpx.get(f"{url}/tools", headers={"if-none-match": tag}).status_code == 304:
            pass
        response = httpx.post(f"{url}/tools/other", json={"text": "hello"}, timeout=PATIENCE)
        assert response.json() == "hello"
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host", "0.0.0.0"], "everyone who reaches it could call the tools"),
        (["--token-env", "NONE"], "the environment variable NONE is empty"),
        (["--allow-origin", "example.com"], "an origin is like"),
    ],
)
def test_what_makes_no_sense_is_one_clear_line(
    run: Run, write: Write, arguments: list[str], words: str
) -> None:
    write("echo")
    done = run("serve", "--transport", "http", "--port", "0", *arguments, ODD="a b")
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_port_that_is_taken_is_misuse(run: Run, write: Write) -> None:
    write("echo")
    with listen("127.0.0.1", 0, Security()) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--transport", "http", "--port", str(port))
    assert done.code == 2
    assert f"can't listen on 127.0.0.1:{port}: address already in use" in done.err


_NOISY = """
import sys

def noisy(text: str) -> int:
    for _ in range(2_000):
        print("x" * 100)
        sys.stderr.write("y" * 100)
    return 1
"""


@pytest.mark.parametrize("reader", ["sleeps", "is gone"])
def test_an_error_output_that_no_one_reads_hinders_nothing(reader: str, write: Write) -> None:
    tools = write("noisy", code=_NOISY).parent
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "sovl_tools", "serve", "--tools", str(tools)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writing
    ) as process:
        os.close(writing)
        if reader == "is gone":
            os.close(reading)
        assert process.stdin is not None
        assert process.stdout is not None
        params = {"name": "noisy", "arguments": {"text": "a"}, **ENVELOPE}
        for number in range(3):
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            process.stdin.write(json.dumps(call).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["result"]["content"] == [{"type": "text", "text": "1"}], answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    if reader == "sleeps":
        os.close(reading)
