"""Time limits of steps and runs."""

from __future__ import annotations

from collections.abc import Coroutine
from time import perf_counter
from typing import Any, TypeVar

from sovl_tools.dispatch.event_loop import drive
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.procedures.errors import StepError

_T = TypeVar("_T")


async def within(seconds: float | None, work: Coroutine[Any, Any, _T], what: str = "it") -> _T:
    """Await the work, no longer than so many seconds; None for as long as it takes.

    Raises:
        StepError: the time is over.
    """
    if seconds is None:
        return await work
    try:
        return await drive(work, limit=seconds, started=perf_counter())
    except TimeLimitError as error:
        raise StepError(f"{what} was not done after {seconds:g} s") from error
