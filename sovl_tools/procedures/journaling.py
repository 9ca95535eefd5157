"""Runs that are written down, so that one that was killed can go on."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import SovlToolsError
from sovl_tools.model.lookup import ToolLookup
from sovl_tools.procedures.errors import StepError
from sovl_tools.procedures.library import Family
from sovl_tools.procedures.model import OWN, Procedure
from sovl_tools.procedures.records import RunRecord, StepRecord, written
from sovl_tools.procedures.run_log import RunLog
from sovl_tools.procedures.surroundings import Outcome

_REPEATABLE = ("idempotent", "read_only")
_HARMLESS = OWN.keys() - {"tool"}
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


class Journaled:
    """Writes the steps of a run into a journal, and knows those that were there before.

    Args:
        log: of the run.
        before: what earlier processes have left.
    """

    def __init__(self, log: RunLog, before: Iterable[StepRecord] = ()) -> None:
        self.run_id = log.run_id
        self.begin, self.succeed, self.fail = log.begin, log.succeed, log.fail
        self._before = {each.key: each for each in before}

    def known(self, key: str, action: str, tool: str | None, arguments: JSON) -> Outcome | None:
        """Return what came of an attempt in an earlier process.

        None if it did not end, or was another step, which stood there before the procedure changed.
        """
        found = self._before.get(key)
        if found is None or found.state == "started":
            return None
        before = found.action, found.tool, written(found.arguments)
        if before != (action, tool, written(arguments)):
            return None
        return Outcome(found.result, None if found.state == "succeeded" else found.error or "")


def refuse_unfinished(steps: Iterable[StepRecord], registry: ToolLookup) -> None:
    """Refuse to repeat what was under way and is not known to do no harm.

    Raises:
        UnfinishedError: there is such a step.
    """
    every = list(steps)
    over = tuple(each.key for each in every if each.action in _HARMLESS and each.state in _ENDED)
    for each in every:
        if (
            each.state == "started"
            and not _may_repeat(each, registry)
            and not _is_below(each, over)
        ):
            what = f"tool {each.tool!r}" if each.tool else f"action {each.action!r}"
            raise UnfinishedError(
                f"{what} was under way when the run was interrupted, and nothing says that it may "
                "be repeated",
                key=each.key,
            )


_ENDED = {"failed", "succeeded"}


def _may_repeat(step: StepRecord, registry: ToolLookup) -> bool:
    tool = registry.catalog.tools.get(step.tool or "")
    is_harmless = tool is not None and any(map(tool.annotations.get, _REPEATABLE))
    return is_harmless or step.action in _HARMLESS


def _is_below(step: StepRecord, over: tuple[str, ...]) -> bool:
    """Tell whether a step lies in one that has failed, and that nobody takes up again."""
    return any(step.key.startswith((f"{key}.", f"{key}[", f"{key}/")) for key in over)


@contextmanager
def ending(log: RunLog) -> Iterator[Callable[[JSON], None]]:
    """Write down how a run ends; what this yields is to be called with the result.

    A run that is cancelled can be resumed, and so can one that fails.
    """
    with log:
        try:
            yield lambda result: log.end("succeeded", result=result)
        except (asyncio.CancelledError, KeyboardInterrupt):
            log.end("cancelled", error="the run was cancelled")
            raise
        except StepError as error:
            log.end("failed", error=str(error))
            raise


def fingerprints(family: Family, registry: ToolLookup) -> dict[str, str]:
    """Return hashes of what a run uses: by name the tools, and the procedures beside the first.

    The hash of a tool is of what is said of it and of its code, which in a folder is told by the
    name of its module.
    """
    steps = (step for member in family.members for step in member.every_step())
    names = {step.fields["tool"] for step in steps if step.action == "tool"}
    tools = registry.catalog.tools
    others = {f"{_OTHER}{each.name}": _hash(each.text) for each in family.members[1:]}
    return {name: _fingerprint(tools[name]) for name in sorted(names) if name in tools} | others


def _fingerprint(tool: ToolDefinition) -> str:
    said = json.dumps([tool.description, tool.parameters], default=repr, sort_keys=True)
    return _hash(f"{getattr(tool.function, '__module__', '')}\n{said}")


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
    return [name for name, before in record.tools.items() if prints.get(name, before) != before]
