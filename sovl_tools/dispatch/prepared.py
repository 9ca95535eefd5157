"""A tool that is ready to be called: everything that does not depend on the arguments."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, NamedTuple, TypeAlias, final

from sovl_tools.annotations.jsonvalues import InvalidResult
from sovl_tools.dispatch.arguments import ArgumentCheck
from sovl_tools.dispatch.asking import Secrets, find_client
from sovl_tools.dispatch.failure import secrets_of
from sovl_tools.dispatch.hooks import Hook
from sovl_tools.dispatch.limiter import Limiter
from sovl_tools.dispatch.policy import PolicyHooks
from sovl_tools.dispatch.remote import RemoteTool, Workers
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.statistics import CallLog
from sovl_tools.dispatch.steps import (
    Step,
    TakeAsync,
    Value,
    author_steps,
    chained,
    chained_async,
    is_async,
    limit_result,
)
from sovl_tools.loading.requirements import needs_process
from sovl_tools.model.call import CallEvent, LogMessage, Mode, Progress
from sovl_tools.model.caller import check_seconds
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.context import Listener, State, ToolCaller, ToolContext, ToolLookup
from sovl_tools.model.definition import Deferred, ToolDefinition
from sovl_tools.model.errors import (
    ResolutionError,
    SchemaError,
    UnavailableError,
)
from sovl_tools.model.host import NO_HOST, Host
from sovl_tools.model.policy import Coerce, Policy
from sovl_tools.model.redaction import redact
from sovl_tools.model.result import Failure
from sovl_tools.model.suggestion import as_hint, nearest_tool, without_namespace
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import MAX_NAME, brief, describe
from sovl_tools.signature.signature import from_function

Observer: TypeAlias = Callable[[CallEvent], object]
"""Called after each call, in the thread where it ended."""


class ToolerSettings(NamedTuple):
    """A Tooler's settings for all its calls; see there."""

    threads: Limiter
    workers: Workers
    policy: Policy = Policy()
    hooks: tuple[Hook, ...] = ()
    observers: tuple[Observer, ...] = ()
    host: Host = NO_HOST
    own_hooks: PolicyHooks | None = None


class UnpreparedTool:
    """The facts about a tool that don't need its schema: enough to begin a call.

    Attributes:
        definition: the tool.
        name: its name.
        hooks: what wraps it, the outermost first.
        observers: called when a call has ended.
        limit: a call's time limit, in seconds.
        ceiling: the longest limit that a call can set.
        mode: where the tool runs, if the manifest or the Tooler sets it.
        coerce: whether arguments are repaired.
        secrets: environment variables whose values must not be seen.
        threads: lets in as many threads as there can be.
        limiter: bounds the number of the tool's calls at a time; None for no bound.
        log: where its calls are counted.
        needs_loop: whether something must be awaited.
        is_scoped: whether sync calls need a scope, because they can be stopped or asked about.
        is_scoped_async: whether awaited calls do.
    """

    limiter: Limiter | None

    def __init__(self, definition: ToolDefinition, engine: Engine) -> None:
        settings, execution = engine.settings, definition.execution
        self.definition = definition
        self.name = definition.name
        self.is_async = is_async(definition.function)
        self.ceiling = settings.policy.timeout_ceiling
        policy = settings.policy.for_tool(execution)
        own = () if settings.own_hooks is None else settings.own_hooks.of(definition, policy)
        named = tuple(each for each in settings.hooks if each.concerns(definition.name))
        self.hooks = (*named, *own)
        self.observers = settings.observers
        self.limit = policy.timeout
        mode: Mode | None = execution.get("mode")
        if mode is None and needs_process(execution):
            mode = "process"
        # tools that sovl-tools brings work with objects of this process, as procedures do
        module = str(getattr(definition.function, "__module__", ""))
        is_ours = settings.policy.mode == "process" and module.startswith(_OURS)
        self.mode = mode or (None if is_ours else settings.policy.mode)
        self.coerce = policy.coerce
        self.secrets = secrets_of(definition)
        self.threads = settings.threads
        self.limiter = None
        self.log = engine.logs.setdefault(definition.name, CallLog())
        self.needs_loop = self.is_async or any(each.form == "async" for each in self.hooks)
        self.is_scoped = self.is_scoped_async = True

    def limit_of(self, timeout: float | None) -> float | None:
        """Return the limit of a call with this timeout; None for the tool's own.

        Raises:
            ValueError: the timeout isn't more than 0.
        """
        if timeout is None:
            return self.limit
        check_seconds("timeout", timeout)
        return timeout if self.ceiling is None else min(timeout, self.ceiling)


_OURS = f"{__name__.partition('.')[0]}."


