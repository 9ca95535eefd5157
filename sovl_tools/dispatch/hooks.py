"""Middleware: functions around a call that may change it, repeat it or answer in its place."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from sovl_tools.dispatch.failure import message_of, secrets_of, trace_of, type_name
from sovl_tools.dispatch.runner import Runner
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.steps import passable_error
from sovl_tools.model.call import ToolCall
from sovl_tools.model.caller import check_names
from sovl_tools.model.errors import RunCancelledError, ToolError
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")

HookFunction: TypeAlias = Callable[[ToolCall, Any], Any]
"""``(call, next)``: a sync or async function that returns a result, or a generator function.

``next(call)`` is the result of whatever comes after the hook, awaited in an async one. A generator
function serves sync and async calls alike: it yields ``next(call)`` to get the result, may yield
``Pause(seconds)``, and returns a result.
"""

Form: TypeAlias = Literal["sync", "async", "generator"]
_F = TypeVar("_F", bound=Callable[..., Any])
Following: TypeAlias = Callable[[ToolCall], Awaitable[ToolResult]]


class Pause(NamedTuple):
    """Yielded by a generator hook to wait, in seconds, without blocking an event loop."""

    seconds: float


class Hook(NamedTuple):
    """A hook and the tools that it is for.

    Attributes:
        function: see ``HookFunction``.
        tools: shell patterns of tool names; None for every tool.
        form: how the function is run; ``hook`` finds out.
    """

    function: HookFunction
    tools: tuple[str, ...] | None = None
    form: Form = "sync"

    @property
    def name(self) -> str:
        """The function's name, for messages."""
        return getattr(self.function, "__name__", None) or type_name(type(self.function))

    def concerns(self, tool: str) -> bool:
        """Tell whether the hook is for the tool of that name."""
        return self.tools is None or any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def __call__(self, call: ToolCall, following: Any) -> Any:
        """Call the function."""
        return self.function(call, following)


def patterns_of(tools: Iterable[str] | str | None) -> tuple[str, ...] | None:
    """Return the shell patterns of tool names that were given, one or several; None for every."""
    if isinstance(tools, str):
        return (tools,)
    return None if tools is None else check_names("tools", tools)


class _Hooking:
    """``hook``: makes functions hooks, and methods of an agent ones of its conversation."""

    @overload
    def __call__(self, function: Hook | HookFunction, /) -> Hook: ...
    @overload
    def __call__(
        self, function: None = None, /, *, tools: Iterable[str] | str
    ) -> Callable[[Hook | HookFunction], Hook]: ...
    def __call__(
        self,
        function: Hook | HookFunction | None = None,
        /,
        *,
        tools: Iterable[str] | str | None = None,
    ) -> Hook | Callable[[Hook | HookFunction], Hook]:
        """Make a function a hook, for the tools of those names or for all.

        It is registered with a Tooler: ``Tooler(registry, hooks=[approve])``. Names may be shell
        patterns: ``@hook(tools="delete_*")``.

        Raises:
            TypeError: what is decorated can't be called.
        """
        patterns = patterns_of(tools)

        def decorate(function: Hook | HookFunction) -> Hook:
            if not callable(function):
                raise TypeError(f"a hook must be a function (call, next), not {function!r:.80}")
            # hook(retry(), tools="x"): the names that were said last count
            inner, own, form = function if isinstance(function, Hook) else Hook(function)
            # an object is what its __call__ is
            for each in (getattr(inner, "__call__", None), inner):  # noqa: B004 - its code
                if inspect.iscoroutinefunction(each):
                    form = "async"
                elif inspect.isgeneratorfunction(each):
                    form = "generator"
            return Hook(inner, patterns or own, form)

        return decorate if function is None else decorate(function)

    @overload
    def system(self, method: _F, /) -> _F: ...
    @overload
    def system(self, method: None = None, /) -> Callable[[_F], _F]: ...
    def system(self, method: _F | None = None, /) -> _F | Callable[[_F], _F]:
        """Make a method of an Agent add to the system prompt.

        It takes nothing and returns what ``Agent._system_messages`` may return; sync or async.
        ``@hook.system()`` is the same as ``@hook.system``.
        """
        return _mark_method("system", method)

    @overload
    def response(self, method: _F, /) -> _F: ...
    @overload
    def response(self, method: None = None, /) -> Callable[[_F], _F]: ...
    def response(self, method: _F | None = None, /) -> _F | Callable[[_F], _F]:
        """Make a method of an Agent change the answer: it takes the text and returns another.

        ``@hook.response()`` is the same as ``@hook.response``.
        """
        return _mark_method("response", method)


