"""The calls of one round, all at a time or one by one, each with its result."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from inspect import isawaitable
from typing import Any

from sovl_tools.agent.answer import Call
from sovl_tools.agent.events import Event, ToolFinished, ToolStarted, as_json
from sovl_tools.agent.forwarding import CHAIN, Link
from sovl_tools.agent.offering import Offer
from sovl_tools.agent.settings import Settings, Wanted
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")


class Calling:
    """Makes the calls of a round.

    Attributes:
        results: of those that have ended, by their places among the calls.
    """

    def __init__(self, agent: Any, settings: Settings, wanted: Wanted, offer: Offer) -> None:
        self.results: dict[int, ToolResult] = {}
        self._agent = agent
        self._settings = settings
        self._wanted = wanted
        self._offer = offer

    async def events(self, calls: Sequence[Call], span: Any) -> AsyncGenerator[Event, None]:
        """Make calls, and yield events as they begin and end; whoever stops early cancels them."""
        places = range(len(calls))
        for batch in [places] if self._settings.told.parallel else [[place] for place in places]:
            for place in batch:
                await self._emit(ToolStarted(calls[place]))
                yield ToolStarted(calls[place])
            made = (self._guarded(place, calls[place], span) for place in batch)
            tasks = [asyncio.create_task(each) for each in made]
            try:
                for task in asyncio.as_completed(tasks):
                    place, interrupt = await task
                    if interrupt is not None:
                        raise interrupt
                    finished = ToolFinished(calls[place], self.results[place])
                    await self._emit(finished)
                    yield finished
            finally:
                for each in tasks:
                    each.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _guarded(
        self, place: int, call: Call, span: Any
    ) -> tuple[int, KeyboardInterrupt | None]:
        """Make a call; an interrupt is returned, since a task that raises it ends its loop."""
        try:
            return await self._call(place, call, span), None
        except KeyboardInterrupt as interrupt:
            return place, interrupt

    async def _call(self, place: int, call: Call, span: Any) -> int:
        settings = self._settings
        settings.tracing.enter(span)
        CHAIN.set((*CHAIN.get(), Link(settings.key, settings.told.name)))
        refused = _refused(call.name, self._wanted.tools)
        if refused is None:
            arguments = self._offer.export.restore(call.name, call.arguments)
            self.results[place] = await settings.tooler.call(call.name, arguments)
        else:
            self.results[place] = ToolResult(call.name, None, refused, 0.0)
        return place

    async def _emit(self, event: ToolStarted | ToolFinished) -> None:
        if self._settings.told.emits_tools and self._agent.emit is not None:
            try:
                found = self._agent.emit(as_json(event))
                if isawaitable(found):
                    await found
            except Exception:
                _LOGGER.exception("emit failed at a call of %s", event.call.name)


def _refused(name: str, allowed: Sequence[str] | None) -> Failure | None:
    """Return why a tool can't be called in this turn, if only some can."""
    if allowed is None or name in allowed:
        return None
    there = f"there is {', '.join(allowed)}" if allowed else "there is none"
    return Failure("unknown_tool", f"there is no tool {name!r} in this turn; {there}")
