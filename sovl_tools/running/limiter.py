"""At most so many at a time, whether they come from threads or from event loops."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress


class Ticket:
    """A place in the queue before a limiter; ``notify`` is called when its turn has come."""

    __slots__ = ("is_admitted", "notify")

    def __init__(self, notify: Callable[[], object]) -> None:
        self.notify = notify
        self.is_admitted = False


class Limiter:
    """Lets in at most ``limit`` at a time, in the order in which they came."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._free = limit
        self._queue: deque[Ticket] = deque()

    def queue(self, notify: Callable[[], object]) -> Ticket | None:
        """Enter at once and return None, or return a place in the queue."""
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
                    self._free += 1
                    return
                ticket = self._queue.popleft()
                ticket.is_admitted = True
            try:
                ticket.notify()
            except RuntimeError:
                continue  # its event loop is closed: nobody waits there any more
            return
