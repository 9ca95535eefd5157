"""The dispatcher between a model's text and a tool's function."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from copy import copy
from functools import partial
from importlib import import_module
from itertools import islice
from queue import SimpleQueue
from sys import maxsize
from typing import Any, NamedTuple, Self, cast

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.caller import Caller, async_call, check_host, check_options
from sovl_tools.dispatch.hooks import Hook, HookFunction, hook
from sovl_tools.dispatch.limiter import Limiter
from sovl_tools.dispatch.policy import PolicyHooks
from sovl_tools.dispatch.prepared import Engine, Observer, ToolerSettings
from sovl_tools.dispatch.remote import Workers
from sovl_tools.dispatch.scope import Sink, new_call_id
from sovl_tools.dispatch.statistics import Statistics, summary
from sovl_tools.dispatch.steps import is_async
from sovl_tools.model.call import Mode
from sovl_tools.model.caller import (
    check_count,
    check_function,
    check_given,
)
from sovl_tools.model.context import Listener, ToolLookup
from sovl_tools.model.document import JSON
from sovl_tools.model.host import NO_HOST, Host
from sovl_tools.model.policy import Approving, Coerce, Policy
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.threads import start


class Tooler(Caller):
    """Calls tools of a registry with checked arguments. Thread-safe.

    A call returns a ToolResult, also if the model or the tool was wrong. It raises only for
    the caller's own mistakes and for the caller's own cancellation.
    """

    def __init__(  # noqa: PLR0913 - independent options
        self,
        registry: ToolLookup | str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        timeout: float | None = None,
        mode: Mode | None = None,
        coerce: Coerce | None = None,
        max_result_bytes: int | None = None,
        approval: Approving | None = None,
        max_threads: int = 64,
        max_processes: int | None = None,
        executor: Executor | None = None,
        hooks: Iterable[Hook | HookFunction] = (),
        observers: Iterable[Observer] = (),
        on_event: Listener | None = None,
        host: Host = NO_HOST,
    ) -> None:
        """Make a dispatcher. The settings of a manifest or a call win over these.

        Args:
            registry: where the tools are; each call looks its tool up again. The path of a tools
                directory will do as well. With a view (``registry.select(…)``) only its tools can
                be called, while tools call each other in the whole registry.
            policy: the settings of calls, also those without an argument here; the arguments win
                over it.
            timeout: a call's limit, in seconds; None for no limit.
            mode: where tools run: ``"inline"`` in the thread that calls, ``"thread"`` on one of
                the Tooler's own, which both concern only sync tools, or ``"process"`` in a
                worker process, which can be ended. None means a thread for awaited calls and for
                tools with a time limit, inline for the others.
            coerce: ``"lenient"`` repairs arguments where there is one way to do so, and takes
                names in a namespace, such as ``functions.weather``.
            max_result_bytes: results that are longer as UTF-8 are cut.
            approval: which calls the host must approve: ``"never"``, ``"destructive"``,
                ``"always"``, or shell patterns of tool names.
            max_threads: the maximum number of threads for sync tools.
            max_processes: the maximum number of worker processes; None for one a core.
            executor: runs the tools instead of worker processes, as with the mode
                ``"process"``; it stays the caller's to shut down.
            hooks: functions around each call, the first one outermost; see ``hook``.
            observers: functions that are called after each call.
            on_event: called with the progress and messages of running tools; by default messages
                go to the logger ``sovl_tools.tools``.
            host: answers the tools' questions, and gets their events; see ``Host``.

        Raises:
            ValueError: a number is not more than 0, a word is unknown, or the
                directory.
            TypeError: a hook can't be called, or an observer can't be called at once.
        """
        if isinstance(registry, str | os.PathLike):
            module, _, name = _TOOLS_DIRECTORY.partition(":")
            registry = cast("ToolLookup", getattr(import_module(module), name)(registry))
        elif not hasattr(registry, "catalog"):
            words = "a ToolRegistry or the path of a tools directory"
            raise TypeError(f"registry must be {words}, not {registry!r:.80}")
        policy = (Policy() if policy is None else policy).but(
            timeout=timeout, mode=mode, coerce=coerce, max_result_bytes=max_result_bytes,
            approval=approval,
        )  # fmt: skip
        check_count("max_threads", max_threads)
        check_given(check_count, max_processes=max_processes)
        check_given(check_function, on_event=on_event)
        seen: tuple[Any, ...] = tuple(observers)
        for each in seen:
            # an async one's return value would never be awaited
            if not callable(each) or is_async(each):
                raise TypeError(f"an observer must be a sync function (event), not {each!r:.80}")
        around = [found for each in seen if (found := getattr(each, "hook", None)) is not None]
        if executor is not None and policy.mode is None:
            policy = policy.but(mode="process")
        settings = ToolerSettings(
            Limiter(max_threads),
            Workers(executor, max_processes),
            policy,
            tuple(hook(each) for each in (*around, *hooks)),
            seen,
            check_host("host", host),
            PolicyHooks(),
        )
        # tools call each other in the whole registry, and users call the tools of the view
        whole = getattr(registry, "whole", registry)
        engine = Engine(whole, settings, listener=on_event, make_caller=Caller)
        super().__init__(engine, view=None if whole is registry else registry)

    def close(self) -> None:
        """End the worker processes and the calls in them; an executor isn't closed.

        Tools that run here can be called as before. Closing twice is closing once.
        """
        self._engine.settings.workers.close()

    def through(self, registry: ToolLookup) -> Self:
        """Return this Tooler for calls of the tools in a view only; they share all else."""
        if getattr(registry, "whole", registry) is registry or registry is self._view:
            return self
        made = copy(self)
        made._view = registry  # noqa: SLF001 - of its class
        return made

    def share_workers(self, owner: Tooler) -> None:
        """Use the worker processes of another Tooler, which is the one to be closed.

        Call it before the first call.
        """
        engine = self._engine
        workers = owner._engine.settings.workers
        engine.settings = engine.settings._replace(workers=workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        from sovl_tools.dispatch.async_runner import await_thread  # noqa: PLC0415 - asyncio

        # on a thread, because it waits for the processes, whose calls may wait for the loop
        await await_thread(self.close)

    def cancel(self, call_id: str) -> bool:
        """Cancel the call that was given that ``call_id``; return whether it is running.

        An async tool is cancelled where it awaits something; a worker process is ended; a thread
        is abandoned, and the tool can see in ``ToolContext.cancelled`` that no one waits anymore.
        The result says that the call was cancelled, even if the tool returns a value.
        """
        return self._engine.cancel(call_id)

    async def call_many(
        self,
        calls: Iterable[tuple[str, Arguments]],
        *,
        limit: int | None = None,
        **options: Any,
    ) -> list[ToolResult]:
        """Make several calls at the same time and return their results in the order of the calls.

        Args:
            calls: names and arguments.
            limit: the number of calls that run at a time; None for all of them.
            options: for each call; see ``call_sync``.

        Raises:
            ValueError: the limit is less than 1, an option makes no sense, or a call isn't a pair.
            TypeError: an option is unknown; or a ``call_id`` is given, which must be unique.
        """
        _check_shared(options)
        from sovl_tools.dispatch.async_runner import gather_calls  # noqa: PLC0415 - imports asyncio

        check_given(check_count, limit=limit)
        pairs: list[Any] = [*calls]
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:  # noqa: PLR2004
                raise ValueError(f"a call must be a pair of a name and arguments, not {pair!r:.80}")
        return await gather_calls(self.call, pairs, limit=limit, options=options)

    def map(
        self,
        name: str,
        inputs: Iterable[Arguments],
        *,
        limit: int | None = None,
        ordered: bool = False,
        **options: Any,
    ) -> Iterator[Mapped]:
        """Call one tool with each of many inputs and yield the outcomes as they finish.

        The inputs are read lazily: they can be an endless iterator.

            for place, arguments, result in tooler.map("resize", inputs):
                print(place, result.value or result.error)

        Args:
            name: the tool's name.
            inputs: the arguments of each call.
            limit: the number of calls that run at a time; None for the number of worker
                processes.
            ordered: whether results are in the order of the inputs, a few at most being kept
                back.
            options: for each call; see ``call_sync``.

        Raises:
            ValueError: the limit is less than 1, or an option makes no sense.
            TypeError: an option is unknown; or a ``call_id`` is given, which must be unique.
        """
        _check_shared(options)
        check_given(check_count, limit=limit)
        limit = limit or self._engine.settings.workers.limit
        call = partial(self.call_sync, name, **options)
        return map_calls(call, self.cancel, inputs, limit=limit, ordered=ordered)

    def stream(self, name: str, arguments: Arguments = None, **options: Any) -> ToolStream:
        """Return the items of a tool that is a generator, as it makes them.

        Use ``async for`` or ``for``; afterwards ``result`` of the returned stream
        says whether the call succeeded. A tool that isn't a generator gives its value as the only
        item. The time limit applies to the whole call.

            async for line in (stream := tooler.stream("tail", {"path": "log"})):
                print(line)
            assert stream.result.ok

        Args:
            name: the tool's name.
            arguments: see ``call_sync``.
            options: see ``call_sync``.
        """
        check_options(options)

        async def begin(sink: Sink) -> ToolResult:
            tool = await self._tool(name, options)
            if isinstance(tool, Failure):
                return await self.call(name, arguments, **options)
            limit = options.get("timeout") or tool.limit
            scope = self.scope(tool, limit, options, name=name, sink=sink)
            return await async_call()(tool, arguments, scope, limit)

        return ToolStream(begin)

    def meant(self, name: str) -> str:
        """Return the name of the tool that a call by a name reaches: of an alias, for instance."""
        meant: str = self._engine.meant(name, view=self._view)
        return meant

    def statistics(self) -> dict[str, Statistics]:
        """Return the number of each tool's calls and failures, and their times."""
        return summary(self._engine.logs)


