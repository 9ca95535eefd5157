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
import sys
import threading
from collections import deque
from concurrent.futures import InvalidStateError
from contextlib import suppress
from functools import partial
from multiprocessing import forkserver, process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess, current_process
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from time import monotonic, sleep
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
_PAUSE = 0.01
_LAST_LINES = 5
_FAULT = "Fatal Python error"
_TAIL = 1 << 12
_CHUNK = 1 << 16


class _Job:
    """A call on its way to a worker, as the bytes that it is sent.

    Attributes:
        is_sent: whether a process has got it, and can have begun.
        error: what went wrong with something that it has sent.
    """

    def __init__(self, target: Target, task: Task, receive: Receive) -> None:
        self.tool = target.reference.name
        self.data = bytes(ForkingPickler.dumps(tuple(task)))
        self.receive = receive
        self.is_patient = target.is_patient
        self.future: ProcessFuture[Fields] = ProcessFuture()
        self.is_sent = False
        self.error: BaseException | None = None


class ProcessPool:
    """Worker processes, started when they are needed and kept for the next call."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_closed = False
        self.start_anew()
        # a program that was started without its input or outputs: a pipe would get their numbers
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                # the lowest that is free
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003 - no keyword
        _POOLS.add(self)

    def start_anew(self) -> None:
        """Have no workers, as in a forked child: the parent's don't count."""
        self._lock = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._idle: list[_Worker] = []
        self._workers: set[_Worker] = set()

    def submit(self, target: Target, task: Task, receive: Receive) -> ProcessFuture[Fields]:
        """Begin a call on a worker, or when one is free; cancelling it ends the worker."""
        _refuse_in_import()
        job = _Job(target, task, receive)
        with self._lock:
            if self._is_closed:
                job.future.cancel()
                return job.future
            if self._idle:
                worker = self._idle.pop()
            elif len(self._workers) < self._limit:
                worker = _Worker(self)
                self._workers.add(worker)
            else:
                self._waiting.append(job)
                return job.future
        job.future.set_running_or_notify_cancel()
        worker.begin(job)
        return job.future

    def next_job(self, worker: _Worker) -> _Job | None:
        """Return the next job of a free worker; None if it must wait, or end."""
        with self._lock:
            while self._waiting:
                job = self._waiting.popleft()
                if job.future.set_running_or_notify_cancel():
                    return job
            if not self._is_closed:
                self._idle.append(worker)
            return None

    def close(self) -> None:
        """End all processes; calls that are running or wait are cancelled."""
        with self._lock:
            self._is_closed = True
            waiting, workers = [*self._waiting], [*self._workers]
            self._waiting.clear()
            self._idle.clear()
            self._workers.clear()
        for job in waiting:
            job.future.cancel()
        for worker in workers:
            worker.close()
        for worker in workers:
            worker.join()


def _refuse_in_import() -> None:
    """End a worker that imports its caller's script, if that calls tools when it is imported.

    It would start its own workers, which would import the script.
    """
    if getattr(current_process(), "_inheriting", False):
        sys.stdout.flush()
        words = (
            "this process is a worker and imports the script that has started it, which calls a"
            " tool when it is imported; put what the script does below: if __name__ =="
            " '__main__':\n"
        )
        os.write(2, words.encode())
        os._exit(1)


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


class _Worker:
    """A thread that reads a process's messages, and starts another when the process has ended."""

    def __init__(self, pool: ProcessPool) -> None:
        self._pool = pool
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._child: _Child | None = None
        # for the thread, while it has no process to read
        self._starts: SimpleQueue[_Job | None] = SimpleQueue()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="sovl-tools-worker", daemon=True)
        self._thread.start()

    def begin(self, job: _Job) -> None:
        with self._lock:
            child, self._job = self._child, job
            if child is not None:
                child.sending.acquire()
        job.future.add_done_callback(lambda _: self._cancel(job))
        if child is None:
            self._starts.put(job)
            return
        try:
            # if it has died since its last call the thread is about to hear of that
            if child.is_worn:
                child.kill()
            else:
                job.is_sent = child.send(job.data)
        finally:
            child.sending.release()

    def _run(self) -> None:
        while True:
            child = self._child
            if child is None:
                job = self._starts.get()
                if job is None:
                    return
                self._start(job)
            else:
                self._read(child)

    def _start(self, job: _Job) -> None:
        try:
            child = _Child()
            with self._lock:
                self._child = child
                if self._is_closed or job.future.cancelled():
                    child.kill()
            with child.sending:
                child.await_start()
                job.is_sent = child.send(job.data)
        except BaseException as error:  # noqa: BLE001 - the future carries it
            self._drop_child()
            self._end(job, error)

    def _read(self, child: _Child) -> None:
        try:
            kind, content = child.receive()
        except (EOFError, OSError):
            self._replace(child)
            return
        except Exception as error:  # noqa: BLE001 - a message that can't be read is the tool's fault
            self._fail(child, error)
            return
        job = self._job
        if job is None:
            return
        if kind == "done":
            if child.is_worn:
                self._drop_child()
            self._end(job, content)
            return
        try:
            if kind == "ask":
                content = content, partial(self._reply, job, child)
            job.receive(kind, content)
        except BaseException as error:  # noqa: BLE001 - likewise
            self._fail(child, error)

    def _reply(self, job: _Job, child: _Child, value: Any, problem: str | None) -> None:
        try:
            data = bytes(ForkingPickler.dumps(["answer", value, problem]))
        except Exception as error:  # noqa: BLE001 - of the class of what answers
            words = f"the answer can't be sent to a worker process: {error}"
            data = bytes(ForkingPickler.dumps(["answer", None, words]))
        with child.sending:
            if self._job is job:
                child.send(data)

    def _fail(self, child: _Child, error: BaseException) -> None:
        job = self._job
        if job is not None:
            job.error = error
        child.kill()

    def _replace(self, child: _Child) -> None:
        job = self._drop_child()
        if job is None:  # it died between two calls
            return
        if job.is_sent or job.future.cancelled():
            words = f"the process of tool {job.tool!r} ended with {child.words}"
            self._end(job, job.error or ProcessExpired(words, child.code, child.pid))
        else:
            self._start(job)

    def _drop_child(self) -> _Job | None:
        with self._lock:  # at once, or a call that begins now would be begun twice
            job, child, self._child = self._job, self._child, None
        if child is not None:
            with child.sending:  # a sender has noted by then whether it has sent
                child.end()
        return job

    def _end(self, job: _Job, outcome: Fields | BaseException) -> None:
        with self._lock:
            self._job = None
        # free before the caller continues, who can have another call
        following = self._pool.next_job(self)
        with suppress(InvalidStateError):  # it was cancelled
            if isinstance(outcome, BaseException):
                job.future.set_exception(outcome)
            else:
                job.future.set_result(outcome)
        if following is not None:
            self.begin(following)

    def _cancel(self, job: _Job) -> None:
        if not job.future.cancelled():
            return
        with self._lock:
            child = self._child
            if self._job is not job or child is None:
                return
            if not (job.is_patient and job.is_sent):
                child.kill()
                return
        with child.sending:
            child.send(_CANCEL)
        timer = threading.Timer(_GRACE, self._end_late, [job, child])
        timer.daemon = True
        timer.start()

    def _end_late(self, job: _Job, child: _Child) -> None:
        with self._lock:
            if self._job is job and self._child is child:
                child.kill()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            job, child = self._job, self._child
            if job is not None and child is not None:
                child.kill()
        if job is not None:
            job.future.cancel()
        elif child is not None:
            with child.sending:
                child.send(_END)
        self._starts.put(None)

    def join(self) -> None:
        """Wait until the process has ended, unless a listener of it has closed the pool."""
        if threading.current_thread() is not self._thread:
            self._thread.join(4 * _GRACE)


