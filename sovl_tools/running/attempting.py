"""An attempt of a call: the tool is run once. Hooks may make several, with other arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

from sovl_tools.model.call import ToolCall
from sovl_tools.model.context import ToolContext
from sovl_tools.model.document import copied
from sovl_tools.model.result import Failure, ToolResult
from sovl_tools.running.failing import failure_of
from sovl_tools.running.plan import Plan, Value
from sovl_tools.running.run import Run, RunCancelledError
from sovl_tools.running.world import Attempt, World


class Attempting(NamedTuple):
    """What the attempts of one call have in common.

    Attributes:
        plan: the tool.
        call: as it was when its arguments were checked.
        whole: the call as an attempt; each is a copy with a run and a beginning of its own.
        world: how things are waited for.
        context: makes the context of an attempt.
        since: when the only attempt began, if something was done for it before.
    """

    plan: Plan
    call: ToolCall
    whole: Attempt
    world: World
    context: Callable[[Run, Plan], ToolContext]
    since: float | None = None

    async def attempt(self, call: ToolCall) -> ToolResult:
        """Run the tool once; whatever it does wrong becomes a failure."""
        started = self.since or perf_counter()
        arguments: Any = call.arguments
        if arguments is not self.call.arguments:
            arguments = self.plan.check(arguments)
        elif self.plan.hooks:
            # hooks look at them again, or have them used again
            arguments = copied(dict(arguments))
        if isinstance(arguments, Failure):
            return self._failed(arguments, started)
        above = self.whole.run
        run = Run(above.call_id, above.chain, parent=above)
        try:
            value, content = await self._value(arguments, run, started)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if self.world.is_own_end(error):
                raise
            return self._failed(self._failure(error, run), started)
        finally:
            run.close()
        return ToolResult(self.plan.name, value, None, perf_counter() - started, content)

    async def _value(self, arguments: Mapping[str, Any], run: Run, started: float) -> Value:
        attempt = self.whole._replace(run=run, started=started)
        value = await self.world.limited(self._through_gate(arguments, attempt), attempt)
        if run.is_stopped:
            raise RunCancelledError
        return value

    async def _through_gate(self, arguments: Mapping[str, Any], attempt: Attempt) -> Value:
        gate = self.plan.gate
        if gate is None:
            return await self._down_the_road(arguments, attempt)
        await self.world.enter(gate, attempt)
        try:
            return await self._down_the_road(arguments, attempt)
        finally:
            gate.leave()

    async def _down_the_road(self, arguments: Mapping[str, Any], attempt: Attempt) -> Value:
        contexts = {name: self.context(attempt.run, self.plan) for name in self.plan.contexts}
        road = self.plan.road(arguments, contexts)
        reply = None
        while True:
            try:
                work = road.send(reply)
            except StopIteration as stop:
                value: Value = stop.value
                return value
            reply = await self.world.work(work, attempt)

    def _failure(self, error: BaseException, run: Run) -> Failure:
        plan = self.plan
        return failure_of(error, plan.name, secrets=plan.secrets, is_abandoned=run.is_abandoned)

    def _failed(self, failure: Failure, started: float) -> ToolResult:
        return ToolResult(self.plan.name, None, failure, perf_counter() - started)
