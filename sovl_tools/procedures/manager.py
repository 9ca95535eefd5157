"""Procedures by name, their runs, and procedures as tools, whose parameters are their inputs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.loading.definitions import checked, rejected
from sovl_tools.loading.import_errors import Unit, no_tools_found
from sovl_tools.loading.location import relative_path
from sovl_tools.loading.origins import MODULES, Directory, OriginLoad
from sovl_tools.model.call import LogMessage
from sovl_tools.model.caller import check_path
from sovl_tools.model.catalog import Candidate
from sovl_tools.model.context import ToolCaller, ToolContext, ToolLookup
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.model.errors import ToolError
from sovl_tools.procedures.errors import InputError, ProcedureError, StepError
from sovl_tools.procedures.journal.database import RunRecord, StepRecord
from sovl_tools.procedures.journal.journal import Journal, RunLog
from sovl_tools.procedures.journal.resume import (
    UnfinishedError,
    changed,
    check_unchanged,
    fingerprints,
    recording_end,
    unfinished_step,
)
from sovl_tools.procedures.parse.files import SUFFIXES, files
from sovl_tools.procedures.parse.library import (
    Library,
    LinkedProcedures,
    Named,
    ProcedureDocument,
    read_found_procedure,
)
from sovl_tools.procedures.procedure import Procedure, checked_inputs
from sovl_tools.procedures.run.environment import Event, RunStarted
from sovl_tools.procedures.run.execution import Execution, RunEnvironment, Scope

__all__ = ["Named", "ProcedureManager"]


class ProcedureManager:
    """Checks and runs procedures over the tools of a registry.

    manager = ProcedureManager(registry)
    print(manager.run_sync("weekly_report.yaml", {"url": "…"}))
    """

    def __init__(self, registry: ToolLookup, tooler: ToolCaller | None = None) -> None:
        """Make a manager; ``tooler`` calls the tools, one of its own unless it is given."""
        self._registry = registry
        self._tooler = Tooler(registry) if tooler is None else tooler
        self._library = Library()

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """Those that were added, by name."""
        return self._library.procedures

    def add(self, source: Named) -> Procedure:
        """Add a procedure, so that it can be run by its name and by others; return it.

        Raises:
            ProcedureError: it can't be read, or does not fit the schema.
            OSError: there is no such file.
        """
        return self._library.add(source)

    def add_directory(self, path: str | os.PathLike[str]) -> tuple[Diagnostic, ...]:
        """Add the procedures of a directory; return what is wrong with those that can't be.

        Raises:
            OSError: there is no such directory.
        """
        return self._library.add_directory(check_path("path", path))

    def check(self, source: Named) -> tuple[Diagnostic, ...]:
        """Return all that is wrong with a procedure, but not with those that it runs.

        Raises:
            ProcedureNotFoundError: none of that name was added.
            OSError: there is no such file.
        """
        return self._library.checked(self._library.find(source), self._registry.catalog)

    def checked(self, source: Named) -> Procedure:
        """Return a procedure that can be run.

        Raises:
            ProcedureError: it is unsound, or one that it runs is.
            ProcedureNotFoundError: none of that name was added.
            OSError: there is no such file.
        """
        return self._link(source).first

    async def run(
        self,
        source: Named,
        inputs: Mapping[str, JSON] | None = None,
        *,
        journal: Journal | None = None,
        on_event: Callable[[Event], object] | None = None,
    ) -> JSON:
        """Run a procedure and await its result.

        Args:
            source: the path of its file, a dictionary, or the name of one that was added.
            inputs: as its schema wants them.
            journal: where the run is written down, so that it can be resumed.
            on_event: called with each event of the run, also from the threads of
                tools.

        Raises:
            ProcedureError: it is unsound, or one that it runs is; nothing has run.
            ProcedureNotFoundError: none of that name was added.
            InputError: the inputs do not fit; nothing has run.
            StepError: a step failed.
            JournalError: the journal can't be written.
            OSError: there is no such file.
        """
        linked = self._link(source)
        procedure = linked.first
        values = checked_inputs(procedure, dict(inputs or {}))
        if journal is None:
            return await self._execute(linked, values, None, on_event)
        log = journal.begin_run(
            procedure.name,
            path=os.path.abspath(procedure.source) if procedure.source else "",  # noqa: ASYNC240 - no disk
            text=procedure.text,
            inputs=values,
            tools=fingerprints(linked, self._registry),
        )
        with recording_end(log) as succeed:
            result = await self._execute(linked, values, log, on_event)
            succeed(result)
        return result

    async def resume(  # noqa: PLR0913 - each is a decision of its own
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

        Steps that have succeeded are not taken again, nor those that failed and after which the
        run went on. Those that were under way when it ended are, if their tools are
        ``idempotent`` or ``read_only``.

        Args:
            journal: in which the run is written down.
            run_id: of the run.
            source: the procedure, if it is elsewhere by now.
            force: go on although the procedure has changed since. What was done is known by the
                place of the step, its tool and its arguments.
            repeat_unfinished: take steps again that were under way, whatever they do.
            on_event: called with each event of the run.

        Raises:
            RunNotFoundError: there is no such run.
            RunOverError: it has succeeded.
            RunBusyError: it is under way.
            ChangedProcedureError: the procedure, or one that it runs, is another than it was.
            ProcedureError: it is unsound by now.
            InputError: the inputs do not fit a procedure that has changed.
            UnfinishedError: a step was under way, and nothing says that it may be repeated.
            StepError: a step failed.
            OSError: there is no file of the procedure any more.
        """
        record = journal.run(run_id)
        linked = self._link_recorded(record) if source is None else self._link(source)
        prints = fingerprints(linked, self._registry)
        if not force:
            check_unchanged(record, linked.first, prints)
        inputs = checked_inputs(linked.first, record.inputs)

        # Asked while the journal is held, so that nobody else takes the run up in between.
        def check(steps: list[StepRecord]) -> None:
            step = unfinished_step(steps, linked, self._registry)
            if step is not None and not repeat_unfinished:
                raise UnfinishedError(step)

        log = journal.resume(run_id, check)
        with recording_end(log) as succeed:
            for name in changed(record, prints):
                if on_event is not None:
                    words = "it has changed since the run began"
                    on_event(LogMessage(name, run_id, "warning", words))
            result = await self._execute(linked, inputs, log, on_event)
            succeed(result)
        return result

    def run_sync(
        self, source: Named, inputs: Mapping[str, JSON] | None = None, **options: Any
    ) -> JSON:
        """Run a procedure and wait for its result; see ``run``."""
        from sovl_tools.dispatch.background import run_in_background  # noqa: PLC0415 - asyncio

        return run_in_background(self.run(source, inputs, **options))

    def unfinished_step(
        self, journal: Journal, run_id: str, source: Named | None = None
    ) -> StepRecord | None:
        """Return the step for which a run goes on only with ``repeat_unfinished``, if there is one.

        Raises:
            RunNotFoundError: there is no such run.
        """
        linked = self._link_recorded(journal.run(run_id)) if source is None else self._link(source)
        return unfinished_step(journal.steps(run_id), linked, self._registry)

    def _link(self, source: Named) -> LinkedProcedures:
        return self._library.link(self._library.find(source), self._registry.catalog)

    def _link_recorded(self, record: RunRecord) -> LinkedProcedures:
        """Return the procedure of a run as it is now."""
        if record.path:
            return self._link(record.path)
        # Without a file it was added by name or given as a dictionary, whose text is kept.
        is_added = record.procedure in self.procedures
        return self._link(record.procedure if is_added else json.loads(record.text))

    async def _execute(
        self,
        linked: LinkedProcedures,
        inputs: JSON,
        log: RunLog | None,
        on_event: Callable[[Event], object] | None,
    ) -> JSON:
        environment = RunEnvironment(self._registry, self._tooler, linked.other, log, on_event)
        if on_event is not None:
            on_event(RunStarted(linked.first.name, "" if log is None else log.run_id))
        return await Execution(linked.first, environment).run(Scope({"inputs": inputs}))


class Procedures(NamedTuple):
    """A directory of procedures (an origin of tools).

    What they need of other tools is only known when they are called.
    """

    path: str

    @property
    def level(self) -> int:
        """That of directories of modules."""
        return MODULES

    @property
    def directory(self) -> Directory:
        """The directory."""
        return Directory(self.path, SUFFIXES)

    def look(self) -> OriginLoad:
        """Read every file anew; one whose text is the same stays the tool that it is."""
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
"""By path, so that a look at a file that has not changed finds the same tool again."""


def _candidate(source: ProcedureDocument) -> Candidate:
    checks = Library().checked(source, None)
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
        path=relative_path(source.path), diagnostics=(*found, *own), line=1, column=1
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
