"""A process that has imported the command line, and becomes a command whenever it is asked to.

Most commands take less time than starting Python and importing do. What a command is given here is
its own nevertheless: a process, a directory, an environment and descriptors. A command that asks
what Python reads as it starts, or what is imported, needs a process from the beginning.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Literal, NamedTuple, TextIO

_ASKED = b"?"
_EVERYDAY = (
    "importlib.metadata",
    "sovl_tools.registry",
    "sovl_tools.loading.definitions",
    "sovl_tools.reloading.reloader",
    "sovl_tools.procedures.parse.yaml",
    "sovl_tools.search.ranking",
    "sovl_tools.schema.rust_engine",
)
"""What most commands import when they come to need it."""


class Request(NamedTuple):
    """A command, and where it runs."""

    arguments: Sequence[str]
    directory: str
    environment: Mapping[str, str]


class Forker:
    """Runs ``sovl-tools`` in forks of one process."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def run(self, request: Request, descriptors: Sequence[int]) -> int:
        """Run a command to its end; return its exit code.

        ``descriptors`` are its standard input, output and error output.
        """
        with tempfile.TemporaryFile() as told:
            told.write(json.dumps(request).encode())
            told.seek(0)
            socket.send_fds(self._channel, [_ASKED], [*descriptors, told.fileno()])
        return int(self._channel.recv(64))

    def outputs(self, request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit code and what it wrote."""
        with _file(stdin) as given, _file() as out, _file() as err:
            code = self.run(request, [given.fileno(), out.fileno(), err.fileno()])
            return code, _written(out), _written(err)


def outputs_of_python(request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command to its end as ``Forker.outputs`` does, but in a process from the beginning."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sovl_tools", *request.arguments],
        cwd=request.directory,
        env=request.environment,
        input=stdin,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _file(content: bytes = b"") -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asks for it closes it
    file.write(content)
    file.seek(0)
    return file


def _written(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@contextmanager
def forker(environment: Mapping[str, str]) -> Iterator[Forker]:
    """Start the process, and end it when it is needed no more."""
    ours, theirs = socket.socketpair()
    number = theirs.fileno()
    command = [sys.executable, "-P", "-m", __name__, str(number)]
    with subprocess.Popen(command, env=environment, pass_fds=[number]):
        theirs.close()
        with ours:
            yield Forker(ours)


def main() -> None:
    """Wait for requests in the parent; do one of them in each child."""
    _import_commands()
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptors = _forked(channel)
    if descriptors:
        _become(descriptors)
        runpy.run_module("sovl_tools", run_name="__main__", alter_sys=True)


def _import_commands() -> None:
    """Import what commands need."""
    module = import_module("sovl_tools.cli.main")
    for place, _ in module.COMMANDS.values():
        import_module(place.partition(":")[0])
    for name in _EVERYDAY:
        import_module(name)
    del sys.modules[module.__name__]  # it asks for the width of the terminal as it is imported
    _keep_modules()


def _keep_modules() -> None:
    """Let no fork free what was imported as it ends, which takes longer than many commands do.

    The list is in itself, so that only the garbage collector could free it, which is told not to.
    """
    kept: list[object] = [vars(module).copy() for module in [*sys.modules.values()]]
    kept.append(kept)
    gc.freeze()


def _forked(channel: socket.socket) -> list[int]:
    """Return the descriptors of a request in each child, and none in the parent at the end."""
    while True:
        asked, descriptors, _, _ = socket.recv_fds(channel, len(_ASKED), 4)
        if not asked:
            return []
        child = os.fork()
        if child == 0:
            channel.close()
            return descriptors
        for descriptor in descriptors:
            os.close(descriptor)
        _, status = os.waitpid(child, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(descriptors: list[int]) -> None:
    """Take on the descriptors, the environment, the directory and the arguments of a request."""
    *standard, told = descriptors
    with open(told, encoding="utf-8") as file:
        request = Request(*json.load(file))
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = _anew(sys.stdin, "r"), _anew(sys.stdout, "w")
    sys.stderr = _anew(sys.stderr, "w", buffering=1)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.directory)
    sys.argv[1:] = request.arguments
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _anew(stream: TextIO, mode: Literal["r", "w"], buffering: int = -1) -> TextIO:
    """Open a standard stream again, after its descriptor has come to lead elsewhere."""
    return open(
        stream.fileno(),
        mode,
        buffering,
        encoding=stream.encoding,
        errors=stream.errors,
        closefd=False,
    )


if __name__ == "__main__":
    main()
