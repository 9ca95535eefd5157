"""A process that has imported our modules, and whose forks become what they are asked to.

Most commands take less time than starting Python and importing do, and so do the processes in which
tools are imported. What each is given here is its own nevertheless: a process, a directory, an
environment and descriptors. A command that asks what Python reads as it starts, or what is
imported, needs a process from the beginning.

The process listens on a socket. It forks for each connection, ends the fork if the other end goes
away, passes the signals on that are named there, and answers with the exit code.
"""

from __future__ import annotations

import gc
import marshal
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Literal, NamedTuple, TextIO

_STAND_IN = Path(__file__).parent / "forked_python.py"
_PYTHON, _SOCKET = "python", "socket"
_READY = b"ready\n"
_FLAGS = {"-P", "-S"}
_COMMAND = ("-P", "-m", "sovl_tools")
_EVERYDAY = (
    "sovl_tools.cli.child_checks",
    "sovl_tools.linting.example_processes",
    "sovl_tools.loading.child",
    "importlib.metadata",
    "sovl_tools.registry",
    "sovl_tools.loading.definitions",
    "sovl_tools.reloading.reloader",
    "sovl_tools.reloading.watcher",
    "sovl_tools.procedures.parse.yaml",
    "sovl_tools.search.ranking",
    "sovl_tools.schema.rust_engine",
    # chats and servers: importing what these need takes a second
    "prompt_toolkit",
    "mcp.server.mcpserver",
    "mcp.server.streamable_http_manager",
    "sovl_tools.serving.run_http",
    "uvicorn",
)
"""What most commands import when they come to need it."""


class Request(NamedTuple):
    """A command, and where it runs."""

    arguments: Sequence[str]
    directory: str
    environment: Mapping[str, str]


class Forker:
    """Runs ``sovl-tools`` in forks of one process.

    Attributes:
        address: where the process listens.
        python: the path of a program that runs in forks what Python is asked to run, if it is one
            of our modules or imports them.
        directory: where that is, next to such a ``sovl-tools``: a shell finds them by its ``PATH``.
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.address = os.path.join(directory, _SOCKET)
        self.python = os.path.join(directory, _PYTHON)

    def run(self, request: Request, descriptors: Sequence[int]) -> int:
        """Run a command to its end; return its exit code.

        ``descriptors`` are its standard input, output and error output.
        """
        arguments = [*_COMMAND, *request.arguments]
        asked = marshal.dumps((arguments, request.directory, dict(request.environment)))
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.address)
            socket.send_fds(connection, [len(asked).to_bytes(8, "big")], [*descriptors])
            connection.sendall(asked)
            return int.from_bytes(connection.recv(4), "big", signed=True)

    def outputs(self, request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Run a command to its end; return its exit code and what it wrote."""
        with _file(stdin) as given, _file() as out, _file() as err:
            code = self.run(request, [given.fileno(), out.fileno(), err.fileno()])
            return code, _written(out), _written(err)


def outputs_of_python(request: Request, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Run a command to its end as ``Forker.outputs`` does, but in a process from the beginning."""
    done = subprocess.run(
        [sys.executable, *_COMMAND, *request.arguments],
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
    """Start the process, and end it at the end."""
    with tempfile.TemporaryDirectory() as directory:
        forks = Forker(directory)
        source = _STAND_IN.read_text(encoding="utf-8")
        program = Path(forks.python)
        program.write_text(f"#!{sys.executable} -ISE\n{source}\n\nmain({forks.address!r})\n")
        program.chmod(0o700)
        command = Path(directory, "sovl-tools")
        command.write_text(f'#!/bin/sh\nexec {forks.python} {" ".join(_COMMAND)} "$@"\n')
        command.chmod(0o700)
        with subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, directory],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == _READY
            yield forks
            process.stdin.close()


def main() -> None:
    """Fork for each request in the parent; do one of them in each child."""
    (directory,) = sys.argv[1:]
    _import_commands()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(directory, _SOCKET))
        listener.listen(64)
        sys.stdout.buffer.write(_READY)
        sys.stdout.flush()
        request = _Server(listener).next_request()
    if request is not None:
        sys.executable = os.path.join(directory, _PYTHON)
        _do(request.arguments)


class _Server:
    """Forks for whoever connects, until the standard input of this process ends."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._forks: dict[int, socket.socket] = {}
        self._selector = selectors.DefaultSelector()
        self._ended, self._end = socket.socketpair()
        self._ended.settimeout(0.0)
        self._end.settimeout(0.0)
        signal.set_wakeup_fd(self._end.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for each in (sys.stdin.fileno(), listener, self._ended):
            self._selector.register(each, selectors.EVENT_READ)

    def next_request(self) -> Request | None:
        """Return a request in each fork, and nothing in the parent at the end."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj == sys.stdin.fileno():
                    return None
                if key.fileobj is self._listener:
                    request = self._forked()
                    if request is not None:
                        return request
                elif key.fileobj is self._ended:
                    self._answer()
                else:
                    self._pass_on(key.data)

    def _forked(self) -> Request | None:
        """Fork for a connection; return what it asks for in the child."""
        connection, _ = self._listener.accept()
        length, descriptors, _, _ = socket.recv_fds(connection, 8, 3)
        with connection.makefile("rb") as content:
            request = Request(*marshal.loads(content.read(int.from_bytes(length, "big"))))
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            self._selector.close()
            for each in (connection, self._ended, self._end, *self._forks.values()):
                each.close()
            _become(request, descriptors)
            return request
        for descriptor in descriptors:
            os.close(descriptor)
        self._forks[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, pid)
        return None

    def _answer(self) -> None:
        """Tell how those forks have ended that have."""
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                if pid in self._forks:  # otherwise nobody waits for it any more
                    code = os.waitstatus_to_exitcode(status)
                    with suppress(OSError):
                        self._forks[pid].send(code.to_bytes(4, "big", signed=True))
                    self._forget(pid)

    def _pass_on(self, pid: int) -> None:
        """Send a fork a signal, or end it if no one waits for it anymore."""
        if pid not in self._forks:  # it has ended since
            return
        try:
            number = int.from_bytes(self._forks[pid].recv(1), "big")
        except OSError:
            number = 0
        with suppress(ProcessLookupError):
            os.killpg(pid, number or signal.SIGKILL)
        if not number:
            self._forget(pid)

    def _forget(self, pid: int) -> None:
        connection = self._forks.pop(pid)
        self._selector.unregister(connection)
        connection.close()


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


def _become(request: Request, descriptors: list[int]) -> None:
    """Take on the descriptors, the environment and the directory of a request."""
    os.setsid()
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout = _anew(sys.stdin, "r"), _anew(sys.stdout, "w")
    sys.stderr = _anew(sys.stderr, "w", buffering=1)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.directory)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _do(arguments: Sequence[str]) -> None:
    """Do what Python does with these arguments: run a module, a program or a file."""
    option, *others = [each for each in arguments if each not in _FLAGS]
    if option == "-m":
        sys.argv[1:] = others[1:]
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        sys.argv[:] = [option, *others[1:]]
        exec(compile(others[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv[:] = [option, *others]
        runpy.run_path(option, run_name="__main__")


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
