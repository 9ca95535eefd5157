"""A call, from the arguments that a model sent to the result that it reads.

It is written once, for sync and for async callers; a runner does what differs between the two.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from time import perf_counter, time
from types import CoroutineType, MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.failure import failure_of, log_exception, without_secrets
from sovl_tools.dispatch.hooks import run_hooks
from sovl_tools.dispatch.prepared import DynamicTool, Engine, Observer, PreparedTool, UnpreparedTool
from sovl_tools.dispatch.runner import SYNC, Runner, run_without_loop
from sovl_tools.dispatch.scope import CallScope, Sink, new_call_id
from sovl_tools.dispatch.statistics import FULL
from sovl_tools.model.call import MODES, CallEvent, ToolCall
from sovl_tools.model.caller import (
    check_function,
    check_seconds,
    check_text,
    check_word,
)
from sovl_tools.model.client_requests import REQUESTS
from sovl_tools.model.document import copied
from sovl_tools.model.errors import RunCancelledError, TimeLimitError
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.model.suggestion import one_of

_T = TypeVar("_T")
_LOGGER = logging.getLogger("sovl_tools")
# the reason: mypy takes it for one of tuples alone
_new: Callable[[type[_T], tuple[Any, ...]], _T] = tuple.__new__  # type: ignore[assignment]
"""Makes a result or the like of all its fields, in a fifth of the time that its type would take."""

MAX_CHAIN = 16
"""How many tools may call one another."""


def call(
    tool: PreparedTool | DynamicTool,
    given: Arguments,
    runner: Runner,
    scope: CallScope | None,
    limit: float | None,
) -> ToolResult | Coroutine[Any, Any, ToolResult]:
    """Make a call and return its result, whatever the model or the tool does wrong.

    If something has to be awaited for it, that is returned in its place: most calls wait for
    nothing, and need no coroutine. The call may take ``limit`` seconds, not counting hooks.
    ``scope`` is None where none is needed; see ``UnpreparedTool.is_scoped``.
    """
    started = perf_counter() if scope is None else scope.started
    if type(tool) is DynamicTool:
        return _resolve_and_call(tool, given, runner, scope, limit)
    try:
        # before anything else: a refused call costs no thread and no room
        outcome: _Outcome = tool.check(given)
        if scope is not None and (len(scope.chain) > 1 or scope.coerce == "lenient"):
            outcome = _check_chain_and_repair(tool, given, outcome, scope)
        if type(outcome) is not Failure:
            if scope is not None and tool.hooks:
                outcome = _call_hooks(tool, outcome, runner, scope, limit)
            else:
                outcome = runner.run(tool, outcome, scope, limit)
    except BaseException as error:  # noqa: BLE001 - becomes the result, or is raised again
        return _end_in_error(tool, given, error, runner, scope, started)
    if type(outcome) is CoroutineType:
        return _await_outcome(tool, given, runner, scope, started, outcome)
    return _end_call(tool, given, outcome, scope, started)


async def call_async(
    tool: PreparedTool | DynamicTool,
    given: Arguments,
    runner: Runner,
    scope: CallScope | None,
    limit: float | None,
) -> ToolResult:
    """Make a call on an event loop, and await what has to be awaited; see ``call``."""
    found = call(tool, given, runner, scope, limit)
    return found if isinstance(found, ToolResult) else await found


_Outcome: TypeAlias = Any
"""What came of a call: its value and content, or a Failure, or the result that hooks returned."""


async def _await_outcome(  # noqa: PLR0913, PLR0917 - what is known of a call that has begun
    tool: UnpreparedTool,
    given: Arguments,
    runner: Runner,
    scope: CallScope | None,
    started: float,
    rest: Awaitable[_Outcome],
) -> ToolResult:
    try:
        outcome = await rest
    except BaseException as error:  # noqa: BLE001 - becomes the result, or is raised again
        return _end_in_error(tool, given, error, runner, scope, started)
    return _end_call(tool, given, outcome, scope, started)


async def _resolve_and_call(
    tool: DynamicTool,
    given: Arguments,
    runner: Runner,
    scope: CallScope | None,
    limit: float | None,
) -> ToolResult:
    """Have a tool's schema made, and make the call with what it is now."""
    started = perf_counter() if scope is None else scope.started
    try:
        ready = runner.run(tool, None, scope, limit)
        ready = (await ready) if type(ready) is CoroutineType else ready
    except BaseException as error:  # noqa: BLE001 - becomes the result, or is raised again
        return _end_in_error(tool, given, error, runner, scope, started)
    return await call_async(ready, given, runner, scope, limit)


