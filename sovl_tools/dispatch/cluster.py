"""Dask as an executor: each call is made at most once, unless the tool may be called twice."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from sovl_tools.dispatch.reference import Outcome
from sovl_tools.model.errors import RunCancelledError, SovlToolsError, ToolError

_ONCE, _AGAIN = "sovl-tools-once-", "sovl-tools-again-"
"""What the keys of calls begin with."""
_CONNECTING = 10


class Cluster(NamedTuple):
    """A cluster that one is connected to.

    Attributes:
        executor: for a Tooler; None if there is no cluster.
        threads: how many calls it can run at a time.
    """

    executor: Executor | None = None
    threads: int = 0


@contextmanager
def connected(address: str | None) -> Iterator[Cluster]:
    """Connect to the scheduler of a cluster, unless there is to be none.

    Raises:
        SovlToolsError: the extra is missing, or there is no scheduler.
    """
    if address is None:
        yield Cluster()
        return
    try:
        from distributed import Client  # noqa: PLC0415 - the extra, which takes a second
    except ImportError as error:
        words = "Dask needs the extra sovl-tools[dask], which is not installed"
        raise SovlToolsError(words) from error

    try:
        client = Client(address, timeout=_CONNECTING)
    except (OSError, ValueError) as error:
        raise SovlToolsError(f"there is no Dask scheduler at {address}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise SovlToolsError(f"the Dask scheduler at {address} has no workers")
        yield Cluster(client.get_executor(pure=False), threads)


def is_dask(executor: Executor) -> bool:
    """Tell whether an executor is what ``Client.get_executor`` returns."""
    return type(executor).__module__ == "distributed.cfexecutor"


def submit(executor: Any, data: bytes, *, is_idempotent: bool) -> Future[Outcome]:
    """Begin a call; if its worker dies another one makes it again only if it is idempotent."""
    from sovl_tools.dispatch.worker import run_pickled  # noqa: PLC0415 - imports multiprocessing

    if not getattr(executor, _PREPARED, False):
        executor._client.register_plugin(_at_most_once())  # noqa: SLF001 - there is no other way
        setattr(executor, _PREPARED, True)
    key = f"{_AGAIN if is_idempotent else _ONCE}{uuid4().hex}"
    return _ClusterCall(executor.submit(run_pickled, data, key=key))


class _ClusterCall(Future[Outcome]):
    """A call on a cluster: what is cancelled may still be at it, and what is lost says so."""

    def __init__(self, call: Future[Outcome]) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        self._call: Future[Outcome] | None = call
        call.add_done_callback(self._done)

    def _done(self, call: Future[Outcome]) -> None:
        # or the cluster keeps the result, and makes the call again if its worker dies
        self._call = None
        if call.cancelled():
            self.set_exception(RunCancelledError())
            return
        error = call.exception()
        # by its name, because its message counts workers that were not tried
        if type(error).__name__ == "KilledWorker":
            self.set_exception(ToolError("the worker of the cluster that had the call has died"))
        elif error is not None:
            self.set_exception(error)
        else:
            self.set_result(call.result())

    def cancel(self) -> bool:
        """Ask for the end of the call; return False, because nobody knows whether it runs."""
        call = self._call
        if call is not None:
            call.cancel()
        return False


_PREPARED = "_sovl_tools_prepared"


def _at_most_once() -> Any:
    """Return a plugin by which the scheduler gives up a call whose worker has died.

    By itself it would try four workers. The class is a local one, so that it travels as a whole:
    the scheduler need not have sovl-tools.
    """
    from distributed import SchedulerPlugin  # noqa: PLC0415 - the extra

    begin = _ONCE

    base: Any = SchedulerPlugin  # whose methods have other names for what is not looked at

    class AtMostOnce(base):  # type: ignore[misc]  # see above
        name = "sovl-tools-at-most-once"
        idempotent = True  # two programs may bring it

        async def start(self, scheduler: Any) -> None:
            self.scheduler = scheduler

        def transition(self, key: Any, _: Any, finish: Any, *__: Any, **___: Any) -> None:
            if finish == "processing" and isinstance(key, str) and key.startswith(begin):
                task = self.scheduler.tasks.get(key)
                if task is not None:
                    task.suspicious = self.scheduler.allowed_failures

    return AtMostOnce()
