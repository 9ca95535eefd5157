"""Worker processes: each can be ended with its children, and costs only its own call.

Futures and the exception of a process that dies are pebble's; its pool is not, because there the
workers share one pipe and its lock, so that killing one at a bad moment takes the others
down (see docs/decisions.md). Here each worker has its own pipe and a thread that reads it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util  # before our own exit, which must come first
import os
import signal
import threading
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from multiprocessing import forkserver, process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from pebble import ProcessExpired, ProcessFuture

from sovl_tools.dispatch.reference import Fields, Receive, Target, Task
from sovl_tools.dispatch.worker import serve
from sovl_tools.loading.isolation import ending
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.threads import after_fork

MAX_CALLS = 1_000
"""The number of calls after which a worker is replaced, with anything tools left behind."""
_GRACE = 0.5
"""The time a cancelled tool that notices it has to clean up, in seconds."""
_LAST_LINES = 5
_FAULT = "Fatal Python error"
_TAIL = 1 << 12
_CHUNK = 1 << 16


class _Job:
    """A call for a worker, as the bytes that it is sent."""

    def __init__(self, target: Target, task: Task, receive: Receive) -> None:
        self.tool = target.reference.name
        self.future: ProcessFuture[Fields] = ProcessFuture()
        self.future.add_done_callback(self._stop)
        self._data = bytes(ForkingPickler.dumps(tuple(task)))
        self._receive = receive
        self._is_patient = target.is_patient
        self._lock = threading.Lock()
        # the process, while it makes the call
        self._child: _Child | None = None

    def run(self, child: _Child) -> Fields:
        """Have a process make the call; return the outcome.

        Raises:
            CancelledError: the call was cancelled before.
            ProcessExpired: the process has ended.
        """
        with self._lock:
            if self.future.cancelled():
                raise CancelledError
            self._child = child
            child.send(self._data)
        try:
            while True:
                kind, content = child.receive(self.tool)
                if kind == "done":
                    outcome: Fields = content
                    return outcome
                if kind == "ask":
                    content = content, self._reply
                self._receive(kind, content)
        finally:
            with self._lock:
                self._child = None

    def _reply(self, value: Any, problem: str | None) -> None:
        try:
            data = bytes(ForkingPickler.dumps(["answer", value, problem]))
        except Exception as error:  # noqa: BLE001 - of the class of what answers
            words = f"the answer can't be sent to a worker process: {error}"
            data = bytes(ForkingPickler.dumps(["answer", None, words]))
        self._send(data)

    def _send(self, data: bytes) -> None:
        with self._lock:
            if self._child is not None:
                self._child.send(data)

    def _stop(self, future: Future[Fields]) -> None:
        """End the process if the call was cancelled; a tool that can see it has a grace."""
        if not future.cancelled():
            return
        if not self._is_patient:
            self._kill()
            return
        self._send(_CANCEL)
        timer = threading.Timer(_GRACE, self._kill)
        timer.daemon = True
        timer.start()

    def _kill(self) -> None:
        with self._lock:
            if self._child is not None:
                self._child.kill()


class ProcessPool:
    """Worker processes, started when they are needed and kept for the next call."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_closed = False
        self.start_anew()
        _POOLS.add(self)

    def start_anew(self) -> None:
        """Have no workers, as in a forked child: the parent's don't count."""
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._futures: WeakSet[ProcessFuture[Fields]] = WeakSet()
        self._threads: list[threading.Thread] = []
        # workers that wait for a job; below zero, the jobs that wait for a worker
        self._free = 0

    def submit(self, target: Target, task: Task, receive: Receive) -> ProcessFuture[Fields]:
        """Begin a call on a worker, or when one is free; cancelling it ends the worker."""
        job = _Job(target, task, receive)
        with self._lock:
            if self._is_closed:
                job.future.cancel()
                return job.future
            self._futures.add(job.future)
            self._jobs.put(job)
            self._free -= 1
            if self._free < 0 and len(self._threads) < self._limit:
                self._free += 1
                thread = threading.Thread(target=self._work, name="sovl-tools-worker", daemon=True)
                self._threads.append(thread)
                thread.start()
        return job.future

    def _work(self) -> None:
        """Make calls, one after another, in a process that is replaced when it has ended."""
        child: _Child | None = None
        while (job := self._jobs.get()) is not None:
            outcome: Fields | BaseException | None = None
            if child is not None and child.is_worn:
                child.end()
                child = None
            try:
                if not job.future.cancelled():
                    child = child or _Child()
                    outcome = job.run(child)
            except BaseException as error:  # noqa: BLE001 - the future carries it
                outcome = error
                if child is not None:
                    child.kill()
                    child.end()
                    child = None
            # free before the caller continues, who can have another call
            with self._lock:
                self._free += 1
            with suppress(InvalidStateError):  # it was cancelled
                if isinstance(outcome, BaseException):
                    job.future.set_exception(outcome)
                elif outcome is not None:
                    job.future.set_result(outcome)
        if child is not None:
            child.end()

    def close(self) -> None:
        """End all processes; calls that are running or wait are cancelled."""
        with self._lock:
            self._is_closed = True
            futures, threads = [*self._futures], [*self._threads]
        for future in futures:
            future.cancel()
        for _ in threads:
            self._jobs.put(None)
        for thread in threads:
            # a listener of a call can have closed the pool
            if thread is not threading.current_thread():
                thread.join(4 * _GRACE)


