"""A run: the steps of a procedure, one after another or at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import InputError, StepError
from sovl_tools.procedures.model import Procedure, Step
from sovl_tools.procedures.run.effects import perform, within
from sovl_tools.procedures.run.environment import RunEnvironment
from sovl_tools.procedures.run.events import State, StepEvents
from sovl_tools.procedures.run.scope import Scope, checked_inputs
from sovl_tools.schema.messages import named


class _Returned(Exception):  # noqa: N818 - no error
    """A step that returns from its procedure."""

    def __init__(self, value: JSON) -> None:
        super().__init__()
        self.value = value


class _KnownError(StepError):
    """A failure of an earlier process, after which that had gone on."""


class _Ending(NamedTuple):
    """What came of a step, and how it ended."""

    value: JSON
    state: State = "succeeded"
    message: str | None = None


class Execution:
    """Runs a procedure, once."""

    def __init__(self, procedure: Procedure, environment: RunEnvironment) -> None:
        self._procedure = procedure
        self._environment = environment
        self._actions: Mapping[str, Callable[..., Coroutine[Any, Any, JSON]]] = {
            "set": self._set,
            "if": self._if,
            "for_each": self._for_each,
            "parallel": self._parallel,
            "procedure": self._other,
            "return": self._return,
            "fail": self._fail,
        }

    async def run(self, scope: Scope) -> JSON:
        """Take all steps; return what one returned, or else the output.

        Raises:
            StepError: a step failed, or the output can't be made.
        """
        procedure = self._procedure
        try:
            await within(procedure.timeout, self._steps(procedure.steps, scope), "the run")
            return scope.render(procedure.output, ("output",))
        except _Returned as returned:
            return returned.value
        except StepError as error:
            if error.key:
                raise
            words = f"{procedure.name}: {error.message}"
            raise StepError(
                words, path=error.path or ("output",), procedure=procedure.name, line=error.line
            ) from error

    async def _steps(self, steps: tuple[Step, ...], scope: Scope) -> None:
        for step in steps:
            await self._step(step, scope)

    async def _step(self, step: Step, scope: Scope) -> None:
        """Take a step, unless it is to be skipped, and keep what comes of it."""
        key = scope.key(step)
        events = StepEvents(self._environment.listen, key, step.label, scope.depth)
        try:
            if step.when is not None and not self._applies(step, scope, events):
                self._environment.log.skip(key, step.action)
                events.ended("skipped")
                return
            events.started()
            value, state, message = await self._attempts(step, scope, key, events)
        except _Returned:
            events.ended("succeeded")
            raise
        except StepError as error:
            located = error
            if not error.key:  # a step within has said where it is
                path, line = error.path or step.path, error.line
                name = self._procedure.name
                located = StepError(error.message, key=key, path=path, procedure=name, line=line)
            events.ended("failed", located.message)
            raise located from error.__cause__
        events.ended(state, message)
        if step.save_as is not None:
            scope.variables[step.save_as] = value

    def _applies(self, step: Step, scope: Scope, events: StepEvents) -> bool:
        try:
            return scope.is_true(str(step.when), (*step.path, "when"))
        except StepError:
            events.started()
            raise

    async def _attempts(self, step: Step, scope: Scope, key: str, events: StepEvents) -> _Ending:
        """Take a step as often as it may fail."""
        policy = step.on_error
        for number in range(1, policy.retry + 1):
            try:
                return await self._attempt(step, scope, _numbered(key, number), is_fatal=False)
            except StepError as error:
                if not isinstance(error, _KnownError):
                    delay = policy.delay * policy.backoff ** (number - 1)
                    events.retried(number, delay, error.message)
                    await asyncio.sleep(delay)
        last, is_fatal = _numbered(key, policy.retry + 1), policy.then == "fail"
        try:
            return await self._attempt(step, scope, last, is_fatal=is_fatal)
        except StepError as error:
            if is_fatal:
                raise
            return _Ending(None, "continued", error.message)

    async def _attempt(self, step: Step, scope: Scope, key: str, *, is_fatal: bool) -> _Ending:
        """Take a step once and write it down; ``is_fatal`` says that its procedure fails with it.

        What has an effect outside of the run, and is known from an earlier process, is not done
        again. Every other step is: so the variables get their values back.
        """
        log, action = self._environment.log, step.action
        act = self._actions.get(action)
        has_effect = act is None
        try:
            # What a step works on: the journal keeps it, and steps of ours take it as arguments.
            prepare = _PREPARED.get(action)
            fields: dict[str, JSON]
            fields = prepare(step, scope) if prepare else scope.render(step.fields, step.path)
        except StepError as error:
            log.begin(key, action, None, None, is_durable=has_effect)
            log.fail(key, error.message, is_durable=has_effect)
            raise
        is_call = action == "tool"
        tool, arguments = (fields["tool"], fields.get("arguments")) if is_call else (None, fields)
        known = log.known(key, action, tool, arguments)
        if known is not None and known.error is not None and not is_fatal:
            raise _KnownError(known.error)
        # What failed for good is tried again, and what is known to have come of a step is kept.
        if known is not None and known.error is None and has_effect:
            return _Ending(known.value, "known")
        log.begin(key, action, tool, arguments, is_durable=has_effect)
        try:
            if act is None:
                value = await perform(step, fields, scope, self._environment)
            else:
                value = await within(step.timeout, act(step, scope, key, **fields))
        except _Returned as returned:
            log.succeed(key, returned.value, is_durable=has_effect)
            raise
        except StepError as error:
            log.fail(key, error.message, is_durable=has_effect)
            raise
        log.succeed(key, value, is_durable=has_effect)
        return _Ending(value)

    async def _set(self, _: Step, scope: Scope, __: str, *, values: dict[str, JSON]) -> None:
        scope.variables.update(values)

    async def _if(self, step: Step, scope: Scope, key: str, *, branch: str, **_: JSON) -> None:
        inner = scope.inner(step, key, dict(scope.variables))
        await self._steps(step.blocks.get((branch,), ()), inner)
        scope.variables.update(inner.variables)

    async def _for_each(self, step: Step, scope: Scope, key: str, *, items: list[JSON]) -> JSON:
        name = step.fields.get("as", "item")
        results: list[JSON] = [None] * len(items)
        # As many tasks as may work at once share one iterator, so that each takes what is next.
        pending = iter(enumerate(items))

        async def iterate() -> None:
            for index, item in pending:
                loop = {"index": index + 1, "count": len(items)}
                own = {**scope.variables, name: item, "loop": loop}
                inner = scope.inner(step, f"{key}[{index}]", own)
                await self._steps(step.blocks[("steps",)], inner)
                results[index] = inner.render(step.fields.get("result"), (*step.path, "result"))

        at_once = min(step.fields.get("at_once", 1), len(items))
        await _all([iterate() for _ in range(at_once)])
        return results

    async def _parallel(self, step: Step, scope: Scope, key: str, *, branches: list[str]) -> None:
        scopes = [scope.inner(step, key, dict(scope.variables)) for _ in branches]
        pairs = zip(step.blocks.values(), scopes, strict=True)
        await _all([self._steps(steps, inner) for steps, inner in pairs])
        scope.merge(scopes)

    async def _other(
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


def _rendered(step: Step, key: str, scope: Scope) -> JSON:
    return scope.render(step.fields.get(key), (*step.path, key))


def _assignments(step: Step, scope: Scope) -> dict[str, JSON]:
    """Fill in the values of ``set`` in order: each may name those before it."""
    inner = Scope(dict(scope.variables))
    values: dict[str, JSON] = {}
    for name, value in step.fields["values"].items():
        path = (*step.path, "values", name)
        values[name] = inner.variables[name] = inner.render(value, path)
    return {"values": values}


def _branch(step: Step, scope: Scope) -> dict[str, JSON]:
    is_met = scope.is_true(step.fields["condition"], (*step.path, "condition"))
    return {"condition": is_met, "branch": "then" if is_met else "else"}


def _items(step: Step, scope: Scope) -> dict[str, JSON]:
    items = _rendered(step, "items", scope)
    if not isinstance(items, list):
        message = f"items must be an array, not {named(items)}"
        raise StepError(message, path=(*step.path, "items"))
    return {"items": items}


_PREPARED: Mapping[str, Callable[[Step, Scope], dict[str, JSON]]] = {
    "set": _assignments,
    "if": _branch,
    "for_each": _items,
    "parallel": lambda step, _: {"branches": list(step.fields["branches"])},
    "procedure": lambda step, scope: {
        "procedure": step.fields["procedure"],
        "inputs": _rendered(step, "inputs", scope) or {},
    },
    "fail": lambda step, scope: {"message": str(_rendered(step, "message", scope))},
}
"""What steps work on that hold others, or whose templates are not all filled in at once."""


def _numbered(key: str, attempt: int) -> str:
    return key if attempt == 1 else f"{key}~{attempt}"


async def _all(works: list[Coroutine[Any, Any, None]]) -> None:
    """Do works at the same time; the first failure ends the others and is raised."""
    if len(works) == 1:  # a task would cost more than many a step
        await works[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        # raised below, so that the group is not told as its cause
        failure = errors.exceptions[0]
    else:
        return
    raise failure
