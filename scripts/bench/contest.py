"""Statements that are timed in turn, so that what else the machine does disturbs all alike.

Each round runs a short batch of each statement, and the least of all rounds counts: some batches
are left alone. A statement stands in the body of a loop as it is written, without a function
around it, and may await something.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

CALLS = 1024
"""So many statements are a batch, unless they are slow."""
FAST = 20e-6
"""So many seconds a statement takes that is not slow."""
LONGEST = 0.002
"""How long a batch of slow ones takes, in seconds."""

Clock: TypeAlias = Callable[[], float]
Batch: TypeAlias = Callable[[int, Clock], Awaitable[float]]
Found: TypeAlias = dict[str, float]
"""The seconds that each statement takes."""

_WARMING = 3
MICRO = 1e6
_SOURCE = """
async def batch(count, clock):
    started = clock()
    for index in range(count):
        {}
    return clock() - started
"""


class Line(NamedTuple):
    """A statement and what it is compared with.

    Attributes:
        label: names it.
        floor: the statement that does the least that could be done.
        statement: a line of Python.
        without: label of the line of which this one has more; what it adds is shown.
        targets: by the kind of tool the most that it may add, in microseconds; without ``without``
            the greatest ratio.
    """

    label: str
    floor: str
    statement: str
    without: str = ""
    targets: Mapping[str, float] = MappingProxyType({})

    def shown(self, kind: str, found: Found) -> str:
        """Return the line of text that tells what was found."""
        floor, took = found[self.floor], found[self.label]
        words = (
            f"{kind:6} {self.label:26} floor {floor * MICRO:6.2f} us   "
            f"call {took * MICRO:7.2f} us   ratio {took / floor:.2f}"
        )
        if self.without:
            words += f"   adds {(took - found[self.without]) * MICRO:.2f} us"
        return f"{words} (target {self.targets[kind]:.1f})" if kind in self.targets else words


async def compared(
    lines: Iterable[Line], names: Mapping[str, Any], rounds: int, *, clock: Clock = process_time
) -> Found:
    """Return what the lines take, by their labels, and their floors, by the statements.

    The process's CPU time counts, unless it is a wait that is measured and ``clock`` says so.
    """
    statements = {line.floor: line.floor for line in lines}
    statements |= {line.label: line.statement for line in lines}
    return await least(statements, names, rounds, clock=clock)


async def least(
    statements: Mapping[str, str],
    names: Mapping[str, Any],
    rounds: int,
    *,
    clock: Clock = process_time,
) -> Found:
    """Return what each statement takes, by its label."""
    batches = {label: _batch(statement, names) for label, statement in statements.items()}
    counts = {label: await _count(batch) for label, batch in batches.items()}
    found = dict.fromkeys(statements, float("inf"))
    for _ in range(rounds):
        for label, batch in batches.items():
            each = await batch(counts[label], clock) / counts[label]
            found[label] = min(found[label], each)
    return found


def _batch(statement: str, names: Mapping[str, Any]) -> Batch:
    namespace = dict(names)
    exec(_SOURCE.format(statement), namespace)
    batch: Batch = namespace["batch"]
    return batch


async def _count(batch: Batch) -> int:
    """Return how many statements the batches are to have, once they are warm."""
    await batch(_WARMING, perf_counter)
    each = await batch(_WARMING, perf_counter) / _WARMING
    return CALLS if each <= FAST else max(1, round(LONGEST / each))