_POOLS: WeakSet[ProcessPool] = WeakSet()


@atexit.register
def _close_all() -> None:
    for pool in [*_POOLS]:
        pool.close()


@after_fork
def _start_anew() -> None:
    """Forget what belongs to the parent in a forked child, which has neither of them."""
    for pool in [*_POOLS]:
        pool.start_anew()
    server: Any = forkserver._forkserver  # noqa: SLF001 - it takes over the parent's
    if getattr(server, "_forkserver_pid", None) is not None:
        modules = server._preload_modules  # noqa: SLF001 - likewise
        os.close(server._forkserver_alive_fd)  # noqa: SLF001 - or the server outlives the parent
        server.__init__()
        server.set_forkserver_preload(modules)


_CANCEL, _END = bytes(ForkingPickler.dumps("cancel")), bytes(ForkingPickler.dumps(None))


class _Child:
    """A process, and the pipes from it."""

    def __init__(self) -> None:
        """Start it, and wait until it is ready.

        Raises:
            SovlToolsError: that can't be done.
        """
        self._calls = 0
        self._tail = b""
        context = _context()
        self._connection, connection = context.Pipe()
        self._errors, errors = context.Pipe(duplex=False)
        self._process: BaseProcess = context.Process(
            target=serve,
            args=(connection, errors if os.name == "posix" else None, dict(os.environ)),
            name="sovl-tools-worker",
        )
        # or no tool could start processes with multiprocessing
        self._process.daemon = False
        try:
            self._process.start()
        except (OSError, EOFError, AssertionError) as error:
            self._connection.close()
            self._errors.close()
            raise SovlToolsError(f"no worker process can be started: {error}") from error
        finally:
            connection.close()
            errors.close()
        # ours to end: a program that is forked would wait at its exit for what isn't its child
        process._children.discard(self._process)  # type: ignore[attr-defined]  # noqa: SLF001
        self._pid: Any = self._process.pid
        self._reader = threading.Thread(
            target=self._read_errors, name="sovl-tools-worker-errors", daemon=True
        )
        self._reader.start()
        try:
            self._connection.recv()
        except (EOFError, OSError):
            words = f"a worker process did not start: {self._end()}"
            advice = "a script must call tools below: if __name__ == '__main__':"
            raise SovlToolsError(f"{words}; {advice}") from None

    def send(self, data: bytes) -> None:
        """Send a message; whether the process still exists is learnt by receiving."""
        with suppress(OSError):
            self._connection.send_bytes(data)

    def receive(self, tool: str) -> tuple[str, Any]:
        """Return the next message of a tool's call.

        Raises:
            ProcessExpired: the process has ended.
        """
        try:
            kind, content = self._connection.recv()
        except (EOFError, OSError):
            words = f"the process of tool {tool!r} ended with {self._end()}"
            raise ProcessExpired(words, self._process.exitcode or 0, self._pid) from None
        if kind == "done":
            self._calls += 1
            self._tail = b""  # the call's output doesn't matter anymore
        return kind, content

    @property
    def is_worn(self) -> bool:
        """Whether another must replace it: it is old, or it has ended."""
        # the pipe ends before the sentinel; a message after the call is one that nobody reads
        return self._calls >= MAX_CALLS or bool(wait([self._process.sentinel, self._connection], 0))

    def kill(self) -> None:
        # its group first, which can be there longer than itself
        with suppress(OSError, AttributeError):
            os.killpg(self._pid, signal.SIGKILL)
        with suppress(OSError, ValueError):
            self._process.kill()

    def end(self) -> None:
        """Let it end, or kill it, with everything that it started."""
        self._end()
        self._connection.close()
        if not self._reader.is_alive():
            self._errors.close()
            self._process.close()

    def _end(self) -> str:
        """End it; return how it has ended, with the last lines of its error output."""
        self.send(_END)  # if it is still there
        # the pipe closes before the exit code is available; a tool can have closed it, too
        self._process.join(_GRACE)
        code = self._process.exitcode
        self.kill()
        self._process.join()
        self._reader.join(_GRACE)
        words = "its connection closed" if code is None else ending(code)
        lines = [line.strip() for line in self._tail.decode(errors="replace").splitlines()]
        said = [line for line in lines if line]
        faults = [index for index, line in enumerate(said) if line.startswith(_FAULT)]
        # the fault handler's lines with the place
        said = said[faults[-1] :][:3] if faults else said[-_LAST_LINES:]
        return ": ".join([words, "\n".join(said)] if said else [words])

    def _read_errors(self) -> None:
        """Forward its output, so that it never blocks, and remember the end of it."""
        with suppress(OSError, ValueError):
            # its own child can have the pipe for longer than itself
            while self._errors in wait([self._errors, self._process.sentinel]):
                chunk = os.read(self._errors.fileno(), _CHUNK)
                if not chunk:
                    return
                self._tail = (self._tail + chunk)[-_TAIL:]
                with suppress(OSError):
                    os.write(2, chunk)


def _context() -> Any:
    """Return the fork server where the platform has one; it has imported a worker's modules."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    server: Any = forkserver._forkserver  # noqa: SLF001 - it takes over the parent's
    # imports that a program requested stay: the public function would replace them
    modules = getattr(server, "_preload_modules", None)
    if isinstance(modules, list) and serve.__module__ not in modules:
        server.set_forkserver_preload([*modules, serve.__module__])
    return multiprocessing.get_context("forkserver")
