"""One event loop in the background, for async tools that are called from sync code."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")
_LOCK = threading.Lock()


class BackgroundLoop:
    """An event loop on a daemon thread; it lives as long as the process."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="sovl-tools-loop", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run the coroutine on the loop and return its value or raise its exception.

        Context variables of the caller are carried over. Works under a running loop as well,
        which is blocked meanwhile, as by any sync call.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this loop, so that waiting for it would never end."""
        return threading.current_thread() is self._thread


_LOOPS: list[BackgroundLoop] = []


def run_in_background(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the background loop, or on another one if the caller is on that."""
    with _LOCK:
        free = next((loop for loop in _LOOPS if not loop.is_current), None)
        if free is None:
            free = BackgroundLoop()
            _LOOPS.append(free)
    return free.run(work)
