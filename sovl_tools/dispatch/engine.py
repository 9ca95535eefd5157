"""What all calls of one Tooler share."""

from __future__ import annotations

import logging
from collections.abc import Callable

from sovl_tools.dispatch.failure import redacted
from sovl_tools.dispatch.prepared import (
    DynamicTool,
    PreparedTool,
    Settings,
    UnpreparedTool,
    prepared,
)
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.statistics import CallLog
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.context import Listener, State, ToolContext
from sovl_tools.model.errors import UnavailableError
from sovl_tools.model.protocols import ToolCaller, ToolLookup
from sovl_tools.model.result import Failure
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.schema.messages import MAX_NAME, brief

_LOGGER = logging.getLogger("sovl_tools")
_TOOLS_LOGGER = logging.getLogger("sovl_tools.tools")
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class _Tools(dict[str, PreparedTool | DynamicTool]):
    """The tools of one catalog that have been called, ready for the next call."""

    __slots__ = ("catalog",)

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.catalog = catalog


class Engine:
    """The registry, the prepared tools, and what outlives the calls: states and statistics.

    Attributes:
        settings: what the Tooler says of all its calls.
        logs: durations and failures, by tool.
    """

    def __init__(
        self,
        registry: ToolLookup,
        settings: Settings,
        *,
        listener: Listener | None,
        make_caller: Callable[[Engine, CallScope], ToolCaller],
    ) -> None:
        """Make an engine; ``make_caller`` makes what a tool calls other tools with."""
        self.registry = registry
        self.settings = settings
        self.logs: dict[str, CallLog] = {}
        self._listener = listener
        self._make_caller = make_caller
        self._tools = _Tools(registry.catalog)
        self._states: dict[str, State] = {}
        self.under_way: dict[str, CallScope] = {}

    def tool(self, name: str) -> PreparedTool | DynamicTool | Failure:
        """Return the tool of that name as it is now, ready to be called, or why it can't be.

        That runs no code of a tool's author; what has to is done when a ``DynamicTool`` is called.
        """
        tools, catalog = self._tools, self.registry.catalog
        if tools.catalog is not catalog:
            tools = self._tools = _kept(tools, catalog)
        try:
            return tools[name]
        except (KeyError, TypeError):
            made = self._made(name, catalog)
        return made if isinstance(made, Failure) else tools.setdefault(name, made)

    def _made(self, name: object, catalog: Catalog) -> PreparedTool | DynamicTool | Failure:
        definition = catalog.tools.get(name) if isinstance(name, str) else None
        if isinstance(name, str) and definition is not None:
            log = self.logs.setdefault(name, CallLog())
            if definition.is_dynamic:
                return DynamicTool(definition, self.settings, log, make_context=self.make_context)
            try:
                return prepared(
                    definition, settings=self.settings, log=log, make_context=self.make_context
                )
            except UnavailableError as error:
                return Failure("unavailable", str(error))
        reasons = catalog.unavailable.get(name) if isinstance(name, str) else None
        if isinstance(name, str) and reasons is not None:
            return Failure("unavailable", str(UnavailableError(name, "; ".join(reasons))))
        asked = brief(str(name), MAX_NAME)
        hint = did_you_mean(asked, catalog.tools)
        message = f"there is no tool {asked!r}"
        return Failure("unknown_tool", f"{message}; {hint}" if hint else message)

    def make_context(self, tool: UnpreparedTool, scope: CallScope | None) -> ToolContext:
        """Return what a tool may ask of its call."""
        scope = scope or CallScope()
        return ToolContext(
            tool.definition,
            self.registry,
            self._make_caller(self, scope),
            call_id=scope.call_id,
            state=self.state(tool.name),
            listen=self.listener(scope, tool.secrets),
            is_cancelled=lambda: scope.is_stopped,
        )

    def state(self, tool: str) -> State:
        """Return what the tool of that name keeps from call to call."""
        return self._states.setdefault(tool, State())

    def cancel(self, call_id: str) -> bool:
        """Stop the call of that name; return whether there was one."""
        scope = self.under_way.get(call_id)
        if scope is not None:
            scope.stop()
        return scope is not None

    def listener(self, scope: CallScope, secrets: tuple[str, ...]) -> Listener:
        """Return what is told of progress and messages of a call, without its secrets."""
        listen = scope.listen or self._listener or _log

        def tell(event: Progress | LogMessage) -> None:
            try:
                listen(_without_secrets(event, secrets))
            except KeyboardInterrupt:
                raise
            except BaseException:
                _LOGGER.exception("a listener failed at %s", type(event).__name__)

        return tell


def _kept(tools: _Tools, catalog: Catalog) -> _Tools:
    """Return those of the tools that are still the same; the others are prepared anew."""
    kept = _Tools(catalog)
    kept.update(
        (name, tool)
        for name, tool in list(tools.items())
        if catalog.tools.get(name) is tool.definition
    )
    return kept


def _without_secrets(
    event: Progress | LogMessage, secrets: tuple[str, ...]
) -> Progress | LogMessage:
    if not secrets or event.message is None:
        return event
    return event._replace(message=redacted(str(event.message), secrets))


def _log(event: Progress | LogMessage) -> None:
    if isinstance(event, LogMessage):
        _TOOLS_LOGGER.log(_LEVELS.get(event.level, 20), "%s: %s", event.tool, event.message)
