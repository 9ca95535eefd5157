"""Calls in other processes: what begins them, and what makes values of their outcomes."""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Protocol

from sovl_tools.dispatch.failure import RemoteError
from sovl_tools.dispatch.reference import (
    Drafts,
    Outcome,
    Receive,
    Reference,
    Task,
    reference_of,
)
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.content import Content
from sovl_tools.model.context import Listener
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError, UnavailableError
from sovl_tools.signature.signature import from_function

_LOGGER = logging.getLogger("sovl_tools")


class Pool(Protocol):
    """Processes of our own, which can be ended and can send something meanwhile."""

    def submit(self, task: Task, receive: Receive, *, is_patient: bool) -> Future[Outcome]:
        """Begin a call; ``is_patient`` says that the tool can see that it was cancelled."""
        ...

    def close(self) -> None:
        """End the processes."""
        ...


class Workers:
    """Where the calls of a Tooler run that run in other processes.

    Attributes:
        executor: somebody's, in the place of processes of our own.
        limit: how many processes of our own there may be.
    """

    def __init__(self, executor: Executor | None = None, limit: int | None = None) -> None:
        """Start nothing yet; there will be at most ``limit`` processes, by default one a core."""
        self.executor = executor
        self.limit = limit or os.cpu_count() or 1
        self._lock = threading.Lock()
        self._pool: Pool | None = None
        self._is_closed = False

    def __del__(self) -> None:
        """End the processes of a Tooler that nobody has closed."""
        pool = getattr(self, "_pool", None)
        # at the end of the program the pool does it, and a thread would never begin
        if pool is not None and not sys.is_finalizing():
            # on a thread, because the collector runs anywhere
            threading.Thread(target=pool.close, daemon=True).start()

    def submit(
        self, name: str, task: Task, receive: Receive, *, is_patient: bool
    ) -> Future[Outcome]:
        """Begin a call of the tool of that name.

        Raises:
            UnavailableError: there are no processes.
        """
        if self.executor is not None:
            return _submit(self.executor, task, receive)
        with self._lock:
            reason = "its Tooler is closed" if self._is_closed else processes_missing()
            if reason is not None:
                raise UnavailableError(name, reason)
            if self._pool is None:
                from sovl_tools.dispatch.processes import ProcessPool  # noqa: PLC0415 - the extra

                self._pool = ProcessPool(self.limit)
        return self._pool.submit(task, receive, is_patient=is_patient)

    def close(self) -> None:
        """End the processes of our own, and the calls in them; start no others."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


def _submit(executor: Executor, task: Task, receive: Receive) -> Future[Outcome]:
    """Begin a call on somebody's executor."""
    from sovl_tools.dispatch import cluster, worker  # noqa: PLC0415 - imports multiprocessing

    # as bytes, because Dask looks into the arguments for what it knows
    data = pickle.dumps(task)
    if cluster.is_dask(executor):
        return cluster.submit(executor, data, receive, is_idempotent=task.is_idempotent)
    return executor.submit(worker.run_pickled, data)


class RemoteTool:
    """A tool as other processes can call it.

    Args:
        definition: the tool.
        workers: where it runs.
        listener: returns what is told of progress and messages of a call.
        finish: from JSON, and the content of which it consists, to the value that the model reads.
    """

    __slots__ = ("_definition", "_finish", "_listener", "_named", "_workers")

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
        self._named: tuple[Reference, Drafts] | None = None

    def begin(
        self, keywords: dict[str, Any], scope: CallScope, *, with_sources: bool = False
    ) -> Future[Outcome]:
        """Begin a call with checked arguments; with the sources any worker can make it.

        Raises:
            UnavailableError: the tool can't be called in another process.
        """
        tool = self._definition
        if self._named is None:
            self._named = reference_of(tool)
        reference, drafts = self._named
        execution = tool.execution
        names = tuple(tool.requires.get("env", ()))
        task = Task(
            reference,
            keywords,
            scope.call_id,
            os.getpid(),
            execution.get("memory_mb"),
            names if execution.get("isolated_env") else None,
            scope.sink is not None,
            _LOGGER.isEnabledFor(logging.DEBUG),
            drafts if with_sources else (),
            tool.annotations.get("idempotent") is True,
        )
        listen = self._listener(scope)

        def receive(kind: str, content: Any) -> None:
            if kind == "event":
                listen(content)
            elif scope.sink is None or scope.is_stopped:
                raise RunCancelledError
            elif kind == "stream":
                scope.sink.is_used = True
            else:
                scope.sink.put(content)

        is_patient = bool(from_function(tool.function).contexts)
        return self._workers.submit(tool.name, task, receive, is_patient=is_patient)

    def end(self, outcome: Outcome, scope: CallScope) -> tuple[JSON, tuple[Content, ...]]:
        """Return the value of a call.

        Raises:
            RemoteError: the tool has failed.
            InvalidResult: its result is none that the model may read.
        """
        for event in outcome.events:
            self._listener(scope)(event)
        if outcome.needs_sources:
            raise UnavailableError(self._definition.name, "a worker has made other sources of it")
        if outcome.failure is not None:
            raise RemoteError(outcome.failure, outcome.trace)
        found: tuple[JSON, tuple[Content, ...]] = self._finish(
            (outcome.value, outcome.content), scope
        )
        return found
