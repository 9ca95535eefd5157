"""Loading folders in a child process at a time, so that no tool can end or hang this one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import IO

from sovl_tools.loading.child import READY, has_stalled
from sovl_tools.loading.pipeline import rejected
from sovl_tools.loading.rules.module import (
    ImportFailure,
    import_crashed,
    import_flooded,
    import_stalled,
)
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.diagnostic import Position, Rule, ask
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError, TimeLimitError
from sovl_tools.model.folder import Settings, ToolFolder

MAX_OUTPUT = 1 << 20
_GRACE = 3.0
_START_TIME = 30.0
_TAIL = 1 << 14
_CHUNK = 1 << 16


def loaded_in_child(
    folders: Sequence[ToolFolder],
    settings: Settings,
    *,
    path: Sequence[str] | None = None,
    echo: Callable[[bytes], object] = lambda _: None,
) -> Iterator[Candidate]:
    """Load the folders in a child process; a new one continues after one that died or stalled.

    Yields each candidate when it's ready, without its definition, because functions stay in the
    child.

    Args:
        folders: in the order of loading.
        settings: the time limit for each.
        path: the child's ``sys.path``; by default this process's.
        echo: called with the tools' output, up to 1 MiB for each.

    Raises:
        SovlToolsError: the child could not be started.
    """
    done = 0
    while done < len(folders):
        child = _Loader(folders[done:], settings, path or sys.path, echo)
        try:
            for candidate in child.candidates():
                done += 1
                yield candidate
        finally:
            child.end()


_START = """\
import json, sys
request = json.loads(sys.stdin.readline())
sys.path[:] = request["path"]
from {module} import serve
serve(request)
"""
"""The program of a child: it takes the module path of the request before it imports our code."""


class Child:
    """A process of this Python that answers requests in lines, and the threads that read it.

    Args:
        module: where its ``serve`` is.
        echo: called with its output, up to 1 MiB between two answers.

    Attributes:
        printed: the number of bytes printed since the last answer; more than ``MAX_OUTPUT`` end it.
    """

    def __init__(self, module: str, echo: Callable[[bytes], object]) -> None:
        self._echo = echo
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._tail = b""
        self.printed = 0
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own command
            # -P: no module in the current directory is taken for a library
            [sys.executable, "-P", "-c", _START.format(module=module)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._readers = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_lines, self._read_output)
        ]
        for reader in self._readers:
            reader.start()

    def send(self, document: dict[str, JSON], *, is_last: bool = False) -> None:
        """Send a request; a child that has died already is noticed when its answer is missed.

        ``path`` of the first request is the child's ``sys.path``, by default this process's.
        """
        pipe = _opened(self._process.stdin)
        with contextlib.suppress(BrokenPipeError):
            pipe.write(json.dumps({"path": sys.path, **document}).encode() + b"\n")
            pipe.flush()
            if is_last:
                pipe.close()

    def line(self, deadline: float) -> bytes:
        """Return the next line that it writes, or ``b""`` after its end.

        Raises:
            Empty: it has not written any in time.
        """
        left = max(0.0, deadline - time.monotonic())
        return self._lines.get(timeout=min(left, threading.TIMEOUT_MAX))

    def await_start(self) -> None:
        """Wait until it is ready.

        Raises:
            SovlToolsError: it has not started.
        """
        with contextlib.suppress(Empty):
            if self.line(time.monotonic() + _START_TIME) == READY:
                return
        self.end()
        words = self._tail.decode(errors="replace") or f"it was silent for {_START_TIME:g} s"
        raise SovlToolsError(f"the child process did not start: {words}")

    def ended_by(self) -> str:
        """End the process; return its outcome if it had ended already."""
        # it closes its pipe shortly before it ends
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=_GRACE)
        self.end()
        if self.printed > MAX_OUTPUT:
            return f"it prints more than {MAX_OUTPUT:,} bytes"
        return ending(self._process.returncode)

    def abort(self) -> None:
        """End a process that hangs; its fault handler prints the place."""
        self._signal(signal.SIGABRT)
        try:
            self._process.wait(timeout=_GRACE)
        except subprocess.TimeoutExpired:
            self._kill()
        self._readers[1].join(timeout=_GRACE)  # which still reads the traceback

    def end(self) -> None:
        """End the process and everything that it started."""
        self._kill()
        self._process.wait()
        pipes = (self._process.stdout, self._process.stderr)
        for reader, pipe in zip(self._readers, pipes, strict=True):
            reader.join(timeout=_GRACE)
            if not reader.is_alive():
                _opened(pipe).close()
        with contextlib.suppress(BrokenPipeError):
            _opened(self._process.stdin).close()

    def _read_lines(self) -> None:
        """Read its answers."""
        for line in _opened(self._process.stdout):
            self._lines.put(line)
        self._lines.put(b"")

    def _read_output(self) -> None:
        """Read the tools' output, so that they never wait; too much of it ends the process."""
        pipe = _opened(self._process.stderr)
        while chunk := os.read(pipe.fileno(), _CHUNK):
            self.printed += len(chunk)
            if self.printed > MAX_OUTPUT:
                self._kill()
            else:
                self._echo(chunk)
            self._tail = (self._tail + chunk)[-_TAIL:]

    def _kill(self) -> None:
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: int) -> None:
        # with the processes that tools have started; Windows has no process groups
        try:
            os.killpg(self._process.pid, number)
        except (AttributeError, ProcessLookupError, PermissionError):
            self._process.send_signal(number)


