"""What a test shares with all others of its process, and must leave as it was.

Whoever leaves something behind fails by it, and not a test that comes later: which one that is
differs from run to run. Loggers are put back, because libraries set levels up for good.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import NamedTuple

_OF_PYTEST = ("PYTEST_CURRENT_TEST", b"PYTEST_CURRENT_TEST")
_EXPECTED = {ModuleType, type(None)}
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Surroundings(NamedTuple):
    """What a test finds.

    Attributes:
        directory: the current one.
        environment: all variables but pytest's own.
        path: where modules are found.
        kinds: the types of plain values in ``sys.modules``; libraries put objects of theirs there.
        handlers: what is called when signals come.
        limits: the depth of recursion, and how long a thread runs.
    """

    directory: str
    environment: dict[str, str]
    path: list[str]
    kinds: frozenset[type]
    handlers: tuple[object, ...]
    limits: tuple[float, ...]

    @classmethod
    def now(cls) -> Surroundings:
        environment = {**os.environ._data}  # type: ignore[attr-defined] # far faster than a copy
        for name in _OF_PYTEST:
            environment.pop(name, None)
        return cls(
            os.getcwd(),
            environment,
            sys.path[:],
            frozenset(
                each
                for each in set(map(type, [*sys.modules.values()]))
                if each.__module__ == "builtins" and each not in _EXPECTED
            ),
            tuple(map(signal.getsignal, _SIGNALS)),
            (sys.getrecursionlimit(), sys.getswitchinterval()),
        )

    def changes(self) -> list[str]:
        """Return what is otherwise now, without the values of variables, which can be secret."""
        now = Surroundings.now()
        if now == self:
            return []
        variables = {name for name, _ in self.environment.items() ^ now.environment.items()}
        found = [f"the variable {name!r}" for name in sorted(variables, key=str)]
        for name, before, after in zip(self._fields, self, now, strict=True):
            is_less = name == "kinds" and now.kinds <= self.kinds
            if name != "environment" and before != after and not is_less:
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
