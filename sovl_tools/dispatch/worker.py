"""The other end of a call: the code of a worker process, ours or an executor's."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any, NoReturn, cast

from sovl_tools.dispatch.channel import Asking, Channel, Notes
from sovl_tools.dispatch.failure import failure_of, secrets_of, trace_of
from sovl_tools.dispatch.reference import (
    CodeReference,
    Drafts,
    Fields,
    FolderReference,
    Reference,
    Target,
    Task,
    TaskResult,
    digest_of,
    drafts_of,
    tool_in,
)
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.steps import author_steps, chained, convert_result
from sovl_tools.loading.modules import Sources
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.rules.folder import Unreadable
from sovl_tools.loading.sources import read_manifest, take_snapshot
from sovl_tools.model.client_requests import REQUEST_KINDS, Ask, HostRequest
from sovl_tools.model.context import ToolContext
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import ToolError, UnavailableError
from sovl_tools.model.folder import Settings
from sovl_tools.model.result import Failure
from sovl_tools.threads import after_fork


class _Scope(CallScope):
    """A call as a worker has it: its end is from outside."""

    def __init__(self, task: Task, channel: Channel) -> None:
        super().__init__(task.call_id)
        self.sink = _Sink(channel) if task.is_stream else None
        self.channel = channel

    @property
    def is_stopped(self) -> bool:
        """Whether no one waits for the result anymore."""
        return self.channel.is_cancelled()


class _WorkerTool:
    """A tool as a worker has it.

    Attributes:
        digest: of the sources; "" for a tool in code.
        definition: the tool.
    """

    def __init__(self, digest: str, definition: ToolDefinition) -> None:
        self.digest = digest
        self.definition = definition
        self._take = chained(author_steps(definition, self._context))

    def run(self, task: Task, channel: Channel) -> TaskResult:
        """Call the tool."""
        scope = _Scope(task, channel)
        value, content = self._take(task.keywords, scope)
        return TaskResult(value, content)

    def _context(self, scope: CallScope | None) -> ToolContext:
        channel = scope.channel if isinstance(scope, _Scope) else Notes()
        return ToolContext(
            self.definition,
            cast("Any", _Unreachable("registry")),
            cast("Any", _Unreachable("tooler")),
            call_id=scope.call_id if scope is not None else "",
            state=cast("Any", _Unreachable("state")),
            listen=partial(channel.send, "event"),
            is_cancelled=channel.is_cancelled,
            find=partial(_find, channel),
        )


def _find(channel: Channel, kind: type[HostRequest]) -> Ask:
    """Return a function that sends requests to the caller's host.

    Raises:
        ToolError: the channel carries no answers.
    """
    if not isinstance(channel, Asking):
        error, words = REQUEST_KINDS[kind][1:3]
        raise error(f"{words} from a cluster or an executor; run the tool in another mode")

    def begin(request: HostRequest) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(channel.ask(request))
        except BaseException as error:  # noqa: BLE001 - the future carries it
            future.set_exception(error)
        return future

    return begin


class _Unreachable:
    """Replaces an object of the caller's process: any use raises an error with the reason."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def _refuse(self, *_: object) -> NoReturn:
        words = "stays in the process of the caller; this tool runs in another"
        raise ToolError(f"context.{self._name} {words}")

    __getattr__ = __getitem__ = __setitem__ = __delitem__ = _refuse
    __contains__ = __iter__ = __len__ = __bool__ = __call__ = _refuse