class _Loader(Child):
    """A child process that loads folders."""

    def __init__(
        self,
        folders: Sequence[ToolFolder],
        settings: Settings,
        path: Sequence[str],
        echo: Callable[[bytes], object],
    ) -> None:
        super().__init__("sovl_tools.loading.child", echo)
        self._folders = folders
        self._limit = settings.limit
        documents = [(each.name, each.path, each.location) for each in folders]
        request = {"path": [*path], "folders": documents, "settings": settings}
        self.send(request, is_last=True)

    def candidates(self) -> Iterator[Candidate]:
        """Yield each candidate when it's ready; if the child fails, the last one has the reason.

        Raises:
            SovlToolsError: the child has not started.
        """
        self.await_start()
        for folder in self._folders:
            try:
                line = self.line(time.monotonic() + self._limit + _GRACE)
            except Empty:
                self.abort()
                yield self._failed(import_stalled, folder, str(TimeLimitError(self._limit)))
                return
            if not line:
                yield self._ended(folder)
                return
            candidate = Candidate.from_json(json.loads(line))
            self.printed = 0
            yield candidate
            if has_stalled(candidate):
                return

    def _ended(self, folder: ToolFolder) -> Candidate:
        """Return the candidate of the folder that the child was loading when it ended."""
        words = self.ended_by()
        if self.printed > MAX_OUTPUT:
            return self._failed(import_flooded, folder, f"more than {MAX_OUTPUT:,} bytes")
        return self._failed(import_crashed, folder, words)

    def _failed(self, rule: Rule, folder: ToolFolder, words: str) -> Candidate:
        place = Position(folder.module_name)
        # the innermost line of the tool's own files in a traceback of the fault handler
        lines = re.findall(r'File "([^"]+)", line (\d+) in ', self._tail.decode(errors="replace"))
        for path, line in lines:
            if path.startswith(f"{folder.location}/"):
                place = Position(path[len(folder.location) + 1 :], int(line))
                break
        return rejected(folder, ask((rule,), ImportFailure(place, "", words)))


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    """Return a pipe, which is there because ``Popen`` opens all three."""
    if pipe is None:
        raise ValueError("the pipe was not opened")
    return pipe


def ending(code: int) -> str:
    """Return the outcome of a process in words, from its return code."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {-code} ({signal.Signals(-code).name})"
    except ValueError:
        return f"signal {-code}"
