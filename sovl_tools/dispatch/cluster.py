"""Dask as an executor: a call is made at most once, unless the tool can be called twice.

A worker queries the scheduler before it begins a call, so that a call never begins twice,
and that a call which hasn't begun isn't lost with its worker. The call's events, and its
result if it is short, are events of the scheduler: that saves a request to the worker.
"""

from __future__ import annotations

import logging
import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple
from uuid import uuid4

from sovl_tools.dispatch.reference import Fields, Receive, Task, TaskResult
from sovl_tools.model.errors import RunCancelledError, SovlToolsError, ToolError
from sovl_tools.model.result import Failure
from sovl_tools.threads import start

EXECUTORS = "distributed.cfexecutor"
"""The module of what ``Client.get_executor`` returns."""
_CONNECTING = 10
_SHORT = 1 << 11
"""So long a result can be, in bytes, to come as an event: the scheduler keeps the last thousand."""
_MAX_EVENTS = 1_000
"""The maximum number of a call's progress reports and messages that are sent back."""
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
    with _silence(), client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise SovlToolsError(f"the Dask scheduler at {address} has no workers")
        try:
            yield Cluster(client.get_executor(pure=False), threads)
        finally:
            # or the scheduler still sends what workers say, and complains
            if hasattr(client, _CALLS):
                client.unsubscribe_topic(_topic_of(client.id))


@contextmanager
def _silence() -> Iterator[None]:
    """Let Dask log errors only: the result of its call reports a worker that dies."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for each, level in zip(loggers, levels, strict=True):
            each.setLevel(level)


def submit(executor: Any, data: bytes, receive: Receive, *, is_idempotent: bool) -> Future[Fields]:
    """Begin a call; if its worker dies another makes it again only if it is idempotent."""
    client = executor._client  # noqa: SLF001 - Dask's API has no other way
    with _LOCK:
        calls: _Calls | None = getattr(client, _CALLS, None)
        if calls is None:
            calls = _Calls(client)
            setattr(client, _CALLS, calls)
    # an executor can be limited to some of the workers
    options: dict[str, Any] = executor._kwargs  # noqa: SLF001 - likewise
    return calls.submit(data, receive, asks=not is_idempotent, options=options)


_LOCK = threading.Lock()
_CALLS = "_sovl_tools_calls"


def _topic_of(client: str) -> str:
    """Return the topic under which workers send messages for a client."""
    return f"sovl-tools-{client}"


class _Calls:
    """The calls of a client that are running."""

    def __init__(self, client: Any) -> None:
        """Prepare the scheduler, and listen to it."""
        self._client = client
        self._topic = _topic_of(client.id)
        self._calls: dict[str, _ClusterCall] = {}
        client.register_plugin(_plugin())
        client.subscribe_topic(self._topic, self._receive)

    def submit(
        self, data: bytes, receive: Receive, *, asks: bool, options: dict[str, Any]
    ) -> Future[Fields]:
        """Begin a call, with options of ``Client.submit``."""
        key = f"sovl-tools-call-{uuid4().hex}"
        call = self._calls[key] = _ClusterCall(receive, partial(self._calls.pop, key, None))
        try:
            task = self._client.submit(
                run, data, self._topic, asks=asks, **{**options, "pure": False, "key": key}
            )
        except BaseException:
            del self._calls[key]
            raise
        call.follow(task)
        return call

    def _receive(self, event: tuple[float, tuple[str, str, bytes]]) -> None:
        """Take a worker's message, on the thread of the client's event loop."""
        key, kind, content = event[1]
        call = self._calls.get(key)
        if call is not None:
            call.take(kind, content)


class _ClusterCall(Future[Fields]):
    """A call on a cluster; its failure says if it can still be running."""

    def __init__(self, receive: Receive, forget: Callable[[], object]) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        self._receive = receive
        self._forget = forget
        self._is_cancelled = False
        self._task: Any = None
        self._lock = threading.Lock()
        self._sent: deque[tuple[str, bytes]] = deque()
        self._is_taking = False

    def follow(self, task: Any) -> None:
        """Take the end of the call from a future of Dask."""
        self._task = task
        task.add_done_callback(self._ended)

    def take(self, kind: str, content: bytes) -> None:
        """Take a worker's message; listeners are called on a thread, in order."""
        with self._lock:
            if kind == "done" and not self._is_taking:
                self._end(content)
                return
            self._sent.append((kind, content))
            if self._is_taking:
                return
            self._is_taking = True
        start(self._take_all, lambda _, error: None if error is None else self._fail(error))

    def _take_all(self) -> None:
        while True:
            with self._lock:
                if not self._sent:
                    self._is_taking = False
                    return
                kind, content = self._sent.popleft()
            if kind == "done":
                self._end(content)
            else:
                self._receive(kind, pickle.loads(content))  # noqa: S301 - our own worker's

    def _ended(self, task: Any) -> None:
        """Take the result of Dask's future, which has ended, unless it has come already."""
        # the future is forgotten with the call, or the cluster keeps the result, and makes the
        # call again if its worker dies
        self._task = None
        self._forget()
        if self.done() or self._is_cancelled:
            return
        if task.status == "cancelled":
            self._fail(RunCancelledError())
        else:
            # all calls share this thread
            start(task.result, self._collected)

    def _collected(self, content: bytes | None, error: BaseException | None) -> None:
        # by its name, because its message counts workers that were not tried
        if error is not None and type(error).__name__ == "KilledWorker":
            self._fail(ToolError(_DIED))
        elif error is not None:
            self._fail(error)
        elif content is not None:
            self.take("done", content)

    def _end(self, content: bytes) -> None:
        with suppress(InvalidStateError):
            self.set_result(pickle.loads(content))  # noqa: S301 - our own worker's

    def _fail(self, error: BaseException) -> None:
        with suppress(InvalidStateError):
            self.set_exception(error)

    def cancel(self) -> bool:
        """Request the end of the call; return False, because it may be running."""
        task = self._task
        if task is not None:
            self._is_cancelled = True
            # abandoning a call must not wait for the scheduler
            start(task.cancel, lambda *_: None)
        return False


