"""Runs that are written down, so that one that was killed can go on."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.catalog import Catalog
from sovl_tools.model.context import ToolLookup
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.journal.database import ENDED, RunRecord, StepRecord
from sovl_tools.procedures.journal.journal import RunLog
from sovl_tools.procedures.parse.library import LinkedProcedures
from sovl_tools.procedures.procedure import Procedure, Step

_REPEATABLE = ("idempotent", "read_only")
_HARMLESS = {name for name, each in ACTIONS.items() if not each.has_effects}
_OTHER = "procedure "


class ChangedProcedureError(SovlToolsError):
    """A procedure that is another than the one of the run that is to go on."""

    def __init__(self, name: str, run_id: str) -> None:
        super().__init__(name, run_id)
        self.name = name
        self.run_id = run_id

    def __str__(self) -> str:
        return f"procedure {self.name!r} has changed since run {self.run_id} began"


class UnfinishedError(StepError):
    """A step that was under way when its run was interrupted, and may do harm if it is repeated."""

    def __init__(self, step: StepRecord) -> None:
        what = f"tool {step.tool!r}" if step.tool else f"action {step.action!r}"
        message = (
            f"{what} was under way when the run was interrupted, and nothing says that it may be "
            "repeated"
        )
        super().__init__(message, key=step.key)


def unfinished_step(
    steps: Iterable[StepRecord], linked: LinkedProcedures, registry: ToolLookup
) -> StepRecord | None:
    """Return the first step that was under way and is not known to do no harm if it is repeated."""
    every = list(steps)
    over = tuple(each.key for each in every if _is_over(each, linked))
    for each in every:
        # Nobody takes up again what lies in a step that is over.
        is_below = any(each.key.startswith((f"{key}.", f"{key}[", f"{key}/")) for key in over)
        if each.state != "started" or is_below or each.action in _HARMLESS:
            continue
        # Repeating a step does no harm if the tool says so that does it.
        catalog = registry.catalog
        tool = catalog.tools.get(each.tool) if each.tool else _tool_of_action(catalog, each.action)
        if tool is None or not any(map(tool.annotations.get, _REPEATABLE)):
            return each
    return None


_MARKS = re.compile(r"\[\d+\]|~\d+")
"""Iterations and attempts in the key of a step."""


def _tool_of_action(catalog: Catalog, action: str) -> ToolDefinition | None:
    """Return the tool whose step handler does an action."""
    return next((tool for tool in catalog.tools.values() if action in tool.step_handlers), None)


def _is_over(record: StepRecord, linked: LinkedProcedures) -> bool:
    """Tell whether a step that holds others has ended, and the run went on.

    A failure that ends the procedure is no such end: the step is taken again with the run.
    """
    if record.action not in _HARMLESS or record.state not in ENDED:
        return False
    if record.state == "succeeded":
        return True
    step = _step_of(record.key, linked)
    if step is None:
        return False
    # Only the last attempt ends a step, and only if the run is to go on after its failure.
    attempt = record.key.rpartition("~")[2]
    is_last = (int(attempt) if attempt.isdigit() else 1) > step.on_error.retry
    return not is_last or step.on_error.then == "continue"


def _step_of(key: str, linked: LinkedProcedures) -> Step | None:
    """Return the step that a key names, unless the procedure has changed too much for that."""
    # As in steps.1/other:steps.0, see Scope: the last procedure and the place in it.
    around, _, place = key.rpartition(":")
    name = around.rpartition("/")[2] or linked.first.name
    path = _MARKS.sub("", place)
    for member in linked.members:
        for step in member.every_step() if member.name == name else ():
            if ".".join(map(str, step.path)) == path:
                return step
    return None


@contextmanager
def recording_end(log: RunLog) -> Iterator[Callable[[JSON], None]]:
    """Write down how a run ends; what this yields is to be called with the result.

    A run that is cancelled can be resumed, and so can one that fails.
    """
    with log:
        try:
            yield lambda result: log.end("succeeded", result=result)
        # Whatever else is raised leaves the run interrupted, as the death of the process does.
        except (asyncio.CancelledError, KeyboardInterrupt):
            log.end("cancelled", error="the run was cancelled")
            raise
        except StepError as error:
            log.end("failed", error=str(error))
            raise


def fingerprints(linked: LinkedProcedures, registry: ToolLookup) -> dict[str, str]:
    """Return hashes of what a run uses: by name the tools, and the procedures beside the first.

    Tools are those that are called, and those whose step handlers are.

    The hash of a tool is of what is said of it and of its code, which in a folder is given by the
    name of its module.
    """
    catalog = registry.catalog
    steps = [step for member in linked.members for step in member.every_step()]
    names = {step.fields["tool"] for step in steps if step.action == "tool"}
    for action in {step.action for step in steps} - ACTIONS.keys():
        owner = _tool_of_action(catalog, action)
        names |= set() if owner is None else {owner.name}
    prints: dict[str, str] = {}
    for name in sorted(names & catalog.tools.keys()):
        tool = catalog.tools[name]
        said = json.dumps([tool.description, tool.parameters], default=repr, sort_keys=True)
        prints[name] = _hash(f"{getattr(tool.function, '__module__', '')}\n{said}")
    return prints | {f"{_OTHER}{each.name}": _hash(each.text) for each in linked.members[1:]}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def check_unchanged(record: RunRecord, procedure: Procedure, prints: Mapping[str, str]) -> None:
    """Refuse to go on with another procedure than the one with which a run began.

    Args:
        record: of the run.
        procedure: as it is now.
        prints: the hashes of what it uses now.

    Raises:
        ChangedProcedureError: it has changed, or one that it runs has.
    """
    if procedure.text != record.text:
        raise ChangedProcedureError(procedure.name, record.id)
    for name in changed(record, prints):
        if name.startswith(_OTHER):
            raise ChangedProcedureError(name.removeprefix(_OTHER), record.id)


def changed(record: RunRecord, prints: Mapping[str, str]) -> list[str]:
    """Return the names of tools and procedures that are others than when a run began."""
    # A tool that is gone hasn't changed: the check of the procedure reports it.
    return [name for name, before in record.tools.items() if prints.get(name, before) != before]