_CANCEL, _END = bytes(ForkingPickler.dumps("cancel")), bytes(ForkingPickler.dumps(None))


class _Child:
    """A process, and the pipes from it.

    Attributes:
        pid: its id.
        sending: locked while a message is sent to it.
        code: the exit code, once it has ended.
        words: how it has ended.
    """

    def __init__(self) -> None:
        """Start it.

        Raises:
            SovlToolsError: that can't be done.
        """
        self._calls = 0
        self._is_ended = False
        self.sending = threading.Lock()
        self.code, self.words = 0, ""
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
        deadline = monotonic() + 4 * _GRACE
        try:
            while True:
                try:
                    self._process.start()
                    break
                except (ConnectionError, EOFError):
                    # the fork server can be just ending, and is then started again
                    if monotonic() > deadline:
                        raise
                    sleep(_PAUSE)
        except (OSError, EOFError, AssertionError) as error:
            self._connection.close()
            self._errors.close()
            raise SovlToolsError(f"no worker process can be started: {error}") from error
        finally:
            connection.close()
            errors.close()
        # ours to end: a program that is forked would wait at its exit for what isn't its child
        process._children.discard(self._process)  # type: ignore[attr-defined]  # noqa: SLF001
        self.pid = self._process.pid or 0
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
            self.end()
            advice = "a script must call tools below: if __name__ == '__main__':"
            if getattr(sys.modules.get("__main__"), "__file__", None) == "<stdin>":
                advice = (
                    "they import the script, which must be in a file, not come from the standard"
                    " input"
                )
            words = f"a worker process did not start: {self.words}; {advice}"
            raise SovlToolsError(words) from None

    def send(self, data: bytes) -> bool:
        """Send a message; return whether the process still exists. ``sending`` is locked."""
        with suppress(OSError):
            self._connection.send_bytes(data)
            return True
        return False

    def receive(self) -> tuple[str, Any]:
        """Return the next that it sends; an OSError or an EOFError says that it has ended."""
        kind, content = self._connection.recv()
        if kind == "done":
            self._calls += 1
            self._tail = b""  # the call's output doesn't matter anymore
        return kind, content

    @property
    def is_worn(self) -> bool:
        """Whether another must replace it: it is old, or its state is unknown."""
        # ready when it has ended, or when the fork server has, which alone learns its exit code
        return self._calls >= MAX_CALLS or bool(wait([self._process.sentinel], 0))

    def kill(self) -> None:
        # its group first, which can be there longer than itself
        with suppress(OSError, AttributeError):
            os.killpg(self.pid, signal.SIGKILL)
        with suppress(OSError, ValueError):
            self._process.kill()

    def end(self) -> None:
        """Let it end, or kill it, and everything that it started.

        The caller has locked ``sending``.
        """
        if self._is_ended:
            return
        self._is_ended = True
        self.send(_END)  # if it is still there
        # the pipe closes before the exit code is available; a tool can have closed it, too
        self._process.join(_GRACE)
        code = self._process.exitcode
        self.kill()
        self._process.join()
        self._reader.join(_GRACE)
        self.code = self._process.exitcode or 0
        words = "its connection closed" if code is None else ending(code)
        said = [line.strip() for line in self._tail.decode(errors="replace").splitlines()]
        said = [line for line in said if line]
        faults = [index for index, line in enumerate(said) if line.startswith(_FAULT)]
        # the fault handler's lines with the place
        said = said[faults[-1] :][:3] if faults else said[-_LAST_LINES:]
        self.words = ": ".join([words, "\n".join(said)] if said else [words])
        self._connection.close()
        if not self._reader.is_alive():
            self._errors.close()
            self._process.close()

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
    server: Any = forkserver._forkserver  # noqa: SLF001 - see below
    # imports that a program requested stay: the public function would replace them
    modules = getattr(server, "_preload_modules", None)
    if isinstance(modules, list) and serve.__module__ not in modules:
        server.set_forkserver_preload([*modules, serve.__module__])
    return multiprocessing.get_context("forkserver")
