"""The dispatcher between a model's text and a tool's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from time import perf_counter
from types import CoroutineType
from typing import Any

from sovl_tools.model.call import Mode
from sovl_tools.model.content import Content
from sovl_tools.model.context import Listener
from sovl_tools.model.lookup import ToolLookup
from sovl_tools.model.result import ToolResult
from sovl_tools.running.dispatch import (
    Options,
    call_async,
    call_sync,
    check_word,
    checked_timeout,
    options_of,
)
from sovl_tools.running.engine import Engine, Observer
from sovl_tools.running.failing import failure_of
from sovl_tools.running.given import Arguments
from sovl_tools.running.hooks import Hook, HookFunction, hook
from sovl_tools.running.jsonvalues import is_plain
from sovl_tools.running.plan import Coerce, Plan, Settings, is_async
from sovl_tools.running.results import converted
from sovl_tools.running.settling import settled, settled_sync
from sovl_tools.running.statistics import FULL, Statistics, summary
from sovl_tools.running.streaming import ToolStream

_new: Callable[..., ToolResult] = tuple.__new__
"""Makes a result of all its fields in a fifth of the time that calling the type would take."""


class Tooler:
    """Calls tools of a registry with checked arguments. Thread-safe.

    A call returns a ToolResult for whatever the model or the tool did wrong. It raises only for
    the caller's own mistakes and for the caller's own cancellation.
    """

    def __init__(  # noqa: PLR0913 - each is a decision of its own
        self,
        registry: ToolLookup,
        *,
        timeout: float | None = None,
        mode: Mode | None = None,
        coerce: Coerce = "strict",
        max_result_bytes: int | None = None,
        max_threads: int = 64,
        hooks: Iterable[Hook | HookFunction] = (),
        observers: Iterable[Observer] = (),
        on_event: Listener | None = None,
    ) -> None:
        """Make a dispatcher. What a manifest or a call says of itself wins over what is said here.

        Args:
            registry: where the tools are; each call looks its tool up anew.
            timeout: how long a call may take, in seconds; None for as long as it takes.
            mode: where sync tools run: ``"inline"`` in the thread that calls, ``"thread"`` on one
                of the Tooler's own. None means a thread for awaited calls and for those with a
                time limit, inline for the others.
            coerce: ``"lenient"`` repairs arguments where there is one way to do so.
            max_result_bytes: results that are longer as UTF-8 are cut.
            max_threads: how many threads sync tools may have at a time.
            hooks: functions around each call, the first one outermost; see ``hook``.
            observers: functions that are told of each call when it has ended.
            on_event: told of the progress and the messages of running tools; by default messages
                go to the logger ``sovl_tools.tools``.

        Raises:
            ValueError: a number is not more than 0, or a word is unknown.
            TypeError: a hook can't be called, or an observer can't be called at once.
        """
        check_word("mode", mode, (None, "inline", "thread"))
        check_word("coerce", coerce, ("strict", "lenient"))
        _check_least("max_result_bytes", max_result_bytes)
        _check_least("max_threads", max_threads)
        seen = tuple(_checked_observer(each) for each in observers)
        around = [found for each in seen if (found := getattr(each, "hook", None)) is not None]
        settings = Settings(
            None if timeout is None else checked_timeout(timeout),
            mode,
            coerce,
            max_result_bytes,
            tuple(_as_hook(each) for each in (*around, *hooks)),
            bool(seen),
        )
        self._registry = registry
        self._engine = Engine(
            registry, settings, observers=seen, listener=on_event, max_threads=max_threads
        )

    def call_sync(self, name: str, arguments: Arguments = None, **options: Any) -> ToolResult:
        """Call a tool and wait for its result.

        A sync tool runs in the caller's thread, or on a thread of its own if there is a time
        limit; an async tool on one long-lived loop in the background, so that this works under
        a running loop as well.

        Args:
            name: the tool's name.
            arguments: an object, JSON text of one, or nothing. It is not changed.
            options: ``timeout``, ``mode``, ``coerce`` and ``on_event`` for this call, as for the
                Tooler; ``call_id``, by which ``cancel`` knows the call.

        Raises:
            ValueError: the timeout is not more than 0, or a call of that id is under way.
            TypeError: there is no such option.
        """
        started = perf_counter()
        plans = self._engine.plans
        try:
            plan = plans[name] if plans.catalog is self._registry.catalog else None
        except (KeyError, TypeError):
            plan = None
        if plan is None or options or not plan.is_quick_sync:
            return call_sync(self._engine, name, arguments, options_of(options))
        checked = plan.check(arguments)
        if type(checked) is not dict:
            return call_sync(self._engine, name, arguments, Options())
        try:
            value, content = plan.function(**checked), _NO_CONTENT
            if not is_plain(value):
                value, content = converted(settled_sync(value))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the border where a tool's failures stop
            return _failed(plan, error, started)
        duration = perf_counter() - started
        log = plan.log
        log.append(duration)
        if len(log.durations) >= FULL:
            log.fold()
        return _new(ToolResult, (name, value, None, duration, content, _NO_REPAIRS))

    async def call(  # noqa: C901 - told in one piece, since each function more costs 60 ns
        self, name: str, arguments: Arguments = None, **options: Any
    ) -> ToolResult:
        """Call a tool and await its result; see ``call_sync`` for the arguments.

        An async tool runs on the caller's loop. A sync tool runs on a thread of its own, so that
        the loop never blocks, unless its ``execution.mode`` is ``"inline"``.
        """
        started = perf_counter()
        plans = self._engine.plans
        try:
            plan = plans[name] if plans.catalog is self._registry.catalog else None
        except (KeyError, TypeError):
            plan = None
        if plan is None or not plan.is_quick_async or (options and options.keys() != _TIMEOUT):
            return await call_async(self._engine, name, arguments, options_of(options))
        limit = _limit(options, plan) if options else plan.limit
        checked = plan.check(arguments)
        if type(checked) is not dict:
            return await call_async(self._engine, name, arguments, options_of(options))
        try:
            work = plan.function(**checked)
            if type(work) is not CoroutineType:
                work = settled(work)
            if limit is not None:
                work = _awaiting().limited(work, limit, started=started)
            value, content = await work, _NO_CONTENT
            if not is_plain(value):
                value, content = converted(await settled(value))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if _awaiting().is_cancellation(error):
                raise
            return _failed(plan, error, started)
        duration = perf_counter() - started
        log = plan.log
        log.append(duration)
        if len(log.durations) >= FULL:
            log.fold()
        return _new(ToolResult, (name, value, None, duration, content, _NO_REPAIRS))

    def cancel(self, call_id: str) -> bool:
        """Cancel the call that was given that ``call_id``; return whether it is under way.

        An async tool is cancelled where it awaits something; a thread is given up, and the tool
        can see in ``ToolContext.cancelled`` that nobody waits any more. The result says that the
        call was cancelled, whatever the tool makes of it.
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
            limit: how many calls are under way at a time; None for all of them.
            options: for each call; see ``call_sync``.

        Raises:
            ValueError: the limit is less than 1, or a call is no pair.
            TypeError: there is no such option; or a ``call_id`` is given, which only one can have.
        """
        options_of(options)
        if "call_id" in options:
            raise TypeError("several calls can't have one call_id")
        results: list[ToolResult] = await _awaiting().gathered(
            self.call, [(name, given) for name, given in calls], limit=limit, options=options
        )
        return results

    def stream(self, name: str, arguments: Arguments = None, **options: Any) -> ToolStream:
        """Return the items of a tool that is a generator, as it makes them.

        They are for ``async for`` or for ``for``; afterwards ``result`` of what is returned here
        says whether the call succeeded. A tool that is no generator gives its value as the only
        item. The time limit is that of the whole call.

            async for line in (stream := tooler.stream("tail", {"path": "log"})):
                print(line)
            assert stream.result.ok

        Args:
            name: the tool's name.
            arguments: see ``call_sync``.
            options: see ``call_sync``.
        """
        made = options_of(options)
        return ToolStream(
            lambda sink: call_async(self._engine, name, arguments, made._replace(sink=sink))
        )

    def statistics(self) -> dict[str, Statistics]:
        """Return how often each tool was called, how often it failed, and how long it took."""
        return summary(self._engine.logs)


def _check_least(name: str, number: int | None) -> None:
    if number is not None and number < 1:
        raise ValueError(f"{name} must be at least 1, not {number!r}")


def _checked_observer(observer: Any) -> Observer:
    if not callable(observer) or is_async(observer):
        raise TypeError(f"an observer must be a sync function (event), not {observer!r:.80}")
    checked: Observer = observer
    return checked


def _as_hook(function: Hook | HookFunction) -> Hook:
    return function if isinstance(function, Hook) else hook(function)


def _limit(options: dict[str, Any], plan: Plan) -> float | None:
    timeout = options["timeout"]
    return plan.limit if timeout is None else checked_timeout(timeout)


def _failed(plan: Plan, error: BaseException, started: float) -> ToolResult:
    failure = failure_of(error, plan.name, secrets=plan.secrets)
    duration = perf_counter() - started
    plan.log.failed(failure.kind, duration)
    return ToolResult(plan.name, None, failure, duration)


@cache
def _awaiting() -> Any:
    """Return the module of the async side, which imports asyncio."""
    from sovl_tools.running import awaiting  # noqa: PLC0415 - asyncio takes 20 ms

    return awaiting


_NO_CONTENT: tuple[Content, ...] = ()
_NO_REPAIRS: tuple[()] = ()
_TIMEOUT = {"timeout"}
