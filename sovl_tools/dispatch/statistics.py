"""How often each tool was called, how that ended and how long it took; kept in memory."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from struct import pack, unpack
from sys import byteorder
from threading import RLock
from typing import NamedTuple

from sovl_tools.model.result import FailureKind

FULL = 1024
"""At how many durations a log is folded."""


class Statistics(NamedTuple):
    """What is known of the calls of one tool; times are in seconds, 0 if there were no calls.

    Percentiles are of successes and failures alike, by the nearest rank, and at most 1 % off.

    Attributes:
        tool: its name.
        calls: how many have ended, in whatever way.
        errors: how many of them failed, by the kind of failure; kinds that did not occur are not
            there.
        abandoned: how many left a thread behind that may still have been at it.
        p50: half of the calls took no longer.
        p95: 95 % of the calls took no longer.
        p99: 99 % of the calls took no longer.
        shortest: how long the shortest call took.
        longest: how long the longest call took.
        total: how long all calls took together.
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
        """How many calls failed."""
        return sum(self.errors.values())

    @property
    def mean(self) -> float:
        """How long a call took on average, in seconds."""
        return self.total / self.calls if self.calls else 0.0


class CallLog:
    """Counts the calls of one tool. Thread-safe; its memory is bounded if it is folded.

    Who is in a hurry calls ``append(duration)`` for each success, and ``fold()`` once there are
    ``FULL`` durations; that is what ``succeeded`` does.

    Attributes:
        durations: those that are not in the histogram yet, in seconds.
        append: the bound method of ``durations``.
    """

    __slots__ = ("_abandoned", "_errors", "_histogram", "_lock", "append", "durations")

    def __init__(self) -> None:
        self.durations: list[float] = []
        self.append = self.durations.append
        self._histogram = _Histogram()
        self._errors: Counter[FailureKind] = Counter()
        self._abandoned = 0
        self._lock = RLock()

    def succeeded(self, duration: float) -> None:
        """Count a call that returned a value; the duration is in seconds, 0 or more."""
        self.append(duration)
        if len(self.durations) >= FULL:
            self.fold()

    def failed(self, kind: FailureKind, duration: float, *, abandoned: bool = False) -> None:
        """Count a call that failed; ``abandoned`` if its thread may still be at it."""
        # both at once, or statistics in between show more failures than calls
        with self._lock:
            self.succeeded(duration)  # which has a duration too
            self._errors[kind] += 1
            self._abandoned += abandoned

    def fold(self) -> None:
        """Move the durations into the histogram."""
        with self._lock:
            # others append meanwhile: theirs stand behind the part that is copied and cut off
            batch = self.durations[:]
            del self.durations[: len(batch)]
            self._histogram.add(batch)

    def statistics(self, tool: str) -> Statistics:
        """Return what is known so far under the tool's name; the log goes on."""
        with self._lock:
            self.fold()
            histogram = self._histogram
            return Statistics(
                tool=tool,
                calls=histogram.count,
                errors=dict(self._errors),
                abandoned=self._abandoned,
                p50=histogram.percentile(50),
                p95=histogram.percentile(95),
                p99=histogram.percentile(99),
                shortest=histogram.shortest if histogram.count else 0.0,
                longest=histogram.longest,
                total=histogram.total,
            )


def summary(logs: Mapping[str, CallLog]) -> dict[str, Statistics]:
    """Return the statistics by tool; a log without calls is left out."""
    found = {tool: log.statistics(tool) for tool, log in dict(logs).items()}
    return {tool: statistics for tool, statistics in found.items() if statistics.calls}


_HIGH = 1 if byteorder == "little" else 0
"""Which of the two halves of a 32-bit float holds its sign, exponent and first seven digits."""


class _Histogram:
    """Durations in buckets as wide as 1/128 of their power of two, as in HDR histograms.

    So the middle of a bucket is at most 0.4 % away from anything in it, and from 100 ns to 10
    days there are 5,500 buckets.
    """

    __slots__ = ("_buckets", "count", "longest", "shortest", "total")

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self.count = 0
        self.total = 0.0
        self.shortest = float("inf")
        self.longest = 0.0

    def add(self, durations: list[float]) -> None:
        """Count durations, in seconds."""
        if not durations:
            return
        # the high half of a float's bits is the bucket; taken from all at once, without a loop
        self._buckets.update(array("H", array("f", durations).tobytes())[_HIGH::2])
        self.count += len(durations)
        self.total += sum(durations)
        self.shortest = min(self.shortest, *durations)
        self.longest = max(self.longest, *durations)

    def percentile(self, percent: int) -> float:
        """Return a percentile of the durations, to four digits."""
        # rounded up: the nearest-rank method
        rank = -(-percent * self.count // 100)
        for bucket in sorted(self._buckets):
            rank -= self._buckets[bucket]
            if rank <= 0:
                # the middle of a bucket has the highest bit of the low half set
                (middle,) = unpack("f", pack("I", (bucket << 16) + (1 << 15)))
                return min(max(float(f"{middle:.4g}"), self.shortest), self.longest)
        return 0.0
