"""The items of a generator, one by one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any

from sovl_tools.annotations.jsonvalues import is_lazy
from sovl_tools.dispatch.async_runner import await_thread, blocking
from sovl_tools.dispatch.steps import convert_result
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import ToolResult

_AHEAD = 16
"""The number of items a generator can be ahead of its consumer."""
_END: Any = object()


class _Items:
    """Items on their way from the tool to the consumer, as JSON."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[JSON] = asyncio.Queue(_AHEAD)
        self.is_used = False
        self._is_closed = False
        self._put = blocking(self.items.put)

    def close(self) -> None:
        """End a tool on a thread that waits for room, or makes another item."""
        self._is_closed = True
        while not self.items.empty():
            self.items.get_nowait()

    def put(self, item: Any) -> Any:
        if self._is_closed:
            raise RunCancelledError
        value, content = convert_result(item)
        self._put(value)
        return item if content else value

    async def put_later(self, item: Any) -> Any:
        # on a thread, because a tool's own iterator blocks the loop while it makes its items
        lazy = await_thread(partial(convert_result, item)) if is_lazy(item) else None
        value, content = convert_result(item) if lazy is None else await lazy
        await self.items.put(value)
        return item if content else value


async def stream_items(
    make: Callable[[_Items], Awaitable[ToolResult]], done: Callable[[ToolResult], None]
) -> AsyncGenerator[JSON, None]:
    """Make a call and yield its items; tell of its result. Closing it early cancels the call."""
    queue = _Items()

    async def work() -> ToolResult:
        try:
            return await make(queue)
        finally:
            await queue.items.put(_END)

    # in another task, so that items come while the tool makes more of them
    call = asyncio.ensure_future(work())
    try:
        while (item := await queue.items.get()) is not _END:
            yield item
        result = await call
        done(result)
        if result.ok and not queue.is_used:
            yield result.value
    finally:
        queue.close()
        call.cancel()
        with suppress(asyncio.CancelledError):
            await call
