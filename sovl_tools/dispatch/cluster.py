"""Dask as an executor: a call is made at most once, unless the tool can be called twice.

A worker queries the scheduler before it begins a call, so that a call never begins twice,
and that a call which hasn't begun isn't lost with its worker.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from weakref import WeakSet

from sovl_tools.dispatch.channel import Notes
from sovl_tools.dispatch.reference import Fields, Task, TaskResult
from sovl_tools.model.errors import RunCancelledError, SovlToolsError, ToolError
from sovl_tools.model.result import Failure
from sovl_tools.threads import start

EXECUTORS = "distributed.cfexecutor"
"""The module of what ``Client.get_executor`` returns."""
_CONNECTING = 10
_DIED = "the worker of the cluster that had the call has died"


class Cluster(NamedTuple):
    """A cluster that one is connected to.

    Attributes:
        executor: for a Tooler; None if there's no cluster.
        threads: the number of calls that can run at a time.
    """

    executor: Executor | None = None
    threads: int = 0


@contextmanager
def connected(address: str | None) -> Iterator[Cluster]:
    """Connect to the scheduler of a cluster, unless there must be none.

    Raises:
        SovlToolsError: the extra is missing, or there's no scheduler.
    """
    if address is None:
        yield Cluster()
        return
    try:
        from distributed import Client  # noqa: PLC0415 - the extra, which takes a second
    except ImportError as error:
        words = "Dask needs the extra sovl-tools[dask], which is not installed"
        raise SovlToolsError(words) from error

    client: Any = Client.__new__(Client)
    try:
        client.__init__(address, timeout=_CONNECTING)
    except (OSError, ValueError, TypeError) as error:  # TypeError: the certificates are missing
        # closed when it is collected, it would wait for a lock that another, which is just
        # being started in the same thread, can keep
        client.close()
        raise SovlToolsError(f"there's no Dask scheduler at {address}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise SovlToolsError(f"the Dask scheduler at {address} has no workers")
        yield Cluster(client.get_executor(pure=False), threads)


def submit(executor: Any, data: bytes, *, is_idempotent: bool) -> Future[Fields]:
    """Begin a call; if its worker dies another makes it again only if it is idempotent."""
    client = executor._client  # noqa: SLF001 - Dask's API has no other way
    if not is_idempotent and client not in _PREPARED:
        client.register_plugin(_plugin())
        _PREPARED.add(client)
    # an executor can be limited to some of the workers
    options = {**executor._kwargs, "pure": False}  # noqa: SLF001 - likewise
    return _ClusterCall(client.submit(run, data, asks=not is_idempotent, **options))


_PREPARED: WeakSet[Any] = WeakSet()
"""The clients whose scheduler lets a call begin once."""


class _ClusterCall(Future[Fields]):
    """A call on a cluster; its failure says if it can still be running."""

    def __init__(self, task: Any) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        self._task = task
        # on another thread, because all calls share the one that tells of the end
        task.add_done_callback(lambda ended: start(ended.result, self._collected))

    def _collected(self, content: bytes | None, error: BaseException | None) -> None:
        # forgotten, or the cluster keeps the result and makes the call again if its worker dies
        task, self._task = self._task, None
        with suppress(InvalidStateError):
            if content is not None:
                self.set_result(pickle.loads(content))  # noqa: S301 - our own worker's
            elif task is None or task.status == "cancelled":
                self.set_exception(RunCancelledError())
            elif type(error).__name__ == "KilledWorker":  # its message counts other workers
                self.set_exception(ToolError(_DIED))
            else:
                self.set_exception(error)

    def cancel(self) -> bool:
        """Request the end of the call; return False, because it may be running."""
        task = self._task
        if task is not None:
            # abandoning a call must not wait for the scheduler
            start(task.cancel, lambda *_: None)
        return False


def run(data: bytes, *, asks: bool) -> bytes:
    """Call the tool of a pickled task; a worker of the cluster runs this.

    With ``asks`` the scheduler says whether the call has begun before; then it ends.
    """
    from distributed import get_worker  # noqa: PLC0415 - the extra
    from distributed.utils import sync  # noqa: PLC0415 - likewise

    from sovl_tools.dispatch.worker import run_task  # noqa: PLC0415 - imports multiprocessing

    worker: Any = get_worker()
    key = worker.get_current_task()
    if asks and not sync(worker.loop, worker.scheduler.sovl_tools_begin, key=key):
        result = TaskResult(failure=Failure("tool_error", _DIED))
    else:
        result = run_task(Task(*pickle.loads(data)), _Channel(worker, key))  # noqa: S301 - our caller's
    return pickle.dumps(tuple(result))


class _Channel(Notes):
    """What a worker of the cluster knows of a call."""

    def __init__(self, worker: Any, key: str) -> None:
        super().__init__()
        self._worker = worker
        self._key = key

    def is_cancelled(self) -> bool:
        """Return whether the client no longer wants the result."""
        task = self._worker.state.tasks.get(self._key)
        return task is None or task.state == "cancelled"


def _plugin() -> Any:
    """Return a plugin by which the scheduler lets a call begin once.

    The scheduler itself would try four workers if each of them dies. The class is local, because
    its base class is in the extra; it is sent as a whole.
    """
    from distributed import SchedulerPlugin  # noqa: PLC0415 - the extra

    base: Any = SchedulerPlugin  # as no type, because it travels without its module's names
    begun = {"sovl-tools": "begun"}

    class AtMostOnce(base):  # type: ignore[misc]  # see above
        name = "sovl-tools-at-most-once"
        idempotent = True  # two programs may bring it

        async def start(self, scheduler: Any) -> None:
            self.scheduler = scheduler
            scheduler.handlers["sovl_tools_begin"] = self.begin

        def begin(self, key: str) -> bool:
            task = self.scheduler.tasks.get(key)
            if task is None or begun.items() <= (task.metadata or {}).items():
                return False
            task.metadata = {**(task.metadata or {}), **begun}
            # if its worker dies now that is one death too many
            task.suspicious = self.scheduler.allowed_failures
            return True

    return AtMostOnce()
