"""One call that is more than a check and a function call: the whole road, for both worlds."""

from __future__ import annotations

from collections.abc import Mapping
from threading import TIMEOUT_MAX, Lock
from time import perf_counter, time
from types import MappingProxyType
from typing import Any, NamedTuple

from sovl_tools.model.call import CallEvent, Mode, ToolCall
from sovl_tools.model.context import Listener, ToolContext
from sovl_tools.model.result import Failure, Repair, ToolResult
from sovl_tools.running.attempting import Attempting
from sovl_tools.running.engine import Engine
from sovl_tools.running.failing import failure_of, without_secrets
from sovl_tools.running.hooks import through
from sovl_tools.running.plan import Absence, Coerce, Plan
from sovl_tools.running.resolving import Dynamic
from sovl_tools.running.run import Run, RunCancelledError, TimeLimitError, new_call_id
from sovl_tools.running.settling import Sink, in_background
from sovl_tools.running.statistics import CallLog
from sovl_tools.running.waiting import Waiting
from sovl_tools.running.world import Attempt, Work, World, completed
from sovl_tools.validation.wording import one_of

MAX_CHAIN = 16
"""How many tools may call one another."""


class Options(NamedTuple):
    """What one call may have of its own; see ``Tooler.call``."""

    timeout: float | None = None
    mode: Mode | None = None
    coerce: Coerce | None = None
    call_id: str | None = None
    on_event: Listener | None = None
    parent: Run | None = None
    sink: Sink | None = None


def checked_timeout(timeout: float) -> float:
    """Return a time limit, in seconds.

    Raises:
        ValueError: it is not more than 0, or no number of seconds.
    """
    if not 0 < timeout <= TIMEOUT_MAX:
        raise ValueError(f"timeout must be more than 0 seconds and finite, not {timeout!r}")
    return timeout


_OPTIONS = ("timeout", "mode", "coerce", "call_id", "on_event")


def options_of(given: Mapping[str, Any], parent: Run | None = None) -> Options:
    """Return the options of a call by their names.

    Raises:
        TypeError: there is no such option.
        ValueError: the timeout is not more than 0, or a word is unknown.
    """
    for name in given:
        if name not in _OPTIONS:
            raise TypeError(f"a call has no option {name!r}, but {one_of(_OPTIONS)}")
    options = Options(**given, parent=parent)
    if options.timeout is not None:
        checked_timeout(options.timeout)
    check_word("mode", options.mode, (None, "inline", "thread"))
    check_word("coerce", options.coerce, (None, "strict", "lenient"))
    return options


def check_word(name: str, word: str | None, words: tuple[str | None, ...]) -> None:
    """Refuse a word that is none of those.

    Raises:
        ValueError: it is none.
    """
    if word not in words:
        known = one_of(repr(each) for each in words)
        raise ValueError(f"{name} must be {known}, not {word!r}")


def call_sync(engine: Engine, name: str, given: Any, options: Options) -> ToolResult:
    """Make a call and wait for its result."""
    dispatch = Dispatch(engine, name, given, options)
    if not dispatch.needs_loop:
        return completed(dispatch.made(Waiting()))
    from sovl_tools.running.awaiting import Awaiting  # noqa: PLC0415 - imports asyncio

    try:
        result: ToolResult = in_background(dispatch.made(Awaiting()), limit=dispatch.whole_limit)
    except TimeLimitError as error:  # the loop itself is blocked
        return dispatch.given_up(error)
    return result


async def call_async(engine: Engine, name: str, given: Any, options: Options) -> ToolResult:
    """Make a call and await its result."""
    from sovl_tools.running.awaiting import Awaiting  # noqa: PLC0415 - imports asyncio

    return await Dispatch(engine, name, given, options).made(Awaiting())


