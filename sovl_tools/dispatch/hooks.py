"""Middleware: functions around a call that may change it, repeat it or answer instead."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, overload

from sovl_tools.dispatch.failure import message_of, secrets_of, trace_of
from sovl_tools.model.call import ToolCall
from sovl_tools.model.caller import check_names
from sovl_tools.model.client_requests import REQUEST_KINDS, HostRequest
from sovl_tools.model.errors import RunCancelledError, ToolError
from sovl_tools.model.result import Failure, ToolResult

_LOGGER = logging.getLogger("sovl_tools")

HookFunction: TypeAlias = Callable[[ToolCall, Any], Any]
"""``(call, next)``: a sync or async function that returns a result, or a generator function.

``next(call)`` is the result of the hook's inner hooks and the call, awaited in an async hook. A
generator function serves sync and async calls alike: it yields ``next(call)`` to get the result,
may yield ``Pause(seconds)`` or a request to the host, such as a ``Question``, and returns a result.
"""

Form: TypeAlias = Literal["sync", "async", "generator"]
_F = TypeVar("_F", bound=Callable[..., Any])


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
        return getattr(self.function, "__name__", None) or type(self.function).__name__

    def concerns(self, tool: str) -> bool:
        """Return whether the hook is for the tool of that name."""
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
    """``hook``: makes functions hooks of calls, and methods hooks of an agent's conversation."""

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

        It is registered with a Tooler: ``Tooler(registry, hooks=[approve])``. Names can be shell
        patterns: ``@hook(tools="delete_*")``.

        Raises:
            TypeError: the decorated object can't be called.
        """
        patterns = patterns_of(tools)

        def decorate(function: Hook | HookFunction) -> Hook:
            if not callable(function):
                raise TypeError(f"a hook must be a function (call, next), not {function!r:.80}")
            # hook(retry(), tools="x"): the last names count
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

        It has no parameters and returns the same as ``Agent._system_messages``; sync or async.
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

    Hooks of base classes are first. A method that overrides a hook is a hook too; None removes it.
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


def run_hooks(
    hooks: tuple[Hook, ...],
    call: ToolCall,
    attempt: Callable[[ToolCall], ToolResult],
    wait: Callable[[float], None],
    ask: Callable[[HostRequest], Any],
) -> ToolResult:
    """Take a call through sync hooks, the first one outermost, and through ``attempt``.

    ``wait`` waits for a number of seconds, ``ask`` for the host's answer to a request. Async code
    has ``async_runner.run_hooks``.
    """
    if not hooks:
        return attempt(call)
    following = partial(run_hooks, hooks[1:], attempt=attempt, wait=wait, ask=ask)
    try:
        if hooks[0].form == "sync":
            return check_result(hooks[0](call, following))
        with closing(hooks[0](call, as_asked)) as steps:
            reply: Any = None
            while not isinstance(asked := advance(steps, reply), ToolResult):
                if isinstance(asked, Pause):
                    wait(asked.seconds)
                    reply = None
                elif isinstance(asked, ToolCall):
                    reply = following(asked)
                else:
                    reply = ask(asked)
            return asked
    except (KeyboardInterrupt, RunCancelledError):
        raise
    except BaseException as error:  # noqa: BLE001 - a hook is the user's code
        return failed_hook(hooks[0], call, error)


def advance(steps: Generator[Any, Any, Any], reply: Any) -> Any:
    """Resume a generator hook; return its next request, or its result.

    Raises:
        TypeError: it is something else.
    """
    try:
        request = steps.send(reply)
    except StopIteration as end:
        return check_result(end.value)
    if not isinstance(request, (ToolCall, Pause, *REQUEST_KINDS)):
        raise TypeError(f"it yielded {request!r:.80}, no next(call), Pause or request")
    return request


def as_asked(call: ToolCall) -> ToolCall:
    """Return the object a generator hook yields to get the call's result: ``next``."""
    return call


def failed_hook(hook: Hook, call: ToolCall, error: BaseException) -> ToolResult:
    """Return the result of a call whose hook raised an exception."""
    secrets = secrets_of(call.tool)
    kind, message = type(error).__name__, message_of(error, secrets)
    if isinstance(error, ToolError):  # a ToolError's text is meant for the model
        failure = Failure("tool_error", message)
    else:
        trace = trace_of(error, secrets)
        _LOGGER.warning("hook %s failed at tool %s\n%s", hook.name, call.name, trace)
        words = f"hook {hook.name!r} failed: {kind}: {message}"
        failure = Failure("tool_error", words, error_type=kind)
    return ToolResult(call.name, None, failure, 0.0)


def check_result(result: Any) -> ToolResult:
    """Return a hook's result.

    Raises:
        TypeError: it isn't a result.
    """
    if not isinstance(result, ToolResult):
        raise TypeError(f"it returned {result!r:.80}, not a ToolResult")
    return result