def _check_shared(options: Mapping[str, Any]) -> None:
    """Reject options that several calls can't have; see ``check_options``."""
    check_options(options)
    if "call_id" in options:
        raise TypeError("several calls can't have one call_id")


class ToolStream:
    """The items of a call, for ``async for`` and ``for``. Each time round it is made again.

    Attributes:
        result: the result of the call when the items have ended: all of them as a list, or the
            error that ended them. None before.
    """

    def __init__(self, make: Callable[[Sink], Awaitable[ToolResult]]) -> None:
        self.result: ToolResult | None = None
        self._make = make

    def _done(self, result: ToolResult) -> None:
        self.result = result

    def __aiter__(self) -> AsyncGenerator[JSON, None]:
        """Make the call and yield its items; closing it early cancels the call."""
        from sovl_tools.dispatch.streaming import stream_items  # noqa: PLC0415 - imports asyncio

        return stream_items(self._make, self._done)

    def __iter__(self) -> Iterator[JSON]:
        """Make the call and yield its items; closing it early cancels the call."""
        from sovl_tools.dispatch.background import iterate_in_background  # noqa: PLC0415 - asyncio

        return iterate_in_background(self.__aiter__())


_TOOLS_DIRECTORY = "sovl_tools.registry:tools_directory"


_AHEAD = 4