def run(data: bytes, topic: str, *, asks: bool) -> bytes:
    """Call the tool of a pickled task; a worker of the cluster runs this.

    With ``asks`` the scheduler says whether the call has begun before; then it ends.
    """
    from distributed import get_worker  # noqa: PLC0415 - the extra
    from distributed.utils import sync  # noqa: PLC0415 - likewise

    from sovl_tools.dispatch.worker import run_task  # noqa: PLC0415 - imports multiprocessing

    worker: Any = get_worker()
    key = worker.get_current_task()
    channel = _Channel(worker, topic, key)
    if asks and not sync(worker.loop, worker.scheduler.sovl_tools_begin, key=key):
        return pickle.dumps(tuple(TaskResult(failure=Failure("tool_error", _DIED))))
    task = Task(*pickle.loads(data))  # noqa: S301 - our caller's
    content = pickle.dumps(tuple(run_task(task, channel)))
    if len(content) <= _SHORT:
        channel.publish("done", content)
    return content


class _Channel:
    """The way back from a worker of the cluster."""

    def __init__(self, worker: Any, topic: str, key: str) -> None:
        self._worker = worker
        self._topic = topic
        self._key = key
        self._count = 0

    def publish(self, kind: str, content: bytes) -> None:
        self._worker.log_event(self._topic, (self._key, kind, content))

    def send(self, kind: str, content: Any) -> None:
        # all workers share the scheduler, which has no way to let a tool wait
        if kind == "event" and self._count < _MAX_EVENTS:
            self._count += 1
            self.publish(kind, pickle.dumps(content))

    def is_cancelled(self) -> bool:
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

        def remove_client(self, scheduler: Any, client: str) -> None:
            scheduler.unsubscribe_topic(f"sovl-tools-{client}", client)
            # no one else can use results that it hasn't fetched
            scheduler._broker.truncate(f"sovl-tools-{client}")  # noqa: SLF001 - see above

    return AtMostOnce()
