"""The scope of a call: its limits, who listens to it, and what ends it early."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from itertools import count
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeAlias

from sovl_tools.model.call import LogMessage, Mode, Progress
from sovl_tools.model.client_requests import Ask, ClientRequest
from sovl_tools.model.errors import RunCancelledError, TimeLimitError
from sovl_tools.model.result import Repair
from sovl_tools.threads import after_fork

Coerce: TypeAlias = Literal["strict", "lenient"]
Listen: TypeAlias = Callable[[Progress | LogMessage], object]


class Sink(Protocol):
    """Takes the items of a generator as they come; each call waits until there is room.

    The items become JSON on the tool's side. What is returned is what the tool's result has of it.

    Attributes:
        is_used: set when a generator has begun, even if it has no items.
    """

    is_used: bool

    def put(self, item: Any) -> Any:
        """Take an item from a thread."""
        ...

    async def put_later(self, item: Any) -> Any:
        """Take an item on the event loop."""
        ...


class CallScope:
    """One call, or one attempt of it; the calls that it makes itself are scopes below it.

    Attributes:
        call_id: names the call; its attempts have the same.
        parent: the call, or the attempt of one, that makes this one.
        chain: the names of the tools that called one another to get here, this one included.
        limit: how long it may take, in seconds; None for as long as it takes.
        started: when it began, by ``perf_counter``.
        mode: where sync tools run; None for what the runner prefers.
        coerce: whether arguments are repaired.
        listen: called with progress and messages; None for the Tooler's own listener.
        asks: who answers what a tool asks of its client, by the kind of request.
        sink: takes the items of a generator as they come.
        is_abandoned: whether a thread or task was given up that may still be at it.
        cancellations: how often the task that awaits it had been cancelled before it began.
        repairs: what was done to its arguments to make them fit.
    """

    # of the class until they differ: most calls never set them
    mode: Mode | None = None
    coerce: Coerce = "strict"
    listen: Listen | None = None
    asks: Mapping[type[ClientRequest], Ask] = MappingProxyType({})
    sink: Sink | None = None
    is_abandoned = False
    cancellations = 0
    repairs: tuple[Repair, ...] = ()
    _is_stopped = False

    def __init__(
        self,
        call_id: str = "",
        chain: tuple[str, ...] = (),
        parent: CallScope | None = None,
        limit: float | None = None,
        under_way: dict[str, CallScope] | None = None,
    ) -> None:
        """Make a scope; ``under_way`` holds it by its ``call_id`` until it is closed.

        Raises:
            ValueError: another call of that name is under way.
        """
        if under_way is not None and under_way.setdefault(call_id, self) is not self:
            raise ValueError(f"a call {call_id!r} is under way already")
        self._under_way = under_way
        self.call_id = call_id
        self.chain = chain
        self.limit = limit
        self.started = perf_counter()
        self._end = Lock()
        self._stops: list[Callable[[], object]] = []
        self.parent = parent
        if parent is not None:
            self.listen, self.asks = parent.listen, parent.asks
            # from above to below: a call ends with the one that made it
            parent.on_stop(self.stop)

    def attempt(self) -> CallScope:
        """Return the scope of an attempt that begins now."""
        scope = CallScope(self.call_id, self.chain, self, self.limit)
        scope.mode, scope.sink = self.mode, self.sink
        return scope

    @property
    def left(self) -> float | None:
        """How many seconds are left, 0 if none are; None without a limit."""
        if self.limit is None:
            return None
        return max(0.0, self.limit - (perf_counter() - self.started))

    @property
    def is_stopped(self) -> bool:
        """Whether nobody waits for the result any more."""
        return self._is_stopped  # what stops the one above stops this one as well

    def stop(self) -> None:
        """End the call, and those below it, as far as they can be ended."""
        self._is_stopped = True
        # popped, because what is called may stop the scope again
        while self._stops:
            self._stops.pop()()

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Have something called when the call is stopped; at once if it has been already."""
        self._stops.append(stop)
        if self._is_stopped:
            self.stop()

    def end(self) -> bool:
        """Note that the result is known; return False if it was already."""
        return self._end.acquire(blocking=False)

    def close(self) -> None:
        """Let nothing be stopped by this call any more, because it has ended."""
        if self._under_way is not None:
            del self._under_way[self.call_id]
        self._stops.clear()
        if self.parent is not None:
            self.parent.forget(self.stop)

    def forget(self, stop: Callable[[], object]) -> None:
        """Call something no more when the call is stopped."""
        # not asked before, because another thread may be stopping the call
        try:
            self._stops.remove(stop)
        except ValueError:
            return

    @property
    def above(self) -> tuple[CallScope, ...]:
        """The calls and attempts above this one, the nearest first."""
        return () if self.parent is None else (self.parent, *self.parent.above)

    def abandon(self) -> None:
        """Note that a thread or task was given up that may still be at it."""
        self.is_abandoned = True
        if self.parent is not None:
            self.parent.is_abandoned = True


def stop_call(scope: CallScope) -> Exception:
    """Return why a call is no longer waited for, and stop it."""
    if scope.is_stopped:
        return RunCancelledError()
    scope.stop()
    return TimeLimitError(scope.limit or 0.0)


_PROCESS = os.urandom(4).hex()
_NUMBERS = count(1)


def new_call_id() -> str:
    """Return a name for a call that no other call has."""
    return f"call_{_PROCESS}_{next(_NUMBERS)}"


@after_fork
def _start_anew() -> None:
    """Give the calls of a forked child other names than those of its parent."""
    global _PROCESS  # noqa: PLW0603 - there is one for each process
    _PROCESS = os.urandom(4).hex()
