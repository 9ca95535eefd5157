"""Changes of a catalog for async code."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractContextManager

from sovl_tools.model.catalog import CatalogChange
from sovl_tools.model.context import Watch


async def stream(
    subscribe: Callable[[Callable[[CatalogChange], object]], Callable[[], None]],
    watch: AbstractContextManager[Watch],
) -> AsyncGenerator[CatalogChange]:
    """Yield every change from now on; the watch is begun and ended beside the event loop."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[CatalogChange] = asyncio.Queue()

    def tell(change: CatalogChange) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may have been closed
            loop.call_soon_threadsafe(queue.put_nowait, change)

    unsubscribe = subscribe(tell)
    try:
        # it looks at every folder, and at the end it waits for its thread
        await asyncio.to_thread(watch.__enter__)
        try:
            while True:
                yield await queue.get()
        finally:
            await asyncio.to_thread(watch.__exit__, None, None, None)
    finally:
        unsubscribe()