class PreparedTool(UnpreparedTool):
    """What all calls of a tool have in common: its check and its steps; made at the first call.

    Attributes:
        arguments: the check from the given arguments to the valid ones, or to their problems.
        take: the steps from valid arguments to the value and its content, in one thread.
        awaited: the same on an event loop.
        is_blocking: whether none of the steps must be awaited.
        remote: takes the steps to JSON in another process.

    Raises:
        UnavailableError: one of the tool's schemas can't be compiled.
    """

    def __init__(self, definition: ToolDefinition, engine: Engine) -> None:
        super().__init__(definition, engine)
        settings = engine.settings
        context = partial(engine.context, definition, self.secrets)
        with _unavailable(definition.name, "parameters"):
            self.arguments = ArgumentCheck(definition)
        # a tool that was reloaded has another: calls of its old version take no room there
        most = settings.policy.for_tool(definition.execution).max_concurrency
        self.limiter = None if most is None else Limiter(most)
        last = tuple(_result_steps(definition, settings))
        steps = (*author_steps(definition, context, settings.threads), *last)
        self.take = chained(steps)
        self.awaited = chained_async(steps, settings.threads)
        self.remote: RemoteTool | None = RemoteTool(
            definition, settings.workers, lambda scope: context(scope).tell, chained(last)
        )
        self.is_blocking = not any(each.is_async for each in steps)
        # a call that can be abandoned or checked from outside needs a scope
        has_thread = self.limit is not None or self.mode in {"thread", "process"}
        contexts = from_function(definition.function).contexts
        is_scoped = bool(self.hooks or self.limiter or contexts or self.coerce == "lenient")
        self.is_scoped = is_scoped or has_thread or self.needs_loop
        is_on_loop = self.mode == "inline" or (
            self.mode != "process"
            and all(each.is_async for each in steps if each.awaited is not None)
        )
        self.is_scoped_async = is_scoped or not is_on_loop


def _result_steps(definition: ToolDefinition, settings: ToolerSettings) -> Iterator[Step]:
    """Yield the steps from JSON to the value that the model reads."""
    if definition.output_schema is not None:
        with _unavailable(definition.name, "output_schema"):
            output = compile_schema(definition.output_schema)

        def check_output(value: Value, _: object) -> Value:
            if not output.is_valid(value[0]):
                problem = output.problems(value[0])[0]
                raise InvalidResult(problem.path, describe(problem))
            return value

        yield Step(check_output)
    maximum = settings.policy.for_tool(definition.execution).max_result_bytes
    if maximum is not None:
        yield Step(lambda value, _: limit_result(value[0], value[1], maximum))


@final
class DynamicTool(UnpreparedTool):
    """A tool whose schema is made by functions at each call, until that has been done.

    Attributes:
        awaited: does it on an event loop, as ``take`` does it here.
    """

    is_blocking = True
    remote: RemoteTool | None = None

    def __init__(self, definition: ToolDefinition, engine: Engine) -> None:
        super().__init__(definition, engine)
        self._prepare = partial(PreparedTool, engine=engine)
        # calls are from several threads, and preparing a tool twice would give it two limiters
        self._lock = Lock()
        self._known: tuple[str, PreparedTool] | None = None
        self.awaited: TakeAsync = chained_async([Step(self.take)], self.threads)

    def take(self, _value: object, _scope: object) -> PreparedTool:
        """Call the functions and return the tool with the schemas they return.

        They can run on several threads at a time; the limiter lets in its usual number of calls,
        with any schema.

        Raises:
            UnavailableError: that can't be done.
        """
        try:
            resolved = self.definition.resolve()
        except ResolutionError as error:
            raise UnavailableError(self.name, str(error)) from error
        # the definition differs at each call; the schema seldom does
        schema = repr(resolved.parameters)
        with self._lock:
            if self._known is None or self._known[0] != schema:
                tool = self._prepare(resolved)
                if self._known is not None:
                    # calls that are inside count, also after the schema has changed
                    tool.limiter = self._known[1].limiter
                self._known = schema, tool
            return self._known[1]


@contextmanager
def _unavailable(tool: str, part: str) -> Iterator[None]:
    """Say of a schema that can't be used whose it is, and which one."""
    try:
        yield
    except SchemaError as error:
        raise UnavailableError(tool, f"its {part} can't be used: {error}") from error


_LOGGER = logging.getLogger("sovl_tools")
_TOOLS_LOGGER = logging.getLogger("sovl_tools.tools")
_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


class _Tools(dict[str, PreparedTool | DynamicTool]):
    """The tools of one catalog that have been called, ready for the next call."""

    def __init__(self, catalog: Catalog) -> None:
        super().__init__()
        self.catalog = catalog


