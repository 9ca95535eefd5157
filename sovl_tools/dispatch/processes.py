"""Worker processes of our own: each can be ended with its children, and costs its call alone.

Futures and the exception of a process that dies are pebble's; its pool is not, because there the
workers share one pipe and its lock, so that one that is killed at a bad moment takes the others
down (see docs/decisions). Here each worker has a pipe of its own and a thread that reads it.
"""

from __future__ import annotations

import atexit
import multiprocessing
import multiprocessing.util  # before our own exit, which has to come first
import os
import signal
import sys
import threading
from collections import deque
from concurrent.futures import InvalidStateError
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess, current_process
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

from pebble import ProcessExpired, ProcessFuture

from sovl_tools.dispatch.reference import Outcome, Receive, Task
from sovl_tools.dispatch.worker import serve
from sovl_tools.loading.isolation import ending
from sovl_tools.model.errors import SovlToolsError

MAX_CALLS = 1_000
"""After so many calls a worker is replaced: what tools leave behind in it ends with it."""
_GRACE = 0.5
"""How long a cancelled tool that can see it may clean up, in seconds."""
_LAST_LINES = 5
_TAIL = 1 << 12
_CHUNK = 1 << 16


class _Job:
    """A call on its way to a worker."""

    def __init__(self, task: Task, receive: Receive, *, is_patient: bool) -> None:
        self.task = task
        self.receive = receive
        self.is_patient = is_patient
        self.future: ProcessFuture[Outcome] = ProcessFuture()


class ProcessPool:
    """Worker processes, started when they are needed and kept for the next call."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._process = os.getpid()
        self._is_closed = False
        _POOLS.add(self)

    def submit(self, task: Task, receive: Receive, *, is_patient: bool) -> ProcessFuture[Outcome]:
        """Begin a call on a worker, or when one is free; cancelling it ends the worker."""
        _refuse_in_import()
        job = _Job(task, receive, is_patient=is_patient)
        with self._lock:
            if self._is_closed:
                job.future.cancel()
                return job.future
            if self._process != os.getpid():
                # after a fork: the threads are not here, and the processes are not ours
                self._idle, self._workers, self._process = [], set(), os.getpid()
                self._waiting.clear()
            if self._idle:
                worker = self._idle.pop()
            elif len(self._workers) < self._limit:
                worker = _Worker(self)
                self._workers.add(worker)
            else:
                self._waiting.append(job)
                return job.future
        worker.jobs.put(job)
        return job.future

    def next_job(self, worker: _Worker) -> _Job | None:
        """Return what a worker that is free does next; None if it has to wait, or to end."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if not self._is_closed:
                self._idle.append(worker)
            return None

    def close(self) -> None:
        """End all processes; calls that are under way or wait are cancelled."""
        with self._lock:
            is_ours = self._process == os.getpid()
            self._is_closed = True
            waiting, workers = [*self._waiting], [*self._workers]
            self._waiting.clear()
            self._idle.clear()
            self._workers.clear()
        for job in waiting:
            job.future.cancel()
        for worker in workers if is_ours else ():
            worker.close()
        for worker in workers if is_ours else ():
            worker.join()


def _refuse_in_import() -> None:
    """End a worker that imports its caller's script, if that calls tools when it is imported.

    It would start workers of its own, which would import the script.
    """
    if getattr(current_process(), "_inheriting", False):
        sys.stdout.flush()
        os.write(2, _UNGUARDED.encode())
        os._exit(1)


_UNGUARDED = (
    "this process is a worker and imports the script that has started it, which calls a tool when"
    " it is imported; put what the script does below: if __name__ == '__main__':\n"
)
_POOLS: WeakSet[ProcessPool] = WeakSet()


@atexit.register
def _close_all() -> None:
    for pool in [*_POOLS]:
        pool.close()


_NONE = Outcome()


class _Worker:
    """A thread that gives calls to a process, starts another when one has ended, and reads them."""

    def __init__(self, pool: ProcessPool) -> None:
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._pool = pool
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._child: _Child | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="sovl-tools-worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        job = self.jobs.get()
        while job is not None:
            outcome, error = self._outcome(job)
            # free before the caller goes on, who may have another call
            following = self._pool.next_job(self)
            with suppress(InvalidStateError):  # it was cancelled
                if error is None:
                    job.future.set_result(outcome)
                else:
                    job.future.set_exception(error)
            job = following or self.jobs.get()
        if self._child is not None:
            self._child.end()

    def _outcome(self, job: _Job) -> tuple[Outcome, BaseException | None]:
        if not job.future.set_running_or_notify_cancel():
            return _NONE, None
        with self._lock:
            self._job = job
        job.future.add_done_callback(lambda _: self._cancel(job))
        try:
            return self._call(job), None
        except BaseException as error:  # noqa: BLE001 - whoever waits for the future gets it
            return _NONE, error
        finally:
            with self._lock:
                self._job = None
            child = self._child
            if child is not None and (child.is_over or child.calls >= MAX_CALLS):
                self._child = None
                child.end()

    def _call(self, job: _Job) -> Outcome:
        """Make a call; a process that has died since its last one is replaced.

        Raises:
            ProcessExpired: the process has died.
            SovlToolsError: none can be started.
        """
        child = self._child or self._start(job)
        child.forget_output()
        if not child.send(job.task):
            child.end()
            child = self._start(job)
            child.send(job.task)  # if that has died, too, it says so when it is read
        return child.outcome(job)

    def _start(self, job: _Job) -> _Child:
        child = _Child()
        with self._lock:
            self._child = child
            if self._is_closed or job.future.cancelled():
                child.kill()
        child.await_start()
        return child

    def _cancel(self, job: _Job) -> None:
        """End a call that nobody waits for any more, with its process."""
        with self._lock:
            child = self._child
            if self._job is not job or child is None or not job.future.cancelled():
                return
            if not job.is_patient or not child.send("cancel"):
                child.kill()
                return
        timer = threading.Timer(_GRACE, self._end_late, [job, child])
        timer.daemon = True
        timer.start()

    def _end_late(self, job: _Job, child: _Child) -> None:
        with self._lock:
            if self._job is job and self._child is child:
                child.kill()

    def close(self) -> None:
        """End the process, at once if a call is under way."""
        with self._lock:
            self._is_closed = True
            job = self._job
            if job is not None and self._child is not None:
                self._child.kill()
        if job is not None:
            job.future.cancel()
        self.jobs.put(None)

    def join(self) -> None:
        """Wait until the process has ended, unless a listener of it has closed the pool."""
        if threading.current_thread() is not self._thread:
            self._thread.join(4 * _GRACE)


