"""Running an author's code on a thread that may be given up.

Importing a module runs its code, which may never return.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Generic, NamedTuple, TypeVar

_T = TypeVar("_T")


class Abandoned(BaseException):
    """Raised inside of code that has been given up."""


class Stalled(NamedTuple):
    """What had no end in time, and the frame where it was; None if that can't be told."""

    frame: FrameType | None


class _Run(Generic[_T]):
    """A function on its way, or what has come of it."""

    def __init__(self, function: Callable[[], _T]) -> None:
        self._function = function
        self.done = threading.Event()
        self.value: Any = None
        self.error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self.value = self._function()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self.error = error
        finally:
            self.done.set()

    def outcome(self) -> _T:
        if self.error is not None:
            raise self.error
        value: _T = self.value
        return value


LOADER, IMPORTER = "sovl-tools-loader", "sovl-tools-import"
"""Names of threads on which tools are loaded."""


def is_loading() -> bool:
    """Tell whether this is run while a tool is loaded, by the code of that tool."""
    return threading.current_thread().name in {LOADER, IMPORTER}


def is_from_user(error: BaseException) -> bool:
    """Tell whether an exception may be the user's Ctrl-C: Python raises that in the main thread.

    What is raised elsewhere is the doing of the code that runs there.
    """
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and isinstance(error, KeyboardInterrupt)


def within(limit: float, function: Callable[[], _T]) -> _T | Stalled:
    """Return what a function returns, or that it was not done after so many seconds.

    It runs on a daemon thread; if it has no end, an exception is raised in it.

    Raises:
        BaseException: what the function raised.
    """
    run = _Run(function)
    thread = threading.Thread(target=run, name=IMPORTER, daemon=True)
    thread.start()
    if run.done.wait(min(limit, threading.TIMEOUT_MAX)):
        return run.outcome()
    frame = frame_of(thread)
    interrupt(thread)
    return Stalled(frame)


def frame_of(thread: threading.Thread) -> FrameType | None:
    """Return where a thread is."""
    return sys._current_frames().get(thread.ident or 0)  # noqa: SLF001 - the only way


def interrupt(thread: threading.Thread) -> None:
    """Raise an exception in a thread, so that an endless loop does not go on using the CPU."""
    import ctypes  # noqa: PLC0415 - 3 ms, for the worst case only

    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Abandoned)
    )