class _Sink:
    """Sends the items of a generator one by one, as JSON."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @property
    def is_used(self) -> bool:
        return True

    @is_used.setter
    def is_used(self, _: bool) -> None:
        self._channel.send("stream", None)

    def put(self, item: Any) -> Any:
        value, content = convert_result(item)
        self._channel.send("item", list(content) if content else value)
        return item if content else value

    async def put_later(self, item: Any) -> Any:
        return self.put(item)


def run_pickled(data: bytes) -> Fields:
    """Call the tool of a pickled task; an executor gets this function."""
    task = Task(*pickle.loads(data))  # noqa: S301 - it comes as any call of an executor does
    return tuple(run_task(task))


_target_of: Callable[[bytes], Target] = lru_cache(1_000)(pickle.loads)


def run_task(task: Task, channel: Channel | None = None) -> TaskResult:
    """Call the tool of a task, and return any outcome."""
    channel = channel or Notes()
    tool, target = None, _target_of(task.target)
    try:
        _check_process(target)
        with _environment(target.environment):
            tool = _tool_of(target.reference, task.drafts)
            if tool is None:
                return TaskResult(needs_sources=True)
            with _memory(target.memory_mb):
                outcome = tool.run(task, channel)
    except BaseException as error:  # noqa: BLE001 - the tool's own code, which may exit
        function = None if tool is None else tool.definition.function
        secrets = () if tool is None else secrets_of(tool.definition)
        failure = failure_of(error, target.reference.name, function=function, secrets=secrets)
        trace = trace_of(error, secrets) if task.is_traced else ""
        outcome = TaskResult(failure=failure, trace=trace)
    if isinstance(channel, Notes):
        return outcome._replace(events=tuple(channel.events))
    return outcome


def _check_process(target: Target) -> None:
    """Raise rather than set limits to the process of the caller.

    Raises:
        UnavailableError: the executor runs calls there.
    """
    if target.process == os.getpid() and (target.memory_mb or target.environment is not None):
        words = "its limits need another process, and this executor doesn't have one"
        raise UnavailableError(target.reference.name, words)


_TOOLS: dict[tuple[str, str], _WorkerTool] = {}
"""The tools that have been called here, by their places: of each folder the last version."""
_LOCK = threading.RLock()


def _tool_of(reference: Reference, drafts: Drafts) -> _WorkerTool | None:
    """Return the task's tool, or None if its folder has another version.

    Raises:
        UnavailableError: it does not load.
    """
    if isinstance(reference, CodeReference):
        place, digest = (reference.module, reference.attribute), ""
    else:
        place, digest = (reference.location, reference.name), reference.digest
    with _LOCK:  # an executor can have several threads
        known = _TOOLS.get(place)
        if known is None or known.digest != digest:
            if isinstance(reference, CodeReference):
                definition = _import(reference)
            else:
                found = drafts or _drafts_now(reference)
                if digest_of(reference.name, found, reference.revision) != digest:
                    return None
                definition = _load(reference, found)
            known = _TOOLS[place] = _WorkerTool(digest, definition)
        return known


def _drafts_now(reference: FolderReference) -> Drafts:
    """Return the candidates of a folder, none if it can't be read."""
    folder = reference.folder()
    reading = read_manifest(folder)
    if isinstance(reading, Unreadable) or reading.manifest is None:
        return ()
    snapshot = take_snapshot(folder)
    if isinstance(snapshot, Unreadable):
        return ()
    return drafts_of(Sources(reading.manifest.text, snapshot))


def _load(reference: FolderReference, drafts: Drafts) -> ToolDefinition:
    """Load the sources that were read, so that they can't change in between.

    Raises:
        UnavailableError: it does not load.
    """
    locked = None if reference.locked is None else {reference.name: reference.locked}
    candidate = load_folder(reference.folder(drafts), Settings(locked=locked))
    if candidate.definition is None:
        reasons = "; ".join(candidate.reasons)
        words = f"it does not load in the worker process: {reasons}"
        raise UnavailableError(reference.name, words)
    return candidate.definition


def _import(reference: CodeReference) -> ToolDefinition:
    """Return a tool in code.

    Raises:
        UnavailableError: the tool doesn't exist.
    """
    where = f"{reference.attribute} of the module {reference.module}"
    try:
        tool = tool_in(import_module(reference.module), reference)
    except Exception as error:
        words = f"the worker process can't import {where}: {error}"
        raise UnavailableError(reference.name, words) from error
    if tool is None:
        raise UnavailableError(reference.name, f"there's no {where} in the worker process")
    return tool.resolve()


