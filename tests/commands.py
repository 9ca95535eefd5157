"""Commands of ``sovl-tools``, in this process or in their own.

In this process a command is as fast as its work. What it is given is its own nevertheless: a
directory, an environment, and the descriptors of its standard input and outputs. It leaves all that
as it was, and no module of the directory behind. A command that is stopped, gives tools up, breaks
the process or asks what Python reads as it starts needs its own process.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager
from importlib import import_module, invalidate_caches
from typing import IO, NamedTuple
from unittest import mock

COMMAND = (sys.executable, "-P", "-m", "sovl_tools")


class Request(NamedTuple):
    """A command, and where it runs."""

    arguments: Sequence[str]
    directory: str
    environment: Mapping[str, str]


def outputs_of_process(request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command to its end in its own process; return its exit code and what it wrote."""
    done = subprocess.run(
        [*COMMAND, *request.arguments],
        cwd=request.directory,
        env=request.environment,
        input=stdin,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def outputs_in_process(request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command to its end in this process; return its exit code and what it wrote."""
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin)
        files[0].seek(0)
        code = run_in_process(request, [each.fileno() for each in files])
        _, out, err = map(_content, files)
        return code, out, err


def run_in_process(request: Request, descriptors: Sequence[int]) -> int:
    """Run a command to its end with these standard descriptors; return its exit code."""
    with (
        chdir(request.directory),
        mock.patch.dict(os.environ, request.environment, clear=True),
        _modules(request.directory),
        _standard(descriptors),
        _log(),
    ):
        return _run(request.arguments)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _run(arguments: Sequence[str]) -> int:
    module = import_module("sovl_tools.cli.main")
    try:
        module.group([*arguments], prog_name="sovl-tools")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    raise AssertionError("click ends a command with SystemExit")


@contextmanager
def _standard(descriptors: Sequence[int]) -> Iterator[None]:
    """Let the standard descriptors and streams be these."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    try:
        with (
            open(0, encoding="utf-8", closefd=False) as given,
            open(1, "w", encoding="utf-8", closefd=False) as out,
            open(2, "w", 1, "utf-8", "backslashreplace", closefd=False) as err,
            mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
        ):
            yield
    finally:
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def _modules(directory: str) -> Iterator[None]:
    """Let modules be found as by a new process, and forget those of the directory."""
    invalidate_caches()
    known, path = {*sys.modules}, sys.path[:]
    try:
        yield
    finally:
        sys.path[:] = path
        for name in sys.modules.keys() - known:
            module = sys.modules[name]
            places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
            if any(place and place.startswith(directory) for place in places):
                del sys.modules[name]


@contextmanager
def _log() -> Iterator[None]:
    """Let the log be set up by the command alone."""
    logger = logging.getLogger("sovl_tools")
    handlers, propagate, level = logger.handlers[:], logger.propagate, logger.level
    try:
        yield
    finally:
        logger.handlers[:], logger.propagate = handlers, propagate
        logger.setLevel(level)
