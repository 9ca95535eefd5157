"""Calls tools by name, with options, for sync and for async code; ``call`` makes one call."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from typing import Any

from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.asking import OnThread
from sovl_tools.dispatch.call import emit, end_call, failure_of_call, make_call
from sovl_tools.dispatch.prepared import DynamicTool, Engine, PreparedTool, UnpreparedTool
from sovl_tools.dispatch.scope import CallScope, Sink, new_call_id
from sovl_tools.model.call import MODES
from sovl_tools.model.caller import (
    check_function,
    check_seconds,
    check_text,
    check_word,
)
from sovl_tools.model.client_requests import REQUESTS, HostRequest
from sovl_tools.model.context import ToolLookup
from sovl_tools.model.errors import TimeLimitError, UnavailableError
from sovl_tools.model.host import Host
from sovl_tools.model.policy import Coerce
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.model.suggestion import one_of


@cache
def async_call() -> Callable[..., Coroutine[Any, Any, ToolResult]]:
    """Return ``async_runner.make_call``; asyncio is imported when it's needed first."""
    from sovl_tools.dispatch.async_runner import make_call  # noqa: PLC0415 - asyncio, 20 ms

    return make_call


class Caller:
    """Calls tools: the calls a tool makes through its context are below its own call.

    A call returns a ToolResult, also if the model or the tool was wrong. It raises only for
    the caller's own mistakes and for the caller's own cancellation.
    """

    def __init__(
        self, engine: Engine, parent: CallScope | None = None, view: ToolLookup | None = None
    ) -> None:
        self._engine = engine
        self._parent = parent
        self._view = view

    def call_sync(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,
        **options: Any,
    ) -> ToolResult:
        """Call a tool and wait for its result.

        A sync tool runs in the caller's thread, or on its own thread if there is a time
        limit; an async tool on one long-lived loop in the background, so that this works under
        a running loop as well.

        Args:
            name: the tool's name or an alias.
            arguments: an object, JSON text of one, or None. It isn't changed.
            timeout: the call's limit, in seconds; None for the limit of the tool or the Tooler
                says.
            options: ``mode``, ``coerce``, ``host`` and ``on_event`` for this call, as for the
                Tooler; ``on_elicit``, ``on_sample``, ``on_list_roots`` and ``on_approve``, which
                win over the host's; ``call_id``, the call's name for ``cancel``.

        Raises:
            ValueError: the timeout is not more than 0, or a call of that id is running.
            TypeError: an option is unknown.
        """
        # a scope costs as much as the rest of a call: only calls that can be stopped have one
        tool = self._engine.tool(name, options.get("coerce"), self._view)
        if isinstance(tool, Failure):
            return self._rejected(name, arguments, tool, options)
        limit = tool.limit if timeout is None else tool.limit_of(timeout)
        scope = None
        is_former = name != tool.name
        if tool.is_scoped or limit is not None or options or is_former or self._parent is not None:
            scope = self.scope(tool, limit, options, name=name)
        if scope is None or not tool.needs_loop:
            return make_call(tool, arguments, scope, limit)
        # no import cost: the tool or a hook has imported asyncio
        from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415

        make_async = async_call()
        try:
            return run_in_background(make_async(tool, arguments, scope, limit), scope=scope)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
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

        An async tool runs on the caller's loop. A sync tool runs on its own thread, so that
        the loop never blocks, unless its ``execution.mode`` is ``"inline"``. With ``"process"``
        either runs in a worker process.
        """
        tool = await self._tool(name, options)
        if isinstance(tool, Failure):
            return self._rejected(name, arguments, tool, options)
        limit = tool.limit if timeout is None else tool.limit_of(timeout)
        scope, is_former = None, name != tool.name
        if tool.is_scoped_async or limit is not None or options or is_former or self._parent:
            scope = self.scope(tool, limit, options, name=name)
        return await async_call()(tool, arguments, scope, limit)

    async def _tool(
        self, name: str, options: Mapping[str, Any]
    ) -> PreparedTool | DynamicTool | Failure:
        """Return ``Engine.tool``; a deferred module is imported on a thread, not on the loop."""
        coerce: Coerce | None = options.get("coerce")
        deferred = self._engine.deferred(name, coerce, self._view)
        if deferred is not None:
            from sovl_tools.dispatch.async_runner import await_thread  # noqa: PLC0415 - as above

            with suppress(UnavailableError):  # which preparing the tool tells
                await await_thread(deferred.tool)
        return self._engine.tool(name, coerce, self._view)

    def scope(
        self,
        tool: UnpreparedTool,
        limit: float | None,
        options: Mapping[str, Any],
        *,
        name: str,
        sink: Sink | None = None,
    ) -> CallScope:
        """Return the scope of a call by a name that begins now; see ``call_sync`` for the options.

        Raises:
            TypeError: an option is unknown.
            ValueError: an option makes no sense, or a call of that id is running.
        """
        if options:
            check_options(options)
        parent, engine = self._parent, self._engine
        chain = (tool.name,) if parent is None else (*parent.chain, tool.name)
        call_id: str = options.get("call_id") or new_call_id()
        scope = CallScope(call_id, chain, parent, limit, engine.under_way)
        scope.mode, scope.coerce, scope.sink = tool.mode, tool.coerce, sink
        if name != tool.name:
            scope.alias = name
            engine.note_alias(name, tool.name)
        host = options.get("host") or (engine.settings.host if parent is None else None)
        if host is not None:
            scope.listen = host.on_event or scope.listen
            scope.asks = {**scope.asks, **_asks_of(host)}
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
        """Return the result of a call to a tool that can't be called, and report it."""
        check_options(options)
        meant = self._engine.meant(name, options.get("coerce"), self._view)
        result = ToolResult(meant, None, failure, 0.0)
        call_id = options.get("call_id") or new_call_id()
        alias = None if meant == name else name
        emit(self._engine.settings.observers, given, result, call_id, alias=alias)
        return result


def check_options(options: Mapping[str, Any]) -> None:
    """Reject options of a call that make no sense.

    Raises:
        TypeError: an option is unknown.
        ValueError: the timeout is not more than 0, or a word is unknown.
    """
    for name, value in options.items():
        check = _OPTIONS.get(name)
        if check is None:
            raise TypeError(f"a call has no option {name!r}, but {one_of(_OPTIONS)}")
        if value is not None:
            check(name, value)


def check_host(name: str, host: Any) -> Host:
    """Return a host.

    Raises:
        TypeError: it is another object.
    """
    if not isinstance(host, Host):
        raise TypeError(f"{name} must be a Host, not {host!r:.80}")
    return host


@lru_cache(maxsize=64)
def _asks_of(host: Host) -> Mapping[type[HostRequest], Any]:
    """Return the functions of a host that answer, by the kind of request."""
    asks = {kind: getattr(host, option) for option, kind in REQUESTS.items()}
    return {kind: OnThread(ask) for kind, ask in asks.items() if ask is not None}


_OPTIONS: Mapping[str, Callable[[str, Any], object]] = {
    "timeout": check_seconds,
    "mode": partial(check_word, words=(None, *MODES)),
    "coerce": partial(check_word, words=(None, "strict", "lenient")),
    "call_id": check_text,
    "host": check_host,
    **dict.fromkeys(("on_event", *REQUESTS), check_function),
}
"""What checks each option, if one is given and not None."""