hook = _Hooking()

_MARK = "_agent_hook"


def _mark_method(kind: str, method: _F | None) -> _F | Callable[[_F], _F]:
    def mark(method: _F) -> _F:
        setattr(method, _MARK, kind)
        return method

    return mark if method is None else mark(method)


def marked_methods(instance: object, kind: str) -> list[Callable[..., Any]]:
    """Return the methods of an object that ``hook.system`` or ``hook.response`` has marked.

    Those of base classes come first. A method that overrides one is one as well; None removes it.
    """
    classes = type(instance).__mro__
    names = dict.fromkeys(
        name
        for each in reversed(classes)
        for name, member in vars(each).items()
        if getattr(member, _MARK, None) == kind
    )
    found = (getattr(instance, name) for name in names)
    return [method for method in found if method is not None]


async def run_hooks(  # noqa: C901 - three forms of hooks, and what may come of each
    hooks: tuple[Hook, ...], call: ToolCall, scope: CallScope, runner: Runner, last: Following
) -> ToolResult:
    """Take the call through the hooks, the first one outermost, and through ``last``.

    An async hook can only be run by an event loop.
    """
    function, _, form = hooks[0]
    following = last
    if len(hooks) > 1:
        following = partial(run_hooks, hooks[1:], scope=scope, runner=runner, last=last)
    try:
        if form == "async":
            return _check_result(await function(call, following))
        if form == "sync":
            work = runner.hook(partial(_call_hook, function), call, scope, following)
            return _check_result(await work)
        steps, reply = function(call, _yielded), None
        try:
            while True:
                request = steps.send(reply)
                if isinstance(request, ToolCall):
                    reply = await following(request)
                elif isinstance(request, Pause):
                    await runner.pause(request.seconds, scope)
                    reply = None
                else:
                    raise TypeError(f"it yielded {request!r:.80}, neither next(call) nor a Pause")
        except StopIteration as stop:
            return _check_result(stop.value)
        finally:
            steps.close()
    except (KeyboardInterrupt, GeneratorExit, RunCancelledError):
        raise
    except BaseException as error:
        if runner.is_own_end(error, since=scope.cancellations):
            raise
        return ToolResult(call.name, None, _failure_of(hooks[0], call, error), 0.0)


def _yielded(call: ToolCall) -> ToolCall:
    """Return what a generator hook yields for the result of the call: ``next``."""
    return call


def _failure_of(hook: Hook, call: ToolCall, error: BaseException) -> Failure:
    """Turn what a hook has raised into a failure."""
    secrets = secrets_of(call.tool)
    kind, message = type_name(type(error)), message_of(error, secrets)
    if isinstance(error, ToolError):  # that one is meant for the model as it is
        return Failure("tool_error", message)
    trace = trace_of(error, secrets)
    _LOGGER.warning("hook %s failed at tool %s\n%s", hook.name, call.name, trace)
    words = f"hook {hook.name!r} failed: {kind}: {message}"
    return Failure("tool_error", words, error_type=kind)


def _call_hook(function: HookFunction, call: ToolCall, following: Any) -> Any:
    """Call a sync hook; what it raises can pass through coroutines."""
    try:
        return function(call, following)
    except (StopIteration, GeneratorExit) as error:
        raise passable_error(error) from None


def _check_result(result: Any) -> ToolResult:
    if not isinstance(result, ToolResult):
        raise TypeError(f"it returned {result!r:.80}, not a ToolResult")
    if result.error is not None and not isinstance(result.error, Failure):
        raise TypeError(f"the error that it returned is {result.error!r:.80}, not a Failure")
    return result
