"""The scope of a call: its limit, its listeners, and what ends it early."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from math import inf
from threading import Lock
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sovl_tools.model.call import LogMessage, Mode, Progress
from sovl_tools.model.client_requests import HostRequest
from sovl_tools.model.errors import RunCancelledError, TimeLimitError
from sovl_tools.model.policy import Coerce
from sovl_tools.model.result import Repair
from sovl_tools.threads import after_fork

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

Listen: TypeAlias = Callable[[Progress | LogMessage], object]


class Sink(Protocol):
    """Takes the items of a generator one by one; each call waits for room.

    The items become JSON on the tool's side. The return value becomes the tool's result.

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


_NO_ASKS: Mapping[type[HostRequest], Any] = MappingProxyType({})


class CallScope:
    """One call, or one attempt of it; the calls that it makes itself are scopes below it.

    Attributes:
        call_id: names the call; its attempts have the same.
        parent: the call, or the attempt of one, that makes this one.
        chain: the names of the tools that called each other to get here, this one included.
        limit: its limit, in seconds; None for no limit.
        started: when it began, by ``perf_counter``.
        mode: where sync tools run; None for the runner's default.
        coerce: whether arguments are repaired.
        listen: called with progress and messages; None for the Tooler's own listener.
        asks: the functions that answer a tool's requests to its host or client, by kind.
        loop: the event loop on which the call, or one above it, is awaited; None in sync code.
        sink: takes the items of a generator one by one.
        is_abandoned: whether a thread or task was abandoned that can still be at it.
        is_late: whether its time was over.
        repairs: the repairs of its arguments.
        alias: the name that the caller gave, if it isn't the tool's own.
        has_hooks: whether hooks make the attempts of the call; they can take as long as they like.
    """

    __slots__ = (
        "_is_linked", "_is_stopped", "_stops", "_under_way", "_waits", "alias", "asks",
        "call_id", "chain", "coerce", "has_hooks", "is_abandoned", "is_late", "limit", "listen",
        "loop", "mode", "parent", "repairs", "sink", "started",
    )  # fmt: skip

    def __init__(
        self,
        call_id: str = "",
        chain: tuple[str, ...] = (),
        parent: CallScope | None = None,
        limit: float | None = None,
        under_way: dict[str, CallScope] | None = None,
    ) -> None:
        """Make a scope; ``under_way`` has it by its ``call_id`` until it ends.

        Raises:
            ValueError: another call of that name is running.
        """
        if under_way is not None and under_way.setdefault(call_id, self) is not self:
            raise ValueError(f"a call {call_id!r} is running already")
        self.call_id = call_id
        self.chain = chain
        self.parent = parent
        self.limit = limit
        self.started = perf_counter()
        self.mode: Mode | None = None
        self.coerce: Coerce = "strict"
        self.listen: Listen | None = None
        self.asks: Mapping[type[HostRequest], Any] = _NO_ASKS
        self.loop: AbstractEventLoop | None = None
        self.sink: Sink | None = None
        self.is_abandoned = self.is_late = False
        self.repairs: tuple[Repair, ...] = ()
        self.alias: str | None = None
        self.has_hooks = False
        self._is_linked = self._is_stopped = False
        self._under_way = [under_way]
        self._stops: dict[Callable[[], object], None] = {}
        self._waits: _Waits | None = None
        if parent is not None:
            self.listen, self.asks, self.loop = parent.listen, parent.asks, parent.loop

    def attempt(self) -> CallScope:
        """Return the scope of an attempt that begins now."""
        scope = CallScope(self.call_id, self.chain, self, self.limit)
        scope.mode, scope.sink = self.mode, self.sink
        return scope

    @property
    def left(self) -> float | None:
        """The seconds that are left, 0 after the limit; None without a limit.

        The time in which the user answers a question doesn't count.
        """
        if self.limit is None:
            return None
        left = max(0.0, self.limit - (perf_counter() - self.began))
        is_waiting = self._waits is not None and self._waits.count
        return max(left, _WAITING_SECONDS) if is_waiting else left

    @property
    def began(self) -> float:
        """When its time began, without the time for questions to the user."""
        return self.started if self._waits is None else self.started + self._waits.seconds

    def count_wait(self, change: int) -> None:
        """Stop the clock of this call and those above it (1), or let the time continue (-1)."""
        with _WAITS:
            self._waits = self._waits or _Waits()
            self._waits.add(change)
        if self.parent is not None:
            self.parent.count_wait(change)

    @property
    def deadline(self) -> float:
        """When its time is over, by ``perf_counter``; infinite without a limit, and with hooks."""
        return inf if self.limit is None or self.has_hooks else self.began + self.limit

    @property
    def is_stopped(self) -> bool:
        """Whether no one waits for the result anymore."""
        # from above to below: a call ends with its parent
        return self._is_stopped or (self.parent is not None and self.parent.is_stopped)

    def stop(self) -> None:
        """End the call, and those below it, as far as they can be ended."""
        self._is_stopped = True
        # popped, because a callback can stop the scope again, and so can another thread
        while self._stops:
            try:
                stop, _ = self._stops.popitem()
            except KeyError:
                return
            stop()

    def on_stop(self, stop: Callable[[], object]) -> None:
        """Have something called when the call is stopped; at once if it has been already."""
        self._stops[stop] = None
        # most calls end without having anything to be stopped
        if self.parent is not None and not self._is_linked:
            self._is_linked = True
            self.parent.on_stop(self.stop)
        if self.is_stopped:
            self.stop()

    @contextmanager
    def when_stopped(self, stop: Callable[[], object]) -> Iterator[None]:
        """Have something called when the call is stopped within the block; see ``on_stop``."""
        try:
            self.on_stop(stop)
            yield
        finally:
            self.forget(stop)

    def forget(self, stop: Callable[[], object]) -> None:
        """Call something no more when the call is stopped."""
        self._stops.pop(stop, None)

    def end(self) -> bool:
        """Stop nothing from now on, as the result is there; False if it was there before."""
        try:
            # of two threads that end it one gets this
            under_way = self._under_way.pop()
        except IndexError:
            return False
        if under_way is not None:
            del under_way[self.call_id]
        self._stops.clear()
        if self.parent is not None and self._is_linked:
            self.parent.forget(self.stop)
        return True

    def abandon(self) -> None:
        """Note that a thread or task was abandoned that can still be at it."""
        self.is_abandoned = True
        if self.parent is not None:
            self.parent.is_abandoned = True


