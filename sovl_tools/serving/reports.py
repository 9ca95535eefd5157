"""What a running call reports, on its way from the tool's thread to the event loop."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import TypeAlias

from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.serving.limits import MOST_REPORTS

Report: TypeAlias = Progress | LogMessage


class Reports:
    """The reports that haven't been sent yet; beyond ``MOST_REPORTS`` the oldest are dropped.

    Attributes:
        news: set when there is a report, or the call has ended.
        is_ended: whether the call has ended.
    """

    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.is_ended = False
        self._waiting: deque[Report] = deque(maxlen=MOST_REPORTS)
        self._is_told = False
        self._loop = asyncio.get_running_loop()

    def add(self, report: Report) -> None:
        """Add a report, in any thread."""
        self._waiting.append(report)
        # once, so that a tool that reports all the time doesn't fill the loop
        if not self._is_told:
            self._is_told = True
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self.news.set)

    def take(self) -> Iterator[Report]:
        """Yield the reports, the oldest first."""
        self.news.clear()
        self._is_told = False
        while self._waiting:
            yield self._waiting.popleft()

    def end(self) -> None:
        """Add no more reports."""
        self.is_ended = True
        self.news.set()
