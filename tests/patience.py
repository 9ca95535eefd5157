"""How long tests wait: for ever, nearly.

A wait is there to end a test that hangs. A busy machine may stall for seconds at any place, so no
test is failed by that, and none asserts how long something took by the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time

PATIENCE = 60.0
"""How long to wait for what must come, in seconds."""


@contextmanager
def bounded_work() -> Iterator[None]:
    """Fail if this takes a minute of the processor: what goes wrong here takes hours."""
    before = process_time()
    yield
    assert process_time() - before < PATIENCE
