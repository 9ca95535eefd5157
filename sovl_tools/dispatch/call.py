"""A call, from the arguments that a model sent to the result that it reads.

``make_call`` is the whole of it for sync code, ``async_runner.make_call`` for async code.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter, time
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.failure import failure_of, log_exception, without_secrets
from sovl_tools.dispatch.hooks import run_hooks
from sovl_tools.dispatch.prepared import DynamicTool, Engine, Observer, PreparedTool, UnpreparedTool
from sovl_tools.dispatch.runner import pause, run
from sovl_tools.dispatch.scope import CallScope, Sink, new_call_id
from sovl_tools.dispatch.steps import Value
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

_LOGGER = logging.getLogger("sovl_tools")

MAX_CHAIN = 16
"""How many tools may call one another."""

Outcome: TypeAlias = Value | Failure | ToolResult
"""What a call came to: its value and content, a failure, or the result that hooks returned."""


def make_call(
    tool: PreparedTool | DynamicTool, given: Arguments, scope: CallScope | None, limit: float | None
) -> ToolResult:
    """Make a call and return its result, whatever the model or the tool does wrong.

    It may take ``limit`` seconds, not counting hooks. ``scope`` is None where none is needed; see
    ``UnpreparedTool.is_scoped``.
    """
    started = perf_counter() if scope is None else scope.started
    try:
        ready: PreparedTool = (
            tool if isinstance(tool, PreparedTool) else run(tool, None, scope, limit)
        )
        # before anything else: a rejected call costs no thread and no room
        found = check_arguments(ready, given, scope)
        if isinstance(found, Failure):
            outcome: Outcome = found
        elif scope is not None and ready.hooks:
            attempts = Attempts(ready, found, scope)

            def attempt(again: ToolCall) -> ToolResult:
                inner, keywords = attempts.begin(again)
                try:
                    if not isinstance(keywords, Failure):
                        keywords = run(attempts.tool, keywords, inner, limit)
                except BaseException as error:
                    if issubclass(type(error), KeyboardInterrupt):
                        raise
                    keywords = failure_of_call(attempts.tool, error, inner)
                return attempts.end(inner, keywords)

            outcome = run_hooks(ready.hooks, attempts.call, attempt, partial(pause, scope=scope))
        else:
            outcome = run(ready, found, scope, limit)
    except BaseException as error:  # becomes the result, or is raised again
        is_own = issubclass(type(error), KeyboardInterrupt)
        result = end_in_error(tool, given, error, scope, started, is_own_end=is_own)
        if is_own:
            raise
        return result
    return end_call(tool, given, outcome, scope, started)


def check_arguments(
    tool: PreparedTool, given: Arguments, scope: CallScope | None
) -> dict[str, Any] | Failure:
    """Return the checked arguments of a call, or why they are rejected."""
    keywords = tool.check(given)
    if scope is None or (len(scope.chain) == 1 and scope.coerce == "strict"):
        return keywords
    return _check_chain_and_repair(tool, given, keywords, scope)


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


class Attempts:
    """The attempts that the hooks of a call make: any number, or none.

    Attributes:
        tool: the tool.
        call: the call as the first hook gets it.
    """

    def __init__(self, tool: PreparedTool, keywords: dict[str, Any], scope: CallScope) -> None:
        self.tool = tool
        self.call = ToolCall(
            tool.definition, MappingProxyType(keywords), scope.call_id, scope.chain
        )
        self._keywords = keywords
        self._scope = scope

    def begin(self, call: ToolCall) -> tuple[CallScope, Any]:
        """Return the scope of an attempt, and its arguments or why they are rejected."""
        # hooks look at the arguments again, or use them again: each attempt gets a copy
        is_same = call.arguments is self.call.arguments
        return (
            self._scope.attempt(),
            copied(self._keywords) if is_same else self.tool.check(call.arguments),
        )

    def end(self, scope: CallScope, outcome: Any) -> ToolResult:
        """Return the result of an attempt, which has a value and content, or a failure."""
        scope.end()
        error = outcome if isinstance(outcome, Failure) else None
        value, content = (None, ()) if isinstance(outcome, Failure) else outcome
        duration = perf_counter() - scope.started
        return ToolResult(self.tool.name, value, error, duration, content)


def end_in_error(  # noqa: PLR0913 - what is known of a call that has begun
    tool: UnpreparedTool,
    given: Arguments,
    error: BaseException,
    scope: CallScope | None,
    started: float,
    *,
    is_own_end: bool,
) -> ToolResult:
    """End a call that an exception ended; observers hear of the end of the caller, too."""
    if is_own_end:
        if scope is not None:
            scope.stop()
        error = RunCancelledError()
    failure = failure_of_call(tool, error, scope)
    return end_call(tool, given, failure, scope, started)


def failure_of_call(tool: UnpreparedTool, error: BaseException, scope: CallScope | None) -> Failure:
    """Return the failure of a call that an exception ended."""
    abandoned: Literal["thread", "task", "call"] | None = None
    if scope is not None and scope.is_abandoned:
        abandoned = "task" if tool.is_async else "thread"
        if scope.mode == "process":
            abandoned = "call"
    return failure_of(
        error,
        tool.name,
        function=tool.definition.function,
        secrets=tool.secrets,
        abandoned=abandoned,
    )


def end_call(
    tool: UnpreparedTool,
    given: Arguments,
    outcome: Outcome,
    scope: CallScope | None,
    started: float,
) -> ToolResult:
    """Count a call and report its end, once; return its result without the tool's secrets."""
    duration = perf_counter() - started
    error: Failure | None = None
    if isinstance(outcome, ToolResult):
        _, value, error, _, content, _ = outcome
    elif isinstance(outcome, Failure):
        value, content, error = None, (), outcome
    else:
        value, content = outcome
    if error is not None:
        error = without_secrets(error, tool.secrets)
    # a failure lists repairs too: the model sees what was made of its arguments
    repairs = () if scope is None else scope.repairs
    result = ToolResult(tool.name, value, error, duration, content, repairs)
    # the background loop and the caller that gave it up may both have a result
    if scope is not None and not scope.end():
        return result
    tool.log.add(duration, error)
    if tool.observers:
        call_id = new_call_id() if scope is None else scope.call_id
        _emit(tool.observers, given, result, call_id)
    return result


