"""A call whose items come one by one, as a generator makes them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator

from sovl_tools.dispatch.scope import Sink
from sovl_tools.model.document import JSON
from sovl_tools.model.result import ToolResult


class ToolStream:
    """The items of a call, for ``async for`` and ``for``. Each time round it is made anew.

    Attributes:
        result: the result of the call when the items have ended: all of them as a list, or the
            error that ended them. None before.
    """

    def __init__(self, make: Callable[[Sink], Awaitable[ToolResult]]) -> None:
        self.result: ToolResult | None = None
        self._make = make

    def _done(self, result: ToolResult) -> None:
        self.result = result

    def __aiter__(self) -> AsyncGenerator[JSON, None]:
        """Make the call and yield its items; whoever stops early cancels it."""
        from sovl_tools.dispatch.itemizing import itemized  # noqa: PLC0415 - imports asyncio

        return itemized(self._make, self._done)

    def __iter__(self) -> Iterator[JSON]:
        """Make the call and yield its items; whoever stops early cancels it."""
        from sovl_tools.dispatch.background import iterated  # noqa: PLC0415 - asyncio

        return iterated(self.__aiter__())
