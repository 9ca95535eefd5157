"""A call, from the arguments that a model sent to the result that it reads.

``make_call`` is the whole of it for sync code, ``async_runner.make_call`` for async code.
"""

from __future__ import annotations

import logging
from functools import partial
from time import perf_counter, time
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.asking import find_client
from sovl_tools.dispatch.failure import failure_of, without_secrets
from sovl_tools.dispatch.hooks import run_hooks
from sovl_tools.dispatch.prepared import DynamicTool, Observer, PreparedTool, UnpreparedTool
from sovl_tools.dispatch.runner import pause, run
from sovl_tools.dispatch.scope import CallScope, new_call_id
from sovl_tools.dispatch.steps import Value
from sovl_tools.model.call import CallEvent, ToolCall
from sovl_tools.model.client_requests import answer_of
from sovl_tools.model.document import copied
from sovl_tools.model.errors import RunCancelledError
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")

MAX_CHAIN = 16
"""The longest chain of tools that call each other."""

Outcome: TypeAlias = Value | Failure | ToolResult
"""The outcome of a call: its value and content, a failure, or the result that hooks returned."""


def make_call(
    tool: PreparedTool | DynamicTool, given: Arguments, scope: CallScope | None, limit: float | None
) -> ToolResult:
    """Make a call and return its result, also if the model or the tool is wrong.

    It can take ``limit`` seconds, not counting hooks. ``scope`` is None if the call needs none; see
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
                    if isinstance(error, KeyboardInterrupt):
                        raise
                    keywords = failure_of_call(attempts.tool, error, inner)
                return attempts.end(inner, keywords)

            outcome = run_hooks(
                ready.hooks,
                attempts.call,
                attempt,
                partial(pause, scope=scope),
                lambda asked: answer_of(
                    asked, find_client(scope, ready.secrets, type(asked))(asked)
                ),
            )
        else:
            outcome = run(ready, found, scope, limit)
    except BaseException as error:  # becomes the result, or is raised again
        is_own = isinstance(error, KeyboardInterrupt)
        result = end_in_error(tool, given, error, scope, started, is_own_end=is_own)
        if is_own:
            raise
        return result
    return end_call(tool, given, outcome, scope, started)


def check_arguments(
    tool: PreparedTool, given: Arguments, scope: CallScope | None
) -> dict[str, Any] | Failure:
    """Return the checked arguments of a call, or why they are rejected."""
    keywords = tool.arguments(given)
    if scope is None or (len(scope.chain) == 1 and scope.coerce == "strict"):
        return keywords
    return _check_chain_and_repair(tool, given, keywords, scope)


def _check_chain_and_repair(
    tool: PreparedTool, given: Arguments, keywords: dict[str, Any] | Failure, scope: CallScope
) -> dict[str, Any] | Failure:
    """Return the checked arguments as the call wants them: repaired, or rejected after all."""
    *above, name = scope.chain
    # a tool that calls itself would wait for its own limiter, or never end
    if name in above or len(above) >= MAX_CHAIN:
        reason = "in a circle" if name in above else "so deep"
        words = f"tools can't call each other {reason}: {' → '.join(scope.chain)}"
        return Failure("tool_error", words)
    is_doubtful = isinstance(keywords, Failure) or tool.arguments.replaced
    if is_doubtful and scope.coerce == "lenient":
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
        scope.has_hooks = True

    def begin(self, call: ToolCall) -> tuple[CallScope, Any]:
        """Return the scope of an attempt, and its arguments or why they are rejected."""
        # hooks check the arguments again, or use them again: each attempt gets a copy
        is_same = call.arguments is self.call.arguments
        keywords = copied(self._keywords) if is_same else self.tool.arguments(call.arguments)
        return self._scope.attempt(), keywords

    def end(self, scope: CallScope, outcome: Any) -> ToolResult:
        """Return the result of an attempt, which has a value and content, or a failure."""
        scope.end()
        error = outcome if isinstance(outcome, Failure) else None
        value, content = (None, ()) if isinstance(outcome, Failure) else outcome
        duration = perf_counter() - scope.started
        return ToolResult(self.tool.name, value, error, duration, content)


def end_in_error(  # noqa: PLR0913 - the facts about a call that has begun
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
    # a failure lists repairs too: the model sees how its arguments were changed
    repairs = () if scope is None else scope.repairs
    result = ToolResult(tool.name, value, error, duration, content, repairs)
    # the background loop and the caller that gave it up may both have a result
    if scope is not None and not scope.end():
        return result
    tool.log.add(duration, error)
    if tool.observers:
        call_id = new_call_id() if scope is None else scope.call_id
        emit(tool.observers, given, result, call_id, alias=None if scope is None else scope.alias)
    return result


def emit(
    observers: tuple[Observer, ...],
    given: Arguments,
    result: ToolResult,
    call_id: str,
    *,
    alias: str | None = None,
) -> None:
    """Call every observer; a failing observer doesn't affect the next."""
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
        message=None if error is None else error.message,
        alias=alias,
    )
    for observer in observers:
        try:
            observer(event)
        except Exception:
            # observers are the user's: their exceptions must not change a result
            _LOGGER.exception("an observer failed at a call of %s", result.tool)
