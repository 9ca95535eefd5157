"""The events of a turn, for both kinds of loops."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator

from sovl_tools.agent.events import Event
from sovl_tools.agent.requests import Steps, in_async, in_sync


class AgentStream:
    """The events of a turn, for ``async for`` and ``for``; the turn begins with the loop."""

    def __init__(self, turn: Callable[[], Steps]) -> None:
        self._turn = turn

    def __aiter__(self) -> AsyncGenerator[Event, None]:  # noqa: PYI058 - to be closed
        """Begin the turn and yield its events; whoever stops early cancels it."""
        return in_async(self._turn())

    def __iter__(self) -> Iterator[Event]:
        """Begin the turn and yield its events; whoever stops early cancels it."""
        return in_sync(self._turn())
