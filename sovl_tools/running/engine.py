"""What all calls of one Tooler share."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from sovl_tools.model.call import CallEvent, LogMessage, Progress
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.context import Listener, State
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.errors import SchemaError
from sovl_tools.model.lookup import ToolLookup
from sovl_tools.model.result import Failure
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.running.failing import redacted
from sovl_tools.running.gate import Gate
from sovl_tools.running.plan import Absence, Plan, Settings
from sovl_tools.running.resolving import Dynamic, unavailable
from sovl_tools.running.run import Run
from sovl_tools.running.statistics import CallLog

_LOGGER = logging.getLogger("sovl_tools")
_TOOLS_LOGGER = logging.getLogger("sovl_tools.tools")
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}

Observer: TypeAlias = Callable[[CallEvent], object]
"""Told of every call when it has ended, in the thread in which it ended."""


class Plans(dict[str, Plan]):
    """The tools of one catalog that have been called, ready for the next call."""

    __slots__ = ("catalog",)

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.catalog = catalog


class Engine:
    """The registry, the plans, and what outlives the calls: states, statistics, threads.

    Attributes:
        room: lets in as many threads as there may be.
        logs: durations and failures, by tool.
        plans: the tools that have been called.
    """

    def __init__(
        self,
        registry: ToolLookup,
        settings: Settings,
        *,
        observers: tuple[Observer, ...],
        listener: Listener | None,
        max_threads: int,
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.room = Gate(max_threads)
        self.logs: dict[str, CallLog] = {}
        self._observers = observers
        self._listener = listener
        self.plans = Plans(registry.catalog)
        self._dynamic: dict[str, Dynamic] = {}
        self._states: dict[str, State] = {}
        self._running: dict[str, Run] = {}

    def plan(self, name: str) -> Plan | Dynamic | Absence:
        """Return the tool of that name as it is now, ready to be called.

        That runs no code of a tool's author; what has to is done by ``Dynamic.plan``.
        """
        catalog = self.registry.catalog
        plans = self.plans
        if plans.catalog is not catalog:
            plans = self.plans = self._kept(plans, catalog)
        try:
            plan = plans.get(name)
            definition = catalog.tools.get(name)
        except TypeError:
            return self._absence(str(name), catalog)
        if plan is not None:
            return plan
        if definition is None:
            return self._absence(str(name), catalog)
        if definition.is_dynamic:
            return self._undecided(definition)
        made = self._planned(definition)
        return made if isinstance(made, Absence) else plans.setdefault(name, made)

    def _undecided(self, definition: ToolDefinition) -> Dynamic:
        """Return what is known of a tool whose schema may be another one at each call."""
        known = self._dynamic.get(definition.name)
        if known is None or known.definition is not definition:
            log = self.logs.setdefault(definition.name, CallLog())
            known = Dynamic(definition, self.settings, log, make=self._planned)
            self._dynamic[definition.name] = known
        return known

    def _kept(self, plans: Plans, catalog: Catalog) -> Plans:
        """Return the plans of those tools that are still the same, and forget the others."""
        for name, known in list(self._dynamic.items()):
            if catalog.tools.get(name) is not known.definition:
                self._dynamic.pop(name, None)
        kept = Plans(catalog)
        kept.update(
            (name, plan)
            for name, plan in list(plans.items())
            if catalog.tools.get(name) is plan.definition
        )
        return kept

    def _planned(self, definition: ToolDefinition) -> Plan | Absence:
        log = self.logs.setdefault(definition.name, CallLog())
        try:
            return Plan(definition, self.settings, log)
        except SchemaError as error:
            return unavailable(definition.name, str(error))

    @staticmethod
    def _absence(name: str, catalog: Catalog) -> Absence:
        reasons = catalog.unavailable.get(name)
        if reasons is not None:
            return unavailable(name, "; ".join(reasons))
        hint = did_you_mean(name, catalog.tools)
        message = f"there is no tool {name!r}"
        return Absence(Failure("unknown_tool", f"{message}; {hint}" if hint else message))

    def state(self, tool: str) -> State:
        """Return what the tool of that name keeps from call to call."""
        return self._states.setdefault(tool, State())

    @contextmanager
    def registered(self, run: Run) -> Iterator[None]:
        """Let a run be cancelled by its ``call_id`` until it has ended.

        Raises:
            ValueError: another call of that name is under way.
        """
        if self._running.setdefault(run.call_id, run) is not run:
            raise ValueError(f"a call {run.call_id!r} is under way already")
        try:
            yield
        finally:
            del self._running[run.call_id]
            run.close()

    def cancel(self, call_id: str) -> bool:
        """Stop the call of that name; return whether there was one."""
        run = self._running.get(call_id)
        if run is not None:
            run.stop()
        return run is not None

    def listener(self, run: Run, secrets: tuple[str, ...]) -> Listener:
        """Return what is told of progress and messages of a run, without its secrets."""
        listen = run.listen or self._listener or _log

        def tell(event: Progress | LogMessage) -> None:
            try:
                listen(_without_secrets(event, secrets))
            except KeyboardInterrupt:
                raise
            except BaseException:
                _LOGGER.exception("a listener failed at %s", type(event).__name__)

        return tell

    def emit(self, event: CallEvent) -> None:
        """Tell every observer; one that fails disturbs nobody."""
        for observer in self._observers:
            try:
                observer(event)
            except KeyboardInterrupt:
                raise
            except BaseException:
                _LOGGER.exception("an observer failed at a call of %s", event.tool)


def _without_secrets(
    event: Progress | LogMessage, secrets: tuple[str, ...]
) -> Progress | LogMessage:
    if not secrets or event.message is None:
        return event
    return event._replace(message=redacted(str(event.message), secrets))


def _log(event: Progress | LogMessage) -> None:
    if isinstance(event, LogMessage):
        _TOOLS_LOGGER.log(_LEVELS.get(event.level, 20), "%s: %s", event.tool, event.message)