def _emit(
    observers: tuple[Observer, ...], given: Arguments, result: ToolResult, call_id: str
) -> None:
    """Call every observer; one that fails doesn't affect the others."""
    error = result.error
    event = CallEvent(
        result.tool,
        call_id,
        time() - result.duration,
        result.duration,
        kind=None if error is None else error.kind,
        error_type=None if error is None else error.error_type,
        is_abandoned=error is not None and error.is_abandoned,
        arguments=given,
        value=result.value,
    )
    for observer in observers:
        try:
            observer(event)
        except KeyboardInterrupt:
            raise
        # observers are the user's: what they raise must not change a result
        except BaseException:  # noqa: BLE001 - logged
            log_exception("an observer failed at a call of %s", result.tool)


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
        if isinstance(tool, Failure):
            return self._rejected(name, arguments, tool, options)
        limit = tool.limit if timeout is None else check_seconds("timeout", timeout)
        scope = None
        if tool.is_scoped or limit is not None or options or self._parent is not None:
            scope = self.scope(tool, limit, options)
        if scope is None or not tool.needs_loop:
            return make_call(tool, arguments, scope, limit)
        # no import cost: the tool or a hook has imported asyncio
        from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415

        make_async = self._engine.find_async_call()
        try:
            # hooks may take as long as they like
            work = make_async(tool, arguments, scope, limit)
            return run_in_background(work, limit=None if tool.hooks else limit)
        except BaseException as error:
            if issubclass(type(error), KeyboardInterrupt):
                raise
            if isinstance(error, TimeLimitError):  # the loop itself is blocked
                scope.abandon()
                scope.stop()
            failure = failure_of_call(tool, error, scope)
            return end_call(tool, arguments, failure, scope, scope.started)

    async def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - it is the tool's
        **options: Any,
    ) -> ToolResult:
        """Call a tool and await its result; see ``call_sync`` for the arguments.

        An async tool runs on the caller's loop. A sync tool runs on a thread of its own, so that
        the loop never blocks, unless its ``execution.mode`` is ``"inline"``. With ``"process"``
        either runs in a worker process.
        """
        engine = self._engine
        tool = engine.tool(name)
        if isinstance(tool, Failure):
            return self._rejected(name, arguments, tool, options)
        limit = tool.limit if timeout is None else check_seconds("timeout", timeout)
        scope = None
        if tool.is_scoped_async or limit is not None or options or self._parent is not None:
            scope = self.scope(tool, limit, options)
        make_async = engine.async_call or engine.find_async_call()
        return await make_async(tool, arguments, scope, limit)

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

    def _rejected(
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