class _Child:
    """A process, and the pipes from it.

    Attributes:
        calls: how many it has got.
        is_over: whether it has been ended, or has ended.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            SovlToolsError: that can't be done.
        """
        self.calls = 0
        self.is_over = False
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
        self._reader = threading.Thread(
            target=self._read_errors, name="sovl-tools-worker-errors", daemon=True
        )
        self._reader.start()

    def await_start(self) -> None:
        """Wait until it is ready, and the leader of its own group.

        Raises:
            SovlToolsError: it ends before that.
        """
        try:
            self._connection.recv()
        except (EOFError, OSError):
            words = self._ended_by()
            raise SovlToolsError(f"a worker process did not start: {words}; {_GUARD}") from None

    def send(self, message: Task | str | None) -> bool:
        """Send something; return whether it is still there."""
        try:
            self._connection.send(message)
        except OSError:
            self.is_over = True
            return False
        return True

    def forget_output(self) -> None:
        """Remember nothing of what it has written so far, which another call may have done."""
        self._tail = b""

    def outcome(self, job: _Job) -> Outcome:
        """Read what a call sends, up to its outcome.

        Raises:
            ProcessExpired: the process has died.
        """
        self.calls += 1
        try:
            while True:
                kind, content = self._connection.recv()
                if kind == "done":
                    outcome: Outcome = content
                    return outcome
                job.receive(kind, content)
        except (EOFError, OSError):
            raise self.expired(job.task.reference.name) from None
        except BaseException:
            self.kill()
            raise

    def expired(self, tool: str) -> ProcessExpired:
        """Return how the process of a call has ended."""
        words = self._ended_by()
        pid = self._process.pid
        code = self._process.exitcode
        return ProcessExpired(f"the process of tool {tool!r} ended with {words}", code, pid)

    def _ended_by(self) -> str:
        """Return how it has ended, and the last that it wrote."""
        self.is_over = True
        # the pipe closes before the exit code is known; a tool may have closed it, too
        self._process.join(_GRACE)
        code = self._process.exitcode
        words = "its connection closed" if code is None else ending(code)
        self.kill()
        self._process.join()
        self._reader.join(_GRACE)
        said = _last_words(self._tail.decode(errors="replace"))
        return f"{words}: {said}" if said else words

    def kill(self) -> None:
        """End it and its children, whatever they do."""
        self.is_over = True
        pid = self._process.pid
        # its group first, which may be there longer than itself
        with suppress(OSError, AttributeError):
            os.killpg(pid or 0, signal.SIGKILL)
        with suppress(OSError, ValueError):
            self._process.kill()

    def end(self) -> None:
        """Let it end by itself, or kill it; and with it whatever it has started."""
        if not self.is_over:
            self.send(None)
            self._process.join(_GRACE)
        self.kill()
        self._process.join()
        self._reader.join(_GRACE)
        self._connection.close()
        if not self._reader.is_alive():
            self._errors.close()
            self._process.close()

    def _read_errors(self) -> None:
        """Pass on what it writes, so that it never waits, and remember the end of it."""
        with suppress(OSError, ValueError):
            # a child of its own may have the pipe for longer than itself
            while self._errors in wait([self._errors, self._process.sentinel]):
                chunk = os.read(self._errors.fileno(), _CHUNK)
                if not chunk:
                    return
                self._tail = (self._tail + chunk)[-_TAIL:]
                with suppress(OSError):
                    os.write(2, chunk)


_GUARD = "a script must call tools below: if __name__ == '__main__':"


def _last_words(text: str) -> str:
    """Return the last lines of a text; of the fault handler's, those that say where it was."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    faults = [index for index, line in enumerate(lines) if line.startswith("Fatal Python error")]
    if faults:
        lines = lines[faults[-1] :][:3]
    return "\n".join(lines[-_LAST_LINES:])


def _context() -> Any:
    """Return the fork server where there is one, which has imported what a worker needs."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    server: Any = forkserver._forkserver  # noqa: SLF001 - see below
    # what a program has asked to be imported stays: the public function would replace it
    modules = getattr(server, "_preload_modules", None)
    if isinstance(modules, list) and serve.__module__ not in modules:
        server.set_forkserver_preload([*modules, serve.__module__])
    return multiprocessing.get_context("forkserver")
