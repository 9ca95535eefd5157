"""Waits in sync code for a call in another process."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from sovl_tools.dispatch.reference import Fields, Outcome
from sovl_tools.dispatch.scope import CallScope, stop_call
from sovl_tools.model.errors import RunCancelledError

_T = TypeVar("_T")


class Remote(Protocol):
    """Makes the calls of a tool in other processes."""

    def begin(
        self, keywords: Any, scope: CallScope, *, with_sources: bool = False
    ) -> Future[Fields]:
        """Begin a call with checked arguments; with the sources any worker can make it."""
        ...

    def end(self, outcome: Outcome, scope: CallScope) -> Any:
        """Return the value that came of it, or raise why there is none."""
        ...


def run_remotely(remote: Remote, keywords: Any, scope: CallScope) -> Any:
    """Make a call in another process and wait for it, no longer than it may take.

    Raises:
        TimeLimitError: the limit is over.
        RunCancelledError: the call was stopped.
        RemoteError: the tool has failed.
    """
    outcome = Outcome(*wait_for_future(remote.begin(keywords, scope), scope))
    if outcome.needs_sources:
        again = remote.begin(keywords, scope, with_sources=True)
        outcome = Outcome(*wait_for_future(again, scope))
    return remote.end(outcome, scope)


def wait_for_future(future: Future[_T], scope: CallScope) -> _T:
    """Return what a future stands for; it is cancelled when the waiting ends early."""
    ended: SimpleQueue[Future[_T] | None] = SimpleQueue()
    scope.on_stop(partial(ended.put, None))
    future.add_done_callback(ended.put)
    found = None
    try:
        with suppress(Empty):
            found = ended.get(timeout=scope.left)
    finally:
        if found is None:
            cancel_future(future, scope)
    if found is None:
        raise stop_call(scope)
    if future.cancelled():
        raise RunCancelledError
    return future.result()


def cancel_future(future: Future[Any], scope: CallScope) -> None:
    """Cancel a future; note if that ends nothing, because it runs on somebody's executor."""
    if not future.cancel() and not future.done():
        scope.abandon()
