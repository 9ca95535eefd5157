"""The events of a turn, for both kinds of loops."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Self

from sovl_tools.agent.events import Event
from sovl_tools.agent.requests import Steps, in_async, in_sync


class AgentStream:
    """The events of a turn, for ``async for`` and ``for``; the turn begins with the loop."""

    def __init__(self, turn: Callable[[], Steps]) -> None:
        self._turn = turn

    def __aiter__(self) -> AsyncEvents:
        """Begin the turn and yield its events; whoever stops early cancels it."""
        return AsyncEvents(self._turn())

    def __iter__(self) -> Iterator[Event]:
        """Begin the turn and yield its events; whoever stops early cancels it."""
        return in_sync(self._turn())


class AsyncEvents(AsyncIterator[Event]):
    """The events of a turn that is under way.

    A loop that is left drops them. An async generator would be closed at some later time then,
    but the conversation has to be whole and free at once for whoever says something next.
    """

    def __init__(self, turn: Steps) -> None:
        self._turn = turn
        self._events = in_async(turn)

    def __aiter__(self) -> Self:
        """Return the same events."""
        return self

    async def __anext__(self) -> Event:
        """Return the next event."""
        return await anext(self._events)

    async def aclose(self) -> None:
        """Cancel the turn, unless it is over, and wait until nothing of it runs any more."""
        await self._events.aclose()

    def __del__(self) -> None:
        self._turn.close()