_WAITING_SECONDS = 0.1
"""The interval at which a waiting caller checks for the user's answer, in seconds."""
_WAITS = Lock()


class _Waits:
    """The time that a call has waited for the user.

    Attributes:
        count: the number of open questions.
    """

    __slots__ = ("_seconds", "_since", "count")

    def __init__(self) -> None:
        self.count = 0
        self._seconds = self._since = 0.0

    def add(self, change: int) -> None:
        """Count a question that begins (1) or ends (-1)."""
        self._seconds, self._since = self.seconds, perf_counter()
        self.count += change

    @property
    def seconds(self) -> float:
        """The time in which at least one question was open."""
        return self._seconds + (perf_counter() - self._since if self.count else 0.0)


def stop_call(scope: CallScope) -> Exception:
    """Return why no one waits for a call anymore, and stop it."""
    if scope.is_stopped:
        return RunCancelledError()
    scope.is_late = True
    scope.stop()
    return TimeLimitError(scope.limit or 0.0)


_PREFIX = f"call_{os.urandom(4).hex()}_"
_NUMBERS = count(1)


def new_call_id() -> str:
    """Return a name for a call that no other call has."""
    return f"{_PREFIX}{next(_NUMBERS)}"


@after_fork
def _rename_calls() -> None:
    """Give the calls of a forked child other names than its parent's."""
    global _PREFIX, _WAITS  # noqa: PLW0603 - one prefix for the process
    _WAITS = Lock()
    _PREFIX = f"call_{os.urandom(4).hex()}_"
