"""What a function returned may not be a value yet: coroutines are awaited, generators collected."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable
from types import AsyncGeneratorType, GeneratorType
from typing import Any

from sovl_tools.running.loop import run_in_background

FINAL = frozenset({dict, str, int, float, bool, list, tuple, type(None)})
"""Types of values that are what they are."""


def settled_sync(value: Any) -> Any:
    """Return the value that a call stands for, waiting for it."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return list(value)
    if isinstance(value, AsyncGeneratorType):
        return run_in_background(_collected(value))
    return run_in_background(_awaited(value)) if inspect.isawaitable(value) else value


async def settled(value: Any) -> Any:
    """Return the value that a call stands for, awaiting it."""
    if type(value) in FINAL:
        return value
    if isinstance(value, GeneratorType):
        return list(value)
    if isinstance(value, AsyncGeneratorType):
        return await _collected(value)
    return await value if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


async def _collected(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]
