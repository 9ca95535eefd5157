"""Procedures by name, their runs and how these continue, and procedures as tools."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.loading.definitions import checked, rejected
from sovl_tools.loading.import_errors import Unit, no_tools_found
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.origins import MODULES, Directory, OriginLoad
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.call import LogMessage
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.context import ToolCaller, ToolContext, ToolLookup
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolError
from sovl_tools.model.suggestion import nearest
from sovl_tools.procedures.errors import (
    ChangedProcedureError,
    InputError,
    ProcedureError,
    ProcedureNotFoundError,
    StepError,
    UnfinishedError,
)
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.parse.files import SUFFIXES, file_beside, files
from sovl_tools.procedures.parse.library import (
    OTHER,
    LinkedProcedures,
    Named,
    ProcedureDocument,
    check_procedure,
    fingerprints,
    read_found_procedure,
    read_procedure,
    tool_of_action,
)
from sovl_tools.procedures.procedure import Procedure, checked_inputs
from sovl_tools.procedures.records import ENDED, RunRecord, StepRecord
from sovl_tools.procedures.run.environment import Event, Gate, RunStarted
from sovl_tools.procedures.run.execution import Execution, RunEnvironment, Scope

__all__ = ["Named", "ProcedureManager"]


class ProcedureManager:
    """Checks and runs procedures over the tools of a registry.

    manager = ProcedureManager(registry)
    print(manager.run_sync("weekly_report.yaml", {"url": "…"}))
    """

    def __init__(self, registry: ToolLookup, tooler: ToolCaller | None = None) -> None:
        """Make a manager; ``tooler`` calls the tools, a new one by default."""
        self._registry = registry
        self._tooler = Tooler(registry) if tooler is None else tooler
        self._added: dict[str, ProcedureDocument] = {}

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The added procedures, by name."""
        found = {name: each.procedure for name, each in self._added.items()}
        return {name: each for name, each in found.items() if each is not None}

    def add(self, source: Named) -> Procedure:
        """Add a procedure, so that it can be run by its name and by others; return it.

        Raises:
            ProcedureError: it can't be read, or does not match the schema.
            OSError: the file doesn't exist.
        """
        found = source if isinstance(source, ProcedureDocument) else read_procedure(source)
        procedure = found.sound()
        self._added[procedure.name] = found
        return procedure

    def check(self, source: Named) -> tuple[Diagnostic, ...]:
        """Return all problems of a procedure, without its inner procedures'.

        Raises:
            ProcedureNotFoundError: none of that name was added.
            OSError: the file doesn't exist.
        """
        return self._check(self._find(source))

    async def run(
        self,
        source: Named,
        inputs: Mapping[str, JSON] | None = None,
        *,
        journal: Journal | None = None,
        on_event: Callable[[Event], object] | None = None,
        gate: Gate | None = None,
    ) -> JSON:
        """Run a procedure and await its result.

        Args:
            source: the path of its file, a dictionary, or the name of an added procedure.
            inputs: as its schema wants them.
            journal: where the run is written down, so that it can be resumed.
            on_event: called with each event of the run, also from the threads of
                tools.
            gate: awaited before each step. With a gate, only tools and handlers have time limits.

        Raises:
            ProcedureError: it, or an inner procedure, is invalid; no step has run.
            ProcedureNotFoundError: none of that name was added.
            InputError: the inputs do not match; no step has run.
            StepError: a step failed.
            JournalError: the journal can't be written.
            OSError: the file doesn't exist.
        """
        linked = self._link(source)
        procedure = linked.first
        values = checked_inputs(procedure, dict(inputs or {}))
        environment = RunEnvironment(
            self._registry, self._tooler, linked.other, None, on_event, gate
        )
        if journal is None:
            return await _execute(linked.first, values, environment)
        log = journal.begin_run(
            procedure.name,
            path=os.path.abspath(procedure.source) if procedure.source else "",  # noqa: ASYNC240 - no disk
            text=procedure.text,
            inputs=values,
            tools=fingerprints(linked, self._registry.catalog),
        )
        return await _execute(linked.first, values, environment._replace(log=log))

    async def resume(  # noqa: PLR0913 - independent options
        self,
        journal: Journal,
        run_id: str,
        *,
        source: Named | None = None,
        force: bool = False,
        repeat_unfinished: bool = False,
        on_event: Callable[[Event], object] | None = None,
    ) -> JSON:
        """Go on with a run that was interrupted, was cancelled or failed, and await its result.

        Succeeded steps are skipped, and so are failed ones after which the
        run continued. Steps that were running when it ended are repeated if their tools are
        ``idempotent`` or ``read_only``.

        Args:
            journal: the run's journal.
            run_id: of the run.
            source: the procedure, if it is elsewhere by now.
            force: continue although the procedure has changed since. Finished steps are found by
                the place of the step, its tool and its arguments.
            repeat_unfinished: repeat steps that were running, even if they have effects.
            on_event: called with each event of the run.

        Raises:
            RunNotFoundError: the run doesn't exist.
            RunOverError: it has succeeded.
            RunBusyError: it is running.
            ChangedProcedureError: the procedure, or an inner one, has changed.
            ProcedureError: it is unsound by now.
            InputError: the inputs do not match a procedure that has changed.
            UnfinishedError: a step was running that isn't safe to repeat.
            StepError: a step failed.
            OSError: there's no file of the procedure anymore.
        """
        record = journal.run(run_id)
        linked = self._link_recorded(record) if source is None else self._link(source)
        prints = fingerprints(linked, self._registry.catalog)
        changed = _changed(record, prints)
        others = [each.removeprefix(OTHER) for each in changed if each.startswith(OTHER)]
        if linked.first.text != record.text:
            others.insert(0, linked.first.name)
        if others and not force:
            raise ChangedProcedureError(others[0], run_id)
        inputs = checked_inputs(linked.first, record.inputs)

        # Checked while the journal is locked, so that no other process resumes the run in between.
        def check(steps: list[StepRecord]) -> None:
            step = _unfinished_step(steps, linked, self._registry)
            if step is not None and not repeat_unfinished:
                raise UnfinishedError(step.key, step.action, step.tool)

        log = journal.resume(run_id, check)
        with log:
            environment = RunEnvironment(self._registry, self._tooler, linked.other, log, on_event)
            for name in changed:
                words = "it has changed since the run began"
                environment.tell(LogMessage(name, run_id, "warning", words))
            return await _execute(linked.first, inputs, environment)

    def run_sync(
        self, source: Named, inputs: Mapping[str, JSON] | None = None, **options: Any
    ) -> JSON:
        """Run a procedure and wait for its result; see ``run``."""
        from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415 - asyncio

        return run_in_background(self.run(source, inputs, **options))

    def _find(self, source: Named) -> ProcedureDocument:
        if isinstance(source, ProcedureDocument):
            return source
        if not isinstance(source, str):
            return read_procedure(source)
        if source in self._added:
            return self._added[source]
        # A string that looks like a path is opened, so that the error names the file.
        if not source.endswith(SUFFIXES) and not os.path.exists(source):
            raise ProcedureNotFoundError(source, nearest(source, self._added))
        return read_procedure(source)

    def _check(self, first: ProcedureDocument) -> tuple[Diagnostic, ...]:
        @cache  # several rules use it
        def other(name: str) -> Procedure | None:
            found = self._other(first, name, read_found_procedure)
            return None if found is None else found.procedure

        return check_procedure(first, self._registry.catalog, other)

    def _link(self, source: Named) -> LinkedProcedures:
        """Return a procedure with all that it runs, and what those run in turn.

        Raises:
            ProcedureError: one of them is invalid.
        """
        first = self._find(source)
        related: dict[tuple[str, str], ProcedureDocument] = {}
        # Each file is read once, so that a procedure is the same object for all callers.
        pending, reading = [first], cache(read_found_procedure)
        while pending:
            asking = pending.pop()
            for name in asking.runs:
                known = (asking.path, name) in related
                other = None if known else self._other(asking, name, reading)
                if other is not None:
                    related[asking.path, name] = other
                    pending.append(other)
        # By identity: a procedure can be found by several names and from several others.
        every = {id(each): each for each in (first, *related.values())}
        found = [each for member in every.values() for each in self._check(member)]
        errors = [each for each in found if each.severity == "error"]
        if errors:
            raise ProcedureError(errors)
        return LinkedProcedures(first.sound(), {key: each.sound() for key, each in related.items()})

    def _other(
        self, asking: ProcedureDocument, name: str, read: Callable[[str], ProcedureDocument]
    ) -> ProcedureDocument | None:
        """Return the procedure that another means by a name."""
        if name in self._added:  # wins over the file next to, as it does for who runs one by name
            return self._added[name]
        path = file_beside(asking.path, name) if asking.path else None
        return None if path is None else read(path)

    def _link_recorded(self, record: RunRecord) -> LinkedProcedures:
        """Return the current procedure of a run."""
        if record.path:
            return self._link(record.path)
        # Without a file it was added by name or given as a dictionary, whose text is kept.
        is_added = record.procedure in self.procedures
        return self._link(record.procedure if is_added else json.loads(record.text))


