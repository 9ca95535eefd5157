"""Statements that are timed in turn, so that what else the machine does disturbs all alike.

Each round runs a short batch of each statement, and the least of all rounds counts: some batches
are left alone. A statement stands in the body of a loop as it is written, without a function
around it, and may await something.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import perf_counter, process_time
from typing import Any, NamedTuple, TypeAlias

CALLS = 1024
"""So many statements are a batch at most."""
LONGEST = 0.002
"""How long a batch takes, in seconds: alike for all, so that none is disturbed more than others."""

Clock: TypeAlias = Callable[[], float]
Batch: TypeAlias = Callable[[int, Clock], Awaitable[float]]

_WARMING = 5
_MICRO = 1e6
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
        statement: a line of Python; ``index`` counts how often it has run.
        target: the greatest ratio; 0 for none.
    """

    label: str
    floor: str
    statement: str
    target: float = 0

    def shown(self, kind: str, least: Mapping[str, float]) -> str:
        """Return what was found as text; ``least`` has the seconds by labels and floors."""
        floor, took = least[self.floor] * _MICRO, least[self.label] * _MICRO
        words = f"{kind:9} {self.label:31} floor {floor:6.2f} us   call {took:7.2f} us   "
        words += f"ratio {took / floor:5.2f}"
        if not self.target:
            return words
        verdict = "met" if took / floor <= self.target else "missed"
        return f"{words}   target {self.target:4.1f} {verdict}"


class Group(NamedTuple):
    """Lines that are measured one right after the other.

    Attributes:
        kind: of the tools.
        lines: what is shown.
        names: what the statements speak of.
        clock: the process's CPU time, unless it is a wait that is measured.
    """

    kind: str
    lines: tuple[Line, ...]
    names: Mapping[str, Any]
    clock: Clock = process_time

    def statements(self) -> dict[str, str]:
        """Return the floors, which are their own labels, and the statements by their labels."""
        floors = {line.floor: line.floor for line in self.lines}
        return floors | {line.label: line.statement for line in self.lines}


class Race:
    """A group under way: the batches, and the least that each took so far."""

    def __init__(self, group: Group) -> None:
        statements = group.statements()
        self._group = group
        self._batches = {label: _batch(text, group.names) for label, text in statements.items()}
        self._counts: dict[str, int] = {}
        self._least = dict.fromkeys(statements, float("inf"))

    async def warm(self) -> None:
        """Run everything a few times and find out how many are to be a batch."""
        for label, batch in self._batches.items():
            each = min([await batch(_WARMING, perf_counter) for _ in range(_WARMING)]) / _WARMING
            self._counts[label] = min(CALLS, max(1, round(LONGEST / each)))

    async def run(self) -> None:
        """Run a round."""
        for label, batch in self._batches.items():
            count = self._counts[label]
            each = await batch(count, self._group.clock) / count
            self._least[label] = min(self._least[label], each)

    def show(self) -> None:
        """Print what was found."""
        for line in self._group.lines:
            print(line.shown(self._group.kind, self._least))


def _batch(statement: str, names: Mapping[str, Any]) -> Batch:
    namespace = dict(names)
    exec(_SOURCE.format(statement), namespace)
    batch: Batch = namespace["batch"]
    return batch


async def hold(groups: Iterable[Group], rounds: int) -> None:
    """Measure the groups in turn, so many times, and print what was found.

    Raises:
        Exception: whatever a statement raises.
    """
    races = [Race(group) for group in groups]
    for race in races:
        await race.warm()
    for _ in range(rounds):
        for race in races:
            await race.run()
    for race in races:
        race.show()