def _check_chain_and_repair(
    tool: PreparedTool, given: Arguments, keywords: dict[str, Any] | Failure, scope: CallScope
) -> dict[str, Any] | Failure:
    """Return the checked arguments as the call wants them: repaired, or refused after all."""
    *above, name = scope.chain
    # a tool that calls itself would wait for its own limiter, or never end
    if name in above or len(above) >= MAX_CHAIN:
        reason = "in a circle" if name in above else "so deep"
        words = f"tools can't call one another {reason}: {' → '.join(scope.chain)}"
        return Failure("tool_error", words)
    if isinstance(keywords, Failure) and scope.coerce == "lenient":
        from sovl_tools.dispatch.repair import repaired  # noqa: PLC0415 - seldom needed

        keywords, scope.repairs = repaired(tool.arguments, given, keywords)
    return keywords


def _call_hooks(
    tool: PreparedTool,
    keywords: dict[str, Any],
    runner: Runner,
    scope: CallScope,
    limit: float | None,
) -> _Outcome:
    """Take the call through its hooks, which may make any number of attempts or none."""
    # hooks look at the arguments again, or have them used again: each attempt gets a copy
    arguments = MappingProxyType(keywords)

    async def attempt(again: ToolCall) -> ToolResult:
        inner = scope.attempt()
        value, content, failure = None, (), None
        try:
            is_same = again.arguments is arguments
            outcome: _Outcome = copied(keywords) if is_same else tool.check(again.arguments)
            if type(outcome) is not Failure:
                outcome = runner.run(tool, outcome, inner, limit)
            if type(outcome) is CoroutineType:
                outcome = await outcome
        except BaseException as error:
            if runner.is_own_end(error):
                raise
            outcome = _failure_of(tool, error, runner, inner)
        finally:
            inner.end()
        if type(outcome) is tuple:
            value, content = outcome
        else:
            failure = outcome
        duration = perf_counter() - inner.started
        return _new(ToolResult, (tool.name, value, failure, duration, content, ()))

    first = _new(ToolCall, (tool.definition, arguments, scope.call_id, scope.chain))
    return runner.whole(run_hooks(tool.hooks, first, scope, runner, attempt), scope)


def _end_in_error(  # noqa: PLR0913, PLR0917 - what is known of a call that has begun
    tool: UnpreparedTool,
    given: Arguments,
    error: BaseException,
    runner: Runner,
    scope: CallScope | None,
    started: float,
) -> ToolResult:
    """End a call that an exception has ended; observers hear of the caller's own end as well."""
    failure = _failure_of(tool, error, runner, scope)
    result = _end_call(tool, given, failure, scope, started)
    try:
        if runner.is_own_end(error):
            raise error
    finally:
        # or the exception and this frame would wait for the collector together
        del error
    return result


def _failure_of(
    tool: UnpreparedTool,
    error: BaseException,
    runner: Runner,
    scope: CallScope | None,
) -> Failure:
    """Turn an exception into a failure; the end of the caller is a cancellation."""
    if runner.is_own_end(error):
        error = RunCancelledError()
        if scope is not None:
            scope.stop()
    abandoned: Literal["thread", "call"] | None = None
    if scope is not None and scope.is_abandoned:
        abandoned = "call" if scope.mode == "process" else "thread"
    return failure_of(
        error,
        tool.name,
        function=tool.definition.function,
        secrets=tool.secrets,
        abandoned=abandoned,
    )


