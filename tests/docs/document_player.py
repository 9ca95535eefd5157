"""Doing what a document says, in its own folder."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from sovl_tools.schema.engine import published
from tests.commands import Request, run_in_process
from tests.conftest import WORDS_ALONE, manifest_of
from tests.docs.blocks import Block, Document, Step, manifest_part, matches, steps

_PLAIN = re.compile(r"sovl-tools [^|&;<>()$*?`~]*")
_END = Block("", "")
_PARSERS: Mapping[str, Callable[[str], object]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


def played(document: Document) -> Document:
    """Do what the page says in the current directory; return it with the outputs that came.

    A block whose output is as expected stays unchanged, so the page comes back unchanged if
    everything that it says is true. Commands that need no shell run in this process.

    Raises:
        ValueError: a block is neither a file nor run nor marked as not run.
    """
    stage = _Stage(document.name)
    bodies: dict[int, str] = {}
    for block, following in pairwise([*document.blocks, _END]):
        if block.reason is None:
            bodies |= stage.play(block, following)
    return document.with_bodies(bodies)


class _Stage:
    """What the blocks of one page leave behind for those after them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._namespace: dict[str, Any] = {"__name__": "document"}
        self._exit_code = 0
        self._compared = 0

    def play(self, block: Block, following: Block) -> dict[int, str]:
        """Do what one block says; return true bodies by line."""
        if block.title is not None:
            self._write(block, Path(block.title))
        elif block.language == "console":
            return {block.line: "".join(self._transcript(step) for step in steps(block))}
        elif block.language == "python":
            return self._printed(block, following)
        elif block.language == "json":
            self._check_part(block)
        elif block.language != "text" and block.line != self._compared:
            raise ValueError(f"{self._place(block)}: this {block.language} block is not run")
        return {}

    def _place(self, block: Block) -> str:
        return f"{self._name}:{block.line}"

    def _write(self, block: Block, path: Path) -> None:
        if path.is_absolute() or ".." in path.parts:
            raise ValueError(f"{self._place(block)}: {path} leads out of the folder")
        _PARSERS.get(block.language, str)(block.body)
        path.parent.mkdir(parents=True, exist_ok=True)
        # renamed into place, as most editors do: a watch on a busy machine might see it empty
        written = path.with_name(f".{path.name}.new")
        written.write_text(block.body, encoding="utf-8")
        written.replace(path)

    def _transcript(self, step: Step) -> str:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as written:
            self._exit_code = self._run(step.command, written.fileno())
            written.seek(0)
            printed = written.read()
        output = step.output if matches(step.output, printed) else printed
        return f"$ {step.command}\n{output}"

    def _run(self, command: str, output: int) -> int:
        """Run a command, in a shell if it has signs of it; return its exit code."""
        with open(os.devnull) as nothing:
            if _PLAIN.fullmatch(command):
                request = Request(shlex.split(command)[1:], os.getcwd(), self._environment())
                return run_in_process(request, [nothing.fileno(), output, output])
            return subprocess.run(
                ["sh", "-c", f"(exit {self._exit_code}); {command}"],
                env=self._environment(),
                stdin=nothing,
                stdout=output,
                stderr=output,
                timeout=60,
                check=False,
            ).returncode

    def _environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("SOVL_TOOLS")}
        programs = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        kept |= {**WORDS_ALONE, "PATH": os.pathsep.join(programs)}
        return {**kept, "COLUMNS": "80", "PYTHONUTF8": "1"}

    def _printed(self, block: Block, following: Block) -> dict[int, str]:
        """Run a Python block; return what it printed as the body of the output block after it."""
        code = compile("\n" * block.line + block.body, self._name, "exec", dont_inherit=True)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, self._namespace)
        output = printed.getvalue()
        if following.language == "output":
            self._compared = following.line
            expected = following.body
            return {following.line: expected if matches(expected, output) else output}
        if output:
            raise ValueError(f"{self._place(block)}: no output block says what is printed")
        return {}

    def _check_part(self, block: Block) -> None:
        problems = published("tool").problems(manifest_of("echo", **manifest_part(block)))
        if problems:
            raise ValueError(f"{self._place(block)}: {problems}")