_BASE = frozenset(
    {
        "HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "SYSTEMROOT", "TEMP", "TMP",
        "TMPDIR", "TZ", "USER", "USERPROFILE",
    }
)  # fmt: skip
"""Variables that every tool gets, next to those whose names begin with ``LC_``."""


@contextmanager
def _environment(names: tuple[str, ...] | None) -> Iterator[None]:
    """Leave no more than the base and those variables for a while; all if None."""
    if names is None:
        yield
        return
    with _LOCK:
        before = dict(os.environ)
        for name in before:
            if not (name in names or name in _BASE or name.startswith("LC_")):
                del os.environ[name]
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _memory(limit: int | None) -> Iterator[None]:
    """Limit memory for a while to a number of MiB beyond what this process has."""
    if limit is None or sys.platform != "linux":  # other platforms have no limit, or ignore it
        yield
        return
    import resource  # noqa: PLC0415 - not on every platform

    before = resource.getrlimit(resource.RLIMIT_AS)
    wanted = limit << 20
    with suppress(OSError, ValueError), open("/proc/self/statm", "rb") as file:
        wanted += int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    if before[1] != resource.RLIM_INFINITY:
        wanted = min(wanted, before[1])
    resource.setrlimit(resource.RLIMIT_AS, (wanted, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def serve(connection: Connection, errors: Connection | None, environment: dict[str, str]) -> None:
    """Answer the calls of the process that has started this one, until it has no more.

    Args:
        connection: to that process.
        errors: what takes the place of the error output.
        environment: the current variables; the fork server can be older.
    """
    with suppress(AttributeError):  # the platform has no sessions
        os.setsid()
    _end_with_caller()
    # the caller's input can be a protocol that tools must not read
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    if errors is not None:
        os.dup2(errors.fileno(), 2)
        errors.close()
    os.environ.clear()
    os.environ.update(environment)
    faulthandler.enable(2)
    after_fork(connection.close)  # a process that a tool forks must not answer
    process = os.getpid()
    connection.send(("pid", process))
    _answer(connection, lambda: os.getpid() != process)


def _end_with_caller() -> None:
    """Have the kernel end this group with the process that makes the calls; only on Linux.

    Its parent is the fork server, which a tool may end. No thread waits for the caller: code that
    computes in C would not let it run.
    """
    caller = multiprocessing.parent_process()
    if sys.platform != "linux" or caller is None:
        return
    import fcntl  # noqa: PLC0415 - not on every platform

    # the pipe is never written to: the only event is that its other end closes
    fcntl.fcntl(caller.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(caller.sentinel, fcntl.F_SETOWN, -os.getpgrp())
    flags = fcntl.fcntl(caller.sentinel, fcntl.F_GETFL)
    fcntl.fcntl(caller.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
    if select.select([caller.sentinel], [], [], 0)[0]:  # it has ended before that
        os.killpg(0, signal.SIGKILL)


def _answer(connection: Connection, is_forked: Callable[[], bool]) -> None:
    while True:
        try:
            task = connection.recv()
        except (EOFError, OSError):
            return
        if task is None:
            return
        if isinstance(task, tuple):  # word of a call that has ended comes late
            channel = Asking(connection)
            outcome = tuple(run_task(Task(*task), channel))
            channel.end()
            if is_forked():
                os._exit(0)
            sys.stderr.flush()
            try:
                channel.send("done", outcome)
            except (
                TypeError,
                AttributeError,
                pickle.PicklingError,
            ) as error:  # its own class
                words = f"its result can't leave the worker process: {error}"
                failed = TaskResult(failure=Failure("invalid_result", words))
                channel.send("done", tuple(failed))