class Engine:
    """The registry, the prepared tools, and what outlives the calls: states and statistics.

    Attributes:
        settings: the Tooler's settings for all its calls.
        logs: durations and failures, by tool.
        listener: gets the progress and messages of calls without their own listener.
        make_caller: makes the object through which a tool calls other tools.
    """

    def __init__(
        self,
        registry: ToolLookup,
        settings: ToolerSettings,
        *,
        listener: Listener | None,
        make_caller: Callable[[Engine, CallScope], ToolCaller],
    ) -> None:
        self.registry = registry
        self.settings = settings
        self.logs: dict[str, CallLog] = {}
        self.listener = listener
        self.make_caller = make_caller
        self._tools = _Tools(registry.catalog)
        self._states: dict[str, State] = {}
        self.under_way: dict[str, CallScope] = {}
        self._former: set[str] = set()

    def meant(self, name: Any, coerce: Coerce | None = None, view: ToolLookup | None = None) -> Any:
        """Return the name of the tool that a name means: an alias, or in a namespace if lenient."""
        if not isinstance(name, str):
            return name
        catalog = (self.registry if view is None else view).catalog
        own = catalog.named(name)
        is_lenient = (coerce or self.settings.policy.coerce) == "lenient"
        if not is_lenient or own in catalog.tools or own in catalog.unavailable:
            return own
        inner = without_namespace(name, catalog.tools.keys() | catalog.aliases.keys())
        return name if inner is None else catalog.named(inner)

    def note_alias(self, alias: str, name: str) -> None:
        """Log a call by an alias, once for each."""
        if alias in self.registry.catalog.aliases and alias not in self._former:
            self._former.add(alias)
            _LOGGER.warning("tool %s was called by its alias %s; use its own name", name, alias)

    def tool(
        self, name: Any, coerce: Coerce | None = None, view: ToolLookup | None = None
    ) -> PreparedTool | DynamicTool | Failure:
        """Return the current tool of that name, ready to be called, or the reason why it can't be.

        That runs no code of a tool's author; what must is done when a ``DynamicTool`` is called.
        If there is a view, tools outside it don't exist.
        """
        if view is not None:
            name, shown = self.meant(name, coerce, view), view.catalog
            if not isinstance(name, str) or name not in shown.tools:
                return _missing(name, shown)
        tools, catalog = self._tools, self.registry.catalog
        if tools.catalog is not catalog:
            # tools that a reload did not touch stay prepared
            current = _Tools(catalog)
            # a list, because other threads may add to the old ones meanwhile
            for known, tool in list(tools.items()):
                if catalog.tools.get(known) is tool.definition:
                    current[known] = tool
            tools = self._tools = current
        try:
            return tools[name]
        except KeyError:
            meant = self.meant(name, coerce)
        except TypeError:  # a name that a model made up can be a list, which can't be looked up
            meant = name
        if meant is not name:
            return self.tool(meant)
        prepared = self._prepare(name, catalog)
        # of two threads that prepared it at once both use the same one: it has the limiter
        return prepared if isinstance(prepared, Failure) else tools.setdefault(name, prepared)

    def deferred(
        self, name: Any, coerce: Coerce | None = None, view: ToolLookup | None = None
    ) -> Deferred | None:
        """Return the module that must be imported before the tool of that name can be called."""
        tools = self._tools
        if not isinstance(name, str) or (name in tools and tools.catalog is self.registry.catalog):
            return None
        tool = self.registry.catalog.tools.get(self.meant(name, coerce, view))
        return None if tool is None else tool.deferred

    def _prepare(self, name: object, catalog: Catalog) -> PreparedTool | DynamicTool | Failure:
        if isinstance(name, str) and name in catalog.tools:
            definition = catalog.tools[name]
            kind = DynamicTool if definition.is_dynamic else PreparedTool
            try:
                return kind(definition, self)
            except UnavailableError as error:
                return Failure("unavailable", str(error))
            except Exception as error:
                _LOGGER.exception("tool %s can't be prepared", name)
                return Failure("unavailable", f"tool {name!r} can't be prepared: {error}")
        return _missing(name, catalog)

    def context(
        self, tool: ToolDefinition, secrets: Secrets, scope: CallScope | None
    ) -> ToolContext:
        """Return the context of a tool's call; its state is kept from call to call."""
        scope = scope or CallScope()
        return ToolContext(
            tool,
            self.registry,
            self.make_caller(self, scope),
            call_id=scope.call_id,
            state=self._states.setdefault(tool.name, State()),
            listen=partial(_tell, scope.listen or self.listener, secrets),
            is_cancelled=lambda: scope.is_stopped,
            find=partial(find_client, scope, secrets),
        )

    def cancel(self, call_id: str) -> bool:
        """Stop the call of that name; return whether there was one."""
        scope = self.under_way.get(call_id)
        if scope is not None:
            scope.stop()
        return scope is not None


def _missing(name: object, catalog: Catalog) -> Failure:
    """Return the reason why no tool of that name can be called."""
    if isinstance(name, str) and name in catalog.unavailable:
        reasons = "; ".join(catalog.unavailable[name])
        return Failure("unavailable", str(UnavailableError(name, reasons)))
    asked = brief(str(name), MAX_NAME)
    hint = as_hint(nearest_tool(name, catalog.tools))
    return Failure("unknown_tool", f"there's no tool {asked!r}{hint}")


def log_event(event: Progress | LogMessage) -> None:
    """Write a tool's message to the log; progress is for listeners only."""
    if isinstance(event, LogMessage):
        _TOOLS_LOGGER.log(_LEVELS[event.level], "%s: %s", event.tool, event.message)


def _tell(listen: Listener | None, secrets: Secrets, event: Progress | LogMessage) -> None:
    """Pass on a call's progress and messages, without secrets."""
    try:
        if secrets and event.message is not None:
            event = event._replace(message=redact(str(event.message), secrets))
        (listen or log_event)(event)
    except Exception:
        _LOGGER.exception("a listener failed at %s", type(event).__name__)
