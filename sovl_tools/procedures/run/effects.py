"""Steps that have an effect outside of their run: tools, waiting, and what tools bring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from time import perf_counter
from typing import Any, TypeVar

from sovl_tools.dispatch.async_runner import await_thread
from sovl_tools.dispatch.background import is_cancellation
from sovl_tools.dispatch.cancellation import drive
from sovl_tools.dispatch.failure import failure_of
from sovl_tools.dispatch.results import convert_result
from sovl_tools.dispatch.runner import blocking_call, call_and_await, is_async
from sovl_tools.dispatch.scope import CallScope
from sovl_tools.model.call import Level, LogMessage
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.document import JSON, copied
from sovl_tools.model.errors import TimeLimitError
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.model import MAX_SECONDS, Step
from sovl_tools.procedures.run.environment import RunEnvironment, StepContext
from sovl_tools.procedures.run.scope import Scope
from sovl_tools.schema.messages import named

_LOGGER = logging.getLogger("sovl_tools.tools")


async def perform(
    step: Step, fields: Mapping[str, JSON], scope: Scope, run: RunEnvironment
) -> JSON:
    """Do what a step says, whose templates are filled in, and return what comes of it.

    Raises:
        StepError: it failed, or took too long.
    """
    return await _KINDS.get(step.action, _handled)(step, fields, scope, run)


async def _called(step: Step, fields: Mapping[str, JSON], _: Scope, run: RunEnvironment) -> JSON:
    options: dict[str, Any] = {}
    if step.timeout is not None:
        options["timeout"] = step.timeout
    if run.listen is not None:
        options["on_event"] = run.listen
    result = await run.tooler.call(fields["tool"], fields.get("arguments", {}), **options)
    if result.error is not None:
        raise StepError(result.error.message)
    # the tool may keep what it has returned, and change it
    return copied(result.value)


async def _waited(step: Step, fields: Mapping[str, JSON], _: Scope, __: RunEnvironment) -> None:
    seconds = fields["seconds"]
    path = (*step.path, "seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds < 0:
        raise StepError(f"seconds must be a number of at least 0, not {named(seconds)}", path=path)
    if seconds > MAX_SECONDS:
        raise StepError(f"seconds must be at most {MAX_SECONDS}, a year", path=path)
    await within(step.timeout, asyncio.sleep(seconds))


async def _handled(
    step: Step, fields: Mapping[str, JSON], scope: Scope, run: RunEnvironment
) -> JSON:
    """Have the step handler of a tool do it, the one that is there now.

    Its code is kept for as long as somebody has the catalog.
    """
    catalog = run.registry.catalog
    handler = catalog.step_handlers.get(step.action)
    if handler is None:
        raise StepError(f"there is no action {step.action!r} any more")
    key, variables = scope.key(step), copied(scope.variables)

    def log(level: Level, message: str) -> None:
        if run.listen is not None:
            run.listen(LogMessage(step.action, key, level, message))
        else:
            number = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
            _LOGGER.log(number, "%s: %s", step.action, message)

    inputs, run_id = variables["inputs"], run.log.run_id
    context = StepContext(variables, inputs, run.tooler, run.registry, run_id, log)
    handle = partial(handler, {"action": step.action, **fields})
    outcome = _outcome(step.action, handle, context, catalog)
    return await within(step.timeout, outcome, f"action {step.action!r}")


async def _outcome(
    action: str, handle: partial[Any], context: StepContext, catalog: Catalog
) -> JSON:
    """Run a handler, on a thread unless it is async, and return its value as JSON."""
    try:
        if is_async(handle.func):
            value = await call_and_await(handle, context)
        else:
            call = CallScope()
            value = await await_thread(partial(blocking_call(handle), context, call), call)
        return copied(convert_result(value)[0])
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if is_cancellation(error):
            raise
        # what the tool that brings the action has in its environment is not told
        owners = (each for each in catalog.tools.values() if action in each.step_handlers)
        secrets = tuple(name for each in owners for name in each.requires.get("env", ()))
        raise StepError(failure_of(error, action, secrets=secrets).message) from error


_KINDS: Mapping[str, Callable[..., Awaitable[JSON]]] = {"tool": _called, "wait": _waited}

_T = TypeVar("_T")


async def within(seconds: float | None, work: Coroutine[Any, Any, _T], what: str = "it") -> _T:
    """Await the work, no longer than so many seconds; None for as long as it takes.

    Raises:
        StepError: the time is over.
    """
    if seconds is None:
        return await work
    try:
        return await drive(work, limit=seconds, started=perf_counter())
    except TimeLimitError as error:
        raise StepError(f"{what} {TimeLimitError(seconds)}") from error
