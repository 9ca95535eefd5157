"""Tools in other processes: where their calls run, and how one is begun and waited for."""

from __future__ import annotations

import logging
import os
import pickle
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future
from typing import Any

from sovl_tools.dispatch.asking import Secrets, find_client
from sovl_tools.dispatch.failure import RemoteError, secrets_of
from sovl_tools.dispatch.reference import (
    Drafts,
    Fields,
    Receive,
    Target,
    Task,
    TaskResult,
    reference_of,
)
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.steps import Value
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.client_requests import HostRequest
from sovl_tools.model.context import Listener
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import RunCancelledError, ToolError, UnavailableError
from sovl_tools.signature.signature import from_function

_LOGGER = logging.getLogger("sovl_tools")


class Workers:
    """Where the calls of a Tooler run that run in other processes.

    Attributes:
        executor: the user's, instead of our processes.
        limit: the maximum number of our processes.
    """

    def __init__(self, executor: Executor | None = None, limit: int | None = None) -> None:
        """Start later; at most ``limit`` processes, by default one a core."""
        self.executor = executor
        self.limit = limit or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._pool: Any = None  # of the extra; see there
        self._is_closed = False

    def submit(self, target: Target, task: Task, receive: Receive) -> Future[Fields]:
        """Begin a call.

        Raises:
            UnavailableError: the platform has no processes.
        """
        if self.executor is not None:
            from sovl_tools.dispatch import cluster, worker  # noqa: PLC0415 - multiprocessing

            # as bytes, because Dask searches the arguments for its own types
            data = pickle.dumps(tuple(task))
            if type(self.executor).__module__ == cluster.EXECUTORS:
                return cluster.submit(self.executor, data, is_idempotent=target.is_idempotent)
            return self.executor.submit(worker.run_pickled, data)
        with self._lock:
            reason = "its Tooler is closed" if self._is_closed else processes_missing()
            if reason is not None:
                raise UnavailableError(target.reference.name, reason)
            if self._pool is None:
                from sovl_tools.dispatch.processes import ProcessPool  # noqa: PLC0415 - the extra

                self._pool = ProcessPool(self.limit)
        begun: Future[Fields] = self._pool.submit(target, task, receive)
        return begun

    def close(self) -> None:
        """End our processes and the calls in them, and start no others."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _ask(
    scope: CallScope,
    secrets: Secrets,
    request: HostRequest,
    reply: Callable[[Any, str | None], object],
) -> None:
    """Send a worker's request to the host, and the answer to the worker."""

    def answered(future: Future[Any]) -> None:
        if future.cancelled():  # and so is the call
            return
        error = future.exception()
        if error is None:
            reply(future.result(), None)
        else:
            reply(None, str(error))

    try:
        find_client(scope, secrets, type(request))(request).add_done_callback(answered)
    except ToolError as error:
        reply(None, str(error))


class RemoteTool:
    """A tool as other processes can call it.

    Args:
        definition: the tool.
        workers: where it runs.
        listener: returns the listener for a call's progress and messages.
        finish: from JSON and its content blocks to the value that the model reads.
    """

    __slots__ = ("_definition", "_drafts", "_finish", "_listener", "_target", "_workers")

    def __init__(
        self,
        definition: ToolDefinition,
        workers: Workers,
        listener: Callable[[CallScope], Listener],
        finish: Callable[[Any, CallScope], Any],
    ) -> None:
        self._definition = definition
        self._workers = workers
        self._listener = listener
        self._finish = finish
        self._target: tuple[Target, bytes] | None = None
        self._drafts: Drafts = ()

    def call(self, keywords: Any, scope: CallScope) -> Generator[Future[Fields], Fields, Value]:
        """Make a call with checked arguments; return its value.

        Yields the futures to wait for, and is sent their results.

        Raises:
            RemoteError: the tool failed.
            InvalidResult: a model can't read its result.
            UnavailableError: the tool can't be called in another process.
        """
        result = TaskResult(*(yield self._begin(keywords, scope)))
        if result.needs_sources:
            result = TaskResult(*(yield self._begin(keywords, scope, with_sources=True)))
        for event in result.events:
            self._listener(scope)(event)
        if result.needs_sources:
            raise UnavailableError(self._definition.name, "a worker has made other sources of it")
        if result.failure is not None:
            raise RemoteError(result.failure, result.trace)
        value: Value = self._finish((result.value, result.content), scope)
        return value

    def _begin(
        self, keywords: dict[str, Any], scope: CallScope, *, with_sources: bool = False
    ) -> Future[Fields]:
        """Begin a call; with the sources any worker can make it."""
        found = self._target
        if found is None or found[0].process != os.getpid():
            found = self._target = self._make_target()
        target, pickled = found
        task = Task(
            pickled,
            keywords,
            scope.call_id,
            scope.sink is not None,
            _LOGGER.isEnabledFor(logging.DEBUG),
            self._drafts if with_sources else (),
        )

        # not of self, or the thread that reads from a worker would keep the Tooler
        listener, secrets = self._listener, secrets_of(self._definition)

        def receive(kind: str, content: Any) -> None:
            if kind == "event":
                listener(scope)(content)
            elif kind == "ask":
                _ask(scope, secrets, *content)
            elif scope.sink is None or scope.is_stopped:
                raise RunCancelledError
            elif kind == "stream":
                scope.sink.is_used = True
            else:
                scope.sink.put(content)

        return self._workers.submit(target, task, receive)

    def _make_target(self) -> tuple[Target, bytes]:
        """Return the tool's reference for the other process, also pickled.

        Raises:
            UnavailableError: it has no reference.
        """
        tool = self._definition
        reference, self._drafts = reference_of(tool)
        execution = tool.execution
        names = tuple(tool.requires.get("env", ()))
        target = Target(
            reference,
            os.getpid(),
            execution.get("memory_mb"),
            names if execution.get("isolated_env") else None,
            bool(from_function(tool.function).contexts),
            tool.annotations.get("idempotent") is True,
        )
        return target, pickle.dumps(target)
