"""The tools of an agent: methods, what it was given and other agents; and who approves of calls."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from inspect import isawaitable
from typing import Any, NamedTuple

from sovl_tools.agent.errors import AgentError
from sovl_tools.authoring.decorator import tool_methods
from sovl_tools.dispatch.async_runner import await_thread
from sovl_tools.dispatch.failure import message_of, redact, trace_of
from sovl_tools.dispatch.hooks import Hook
from sovl_tools.loading.catalog_builder import combine
from sovl_tools.model.call import ToolCall
from sovl_tools.model.catalog import Catalog, CatalogChange
from sovl_tools.model.definition import ToolDefinition
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
        own = vars(self).get("catalog") or super().catalog
        others, cached = self._others.catalog, self._joined
        if cached is None or cached[0] is not own or cached[1] is not others:
            made = combine([*own.candidates, *others.candidates]) if own.tools else others
            cached = self._joined = own, others, made
        return cached[2]

    def reload(self) -> CatalogChange:
        """Look at the sources of the other registry again; what is registered here stays."""
        return self._others.reload()

    def watch(self, **options: Any) -> AbstractContextManager[Watch]:
        """Reload the other registry in the background whenever something changes."""
        return self._others.watch(**options)

    def subscribe(self, on_change: Subscriber) -> Callable[[], None]:
        """Have a function told of every change of either."""
        ends = super().subscribe(on_change), self._others.subscribe(on_change)

        def unsubscribe() -> None:
            for end in ends:
                end()

        return unsubscribe


def resolve_tools(tools: Any) -> Any:
    """Return tools as they were given, those of a directory as the registry of it.

    Raises:
        TypeError: they are neither a registry nor a path nor a list.
        ValueError: there is no directory of that path.
    """
    if isinstance(tools, str | os.PathLike):
        return tools_directory(tools)
    if tools is None or isinstance(tools, ToolRegistry):
        return tools
    if isinstance(tools, Iterable) and not callable(tools):
        return tuple(tools)
    words = "a ToolRegistry, a list of functions or the path of a tools directory"
    raise TypeError(f"tools must be {words}, not {tools!r:.80}")


def agent_registry(agent: object, tools: Any) -> ToolRegistry:
    """Return the registry of an agent's ``@tool`` methods and of gathered tools.

    Raises:
        TypeError: there is something among the tools of which no tool can be made.
        ToolLoadError: the definition of a method or a function is unsound.
    """
    # The registry that somebody gave is used as it is, so that its changes are seen.
    methods = tool_methods(agent)
    is_registry = isinstance(tools, ToolRegistry)
    if is_registry and not methods:
        found: ToolRegistry = tools
        return found
    made = Toolbox(tools) if is_registry else ToolRegistry()
    for each in (*methods, *(() if is_registry else tools or ())):
        made.register(each)
    return made


_LOGGER = logging.getLogger("sovl_tools")

Approve = Callable[[ToolCall], Any]
"""Returns whether a call may be made: True, or False, or a text with the reason why not."""


def approval_hook(approve: Approve) -> Hook:
    """Return a hook that asks before a tool runs that is marked as destructive.

    A sync function is called on a thread, so that it may wait for somebody.
    """

    async def approval(call: ToolCall, following: Any) -> ToolResult:
        if call.tool.annotations.get("destructive"):
            refusal = await _refusal(approve, call)
            if refusal is not None:
                return ToolResult(call.name, None, Failure("tool_error", refusal), 0.0)
        result: ToolResult = await following(call)
        return result

    return Hook(approval)


async def _refusal(approve: Approve, call: ToolCall) -> str | None:
    """Return what the model reads if a call may not be made, or nobody could be asked."""
    try:
        verdict = await await_thread(partial(approve, call))
        verdict = await verdict if isawaitable(verdict) else verdict
    except ToolError as error:
        verdict = str(error)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the model reads of it
        secrets = call.tool.requires.get("env", ())
        _LOGGER.warning("approve failed at tool %s\n%s", call.name, trace_of(error, secrets))
        reason = redact(message_of(error), secrets)
        return f"this call was not made, because asking for approval failed: {reason}"
    if verdict is True:
        return None
    reason = f": {verdict}" if isinstance(verdict, str) and verdict else ""
    return f"the user did not approve of this call{reason}"


MOST = 5
"""So many agents may ask one another in a row."""


class WaitingAgent(NamedTuple):
    """An agent that waits for the answer of another; ``key`` is the same for all its twins."""

    key: int
    name: str


WAITING_AGENTS: ContextVar[tuple[WaitingAgent, ...]] = ContextVar("WAITING_AGENTS", default=())
"""The agents that wait for the one that runs here, the outermost first."""


def agent_tool(agent: Any, key: int, *, name: str, description: str) -> ToolDefinition:
    """Return a tool that asks an agent, each time in a conversation of its own.

    ``agent`` is called without arguments for a twin that has said nothing yet.
    """

    async def ask(message: str) -> str:
        chain = WAITING_AGENTS.get()
        names = " → ".join([*(each.name for each in chain), name])
        if any(each.key == key for each in chain):
            raise ToolError(f"agents can't ask one another in a circle: {names}")
        if len(chain) > MOST:
            raise ToolError(f"more than {MOST} agents can't ask one another in a row: {names}")
        try:
            return str(await agent().chat(message))
        except AgentError as error:
            raise ToolError(f"{name} has no answer: {error}") from error

    schema = {"type": "string", "description": "What is asked, with all that has to be known."}
    parameters = {
        "type": "object",
        "properties": {"message": schema},
        "required": ["message"],
        "additionalProperties": False,
    }
    return ToolDefinition(name, description, parameters, ask, source=__name__)
