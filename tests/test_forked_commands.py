"""A fork that becomes a command does what a process from the beginning does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Write, clean_environment
from tests.forked_commands import Forker, Request, outputs_of_python

CODE = """
import os, sys

print(sys.argv[1:], sys.path, os.getcwd(), sorted(os.environ), os.environ["LEFT"])
print(sys.stdin.isatty(), sys.stdout.encoding, sys.stderr.errors, __name__.rpartition(".")[2])


def echo(text: str) -> str:
    if text == "kill":
        os.kill(os.getpid(), 9)
    if text == "leave":
        os._exit(7)
    return text
"""


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("--version", 0),
        ("--help", 0),
        ("vlidate", 2),
        ("list", 0),
        ("validate missing", 2),
        ("call echo --args -", 0),
        ("call echo text=kill", -9),
        ("call echo text=leave", 7),
        ("call echo number=1", 2),
    ],
)
def test_it_does_the_same(
    command: str, code: int, forks: Forker, write: Write, tmp_path: Path
) -> None:
    write("echo", code=CODE)
    environment = {**clean_environment(), "COLUMNS": "60", "LEFT": "é"}
    request = Request(command.split(), str(tmp_path), environment)
    given = '{"text": "é"}'.encode()
    expected = outputs_of_python(request, given)
    assert expected[0] == code
    assert forks.outputs(request, given) == expected
