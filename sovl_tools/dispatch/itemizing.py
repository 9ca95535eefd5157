"""The items of a call, one by one: the tool fills a queue, whoever takes them empties it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from sovl_tools.dispatch.event_loop import blocking
from sovl_tools.dispatch.results import converted
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult

_AHEAD = 16
"""How many items a generator may be ahead of whoever takes them."""


class _Queue:
    """Items on their way from the tool to whoever takes them, as JSON."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[JSON] = asyncio.Queue(_AHEAD)
        self.is_used = False
        self.put = blocking(self.put_later)

    async def put_later(self, item: Any) -> None:
        """Take an item; wait until there is room."""
        await self.items.put(converted(item)[0])


async def itemized(
    make: Callable[[_Queue], Awaitable[ToolResult]], done: Callable[[ToolResult], None]
) -> AsyncGenerator[JSON, None]:
    """Make a call and yield its items; tell of its result. Whoever stops early cancels it."""
    queue = _Queue()
    call = asyncio.ensure_future(make(queue))
    try:
        while not call.done() or not queue.items.empty():
            item = asyncio.ensure_future(queue.items.get())
            await asyncio.wait({item, call}, return_when=asyncio.FIRST_COMPLETED)
            if item.done():
                yield item.result()
            else:
                item.cancel()
        result = await call
        done(result)
        if result.ok and not queue.is_used:
            yield result.value
    finally:
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