class NestedCaller:
    """What a tool calls other tools with: its calls know that they are below its own."""

    def __init__(self, engine: Engine, run: Run) -> None:
        self._engine = engine
        self._run = run

    async def call(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and await its result; see ``Tooler.call``."""
        below = options_of(options, self._run)
        return await call_async(self._engine, name, arguments, below)

    def call_sync(self, name: str, arguments: Any = None, **options: Any) -> ToolResult:
        """Call a tool and wait for its result; see ``Tooler.call_sync``."""
        return call_sync(self._engine, name, arguments, options_of(options, self._run))


class Dispatch:
    """A call, from the name that was asked for to the event that tells of its end."""

    def __init__(self, engine: Engine, name: str, given: Any, options: Options) -> None:
        self._engine = engine
        self._name = name
        self._given = given
        self._options = options
        self._plan: Plan | Dynamic | Absence = engine.plan(name)
        self._time = time()
        self._started = perf_counter()
        self._end = Lock()
        above = () if options.parent is None else options.parent.chain
        self._run = Run(
            options.call_id or new_call_id(),
            (*above, name),
            parent=options.parent,
            listen=options.on_event,
        )

    @property
    def needs_loop(self) -> bool:
        """Whether something has to be awaited."""
        return self._plan.is_async or any(hook.form == "async" for hook in self._plan.hooks)

    @property
    def whole_limit(self) -> float | None:
        """How long the call as a whole may take, in seconds; hooks have no limit."""
        return None if self._plan.hooks else self._options.timeout or self._plan.limit

    async def made(self, world: World) -> ToolResult:
        """Make the call and return its result."""
        with self._engine.registered(self._run):
            try:
                result = await self._result(world)
            except BaseException:  # the caller himself is being ended
                self._run.stop()
                self.ended(self.failed(RunCancelledError()))
                raise
        return self.ended(result)

    async def _result(self, world: World) -> ToolResult:
        plan = self._plan
        if isinstance(plan, Absence):
            return self._refused(plan.failure)
        failure = _chain_failure(self._run.chain)
        if failure is not None:
            return self._refused(failure)
        if isinstance(plan, Dynamic):
            return await self._resolved(plan, world)
        return await self._checked_and_called(plan, world)

    async def _resolved(self, dynamic: Dynamic, world: World) -> ToolResult:
        """Call the functions in a schema where sync tools run, and then the tool."""
        attempt = self._whole(dynamic)
        try:
            work = world.work(Work(dynamic.plan, is_async=False), attempt)
            plan: Plan | Absence = await world.limited(work, attempt)
        except (TimeLimitError, RunCancelledError) as error:
            return self.failed(error)
        self._plan = plan
        if isinstance(plan, Absence):
            return self._refused(plan.failure)
        since = None if plan.hooks else self._started  # hooks may make several attempts
        return await self._checked_and_called(plan, world, since=since)

    async def _checked_and_called(
        self, plan: Plan, world: World, *, since: float | None = None
    ) -> ToolResult:
        checked, repairs = self._checked(plan)
        if isinstance(checked, Failure):
            return self._refused(checked)
        arguments = MappingProxyType(checked) if plan.hooks else checked
        call = ToolCall(plan.definition, arguments, self._run.call_id, self._run.chain)
        result = await self._through_hooks(plan, call, world, since)
        return result._replace(repairs=repairs)

    def _checked(self, plan: Plan) -> tuple[dict[str, Any] | Failure, tuple[Repair, ...]]:
        checked = plan.check(self._given)
        coerce = self._options.coerce or self._engine.settings.coerce
        if isinstance(checked, Failure) and coerce == "lenient":
            return plan.repair(self._given, checked)
        return checked, ()

    def _whole(self, plan: Plan | Dynamic) -> Attempt:
        """Return the call as an attempt."""
        options = self._options
        return Attempt(
            self._run,
            options.timeout or plan.limit,
            self._started,
            options.mode or plan.mode,
            self._engine.room,
            options.sink,
        )

    async def _through_hooks(
        self, plan: Plan, call: ToolCall, world: World, since: float | None
    ) -> ToolResult:
        whole = self._whole(plan)
        attempting = Attempting(plan, call, whole, world, self._context, since)
        if not plan.hooks:
            return await attempting.attempt(call)
        work = through(plan.hooks, call, self._run, world=world, last=attempting.attempt)
        try:
            return await world.limited(work, whole._replace(limit=None))
        except RunCancelledError as error:
            return self.failed(error)

    def _context(self, run: Run, plan: Plan) -> ToolContext:
        engine = self._engine
        return ToolContext(
            plan.definition,
            engine.registry,
            NestedCaller(engine, run),
            call_id=run.call_id,
            state=engine.state(plan.name),
            listen=engine.listener(run, plan.secrets),
            is_cancelled=lambda: run.is_stopped,
        )

    def given_up(self, error: TimeLimitError) -> ToolResult:
        """Return the result of a call whose loop is given up, and drop what it may still return."""
        self._run.abandon()
        self._run.stop()
        return self.ended(self.failed(error))

    def failed(self, error: BaseException) -> ToolResult:
        """Return the result that an exception stands for."""
        secrets, is_abandoned = self._plan.secrets, self._run.is_abandoned
        return self._refused(
            failure_of(error, self._name, secrets=secrets, is_abandoned=is_abandoned)
        )

    def _refused(self, failure: Failure) -> ToolResult:
        return ToolResult(self._name, None, failure, 0.0)

    def ended(self, result: ToolResult) -> ToolResult:
        """Tell of the end of the call, once; return its result with the duration of the whole."""
        error, secrets = result.error, self._plan.secrets
        result = result._replace(
            tool=self._name,
            error=error and without_secrets(error, secrets),
            duration=perf_counter() - self._started,
        )
        if not self._end.acquire(blocking=False):
            return result
        if self._plan.log is not None:
            _count(self._plan.log, result)
        self._engine.emit(self._event(result))
        return result

    def _event(self, result: ToolResult) -> CallEvent:
        event = CallEvent(
            self._name,
            self._run.call_id,
            self._time,
            result.duration,
            arguments=self._given,
            value=result.value,
        )
        error = result.error
        if error is None:
            return event
        return event._replace(
            kind=error.kind, error_type=error.error_type, is_abandoned=error.is_abandoned
        )


def _chain_failure(chain: tuple[str, ...]) -> Failure | None:
    *above, name = chain
    if name not in above and len(above) < MAX_CHAIN:
        return None
    reason = "in a circle" if name in above else "so deep"
    return Failure("tool_error", f"tools can't call one another {reason}: {' → '.join(chain)}")


def _count(log: CallLog, result: ToolResult) -> None:
    error = result.error
    if error is None:
        log.succeeded(result.duration)
    else:
        log.failed(error.kind, result.duration, abandoned=error.is_abandoned)
