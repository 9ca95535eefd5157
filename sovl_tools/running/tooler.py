"""The dispatcher between a model's text and a tool's function."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from functools import partial
from threading import TIMEOUT_MAX
from time import perf_counter
from typing import Any

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import SchemaError, ToolError
from sovl_tools.model.lookup import ToolLookup
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.running.arguments import ArgumentCheck
from sovl_tools.running.given import Arguments
from sovl_tools.running.settling import FINAL, in_background, settled, settled_sync
from sovl_tools.running.threads import TimeLimitError, within

_LOGGER = logging.getLogger("sovl_tools")


class _Prepared:
    """A tool that has been called before: everything that does not depend on the arguments."""

    __slots__ = ("check", "definition", "function", "is_async", "is_inline", "limit")

    def __init__(self, definition: ToolDefinition) -> None:
        function = definition.function
        self.definition: ToolDefinition | None = definition
        self.function = function
        # the bound method, because calling the object would take a detour through its type
        self.check = ArgumentCheck(definition).__call__
        self.limit: float | None = definition.execution.get("timeout")
        self.is_inline = definition.execution.get("mode") == "inline"
        self.is_async = _is_async(function) or _is_async(getattr(function, "__call__", None))  # noqa: B004 - its code


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


class _Absent(_Prepared):
    """A tool that can't be called: whatever the arguments, the answer is why."""

    __slots__ = ()

    def __init__(self, failure: Failure) -> None:
        self.definition = None
        self.check = lambda _: failure  # type: ignore[assignment]  # stands in for the check


class Tooler:
    """Calls tools of a registry with checked arguments. Thread-safe.

    A call returns a ToolResult for whatever the model or the tool did wrong. It raises only for
    the caller's own mistakes and for the caller's own cancellation.
    """

    def __init__(self, registry: ToolLookup, *, timeout: float | None = None) -> None:
        """Make a dispatcher.

        Args:
            registry: where the tools are; each call looks its tool up anew.
            timeout: how long a call may take, in seconds, unless the tool or the call says
                otherwise; None for as long as it takes.

        Raises:
            ValueError: the timeout is not more than 0.
        """
        self._registry = registry
        self._timeout = None if timeout is None else _checked(timeout)
        self._prepared: dict[str, _Prepared] = {}

    def call_sync(
        self, name: str, arguments: Arguments = None, *, timeout: float | None = None
    ) -> ToolResult:
        """Call a tool and wait for its result.

        A sync tool runs in the caller's thread, or on a thread of its own if there is a time
        limit; an async tool on one long-lived loop in the background, so that this works under
        a running loop as well.

        Args:
            name: the tool's name.
            arguments: an object, JSON text of one, or nothing. It is not changed.
            timeout: in seconds, for this call; wins over the tool's and the Tooler's.

        Raises:
            ValueError: the timeout is not more than 0.
        """
        started = perf_counter()
        tool = self._tool(name)
        checked = tool.check(arguments)
        if isinstance(checked, Failure):
            return ToolResult(name, None, checked, perf_counter() - started)
        limit = (tool.limit or self._timeout) if timeout is None else _checked(timeout)
        try:
            if tool.is_async:
                value = in_background(_awaited(tool, checked, limit), limit=limit)
            elif limit is None:
                value = tool.function(**checked)
                if type(value) not in FINAL:
                    value = settled_sync(value)
            else:
                value = within(partial(_called, tool, checked), limit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - the border where a tool's failures stop
            return ToolResult(name, None, _failure(name, error), perf_counter() - started)
        return ToolResult(name, value, None, perf_counter() - started)

    async def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - the contract's word, beside call_sync
    ) -> ToolResult:
        """Call a tool and await its result; see ``call_sync`` for the arguments.

        An async tool runs on the caller's loop. A sync tool runs on a thread of its own, so that
        the loop never blocks, unless its ``execution.mode`` is ``"inline"``.
        """
        started = perf_counter()
        tool = self._tool(name)
        checked = tool.check(arguments)
        if isinstance(checked, Failure):
            return ToolResult(name, None, checked, perf_counter() - started)
        limit = (tool.limit or self._timeout) if timeout is None else _checked(timeout)
        try:
            if tool.is_async and limit is None:
                value = tool.function(**checked)
                if inspect.iscoroutine(value):
                    value = await value
                if type(value) not in FINAL:
                    value = await settled(value)
            else:
                value = await _awaited(tool, checked, limit)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if _is_cancellation(error):
                raise
            return ToolResult(name, None, _failure(name, error), perf_counter() - started)
        return ToolResult(name, value, None, perf_counter() - started)

    def _tool(self, name: str) -> _Prepared:
        """Return the tool of that name as it is now, prepared."""
        try:
            tool = self._prepared.get(name)
            definition = self._registry.catalog.tools.get(name)
        except TypeError:
            return _Absent(self._absence(str(name)))
        if definition is None:
            return _Absent(self._absence(str(name)))
        if tool is None or tool.definition is not definition:
            tool = self._prepared[name] = _prepare(definition)
        return tool

    def _absence(self, name: str) -> Failure:
        catalog = self._registry.catalog
        reasons = catalog.unavailable.get(name)
        if reasons is not None:
            return Failure("unavailable", f"tool {name!r} is not available: {'; '.join(reasons)}")
        hint = did_you_mean(name, catalog.tools)
        message = f"there is no tool {name!r}"
        return Failure("unknown_tool", f"{message}; {hint}" if hint else message)


def _prepare(definition: ToolDefinition) -> _Prepared:
    try:
        return _Prepared(definition)
    except SchemaError as error:
        message = (
            f"tool {definition.name!r} is not available: its parameters can't be used: {error}"
        )
        return _Absent(Failure("unavailable", message))


def _checked(timeout: float) -> float:
    if not 0 < timeout <= TIMEOUT_MAX:
        raise ValueError(f"timeout must be more than 0 seconds and finite, not {timeout!r}")
    return timeout


def _called(tool: _Prepared, arguments: Mapping[str, Any]) -> Any:
    return settled_sync(tool.function(**arguments))


async def _awaited(tool: _Prepared, arguments: Mapping[str, Any], limit: float | None) -> Any:
    from sovl_tools.running.awaiting import in_thread, limited  # noqa: PLC0415 - imports asyncio

    async def work() -> Any:
        if tool.is_async or tool.is_inline:
            return await settled(tool.function(**arguments))
        return await in_thread(partial(_called, tool, arguments))

    return await limited(work(), limit)


def _is_cancellation(error: BaseException) -> bool:
    from sovl_tools.running.awaiting import is_cancellation  # noqa: PLC0415 - imports asyncio

    return is_cancellation(error)


def _failure(name: str, error: BaseException) -> Failure:
    """Return what the model reads about an exception that ended a call."""
    if isinstance(error, TimeLimitError):
        return Failure("timeout", f"tool {name!r} was not done after {error.limit:g} s")
    _LOGGER.debug("tool %s failed", name, exc_info=error)
    if isinstance(error, ToolError):
        return Failure("tool_error", _message(error))
    words = _message(error)
    name_of = _type_name(type(error))
    return Failure("tool_error", f"{name_of}: {words}" if words else name_of)


_type_name: Callable[[type], str] = vars(type)["__name__"].__get__
"""The name of a type, whatever its metaclass says."""


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:  # noqa: BLE001 - the tool's own __str__ is as broken as it
        return f"its message can't be read ({_type_name(type(failure))})"
