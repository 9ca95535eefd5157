"""A bound on how many run at a time, whether they come from threads or from event loops."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.errors import ToolError
from sovl_tools.threads import after_fork


class Ticket:
    """A place in the queue before a limiter; ``notify`` is called when its turn has come."""

    __slots__ = ("call", "is_admitted", "notify")

    def __init__(self, notify: Callable[[], object], call: CallScope | None) -> None:
        self.notify = notify
        self.call = call
        self.is_admitted = False


class Limiter:
    """Lets in at most ``limit`` at a time, in the order in which they came."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.start_anew()
        _LIMITERS.add(self)

    def start_anew(self) -> None:
        """Let everybody out, as after a fork: the calls of the parent are not there."""
        self._lock = threading.Lock()
        self._free = self._limit
        self._queue: deque[Ticket] = deque()
        self._inside: list[CallScope] = []

    def queue(self, notify: Callable[[], object], call: CallScope | None = None) -> Ticket | None:
        """Enter at once and return None, or return a place in the queue.

        Args:
            notify: called when the turn has come.
            call: enters, and waits for what the calls that are inside may wait for themselves.

        Raises:
            ToolError: they wait for one another in a circle.
        """
        with self._lock:
            if self._free > 0:
                self._free -= 1
                self._note(call)
                return None
            ticket = Ticket(notify, call)
            self._queue.append(ticket)
        if call is None or call.parent is None:
            return ticket
        # A call below another waits unless all inside wait for what the calls above it hold.
        with _GRAPH:
            _WAITING[call] = self
            others = self.find_circle({call, *call.above})
            if others is not None:
                del _WAITING[call]
        if others is not None:
            if not self.give_up(ticket):
                self.leave(call)
            chains = dict.fromkeys(" → ".join(each.chain) for each in (call, *others))
            raise ToolError(f"tools can't wait for one another in a circle: {', '.join(chains)}")
        return ticket

    def _note(self, call: CallScope | None) -> None:
        if call is not None:
            self._inside.append(call)

    def find_circle(self, known: set[CallScope]) -> list[CallScope] | None:
        """Return the calls for which all inside wait in vain; None if one of them may end.

        ``known`` are calls that wait in vain if those inside do.
        """
        found: list[CallScope] = []
        with self._lock:
            inside = tuple(self._inside)
        for holder in inside:
            if holder in known:
                continue
            below = [(call, what) for call, what in _WAITING.copy().items() if holder in call.above]
            for call, what in below:
                others = what.find_circle({*known, holder})
                if others is not None:
                    found += [call, *others]
                    break
            else:
                return None
        return found

    def give_up(self, ticket: Ticket) -> bool:
        """Leave the queue; return False if the turn has come meanwhile, so that one is in."""
        if ticket.call is not None:
            _WAITING.pop(ticket.call, None)
        with self._lock:
            if ticket.is_admitted:
                return False
            with suppress(ValueError):
                self._queue.remove(ticket)
            return True

    def leave(self, call: CallScope | None = None) -> None:
        """Make room for the next."""
        while True:
            with self._lock:
                with suppress(ValueError):
                    self._inside.remove(call)  # type: ignore[arg-type]  # None is not in there
                if not self._queue:
                    # the call that forked ends in the child too
                    self._free = min(self._free + 1, self._limit)
                    return
                ticket = self._queue.popleft()
                ticket.is_admitted = True
                self._note(ticket.call)
            if ticket.call is not None:
                _WAITING.pop(ticket.call, None)
            try:
                ticket.notify()
            except RuntimeError:
                call = ticket.call
                continue  # its event loop is closed: nobody waits there any more
            return


_WAITING: dict[CallScope, Limiter] = {}
"""What the calls below other calls wait for. Others stand in nobody's way."""
_GRAPH = threading.Lock()
"""Held to look for a circle, so that of two calls that close one together the later sees it."""


def leave_once(limiter: Limiter | None) -> Callable[[], None]:
    """Return what leaves the limiter once, however often and from whichever thread it is called."""
    left = [] if limiter is None else [limiter]

    def leave() -> None:
        try:
            entered = left.pop()
        except IndexError:
            return
        entered.leave()

    return leave


_LIMITERS: WeakSet[Limiter] = WeakSet()


@after_fork
def _start_anew() -> None:
    global _GRAPH  # noqa: PLW0603 - somebody may have held it when the process was forked
    _GRAPH = threading.Lock()
    _WAITING.clear()
    for limiter in list(_LIMITERS):
        limiter.start_anew()
