"""What a test shares with all others of its process, and must leave as it was.

A test that leaves something behind fails by it, and not a test that comes later. Loggers are put
back, because libraries set levels up for good.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Surroundings(NamedTuple):
    """What a test finds.

    Attributes:
        directory: the current one.
        path: where modules are found.
        handlers: what is called when signals come.
        environment: all variables but pytest's own.
    """

    directory: str
    path: list[str]
    handlers: tuple[object, ...]
    environment: dict[str, str]

    @classmethod
    def now(cls) -> Surroundings:
        environment = {**os.environ}
        environment.pop("PYTEST_CURRENT_TEST", None)
        handlers = tuple(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))
        return cls(os.getcwd(), sys.path[:], handlers, environment)

    def changes(self) -> list[str]:
        """Return what is otherwise now, without the values of variables, which can be secret."""
        now = Surroundings.now()
        variables = {name for name, _ in self.environment.items() ^ now.environment.items()}
        found = [f"the variable {name!r}" for name in sorted(variables)]
        for name, before, after in zip(self._fields[:-1], self, now, strict=False):
            if before != after:
                found.append(f"{name}: {after!r}, not {before!r}")
        return found


@contextmanager
def kept_loggers() -> Iterator[None]:
    """Put the levels and handlers of all loggers back at the end, but for those that are new."""
    # copied at a stroke: the garbage collector may take loggers away with versions of tools
    known = logging.root.manager.loggerDict
    kept = {
        name: (each.level, each.propagate, each.handlers[:])
        for name, each in known.copy().items()
        if isinstance(each, logging.Logger)
    }
    yield
    for name, (level, propagate, handlers) in kept.items():
        each = known.get(name)
        if isinstance(each, logging.Logger):
            if each.level != level:  # setting it empties caches of all loggers
                each.setLevel(level)
            each.propagate = propagate
            each.handlers[:] = handlers
