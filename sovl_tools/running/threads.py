"""Daemon threads for sync tools: nobody waits for one that has been given up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

_T = TypeVar("_T")


class TimeLimitError(Exception):
    """A call that took longer than its limit, in seconds."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


def start(
    function: Callable[[], _T], done: Callable[[_T | None, BaseException | None], Any]
) -> None:
    """Run the function on a daemon thread in the caller's context; report to ``done`` there."""
    context = copy_context()

    def work() -> None:
        try:
            value = context.run(function)
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            done(None, error)
        else:
            done(value, None)

    threading.Thread(target=work, name="sovl-tools-call", daemon=True).start()


def within(function: Callable[[], _T], limit: float) -> _T:
    """Run the function on a thread and wait for it, no longer than the limit in seconds.

    Raises:
        TimeLimitError: the limit is over; the thread goes on, and its result is dropped.
    """
    outcome: list[tuple[_T | None, BaseException | None]] = []
    finished = threading.Event()

    def done(value: _T | None, error: BaseException | None) -> None:
        outcome.append((value, error))
        finished.set()

    start(function, done)
    if not finished.wait(limit):
        raise TimeLimitError(limit)
    value, error = outcome[0]
    if error is not None:
        raise error
    return value  # type: ignore[return-value]  # without an error there is a value
