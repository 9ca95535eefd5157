"""What steps refer to, and in which order they come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.diagnostic import Finding, ManifestPlace, rule
from sovl_tools.model.suggestion import did_you_mean
from sovl_tools.procedures.model import Procedure, Step
from sovl_tools.procedures.rules.environment import ENDS, Others, ProcedureCase


@rule("ST753")
def unknown_action(case: ProcedureCase) -> Iterator[Finding]:
    """A step has an action that is neither built in nor brought by a tool.

    A tool brings actions with ``STEP_HANDLERS`` or ``register_step_handlers``. It may not have
    loaded, or the action is misspelt.
    """
    if case.catalog is None:
        return
    known = {*ACTIONS, *case.catalog.step_handlers}
    for step in case.procedure.every_step():
        if step.action not in known:
            place = ManifestPlace((*step.path, "action"))
            message = f"there is no action {step.action!r}"
            yield Finding(place, message, did_you_mean(step.action, known))


@rule("ST754")
def unknown_tool(case: ProcedureCase) -> Iterator[Finding]:
    """A step calls a tool that is not there.

    It is misspelt, or its folder did not load; then the message says why.
    """
    if case.catalog is None:
        return
    tools, unavailable = case.catalog.tools, case.catalog.unavailable
    for step in case.procedure.every_step():
        name = step.fields.get("tool") if step.action == "tool" else None
        if name is not None and name not in tools:
            reasons = unavailable.get(name)
            message = f"there is no tool {name!r}"
            if reasons:
                message = f"tool {name!r} is not available: {'; '.join(reasons)}"
            hint = None if reasons else did_you_mean(name, tools)
            yield Finding(ManifestPlace((*step.path, "tool")), message, hint)


@rule("ST755")
def unknown_procedure(case: ProcedureCase) -> Iterator[Finding]:
    """A step runs a procedure that is not there, or one that can't be read.

    Procedures are found by their names, among those that were loaded and beside the file of the one
    that runs them.
    """
    for step in _procedures(case.procedure):
        name = step.fields["procedure"]
        if case.others(name) is None:
            message = f"there is no procedure {name!r} that can be read"
            yield Finding(ManifestPlace((*step.path, "procedure")), message)


@rule("ST756")
def endless_recursion(case: ProcedureCase) -> Iterator[Finding]:
    """A procedure runs itself, by itself or through others.

    Procedures are not recursive: nothing would bound how often. Use ``for_each`` over what there is
    to do.
    """
    own = case.procedure.name
    for step in _procedures(case.procedure):
        way = _way_back(step.fields["procedure"], own, case.others)
        if way is not None:
            message = f"{own!r} would run itself: {' → '.join((own, *way))}"
            yield Finding(ManifestPlace((*step.path, "procedure")), message)


def _way_back(start: str, goal: str, others: Others) -> tuple[str, ...] | None:
    """Return the names on the shortest way from one procedure to another; None if none leads."""
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    for name in (pending := [start]):
        if name == goal:
            return ways[name]
        found = others(name)
        for step in _procedures(found) if found is not None else ():
            following = step.fields["procedure"]
            if following not in ways:
                ways[following] = (*ways[name], following)
                pending.append(following)
    return None


def _procedures(procedure: Procedure) -> Iterator[Step]:
    return (step for step in procedure.every_step() if step.action == "procedure")


@rule("ST757")
def return_at_a_time(case: ProcedureCase) -> Iterator[Finding]:
    """A step returns from within ``for_each`` or ``parallel``.

    What would be returned could depend on which iteration or branch is the quickest. Let the
    iterations have a ``result``, or the branches set variables, and return after them.
    """
    for step in case.procedure.every_step():
        if step.action in {"for_each", "parallel"}:
            for block in step.blocks.values():
                for inner in _below(block):
                    message = f"a step returns from within {step.action}"
                    yield Finding(ManifestPlace((*inner.path, "action")), message)


def _below(steps: tuple[Step, ...]) -> Iterator[Step]:
    """Yield the steps that return, but for those in another ``for_each`` or ``parallel``."""
    for step in steps:
        if step.action == "return":
            yield step
        elif step.action not in {"for_each", "parallel"}:
            for block in step.blocks.values():
                yield from _below(block)


@rule("ST758", "warning")
def unreachable_step(case: ProcedureCase) -> Iterator[Finding]:
    """A step stands behind one that always ends the run.

    It never runs. Remove it, or give the step before it a ``when``.
    """
    for steps in _blocks(case.procedure.steps):
        for before, step in pairwise(steps):
            if before.action in ENDS and before.when is None and before.on_error.then == "fail":
                message = f"this step is never reached: the one before it is a {before.action!r}"
                yield Finding(ManifestPlace(step.path), message)


def _blocks(steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
    yield steps
    for step in steps:
        for block in step.blocks.values():
            yield from _blocks(block)


RULES = (
    unknown_action,
    unknown_tool,
    unknown_procedure,
    endless_recursion,
    return_at_a_time,
    unreachable_step,
)