async def _execute(procedure: Procedure, inputs: JSON, environment: RunEnvironment) -> JSON:
    """Run a procedure, and record how it ends."""
    log = environment.log

    async def execute() -> JSON:
        run_id = "" if log is None else log.run_id
        environment.tell(RunStarted(procedure.name, run_id))
        return await Execution(procedure, environment).run(Scope({"inputs": inputs}))

    if log is None:
        return await execute()
    # Any other exception leaves the run interrupted, as the death of the process does.
    with log:
        try:
            result = await execute()
        except (asyncio.CancelledError, KeyboardInterrupt):
            log.end("cancelled", error="the run was cancelled")
            raise
        except StepError as error:
            log.end("failed", error=str(error))
            raise
        log.end("succeeded", result=result)
    return result


_REPEATABLE = ("idempotent", "read_only")
_HARMLESS = {name for name, each in ACTIONS.items() if not each.has_effects}


def _unfinished_step(
    steps: Iterable[StepRecord], linked: LinkedProcedures, registry: ToolLookup
) -> StepRecord | None:
    """Return the first step that was running and isn't safe to repeat."""
    every = list(steps)
    over = tuple(each.key for each in every if _is_over(each, linked))
    for each in every:
        # The steps inside a finished step aren't repeated.
        is_below = any(each.key.startswith((f"{key}.", f"{key}[", f"{key}/")) for key in over)
        if each.state != "started" or is_below or each.action in _HARMLESS:
            continue
        # A step is safe to repeat if its tool is idempotent or only reads.
        catalog = registry.catalog
        tool = catalog.get(each.tool) if each.tool else tool_of_action(catalog, each.action)
        if tool is None or not any(map(tool.annotations.get, _REPEATABLE)):
            return each
    return None


