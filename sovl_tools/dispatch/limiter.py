"""Limiters: bounds on the number of running calls, from threads and from event loops."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from weakref import WeakSet

from sovl_tools.threads import after_fork


class Ticket:
    """A place in the queue before a limiter; ``notify`` is called when its turn has come."""

    __slots__ = ("is_admitted", "notify")

    def __init__(self, notify: Callable[[], object]) -> None:
        self.notify = notify
        self.is_admitted = False


class Limiter:
    """Lets in at most ``limit`` calls at a time, in order of arrival."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.reset()
        _LIMITERS.add(self)

    def reset(self) -> None:
        """Let everyone out, as after a fork: the calls of the parent aren't there."""
        self._lock = Lock()
        self._free = self._limit
        self._queue: deque[Ticket] = deque()

    def queue(self, notify: Callable[[], object]) -> Ticket | None:
        """Enter at once and return None, or return a place in the queue.

        ``notify`` is called when its turn has come.
        """
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return None
            ticket = Ticket(notify)
            self._queue.append(ticket)
            return ticket

    def give_up(self, ticket: Ticket) -> bool:
        """Leave the queue; return False if the turn has come meanwhile, so that one is in."""
        with self._lock:
            if ticket.is_admitted:
                return False
            with suppress(ValueError):
                self._queue.remove(ticket)
            return True

    def leave(self) -> None:
        """Make room for the next."""
        while True:
            with self._lock:
                if not self._queue:
                    # the call that forked ends in the child too
                    self._free = min(self._free + 1, self._limit)
                    return
                ticket = self._queue.popleft()
                ticket.is_admitted = True
            try:
                ticket.notify()
            except RuntimeError:
                continue  # its event loop is closed: no caller waits there anymore
            return


def leave_once(limiter: Limiter | None) -> Callable[[], None]:
    """Return a function that leaves the limiter once, even if threads call it repeatedly."""
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
def _reset_all() -> None:
    """Forget the calls of the parent in a forked child."""
    for limiter in list(_LIMITERS):
        limiter.reset()
