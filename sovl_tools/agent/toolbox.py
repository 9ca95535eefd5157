"""The tools of an agent: methods, what it was given and other agents; and who approves of calls."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from functools import partial
from inspect import isawaitable
from typing import Any, NamedTuple

from sovl_tools.authoring.decorator import tool_methods
from sovl_tools.dispatch.async_runner import await_thread
from sovl_tools.dispatch.failure import message_of, redact, trace_of
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.model.call import ToolCall
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.errors import ToolError
from sovl_tools.model.protocols import Watch
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.registry import Subscriber, ToolRegistry, tools_directory


class Toolbox(ToolRegistry):
    """A registry before another one: what is registered here wins over the tools of that one."""

    def __init__(self, others: ToolRegistry) -> None:
        self._others = others
        self._joined: tuple[Catalog, Catalog, Catalog] | None = None
        super().__init__()

    @property
    def catalog(self) -> Catalog:
        """The tools of both, as they are now."""
        # The base class keeps it among the attributes, which this property hides.
        own = vars(self).get("catalog") or super().catalog
        others, cached = self._others.catalog, self._joined
        if cached is None or cached[0] is not own or cached[1] is not others:
            joined = combine([*own.candidates, *others.candidates]) if own.tools else others
            cached = self._joined = own, others, joined
        return cached[2]

    def reload(self) -> CatalogChange:
        """Look at the sources of the other registry again; what is registered here stays."""
        return self._others.reload()

    def watch(self, **options: Any) -> AbstractContextManager[Watch]:
        """Reload the other registry in the background whenever something changes."""
        return self._others.watch(**options)

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Have a function told of every change of either."""
        ends = ExitStack()
        ends.callback(super().subscribe(on_change))
        ends.callback(self._others.subscribe(on_change))
        return ends.close


def agent_registry(agent: object, tools: Any) -> ToolRegistry:
    """Return the registry of an agent's ``@tool`` methods and of the tools that it was given.

    Raises:
        TypeError: the tools are neither a registry nor a path nor a list, or there is something
            among them of which no tool can be made.
        ValueError: there is no directory of that path.
        ToolLoadError: the definition of a method or a function is unsound.
    """
    if isinstance(tools, str | os.PathLike):
        tools = tools_directory(tools)
    is_registry = isinstance(tools, ToolRegistry)
    # A class may be iterable, as an Enum is, and is no list of tools.
    if not (tools is None or is_registry or (isinstance(tools, Iterable) and not callable(tools))):
        words = "a ToolRegistry, a list of functions or the path of a tools directory"
        raise TypeError(f"tools must be {words}, not {tools!r:.80}")
    # The registry that somebody gave is used as it is, so that its changes are seen.
    methods = tool_methods(agent)
    if is_registry and not methods:
        found: ToolRegistry = tools
        return found
    registry = Toolbox(tools) if is_registry else ToolRegistry()
    for each in (*methods, *(() if is_registry else tools or ())):
        registry.register(each)
    return registry


_LOGGER = logging.getLogger("sovl_tools")

Approve = Callable[[ToolCall], Any]
"""Returns whether a call may be made: True, or False, or a text with the reason why not."""


async def ask_approval(approve: Approve, call: ToolCall, following: Any) -> ToolResult:
    """Ask before a tool runs that is marked as destructive; a hook, but for its first argument.

    A sync function is called on a thread, so that it may wait for somebody.
    """
    if call.tool.annotations.get("destructive"):
        refusal = await _refusal(approve, call)
        if refusal is not None:
            return ToolResult(call.name, None, Failure("tool_error", refusal), 0.0)
    result: ToolResult = await following(call)
    return result


async def _refusal(approve: Approve, call: ToolCall) -> str | None:
    """Return what the model reads if a call may not be made, or nobody could be asked."""
    try:
        verdict = await await_thread(partial(approve, call))
        verdict = await verdict if isawaitable(verdict) else verdict
    except ToolError as error:  # the words that are meant for the model
        verdict = str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the model reads of it
        secrets = call.tool.requires.get("env", ())
        _LOGGER.warning("approve failed at tool %s\n%s", call.name, trace_of(error, secrets))
        reason = redact(message_of(error), secrets)
        return f"this call was not made, because asking for approval failed: {reason}"
    # True itself: a truthy answer, such as a text with the reason, is a refusal.
    if verdict is True:
        return None
    reason = f": {verdict}" if isinstance(verdict, str) and verdict else ""
    return f"the user did not approve of this call{reason}"


MOST_WAITING_AGENTS = 5
"""So many agents may ask one another in a row."""


class WaitingAgent(NamedTuple):
    """An agent that waits for the answer of another; ``key`` is the same for all its twins."""

    key: int
    name: str


WAITING_AGENTS: ContextVar[tuple[WaitingAgent, ...]] = ContextVar("WAITING_AGENTS", default=())
"""The agents that wait for the one that runs here, the outermost first."""