class Mapped(NamedTuple):
    """The outcome of one input.

    Attributes:
        place: its place among the inputs, from 0.
        arguments: the input.
        result: of its call.
    """

    place: int
    arguments: Arguments
    result: ToolResult


def map_calls(
    call: Callable[..., ToolResult],
    cancel: Callable[[str], object],
    inputs: Iterable[Arguments],
    *,
    limit: int,
    ordered: bool,
) -> Iterator[Mapped]:
    """Make a call for each input, ``limit`` at a time, and yield the outcomes.

    Results are yielded as they finish, or in the order of the inputs, with a few calls ahead of the
    slowest. Closing it early cancels the running calls.
    """
    source = enumerate(inputs)
    ended: SimpleQueue[tuple[Mapped | None, BaseException | None]] = SimpleQueue()
    under_way: dict[int, str] = {}
    held: dict[int, Mapped] = {}
    following = 0

    def make(place: int, arguments: Arguments, call_id: str) -> Mapped:
        return Mapped(place, arguments, call(arguments, call_id=call_id))

    def begin() -> None:
        room = min(limit - len(under_way), _AHEAD * limit - len(held))
        for place, arguments in islice(source, min(max(room, 0), maxsize)):
            call_id = new_call_id()
            start(
                partial(make, place, arguments, call_id),
                lambda mapped, error: ended.put((mapped, error)),
            )
            under_way[place] = call_id

    try:
        begin()
        while under_way:
            mapped, error = ended.get()
            if mapped is None:
                raise error or RuntimeError("a call has no result")
            del under_way[mapped.place]
            held[mapped.place] = mapped
            # before the caller checks the result, so that no worker waits for that
            begin()
            if not ordered:
                yield held.popitem()[1]
            while following in held:
                yield held.pop(following)
                following += 1
            begin()  # there was no room if the slowest call blocked the rest
    finally:
        for call_id in under_way.values():
            cancel(call_id)
