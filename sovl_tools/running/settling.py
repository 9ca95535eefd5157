"""What a function returned may not be a value yet: coroutines are awaited, generators collected."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Coroutine
from types import AsyncGeneratorType, GeneratorType
from typing import Any

FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are what they are."""


def settled_sync(value: Any) -> Any:
    """Return the value that a call stands for, waiting for it."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return list(value)
    if isinstance(value, AsyncGeneratorType):
        return in_background(_collected(value))
    return in_background(_awaited(value)) if inspect.isawaitable(value) else value


def in_background(work: Coroutine[Any, Any, Any], *, limit: float | None = None) -> Any:
    """Run a coroutine on the loop in the background and return its value.

    ``limit`` is the one that the work itself keeps to, in seconds, unless it blocks the loop.
    """
    from sovl_tools.running.awaiting import run_in_background  # noqa: PLC0415 - imports asyncio

    return run_in_background(work, limit=limit)


async def settled(value: Any) -> Any:
    """Return the value that a call stands for, awaiting it."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return list(value)
    if isinstance(value, AsyncGeneratorType):
        return await _collected(value)
    return await settled(await value) if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await settled(await value)


async def _collected(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]
