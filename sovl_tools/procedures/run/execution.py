"""A run: executes the steps of a procedure, in order or concurrently, over shared variables."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from sovl_tools.dispatch.async_runner import await_thread, limited
from sovl_tools.dispatch.background import is_cancellation
from sovl_tools.dispatch.failure import failure_of
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.dispatch.steps import author_step, convert_result, is_async
from sovl_tools.model.call import Level, LogMessage
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.context import ToolCaller, ToolLookup
from sovl_tools.model.definition import DeferredHandler, StepHandler
from sovl_tools.model.document import JSON, Path, copied
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.procedures.errors import EvaluationError, InputError, StepError
from sovl_tools.procedures.journal import RunLog
from sovl_tools.procedures.procedure import BUILT_IN, Procedure, Step, checked_inputs
from sovl_tools.procedures.run.environment import (
    Event,
    Gate,
    State,
    StepContext,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.procedures.templates import Template
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import describe


class RunEnvironment(NamedTuple):
    """The context of a run.

    Attributes:
        registry: where tools and step handlers are.
        tooler: calls tools.
        procedure: returns another procedure by its name, as seen from the current one.
        log: where steps are written down; None for a run that is not.
        listen: called with each event, also from the threads of tools; None for no one.
        gate: awaited before each step; None for no wait.
    """

    registry: ToolLookup
    tooler: ToolCaller
    procedure: Callable[[Procedure, str], Procedure]
    log: RunLog | None = None
    listen: Callable[[Event], object] | None = None
    gate: Gate | None = None

    def tell(self, event: Event) -> None:
        """Call the listener with an event, if there is one."""
        if self.listen is not None:
            self.listen(event)


class Scope(NamedTuple):
    """The variables that a block of steps sees, and the prefix of the steps' keys.

    A key identifies a step in a run: ``steps.2[3].steps.0`` in the fourth iteration of a loop,
    ``steps.1/other:steps.0`` in another procedure, ``steps.4~2.steps.0`` in the second attempt of
    the enclosing step.

    Attributes:
        variables: by name, ``inputs`` among them.
        prefix: of the keys.
        base: the number of parts of a step's path in the prefix.
        depth: the number of steps around the block.
    """

    variables: dict[str, JSON]
    prefix: str = ""
    base: int = 0
    depth: int = 0

    def render(self, value: JSON, path: Path) -> JSON:
        """Render the templates in the strings of a value; keys of objects stay unchanged.

        ``path`` is the place of the value in the document.

        Raises:
            StepError: an expression fails.
        """
        if isinstance(value, str):
            return self._evaluate(Template.of(value), path)
        if isinstance(value, Mapping):
            return {key: self.render(each, (*path, key)) for key, each in value.items()}
        if isinstance(value, list):
            return [self.render(each, (*path, index)) for index, each in enumerate(value)]
        return value

    def is_true(self, condition: str, path: Path) -> bool:
        """Evaluate a condition; as in Python, empty values and 0 are false.

        Raises:
            StepError: the expression fails.
        """
        return bool(self._evaluate(Template.of_expression(condition), path))

    def _evaluate(self, template: Template, path: Path) -> JSON:
        try:
            return template.evaluate(self.variables)
        except EvaluationError as error:
            raise StepError(str(error), path=path) from error

    def key(self, step: Step) -> str:
        """Return the key of a step in this scope."""
        return self.prefix + ".".join(map(str, step.path[self.base :]))

    def inner(self, step: Step, key: str, variables: dict[str, JSON] | None = None) -> Scope:
        """Return the scope of the steps within a step; it shares the variables unless given others.

        ``key`` is the key of the step, with its attempt and iteration.
        """
        given = self.variables if variables is None else variables
        return Scope(given, f"{key}.", base=len(step.path), depth=self.depth + 1)

    def procedure(self, key: str, name: str, inputs: JSON) -> Scope:
        """Return the scope of another procedure that a step runs."""
        return Scope({"inputs": inputs}, f"{key}/{name}:", depth=self.depth + 1)


_LOGGER = logging.getLogger("sovl_tools.tools")


async def _call_tool(step: Step, fields: Mapping[str, JSON], _: Scope, run: RunEnvironment) -> JSON:
    options: dict[str, Any] = {}
    if step.timeout is not None:
        options["timeout"] = step.timeout
    if run.listen is not None:
        options["on_event"] = run.listen
    result = await run.tooler.call(fields["tool"], fields.get("arguments", {}), **options)
    if result.error is not None:
        raise StepError(result.error.message)
    # The tool may keep a reference to its result, and modify it.
    return copied(result.value)


async def _wait(step: Step, fields: Mapping[str, JSON], _: Scope, __: RunEnvironment) -> None:
    _check(step, "seconds", fields["seconds"])
    await within(step.timeout, asyncio.sleep(fields["seconds"]))


def _check(step: Step, key: str, value: JSON) -> None:
    for problem in compile_schema(BUILT_IN[step.action, key]).problems(value):
        raise StepError(f"{key} {describe(problem)}", path=(*step.path, key))


async def _run_step_handler(
    step: Step, fields: Mapping[str, JSON], scope: Scope, run: RunEnvironment
) -> JSON:
    """Call the step handler of a tool, in its current version."""
    # Read once: a reload may replace the catalog while the handler runs.
    catalog = run.registry.catalog
    handler = catalog.step_handlers.get(step.action)
    if handler is None:
        raise StepError(f"there's no action {step.action!r} anymore")
    key, variables = scope.key(step), copied(scope.variables)

    def log(level: Level, message: str) -> None:
        if run.listen is not None:
            run.listen(LogMessage(step.action, key, level, message))
        else:
            # A handler may pass a level that doesn't exist; its message is logged all the same.
            number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
            _LOGGER.log(number, "%s: %s", step.action, message)

    run_id = "" if run.log is None else run.log.run_id
    context = StepContext(variables, variables["inputs"], run.tooler, run.registry, run_id, log)
    given = {"action": step.action, **fields}
    work = _call_handler(handler, given, context, catalog)
    return await within(step.timeout, work, f"action {step.action!r}")


async def _call_handler(
    handler: StepHandler, given: Mapping[str, Any], context: StepContext, catalog: Catalog
) -> JSON:
    """Run a handler, in a thread unless it is async, and return its value as JSON."""
    action = given["action"]
    try:
        if isinstance(handler, DeferredHandler):
            handler = await await_thread(handler.imported)
        handle = partial(handler, given)
        step, call = author_step(handle), CallScope()
        if step.awaited is not None and is_async(handle.func):
            value = await step.awaited(context, None, await_thread)
        else:
            value = await await_thread(partial(step.take, context, call), call)
        return copied(convert_result(value)[0])
    except KeyboardInterrupt:  # from the user, not from the handler
        raise
    except BaseException as error:
        if is_cancellation(error):
            raise
        # Secrets of the tool that brings the action don't get into the message.
        owners = (each for each in catalog.tools.values() if action in each.step_handlers)
        secrets = tuple(name for each in owners for name in each.requires.get("env", ()))
        raise StepError(failure_of(error, action, secrets=secrets).message) from error


_EFFECTS: Mapping[str, Callable[..., Awaitable[JSON]]] = {"tool": _call_tool, "wait": _wait}

_T = TypeVar("_T")


async def within(seconds: float | None, work: Coroutine[Any, Any, _T], what: str = "it") -> _T:
    """Await work with a time limit in seconds; None isn't a limit.

    Raises:
        StepError: the time limit was exceeded.
    """
    if seconds is None:
        return await work
    try:
        return await limited(work, CallScope(limit=seconds))
    except TimeLimitError as error:
        raise StepError(f"{what} {TimeLimitError(seconds)}") from error


class _Returned(Exception):  # noqa: N818 - no error
    """Ends a procedure: a step has returned a value from it."""

    def __init__(self, value: JSON) -> None:
        super().__init__()
        self.value = value


class _Ending(NamedTuple):
    """The value of a step, and how it ended."""

    value: JSON
    state: State = "succeeded"
    message: str | None = None


class Execution:
    """One run of one procedure."""

    def __init__(self, procedure: Procedure, environment: RunEnvironment) -> None:
        self._procedure = procedure
        self._environment = environment
        self._actions: Mapping[str, Callable[..., Coroutine[Any, Any, JSON]]] = {
            "set": self._set,
            "if": self._if,
            "for_each": self._for_each,
            "parallel": self._parallel,
            "procedure": self._run_procedure,
            "return": self._return,
            "fail": self._fail,
        }

    async def run(self, scope: Scope) -> JSON:
        """Run all steps; return the value of a ``return`` step, or else the rendered output.

        Raises:
            StepError: a step failed, or the output can't be rendered.
        """
        procedure = self._procedure
        try:
            limit = self._limit(procedure.timeout)
            await within(limit, self._steps(procedure.steps, scope), "the run")
            return scope.render(procedure.output, ("output",))
        except _Returned as returned:
            return returned.value
        except StepError as error:
            if error.key:  # raised by a step; without a key, by the output or the run's time limit
                raise
            name, path = procedure.name, error.path or ("output",)
            raise StepError(f"{name}: {error.message}", path=path, procedure=name) from error

    def _limit(self, seconds: float | None) -> float | None:
        """Return the time limit of a step that contains others; None if a gate could delay them."""
        return seconds if self._environment.gate is None else None

    async def _steps(self, steps: tuple[Step, ...], scope: Scope) -> None:
        for step in steps:
            await self._step(step, scope)

    async def _step(self, step: Step, scope: Scope) -> None:
        """Run a step unless its condition is false, and save its value."""
        key, run = scope.key(step), self._environment
        about = key, step.label, scope.depth
        begun = perf_counter()

        def end(state: State, message: str | None = None, value: JSON = None) -> None:
            run.tell(StepEnded(*about, state, perf_counter() - begun, message, value))

        try:
            try:
                is_due = step.when is None or scope.is_true(step.when, (*step.path, "when"))
            except StepError:
                run.tell(StepStarted(*about))  # or the end of a step comes that never began
                raise
            if not is_due:
                if run.log is not None:
                    run.log.skip(key, step.action)
                end("skipped")
                return
            if run.gate is not None:
                await run.gate(StepStarted(*about))
            begun = perf_counter()
            run.tell(StepStarted(*about))
            value, state, message = await self._attempts(step, scope, key)
        except _Returned as returned:
            end("succeeded", value=returned.value)
            raise
        except StepError as error:
            end("failed", error.message)
            if error.key:  # it was located already, by a step within this one
                raise
            path, name = error.path or step.path, self._procedure.name
            located = StepError(error.message, key=key, path=path, procedure=name)
            raise located from error.__cause__
        end(state, message, value)
        if step.save_as is not None:
            scope.variables[step.save_as] = value

    async def _attempts(self, step: Step, scope: Scope, key: str) -> _Ending:
        """Run a step, and again after a failure as often as ``on_error`` allows."""
        policy, number = step.on_error, 1
        while True:
            attempt = key if number == 1 else f"{key}~{number}"
            is_last = number > policy.retry
            is_fatal = is_last and policy.then == "fail"
            try:
                ending = await self._attempt(step, scope, attempt, is_fatal=is_fatal)
                # After a failure of an earlier process the next attempt begins at once.
                if is_last or ending.state != "continued":
                    return ending
            except StepError as error:
                if is_fatal:
                    raise
                if is_last:
                    return _Ending(None, "continued", error.message)
                delay = policy.delay * policy.backoff ** (number - 1)
                about = key, step.label, scope.depth
                self._environment.tell(StepRetried(*about, number, delay, error.message))
                await asyncio.sleep(delay)
            number += 1

    async def _attempt(self, step: Step, scope: Scope, key: str, *, is_fatal: bool) -> _Ending:
        """Run a step once and record it; if ``is_fatal``, its failure is the procedure's.

        A step with effects outside of the run that the journal has from an earlier process is not
        repeated. All other steps are, which restores the variables.
        """
        log, action = self._environment.log, step.action
        if log is None:
            return _Ending(await self._perform(step, scope, key, _rendered(step, scope)))
        try:
            fields = _rendered(step, scope)
        except StepError as error:  # no step has run, but the journal records the failure
            log.begin(key, action, None, None)
            log.fail(key, error.message)
            raise
        is_call = action == "tool"
        tool, arguments = (fields["tool"], fields.get("arguments")) if is_call else (None, fields)
        known = log.known(key, action, tool, arguments)
        # A fatal failure is tried again; a recorded value of a step with effects is used.
        if known is not None and known.state == "failed" and not is_fatal:
            return _Ending(None, "continued", known.error or "")
        if known is not None and known.state == "succeeded" and action not in self._actions:
            return _Ending(known.result, "known")
        log.begin(key, action, tool, arguments)
        try:
            value = await self._perform(step, scope, key, fields)
        except _Returned as returned:  # a step within has returned, which ends this one as well
            log.succeed(key, returned.value)
            raise
        except StepError as error:
            log.fail(key, error.message)
            raise
        log.succeed(key, value)
        return _Ending(value)

    async def _perform(self, step: Step, scope: Scope, key: str, fields: dict[str, JSON]) -> JSON:
        act = self._actions.get(step.action)
        if act is not None:
            return await within(self._limit(step.timeout), act(step, scope, key, **fields))
        perform = _EFFECTS.get(step.action, _run_step_handler)
        return await perform(step, fields, scope, self._environment)

    async def _set(self, _: Step, scope: Scope, __: str, *, values: dict[str, JSON]) -> None:
        scope.variables.update(values)

    async def _if(self, step: Step, scope: Scope, key: str, *, branch: str, **_: JSON) -> None:
        # On a copy: a branch that fails leaves no variables behind if the run continues.
        inner = scope.inner(step, key, dict(scope.variables))
        await self._steps(step.blocks.get((branch,), ()), inner)
        scope.variables.update(inner.variables)

    async def _for_each(self, step: Step, scope: Scope, key: str, *, items: list[JSON]) -> JSON:
        name = step.fields.get("as", "item")
        results: list[JSON] = [None] * len(items)
        # ``at_once`` tasks share one iterator, so that each takes the next item.
        pending = iter(enumerate(items))

        async def iterate() -> None:
            for index, item in pending:
                loop = {"index": index + 1, "count": len(items)}
                own = {**scope.variables, name: item, "loop": loop}
                inner = scope.inner(step, f"{key}[{index}]", own)
                await self._steps(step.blocks[("steps",)], inner)
                # By index, since iterations may end in another order.
                results[index] = inner.render(step.fields.get("result"), (*step.path, "result"))

        at_once = min(step.fields.get("at_once", 1), len(items))
        await _run_all([iterate() for _ in range(at_once)])
        return results

    async def _parallel(self, step: Step, scope: Scope, key: str, *, branches: list[str]) -> None:
        scopes = [scope.inner(step, key, dict(scope.variables)) for _ in branches]
        pairs = zip(step.blocks.values(), scopes, strict=True)
        await _run_all([self._steps(steps, inner) for steps, inner in pairs])
        # Compared by identity, since a branch may assign an equal value. Two branches never assign
        # the same variable: a rule (ST762) rejects that before anything runs.
        before = dict(scope.variables)
        for name, value in (pair for inner in scopes for pair in inner.variables.items()):
            if name not in before or before[name] is not value:
                scope.variables[name] = value

    async def _run_procedure(
        self, _: Step, scope: Scope, key: str, *, procedure: str, inputs: dict[str, JSON]
    ) -> JSON:
        other = self._environment.procedure(self._procedure, procedure)
        try:
            checked = checked_inputs(other, inputs)
        except InputError as error:
            raise StepError(str(error)) from error
        return await Execution(other, self._environment).run(
            scope.procedure(key, other.name, checked)
        )

    async def _return(self, _: Step, __: Scope, ___: str, *, value: JSON) -> None:
        raise _Returned(value)

    async def _fail(self, _: Step, __: Scope, ___: str, *, message: str) -> None:
        raise StepError(message)


def _render_field(step: Step, key: str, scope: Scope) -> JSON:
    return scope.render(step.fields.get(key), (*step.path, key))


def _assignments(step: Step, scope: Scope) -> dict[str, JSON]:
    """Render the values of ``set`` in order: each may use those before it."""
    inner = Scope(dict(scope.variables))  # a copy: a value that fails changes no variable
    values: dict[str, JSON] = {}
    for name, value in step.fields["values"].items():
        path = (*step.path, "values", name)
        values[name] = inner.variables[name] = inner.render(value, path)
    return {"values": values}


def _branch(step: Step, scope: Scope) -> dict[str, JSON]:
    is_met = scope.is_true(step.fields["condition"], (*step.path, "condition"))
    return {"condition": is_met, "branch": "then" if is_met else "else"}


def _items(step: Step, scope: Scope) -> dict[str, JSON]:
    items = _render_field(step, "items", scope)
    _check(step, "items", items)
    return {"items": items}


_PREPARED: Mapping[str, Callable[[Step, Scope], dict[str, JSON]]] = {
    "set": _assignments,
    "if": _branch,
    "for_each": _items,
    "parallel": lambda step, _: {"branches": list(step.fields["branches"])},
    "procedure": lambda step, scope: {
        "procedure": step.fields["procedure"],
        "inputs": _render_field(step, "inputs", scope) or {},
    },
    "fail": lambda step, scope: {"message": str(_render_field(step, "message", scope))},
}
"""Renders actions that have inner steps, or whose templates are rendered one by one."""


def _rendered(step: Step, scope: Scope) -> dict[str, JSON]:
    """Render the fields of a step, which the journal keeps and built-in actions get."""
    if step.action in _PREPARED:
        return _PREPARED[step.action](step, scope)
    return {key: scope.render(each, (*step.path, key)) for key, each in step.fields.items()}


async def _run_all(works: list[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines concurrently; the first failure cancels the rest and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        # raised below, so that the exception group is not its context
        failure = errors.exceptions[0]
    else:
        return
    raise failure
