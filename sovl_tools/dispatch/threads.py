"""Daemon threads for sync tools: nobody waits for one that has been given up.

Threads that have nothing to do are kept for a while, for whichever Tooler needs one next.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import RunCancelledError

_T = TypeVar("_T")

IS_ON_THREAD: ContextVar[bool] = ContextVar("IS_ON_THREAD", default=False)
"""Whether somebody up the chain of calls runs on a thread of a Tooler.

What runs for such a call needs no room of its own: its caller only waits for it.
"""

_IDLE_SECONDS = 10.0
_MAX_IDLE = 32
_NAME = "sovl-tools-call"
LOOP = "sovl-tools-loop"
"""The name of threads with an event loop."""


class _Job(NamedTuple):
    context: Context
    function: Callable[[], Any]
    done: Callable[[Any, BaseException | None], Any]


class _Worker:
    """A thread that does one job after another, until it has had none for so many seconds."""

    def __init__(self, idle_seconds: float = _IDLE_SECONDS) -> None:
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self._idle_seconds = idle_seconds
        threading.Thread(target=self._serve, name=_NAME, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=self._idle_seconds)
            except Empty:
                if _retire(self):
                    return
                continue
            if not self._do(job):
                return
            del job

    def _do(self, job: _Job) -> bool:
        """Do a job; return whether to wait for another.

        The worker is idle before it reports, so that whoever hears of it finds it so.
        """
        value = error = None
        try:
            value = job.context.run(job.function)
        except BaseException as raised:  # noqa: BLE001 - raised again where it is waited for
            error = raised
        goes_on = _rest(self)
        job.done(value, error)
        return goes_on


def on_thread(function: Callable[[], _T]) -> Callable[[], _T]:
    """Return the function as one that has a thread of a Tooler; see ``IS_ON_THREAD``."""

    def marked() -> _T:
        IS_ON_THREAD.set(True)
        return function()

    return marked


def unless_stopped(function: Callable[[], _T], scope: CallScope | None) -> Callable[[], _T]:
    """Return a function that does not begin what nobody waits for any more."""

    def begin() -> _T:
        if scope is not None and scope.is_stopped:
            raise RunCancelledError
        return function()

    return begin


_LOCK = threading.Lock()
_IDLE: list[_Worker] = []


def _rest(worker: _Worker) -> bool:
    """Let a worker wait for its next job; return False if enough others do."""
    with _LOCK:
        if len(_IDLE) >= _MAX_IDLE:
            return False
        _IDLE.append(worker)
        return True


def _retire(worker: _Worker) -> bool:
    """Take an idle worker out; return False if it has just been given a job."""
    with _LOCK:
        if worker not in _IDLE:
            return False
        _IDLE.remove(worker)
        return True


def any_given_up() -> bool:
    """Tell whether tools still run on threads, when no call is under way any more."""
    names = [thread.name for thread in threading.enumerate()]
    return names.count(_NAME) > len(_IDLE) or _GIVEN_UP_LOOP in names


def give_up_loop(thread: threading.Thread) -> None:
    """Note that nobody waits for an event loop's thread any more."""
    thread.name = _GIVEN_UP_LOOP


_GIVEN_UP_LOOP = f"{LOOP}-given-up"


def start(
    function: Callable[[], _T], done: Callable[[_T | None, BaseException | None], Any]
) -> None:
    """Run the function on a daemon thread in the caller's context; report to ``done`` there."""
    with _LOCK:
        worker = _IDLE.pop() if _IDLE else None
    job = _Job(copy_context(), function, done)
    (worker or _Worker()).jobs.put(job)


def _start_anew() -> None:
    """Forget the threads of the parent in a forked child: they are not there."""
    global _LOCK  # noqa: PLW0603 - somebody may have held it when the process was forked
    _LOCK = threading.Lock()
    _IDLE.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)