def _end_call(
    tool: UnpreparedTool,
    given: Arguments,
    outcome: _Outcome,
    scope: CallScope | None,
    started: float,
) -> ToolResult:
    """Count a call and tell of its end, once; return its result without the tool's secrets."""
    duration = perf_counter() - started
    error: Failure | None = None
    if type(outcome) is tuple:
        value, content = outcome
    elif type(outcome) is Failure:
        value, content, error = None, (), outcome
    else:
        _, value, error, _, content, _ = outcome
    if error is not None:
        error = without_secrets(error, tool.secrets)
    # a failure lists repairs too: the model sees what was made of its arguments
    repairs = () if scope is None else scope.repairs
    result = _new(ToolResult, (tool.name, value, error, duration, content, repairs))
    # the background loop and the caller that gave it up may both have a result
    if scope is not None and not scope.end():
        return result
    log = tool.log
    if error is None:
        log.append(duration)
        # appending is all that most calls do; one in a thousand sorts them in
        if len(log.durations) >= FULL:
            log.fold()
    else:
        log.failed(error.kind, duration, abandoned=error.is_abandoned)
    if tool.observers:
        call_id = new_call_id() if scope is None else scope.call_id
        _emit(tool.observers, given, result, call_id)
    return result


def _emit(
    observers: tuple[Observer, ...], given: Arguments, result: ToolResult, call_id: str
) -> None:
    """Tell every observer; one that fails disturbs nobody."""
    name, value, error, duration = result[:4]
    kind, error_type, is_abandoned = None, None, False
    if error is not None:
        kind, _, _, error_type, is_abandoned, _ = error
    began = time() - duration
    event = _new(
        CallEvent,
        (name, call_id, began, duration, kind, error_type, is_abandoned, given, value),
    )
    for observer in observers:
        try:
            observer(event)
        except KeyboardInterrupt:
            raise
        # observers are the user's: what they raise must not change a result
        except BaseException:  # noqa: BLE001 - logged
            log_exception("an observer failed at a call of %s", name)


