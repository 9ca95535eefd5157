"""A command that runs in this process, as fast as its work: nothing is started or forked.

What it is given is its own nevertheless: a directory, an environment, and the descriptors of its
standard input and outputs. It leaves all that as it was, and no module of the directory behind.
A command that is stopped, gives tools up or breaks the process needs ``tests.forked_commands``.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, chdir, contextmanager
from importlib import import_module, invalidate_caches
from typing import IO
from unittest import mock

from tests.forked_commands import Request


def outputs_in_process(
    request: Request, stdin: bytes = b"", *, python: str
) -> tuple[int, bytes, bytes]:
    """Run a command to its end; return its exit code and what it wrote.

    It starts ``python`` where it starts processes of this Python.
    """
    with ExitStack() as stack:
        files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        files[0].write(stdin)
        files[0].seek(0)
        with (
            chdir(request.directory),
            mock.patch.dict(os.environ, request.environment, clear=True),
            _modules(request.directory),
            _standard(files),
            mock.patch.object(sys, "executable", python),
            _log(),
        ):
            code = _run(request.arguments)
        _, out, err = files
        return code, _content(out), _content(err)


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _run(arguments: Sequence[str]) -> int:
    # it asks for the width of the terminal as it is imported
    sys.modules.pop("sovl_tools.cli.main", None)
    module = import_module("sovl_tools.cli.main")
    try:
        module.group([*arguments], prog_name="sovl-tools")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    raise AssertionError("click ends a command with SystemExit")


@contextmanager
def _standard(files: Sequence[IO[bytes]]) -> Iterator[None]:
    """Let the standard descriptors and streams be these files."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(number) for number in range(3)]
    for number, file in enumerate(files):
        os.dup2(file.fileno(), number)
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
