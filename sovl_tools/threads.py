"""Daemon threads for tools' code, which might never return, so that it can be abandoned.

Calls of tools share threads: an idle thread is kept for the next call of any Tooler. A
load has its own thread, whose code is interrupted when it is abandoned.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextvars import Context, copy_context
from queue import SimpleQueue
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])

CALL, LOADER, LOOP = "sovl-tools-call", "sovl-tools-loader", "sovl-tools-loop"
"""The names of threads that call tools, that load tools, and that run event loops."""
_GIVEN_UP_LOOP = f"{LOOP}-given-up"
_MAX_IDLE = 32

Done: TypeAlias = Callable[[Any, BaseException | None], Any]
"""Called with the value that a function returned, or the exception that it raised."""


def after_fork(function: _F) -> _F:
    """Have a function called in forked children, which don't have their parents' threads."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=function)
    return function


class Abandoned(BaseException):
    """Raised in code that was abandoned."""


class Stalled(NamedTuple):
    """Code that exceeded its time, and the frame where it was; None if that is unknown."""

    frame: FrameType | None


class Job(Generic[_T]):
    """A function on its own thread, which the caller waits for or abandons.

    While the caller's thread is importing a module, the function runs on that thread, and can't be
    abandoned: on another, an import of the same module would wait for the caller.
    """

    def __init__(self, function: Callable[[], _T]) -> None:
        """Start the thread, or run the function."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None
        # only the thread has the function, and forgets it: it can be a method of this job
        self._thread = threading.current_thread()
        if is_importing():
            self._run(function)
            return
        self._thread = threading.Thread(target=self._run, args=[function], name=LOADER, daemon=True)
        self._thread.start()

    def _run(self, function: Callable[[], _T]) -> None:
        try:
            self._value, self._error = _outcome(function)
        finally:
            with self._lock:
                self._ended.set()

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds``; return whether the function has ended."""
        return self._ended.wait(max(0.0, min(seconds, threading.TIMEOUT_MAX)))

    def result(self) -> _T:
        """Return the function's value, or raise its exception, when it has ended."""
        if self._error is not None:
            raise self._error
        value: _T = self._value
        return value

    @property
    def frame(self) -> FrameType | None:
        """The current frame of the function."""
        return sys._current_frames().get(self._thread.ident or 0)  # noqa: SLF001 - the only way

    def give_up(self) -> None:
        """Raise an exception in the function, so that an endless loop ends."""
        import ctypes  # noqa: PLC0415 - 3 ms, for the worst case only

        with self._lock:
            if not self._ended.is_set():  # afterwards its number can be another thread's
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread.ident or 0), ctypes.py_object(Abandoned)
                )


def run_within(limit: float, function: Callable[[], _T]) -> _T | Stalled:
    """Return the function's value, or Stalled if it exceeds the limit.

    Raises:
        BaseException: the function's exception.
    """
    job = Job(function)
    if job.wait(limit):
        return job.result()
    frame = job.frame
    job.give_up()
    return Stalled(frame)


def is_importing() -> bool:
    """Return True if the caller's thread is importing a module right now."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - documented, the only way
    while frame is not None:
        code = frame.f_code
        if code.co_name == "_find_and_load" and code.co_filename == _IMPORTER:
            return True
        frame = frame.f_back
    return False


_IMPORTER = "<frozen importlib._bootstrap>"


def is_loading() -> bool:
    """Return True if the code of a tool that is being loaded is the caller."""
    return threading.current_thread().name == LOADER


def is_from_user(error: BaseException) -> bool:
    """Return True if an exception can be the user's Ctrl-C: Python raises it in the main thread.

    On another thread, the code there raised it.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and isinstance(error, KeyboardInterrupt)


def start(function: Callable[[], _T], done: Done) -> None:
    """Run the function on a shared thread in the caller's context; report to ``done`` there.

    It is never interrupted: other calls have that thread next.
    """
    with _LOCK:
        worker = _IDLE.pop() if _IDLE else None
    (worker or _Worker()).work.put((copy_context(), function, done))


class _Worker:
    """A shared thread, which ends after its work if enough others are idle."""

    def __init__(self) -> None:
        self.work: SimpleQueue[tuple[Context, Callable[[], Any], Done]] = SimpleQueue()
        threading.Thread(target=self._serve, name=CALL, daemon=True).start()

    def _serve(self) -> None:
        is_kept = True
        while is_kept:
            context, function, done = self.work.get()
            value, error = context.run(_outcome, function)
            # idle before it reports, so that the receiver finds it so
            with _LOCK:
                is_kept = len(_IDLE) < _MAX_IDLE
                if is_kept:
                    _IDLE.append(self)
            done(value, error)
            del context, function, done, value, error  # no object stays alive while it waits


def _outcome(function: Callable[[], _T]) -> tuple[_T | None, BaseException | None]:
    try:
        return function(), None
    except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
        return None, error


_LOCK = threading.Lock()
_IDLE: list[_Worker] = []


@after_fork
def _start_anew() -> None:
    """Forget the threads of the parent in a forked child: they are not there."""
    global _LOCK  # noqa: PLW0603 - a thread may have had it at the fork
    _LOCK = threading.Lock()
    _IDLE.clear()


def any_given_up() -> bool:
    """Return True if tools still run on threads after all calls and loads have ended."""
    names = [thread.name for thread in threading.enumerate()]
    return names.count(CALL) > len(_IDLE) or not {LOADER, _GIVEN_UP_LOOP}.isdisjoint(names)


def give_up_loop(thread: threading.Thread) -> None:
    """Mark the thread of an event loop as abandoned."""
    # by its name: ``any_given_up`` has no reference to a Tooler
    thread.name = _GIVEN_UP_LOOP