def _is_over(record: StepRecord, linked: LinkedProcedures) -> bool:
    """Return whether a step with inner steps has ended, and the run continued.

    A failure that ends the procedure doesn't count: the step is repeated with the run.
    """
    if record.action not in _HARMLESS or record.state not in ENDED:
        return False
    if record.state == "succeeded":
        return True
    step = linked.step(record.key)
    if step is None:
        return False
    # Only the last attempt ends a step, and only if the run continues after its failure.
    attempt = record.key.rpartition("~")[2]
    is_last = (int(attempt) if attempt.isdigit() else 1) > step.on_error.retry
    return not is_last or step.on_error.then == "continue"


def _changed(record: RunRecord, prints: Mapping[str, str]) -> list[str]:
    """Return the names of tools and procedures that are others than when a run began."""
    # A tool that is gone hasn't changed: the check of the procedure reports it.
    return [name for name, before in record.tools.items() if prints.get(name, before) != before]


class Procedures(NamedTuple):
    """A directory of procedures (an origin of tools).

    The tools that they call are only known when they run.
    """

    path: str

    @property
    def level(self) -> int:
        """The hash of directories of modules."""
        return MODULES

    @property
    def directory(self) -> Directory:
        """The directory."""
        return Directory(self.path, SUFFIXES)

    def look(self) -> OriginLoad:
        """Read every file again; a file with the same text keeps its tool."""
        try:
            sources = [read_found_procedure(each) for each in files(self.path)]
        except (OSError, ValueError) as error:  # a ValueError: no file can have such a path
            return OriginLoad.of_directory(error, "the procedures can't be read", self.path)
        if not sources:
            unit = Unit("the directory of procedures", relative_path(self.path), "")
            return OriginLoad.of_problem(no_tools_found(unit))
        return OriginLoad({each.path: (_candidate(each),) for each in sources})


class _ProcedureTool:
    """A procedure that can be called as a tool."""

    def __init__(self, source: ProcedureDocument) -> None:
        self.text = source.sound().text
        self._source = source

    async def run(self, /, _context: ToolContext, **inputs: Any) -> JSON:
        """Run the procedure with the tools of its caller."""
        manager = ProcedureManager(_context.registry, _context.tooler)
        try:
            return await manager.run(self._source, inputs)
        except (InputError, ProcedureError, StepError) as error:
            raise ToolError(str(error)) from error


_TOOLS: dict[str, _ProcedureTool] = {}
"""By path, so that a check a file that has not changed finds the same tool again."""


def _candidate(source: ProcedureDocument) -> Candidate:
    checks = check_procedure(source, None)
    found = [each._replace(path=relative_path(each.path)) for each in checks]
    errors = [each for each in found if each.severity == "error"]
    if errors or source.procedure is None:
        name = os.path.splitext(os.path.basename(source.path))[0]
        return rejected(
            name, source.path, [*errors, *(each for each in found if each not in errors)]
        )
    candidate = checked(_definition(source, source.procedure), source.path)
    own = (
        each._replace(path=relative_path(source.path), line=1, column=1)
        for each in candidate.diagnostics
    )
    return candidate._replace(
        path=relative_path(source.path), found=(*found, *own), lint=None, line=1, column=1
    )


def _definition(source: ProcedureDocument, procedure: Procedure) -> ToolDefinition:
    known = _TOOLS.get(source.path)
    # The same function as before, or each look would seem a change of the tool.
    if known is None or known.text != procedure.text:
        known = _TOOLS[source.path] = _ProcedureTool(source)
    return ToolDefinition(
        procedure.name,
        procedure.description,
        {"properties": {}, **procedure.inputs},
        known.run,
        tags=procedure.tags,
        source=relative_path(source.path),
    )
