"""The event loop on which connections are kept, whatever the loops and threads of the callers."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from typing import Any, TypeVar

from sovl_tools.threads import LOOP

_T = TypeVar("_T")
_PARTING = 8.0
"""How long connections have for their end when the program ends, in seconds."""

Close = Callable[[], Coroutine[Any, Any, None]]


class RemoteLoop:
    """An event loop on its own thread; what is on it is closed as the program ends."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closing: dict[object, Close] = {}
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"{LOOP}-remote", daemon=True
        )
        self._thread.start()
        atexit.register(self.close)

    @property
    def is_usable(self) -> bool:
        """Whether its thread runs, which it does not in a forked child."""
        return self._thread.is_alive()

    def submit(self, work: Coroutine[Any, Any, _T]) -> Future[_T]:
        """Begin to run a coroutine on the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def closing(self, key: object, close: Close) -> None:
        """Have something closed when the program ends."""
        self._closing[key] = close

    def close(self) -> None:
        """Close all connections, and end the loop; once."""
        if not self.is_usable:
            return
        with suppress(FutureTimeoutError, RuntimeError):
            self.submit(self._close_all()).result(_PARTING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1)
        if not self._thread.is_alive():
            self._loop.close()

    async def _close_all(self) -> None:
        closing, self._closing = self._closing, {}
        await asyncio.gather(*(close() for close in closing.values()), return_exceptions=True)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


_LOCK = threading.Lock()
_LOOPS: list[RemoteLoop] = []


def remote_loop() -> RemoteLoop:
    """Return the one loop of this process, which begins when it is first asked for."""
    with _LOCK:
        if not _LOOPS or not _LOOPS[0].is_usable:
            _LOOPS[:] = [RemoteLoop()]
        return _LOOPS[0]


async def run_remotely(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine on the loop of connections; a cancellation reaches it."""
    return await asyncio.wrap_future(remote_loop().submit(work))