class Caller:
    """Calls tools: those that a tool calls through its context know that they are below its call.

    A call returns a ToolResult for whatever the model or the tool did wrong. It raises only for
    the caller's own mistakes and for the caller's own cancellation.
    """

    def __init__(self, engine: Engine, parent: CallScope | None = None) -> None:
        self._engine = engine
        self._parent = parent

    def call_sync(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> ToolResult:
        """Call a tool and wait for its result.

        A sync tool runs in the caller's thread, or on a thread of its own if there is a time
        limit; an async tool on one long-lived loop in the background, so that this works under
        a running loop as well.

        Args:
            name: the tool's name.
            arguments: an object, JSON text of one, or nothing. It is not changed.
            timeout: how long the call may take, in seconds; None for what the tool or the Tooler
                says.
            options: ``mode``, ``coerce`` and ``on_event`` for this call, as for the Tooler;
                ``on_elicit``, ``on_sample`` and ``on_list_roots``, which answer what the tool asks
                of its client (``model.client_requests.Ask``); ``call_id``, by which ``cancel``
                knows the call.

        Raises:
            ValueError: the timeout is not more than 0, or a call of that id is under way.
            TypeError: there is no such option.
        """
        # a scope costs as much as the rest of a call: only what may stop or look at it has one
        tool = self._engine.tool(name)
        if type(tool) is Failure:
            return self._refused(name, arguments, tool, options)
        scope, limit = None, tool.limit if timeout is None else check_seconds("timeout", timeout)
        if tool.is_scoped or limit is not None or options or self._parent is not None:
            scope = self.scope(tool, limit, options)
        if scope is None or not tool.needs_loop:
            found = call(tool, arguments, SYNC, scope, limit)
            return found if isinstance(found, ToolResult) else run_without_loop(found)
        runner = self._engine.find_async_runner()
        work = call_async(tool, arguments, runner, scope, limit)
        try:
            # no import cost: the tool or a hook of its own has imported asyncio
            from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415

            # hooks may take as long as they like
            return run_in_background(work, limit=None if tool.hooks else limit)
        except BaseException as error:
            if SYNC.is_own_end(error):
                raise
            if isinstance(error, TimeLimitError):  # the loop itself is blocked
                scope.abandon()
                scope.stop()
            failure = _failure_of(tool, error, SYNC, scope)
            return _end_call(tool, arguments, failure, scope, scope.started)

    async def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - it is the tool's, armed if it suspends
        **options: Any,
    ) -> ToolResult:
        """Call a tool and await its result; see ``call_sync`` for the arguments.

        An async tool runs on the caller's loop. A sync tool runs on a thread of its own, so that
        the loop never blocks, unless its ``execution.mode`` is ``"inline"``. With ``"process"``
        either runs in a worker process.
        """
        engine = self._engine
        tool, runner = engine.tool(name), engine.async_runner or engine.find_async_runner()
        if type(tool) is Failure:
            return self._refused(name, arguments, tool, options)
        scope, limit = None, tool.limit if timeout is None else check_seconds("timeout", timeout)
        if tool.is_scoped_async or options or self._parent is not None:
            scope = self.scope(tool, limit, options)
        found = call(tool, arguments, runner, scope, limit)
        return found if isinstance(found, ToolResult) else await found

    def scope(
        self,
        tool: UnpreparedTool,
        limit: float | None,
        options: Mapping[str, Any],
        sink: Sink | None = None,
    ) -> CallScope:
        """Return the scope of a call that begins now; see ``call_sync`` for the options.

        Raises:
            TypeError: there is no such option.
            ValueError: an option makes no sense, or a call of that id is under way.
        """
        if options:
            check_options(options)
        parent, engine = self._parent, self._engine
        chain = (tool.name,) if parent is None else (*parent.chain, tool.name)
        call_id: str = options.get("call_id") or new_call_id()
        scope = CallScope(call_id, chain, parent, limit, engine.under_way)
        scope.mode, scope.coerce, scope.sink = tool.mode, tool.coerce, sink
        if options:
            scope.mode = options.get("mode") or scope.mode
            scope.coerce = options.get("coerce") or scope.coerce
            scope.listen = options.get("on_event") or scope.listen
            if not REQUESTS.keys().isdisjoint(options):
                asks = {kind: options.get(name) for name, kind in REQUESTS.items()}
                scope.asks = {**scope.asks, **{kind: ask for kind, ask in asks.items() if ask}}
        return scope

    def _refused(
        self, name: str, given: Arguments, failure: Failure, options: Mapping[str, Any]
    ) -> ToolResult:
        """Return the result of a call of what can't be called, and tell of it."""
        check_options(options)
        result = ToolResult(name, None, failure, 0.0)
        call_id = options.get("call_id") or new_call_id()
        _emit(self._engine.settings.observers, given, result, call_id)
        return result


def check_options(options: Mapping[str, Any]) -> None:
    """Refuse options of a call that make no sense.

    Raises:
        TypeError: there is no such option.
        ValueError: the timeout is not more than 0, or a word is unknown.
    """
    for name, value in options.items():
        check = _OPTIONS.get(name)
        if check is None:
            raise TypeError(f"a call has no option {name!r}, but {one_of(_OPTIONS)}")
        if value is not None:
            check(name, value)


_OPTIONS: Mapping[str, Callable[[str, Any], object]] = {
    "timeout": check_seconds,
    "mode": partial(check_word, words=(None, *MODES)),
    "coerce": partial(check_word, words=(None, "strict", "lenient")),
    "call_id": check_text,
    **dict.fromkeys(("on_event", *REQUESTS), check_function),
}
"""What checks each option, if one is given and not None."""
