"""How long tests wait: for ever, nearly.

A wait is there to end a test that hangs. A busy machine may stall for seconds at any place, so no
test is failed by that, and none asserts how long something took by the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, process_time, sleep

PATIENCE = 60.0
"""How long to wait for what must come, in seconds."""


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what sends no event, and leave the processor to it."""
    deadline = monotonic() + PATIENCE
    while not is_so():
        assert monotonic() < deadline
        sleep(0.002)


@contextmanager
def bounded_work() -> Iterator[None]:
    """Fail if this takes a minute of the processor: what goes wrong here takes hours."""
    before = process_time()
    yield
    assert process_time() - before < PATIENCE
