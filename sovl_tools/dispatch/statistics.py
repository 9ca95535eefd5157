"""The number, outcomes and durations of each tool's calls; kept in memory."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from math import inf
from statistics import quantiles
from threading import RLock
from typing import NamedTuple

from sovl_tools.model.result import Failure, FailureKind

RECENT = 1000
"""The number of calls that percentiles are taken of: the latest."""


class Statistics(NamedTuple):
    """The figures of one tool's calls; times are in seconds, 0 without calls.

    Percentiles are of the latest 1,000 calls, successes and failures alike.

    Attributes:
        tool: its name.
        calls: the number of ended calls.
        errors: the number of failed calls by the kind of failure; kinds that did not occur are not
            there.
        abandoned: the number of calls that left a thread behind.
        p50: half of the calls took no longer.
        p95: 95 % of the calls took no longer.
        p99: 99 % of the calls took no longer.
        shortest: the shortest call's time.
        longest: the longest call's time.
        total: the time of all calls together.
    """

    tool: str
    calls: int
    errors: Mapping[FailureKind, int]
    abandoned: int
    p50: float
    p95: float
    p99: float
    shortest: float
    longest: float
    total: float

    @property
    def failures(self) -> int:
        """The number of failed calls."""
        return sum(self.errors.values())

    @property
    def mean(self) -> float:
        """The average time of a call, in seconds."""
        return self.total / self.calls if self.calls else 0.0


class CallLog:
    """Counts the calls of one tool. Thread-safe."""

    def __init__(self) -> None:
        self._durations: deque[float] = deque(maxlen=RECENT)
        self._count = self._abandoned = 0
        self._total = self._longest = 0.0
        self._shortest = inf
        self._errors: Counter[FailureKind] = Counter()
        self._lock = RLock()

    def add(self, duration: float, error: Failure | None = None) -> None:
        """Count a call with its seconds, and its error if it failed."""
        with self._lock:
            self._durations.append(duration)
            self._count += 1
            self._total += duration
            self._shortest = min(self._shortest, duration)
            self._longest = max(self._longest, duration)
            if error is not None:
                self._errors[error.kind] += 1
                self._abandoned += error.is_abandoned

    def statistics(self, tool: str) -> Statistics:
        """Return the statistics so far under the tool's name; the log continues."""
        with self._lock:
            found = sorted(self._durations)
            # it needs two values at least
            cuts = quantiles(found * 2, n=100, method="inclusive") if found else [0.0] * 99
            return Statistics(
                tool=tool,
                calls=self._count,
                errors=dict(self._errors),
                abandoned=self._abandoned,
                p50=cuts[49],
                p95=cuts[94],
                p99=cuts[98],
                shortest=self._shortest if self._count else 0.0,
                longest=self._longest,
                total=self._total,
            )


def summary(logs: Mapping[str, CallLog]) -> dict[str, Statistics]:
    """Return the statistics by tool; a log without calls is omitted."""
    found = {tool: log.statistics(tool) for tool, log in dict(logs).items()}
    return {tool: statistics for tool, statistics in found.items() if statistics.calls}
