"""What a running call reports, on its way from the tool's thread to the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.serving.limits import MOST_REPORTS

Report: TypeAlias = Progress | LogMessage
_R = TypeVar("_R")


class Reports(Generic[_R]):
    """The reports that haven't been sent yet.

    Beyond ``MOST_REPORTS`` the oldest are dropped, unless they are kept.
    """

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._is_ended = False
        self._waiting: deque[_R] = deque(maxlen=MOST_REPORTS)
        self._kept: deque[_R] = deque()
        self._is_told = False
        self._loop = asyncio.get_running_loop()

    def add(self, report: _R) -> None:
        """Add a report, in any thread."""
        self._waiting.append(report)
        self._tell()

    def keep(self, report: _R) -> None:
        """Add a report that is never dropped, in any thread."""
        self._kept.append(report)
        self._tell()

    def _tell(self) -> None:
        # once, so that a tool that reports all the time doesn't fill the loop
        if not self._is_told:
            self._is_told = True
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._news.set)

    async def follow(
        self, pause: float | None = None, *, first: float | None = None
    ) -> AsyncGenerator[_R | None]:
        """Yield the reports as they come, until the end, and None after a pause without any.

        Args:
            pause: in seconds.
            first: how long the first pause is, if it is another.
        """
        is_last, patience = False, pause if first is None else first
        while not is_last:
            try:
                await asyncio.wait_for(self._news.wait(), patience)
            except TimeoutError:
                yield None
            patience, is_last = pause, self._is_ended
            for each in self._take():
                yield each

    def _take(self) -> Iterator[_R]:
        self._news.clear()
        self._is_told = False
        while self._waiting:
            yield self._waiting.popleft()
        while self._kept:
            yield self._kept.popleft()

    def end(self) -> None:
        """Add no more reports."""
        self._is_ended = True
        self._news.set()
