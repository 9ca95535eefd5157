"""Calls in other processes: what travels, what begins them, and what makes values of outcomes.

Functions stay where they were imported. A worker process loads the tool itself, by its reference,
and refuses if that is not the version which the caller means.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from hashlib import sha256
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sovl_tools.authoring.decorator import ATTRIBUTE, definition_of
from sovl_tools.dispatch.failure import RemoteError
from sovl_tools.dispatch.scope import CallScope, stop_call
from sovl_tools.loading.modules import Sources, sources_of
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.loading.sources import framed
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.content import Content
from sovl_tools.model.context import Listener
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import RunCancelledError, UnavailableError
from sovl_tools.model.folder import ToolFolder
from sovl_tools.model.result import Failure
from sovl_tools.signature.signature import from_function

_LOGGER = logging.getLogger("sovl_tools")

_T = TypeVar("_T")

Drafts: TypeAlias = tuple[tuple[str, bytes], ...]
"""The manifest and the Python files of a folder, by their relative paths."""


class FolderReference(NamedTuple):
    """Names one version of the tool of a folder.

    Attributes:
        name: the folder's, and the tool's.
        path: the folder as the caller named it.
        location: its absolute path.
        revision: see ``ToolFolder``.
        digest: of the manifest and the sources.
        locked: the hashes that a lock file has of it.
    """

    name: str
    path: str
    location: str
    revision: int
    digest: str
    locked: Mapping[str, str] | None

    def folder(self, drafts: Drafts = ()) -> ToolFolder:
        """Return the folder; with drafts those stand for its files."""
        return ToolFolder(
            self.name,
            self.path,
            self.location,
            revision=self.revision,
            drafts=drafts,
            is_whole=bool(drafts),
        )


class CodeReference(NamedTuple):
    """Names a tool in code.

    Attributes:
        name: the tool's.
        module: where its function is.
        attribute: the function's qualified name there.
        properties: the names of the tool's parameters.
    """

    name: str
    module: str
    attribute: str
    properties: tuple[str, ...]


Reference: TypeAlias = FolderReference | CodeReference


class Target(NamedTuple):
    """What all calls of a tool from one process have in common.

    Attributes:
        reference: the tool.
        process: the caller's process, by its id.
        memory_mb: how much memory a call may take beyond what the worker has, in MiB.
        environment: the variables that are passed on beside a base; None for all.
        is_patient: whether the tool can see that its call was cancelled.
        is_idempotent: whether an executor may make a call again.
    """

    reference: Reference
    process: int
    memory_mb: int | None = None
    environment: tuple[str, ...] | None = None
    is_patient: bool = False
    is_idempotent: bool = False


class Task(NamedTuple):
    """One call for another process. It travels as a plain tuple, which takes a fifth of the time.

    Attributes:
        target: the tool's, pickled once for all calls.
        keywords: the checked arguments.
        call_id: the caller's.
        is_stream: whether the items of a generator are wanted as they come.
        is_traced: whether the traceback of a failure is wanted.
        drafts: the sources, where the worker's folder holds another version.
    """

    target: bytes
    keywords: dict[str, Any]
    call_id: str
    is_stream: bool = False
    is_traced: bool = False
    drafts: Drafts = ()


Event: TypeAlias = Progress | LogMessage


class Outcome(NamedTuple):
    """What came of a task; it travels as a plain tuple, too.

    Attributes:
        value: the result as JSON.
        content: what it consists of, if it does.
        failure: why there is no value.
        trace: the traceback of a failure, if it was wanted.
        events: what the tool has reported, where that could not be sent at once.
        needs_sources: whether the worker has not got this version of the tool.
    """

    value: JSON = None
    content: tuple[Content, ...] = ()
    failure: Failure | None = None
    trace: str = ""
    events: tuple[Event, ...] = ()
    needs_sources: bool = False


Fields: TypeAlias = tuple[Any, ...]
"""A Task or an Outcome on its way."""


Receive: TypeAlias = Callable[[str, Any], None]
"""Takes what a call sends while it is under way: ``"event"``, ``"stream"`` or ``"item"``, and what
that is; an exception ends the call."""


def digest_of(name: str, drafts: Drafts, revision: int) -> str:
    """Return a hash of the manifest and the sources of a tool."""
    return sha256(framed({**dict(drafts), f"{name} {revision}": b""})).hexdigest()


def drafts_of(sources: Sources) -> Drafts:
    """Return the files that a tool was made of, the manifest first."""
    text = sources.manifest.encode("utf-8", "surrogatepass")
    snapshot = sources.snapshot
    return ((snapshot.folder.manifest_name, text), *sorted(snapshot.files.items()))


def reference_of(tool: ToolDefinition) -> tuple[Reference, Drafts]:
    """Return what names a tool in another process, and its sources if it is of a folder.

    Raises:
        UnavailableError: nothing does; the message says why.
    """
    sources = sources_of(tool)
    if sources is None:
        return _code_reference(tool), ()
    folder, drafts = sources.snapshot.folder, drafts_of(sources)
    digest = digest_of(folder.name, drafts, folder.revision)
    reference = FolderReference(
        folder.name,
        folder.path,
        folder.location,
        folder.revision,
        digest,
        sources.snapshot.locked,
    )
    return reference, drafts


def _code_reference(tool: ToolDefinition) -> CodeReference:
    """Return the name of a function, by which a module has the very same tool.

    Raises:
        UnavailableError: there is none.
    """
    function = tool.function
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        raise _unreachable(tool, f"{function!r:.60} has no name")
    if "<locals>" in name or "<lambda>" in name:
        raise _unreachable(tool, f"{name} stands within a function")
    if tool.instance is not None or getattr(function, "__self__", None) is not None:
        raise _unreachable(tool, f"{name} is bound to an object")
    properties = tool.resolve().parameters.get("properties", ())
    reference = CodeReference(tool.name, module, name, tuple(properties))
    found = tool_in(sys.modules[module], reference) if module in sys.modules else None
    if found is None or found.function is not function:
        raise _unreachable(tool, f"{name} of the module {module} is another object")
    if (found.preprocess, found.postprocess) != (tool.preprocess, tool.postprocess):
        raise _unreachable(tool, f"{name} has another definition in the module {module}")
    # of a script nothing but the file is known there, and of a session nothing
    if module == "__main__" and not hasattr(sys.modules[module], "__file__"):
        raise _unreachable(tool, f"{name} was not defined in a file")
    return reference


def _unreachable(tool: ToolDefinition, reason: str) -> UnavailableError:
    words = f"it can't be found by name in another process: {reason}"
    return UnavailableError(tool.name, words)


def tool_in(module: object, reference: CodeReference) -> ToolDefinition | None:
    """Return the tool of that name, or None if the module has no such thing."""
    found: Any = module
    for part in reference.attribute.split("."):
        found = getattr(found, part, None)
    if isinstance(found, ToolDefinition):
        return found
    if isinstance(getattr(found, ATTRIBUTE, None), ToolDefinition):
        return definition_of(found)
    if not callable(found):
        return None
    properties: dict[str, JSON] = {each: {} for each in reference.properties}
    schema: JSON = {"type": "object", "properties": properties}
    return ToolDefinition(reference.name, "", schema, found)


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
        self._pool: Any = None  # of the extra; see there
        self._is_closed = False

    def __del__(self) -> None:
        """End the processes of a Tooler that nobody has closed."""
        pool = getattr(self, "_pool", None)
        # at the end of the program the pool does it, and a thread would never begin
        if pool is not None and not sys.is_finalizing():
            # on a thread, because the collector runs anywhere
            threading.Thread(target=pool.close, daemon=True).start()

    def submit(self, target: Target, task: Task, receive: Receive) -> Future[Fields]:
        """Begin a call.

        Raises:
            UnavailableError: there are no processes.
        """
        if self.executor is not None:
            from sovl_tools.dispatch import cluster, worker  # noqa: PLC0415 - multiprocessing

            # as bytes, because Dask looks into the arguments for what it knows
            data = pickle.dumps(tuple(task))
            if cluster.is_dask(self.executor):
                is_idempotent = target.is_idempotent
                return cluster.submit(self.executor, data, receive, is_idempotent=is_idempotent)
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
        """End the processes of our own, and the calls in them; start no others."""
        with self._lock:
            self._is_closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


class RemoteTool:
    """A tool as other processes can call it.

    Args:
        definition: the tool.
        workers: where it runs.
        listener: returns what is called with the progress and messages of a call.
        finish: from JSON, and the content of which it consists, to the value that the model reads.
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

    def begin(
        self, keywords: dict[str, Any], scope: CallScope, *, with_sources: bool = False
    ) -> Future[Fields]:
        """Begin a call with checked arguments; with the sources any worker can make it.

        Raises:
            UnavailableError: the tool can't be called in another process.
        """
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
        listener = self._listener

        def receive(kind: str, content: Any) -> None:
            if kind == "event":
                listener(scope)(content)
            elif scope.sink is None or scope.is_stopped:
                raise RunCancelledError
            elif kind == "stream":
                scope.sink.is_used = True
            else:
                scope.sink.put(content)

        return self._workers.submit(target, task, receive)

    def _make_target(self) -> tuple[Target, bytes]:
        """Return what names the tool in another process, also pickled.

        Raises:
            UnavailableError: nothing does.
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


def run_remotely(remote: RemoteTool, keywords: Any, scope: CallScope) -> Any:
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
    """Return a future's result; the future is cancelled when the waiting ends early."""
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
