"""A run: the steps of a procedure, one after another or at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import InputError, StepError
from sovl_tools.procedures.events import State
from sovl_tools.procedures.filling import filled, is_true
from sovl_tools.procedures.inputs import checked_inputs
from sovl_tools.procedures.language import EvaluationError
from sovl_tools.procedures.limits import within
from sovl_tools.procedures.model import Procedure, Step
from sovl_tools.procedures.scope import Scope
from sovl_tools.procedures.surroundings import Outcome, Surroundings
from sovl_tools.procedures.telling import Telling
from sovl_tools.procedures.work import done
from sovl_tools.validation.wording import named


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

    def __init__(self, procedure: Procedure, surroundings: Surroundings) -> None:
        self._procedure = procedure
        self._around = surroundings
        self._actions: Mapping[str, Callable[[Step, Scope, str], Coroutine[Any, Any, JSON]]] = {
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
            return _filled(procedure.output, scope)
        except _Returned as returned:
            return returned.value
        except StepError as error:
            if error.key:
                raise
            words = f"{procedure.name}: {error.message}"
            raise StepError(words, path=("output",), procedure=procedure.name) from error

    async def _steps(self, steps: tuple[Step, ...], scope: Scope) -> None:
        for step in steps:
            await self._step(step, scope)

    async def _step(self, step: Step, scope: Scope) -> None:
        """Take a step, unless it is to be skipped, and keep what comes of it."""
        key = scope.key(step)
        telling = Telling(self._around.listen, key, step.label, scope.depth)
        try:
            if step.when is not None and not self._applies(step, scope, telling):
                telling.ended("skipped")
                return
            telling.started()
            value, state, message = await self._attempts(step, scope, key, telling)
        except _Returned:
            telling.ended("succeeded")
            raise
        except StepError as error:
            located = self._located(error, step, key)
            telling.ended("failed", located.message)
            raise located from error.__cause__
        telling.ended(state, message)
        if step.save_as is not None:
            scope.variables[step.save_as] = value

    def _applies(self, step: Step, scope: Scope, telling: Telling) -> bool:
        try:
            return _is_true(str(step.when), scope)
        except StepError:
            telling.started()
            raise

    def _located(self, error: StepError, step: Step, key: str) -> StepError:
        if error.key:
            return error
        return StepError(error.message, key=key, path=step.path, procedure=self._procedure.name)

    async def _attempts(self, step: Step, scope: Scope, key: str, telling: Telling) -> _Ending:
        """Take a step as often as it may fail."""
        policy = step.on_error
        for number in range(1, policy.retry + 1):
            try:
                return await self._attempt(step, scope, _numbered(key, number), is_fatal=False)
            except StepError as error:
                if not isinstance(error, _KnownError):
                    delay = policy.delay * policy.backoff ** (number - 1)
                    telling.retried(number, delay, error.message)
                    await asyncio.sleep(delay)
        last, is_fatal = _numbered(key, policy.retry + 1), policy.then == "fail"
        try:
            return await self._attempt(step, scope, last, is_fatal=is_fatal)
        except StepError as error:
            if is_fatal:
                raise
            return _Ending(None, "continued", error.message)

    async def _attempt(self, step: Step, scope: Scope, key: str, *, is_fatal: bool) -> _Ending:
        """Take a step once; ``is_fatal`` says that its procedure fails with it."""
        act = self._actions.get(step.action)
        if act is None:
            return await self._work(step, scope, key, is_fatal=is_fatal)
        if is_fatal:
            return _Ending(await within(step.timeout, act(step, scope, key)))
        self._recalled(key, step.action, None, None, is_fatal=False)
        try:
            return _Ending(await within(step.timeout, act(step, scope, key)))
        except StepError as error:
            log = self._around.log
            log.begin(key, step.action, None, None)
            log.fail(key, error.message)
            raise

    async def _work(self, step: Step, scope: Scope, key: str, *, is_fatal: bool) -> _Ending:
        """Do what has an effect outside of the run, once: what is known is not done again."""
        log = self._around.log
        fields: Any = _filled(step.fields, scope)
        is_call = step.action == "tool"
        tool, arguments = (fields["tool"], fields.get("arguments")) if is_call else (None, fields)
        known = self._recalled(key, step.action, tool, arguments, is_fatal=is_fatal)
        if known is not None:
            return _Ending(known.value, "known")
        log.begin(key, step.action, tool, arguments)
        try:
            value = await done(step, fields, scope, self._around)
        except StepError as error:
            log.fail(key, error.message)
            raise
        log.succeed(key, value)
        return _Ending(value)

    def _recalled(
        self, key: str, action: str, tool: str | None, arguments: JSON, *, is_fatal: bool
    ) -> Outcome | None:
        """Return what came of an attempt in an earlier process, unless it is to be made again.

        Raises:
            _KnownError: it failed, and the run went on all the same.
        """
        known = self._around.log.known(key, action, tool, arguments)
        if known is None or known.error is None:
            return known
        if is_fatal:
            return None
        raise _KnownError(known.error)

    async def _set(self, step: Step, scope: Scope, _: str) -> None:
        inner = Scope(dict(scope.variables))
        for name, value in step.fields["values"].items():
            inner.variables[name] = _filled(value, inner)
        scope.variables.update(inner.variables)

    async def _if(self, step: Step, scope: Scope, key: str) -> None:
        place = "then" if _is_true(step.fields["condition"], scope) else "else"
        inner = scope.inner(step, key, dict(scope.variables))
        await self._steps(step.blocks.get((place,), ()), inner)
        scope.variables.update(inner.variables)

    async def _for_each(self, step: Step, scope: Scope, key: str) -> JSON:
        items = _filled(step.fields["items"], scope)
        if not isinstance(items, list):
            raise StepError(f"items must be an array, not {named(items)}")
        name = step.fields.get("as", "item")
        results: list[JSON] = [None] * len(items)
        pending = iter(enumerate(items))

        async def iterate() -> None:
            for index, item in pending:
                loop = {"index": index + 1, "count": len(items)}
                inner = scope.iteration(step, key, index, {name: item, "loop": loop})
                await self._steps(step.blocks[("steps",)], inner)
                results[index] = _filled(step.fields.get("result"), inner)

        at_once = min(step.fields.get("at_once", 1), len(items))
        await _all([iterate() for _ in range(at_once)])
        return results

    async def _parallel(self, step: Step, scope: Scope, key: str) -> None:
        scopes = [scope.inner(step, key, dict(scope.variables)) for _ in step.blocks]
        branches = zip(step.blocks.values(), scopes, strict=True)
        await _all([self._steps(steps, inner) for steps, inner in branches])
        scope.merge(scopes)

    async def _other(self, step: Step, scope: Scope, key: str) -> JSON:
        other = self._around.procedure(self._procedure, step.fields["procedure"])
        try:
            inputs = checked_inputs(other, _filled(step.fields.get("inputs", {}), scope))
        except InputError as error:
            raise StepError(str(error)) from error
        return await Execution(other, self._around).run(scope.procedure(key, other.name, inputs))

    async def _return(self, step: Step, scope: Scope, _: str) -> None:
        raise _Returned(_filled(step.fields["value"], scope))

    async def _fail(self, step: Step, scope: Scope, _: str) -> None:
        raise StepError(str(_filled(step.fields["message"], scope)))


def _numbered(key: str, attempt: int) -> str:
    return key if attempt == 1 else f"{key}~{attempt}"


def _filled(value: JSON, scope: Scope) -> JSON:
    try:
        return filled(value, scope.variables)
    except EvaluationError as error:
        raise StepError(str(error)) from error


def _is_true(condition: str, scope: Scope) -> bool:
    try:
        return is_true(condition, scope.variables)
    except EvaluationError as error:
        raise StepError(str(error)) from error


async def _all(works: list[Coroutine[Any, Any, None]]) -> None:
    """Do works at the same time; the first failure ends the others and is raised."""
    if len(works) == 1:
        await works[0]
        return
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        failure = errors.exceptions[0]
    else:
        return
    raise failure
