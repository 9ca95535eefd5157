"""``sovl-tools run``."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import click

from sovl_tools.cli.arguments import parse_pairs, read_json
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    ToolOptions,
    format_option,
    locked_option,
    registry_options,
    timeout_option,
)
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import show, show_diagnostics, show_json
from sovl_tools.cli.procedures import (
    list_runs,
    shortest_path,
    show_run,
    with_procedures_it_runs,
)
from sovl_tools.cli.run_display import Listener, progress_display
from sovl_tools.configured import folders_of
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.document import JSON, kind, parse_json
from sovl_tools.procedures.errors import (
    ChangedProcedureError,
    InputError,
    JournalError,
    RunNotFoundError,
    StepError,
    UnfinishedError,
)
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.journal.records import RunRecord
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.outline import Outline, bare, outline_steps, shortened
from sovl_tools.procedures.parse.library import ProcedureDocument
from sovl_tools.procedures.procedure import Procedure, checked_inputs
from sovl_tools.procedures.run.environment import Event, RunStarted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools run weekly_report.yaml --input url=https://example.org/ --input limit=5
  sovl-tools run weekly_report.yaml --dry-run
  sovl-tools run weekly_report.yaml --journal runs.db
  sovl-tools run --journal runs.db --resume 20261122-101530-7f3a
  sovl-tools run --journal runs.db --list
  sovl-tools run --journal runs.db --show 20261122-101530-7f3a

A value is read as the input's schema says: text for a string, anything else as JSON; where JSON
does not fit but the text does, as text."""
EXITS = {
    1: "The procedure is unsound, a step fails, the time is over, or the run is interrupted.",
    2: "There is no such file or run, the inputs do not fit, or the procedure has changed.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("file", type=click.Path(), required=False)
@click.option("--input", "pairs", multiple=True, metavar="KEY=VALUE", help="One input; repeatable.")
@click.option("--inputs", "text", metavar="JSON|@FILE|-", help="All inputs as one JSON object.")
@click.option(
    "--journal",
    "journal_path",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the run down here, so that it can be resumed.",
)
@click.option("--resume", "run_id", metavar="ID", help="Go on with a run of the journal.")
@click.option("--force", is_flag=True, help="Resume although the procedure has changed.")
@click.option(
    "--repeat-unfinished", is_flag=True, help="Take steps again that were under way, whatever."
)
@click.option("--dry-run", is_flag=True, help="Check, print the plan, and run nothing.")
@click.option("--list", "lists", is_flag=True, help="List the runs of the journal, latest first.")
@click.option("--show", "shown_id", metavar="ID", help="Show a run of the journal with its steps.")
@format_option("text", "json")
@timeout_option("How long the run may take.")
@registry_options
@locked_option
@click.pass_context
def run(
    ctx: click.Context,
    *,
    file: str | None,
    pairs: tuple[str, ...],
    text: str | None,
    journal_path: str | None,
    run_id: str | None,
    force: bool,
    repeat_unfinished: bool,
    dry_run: bool,
    lists: bool,
    shown_id: str | None,
    format_: str,
    timeout: float | None,
    tools: ToolOptions,
) -> None:
    """Run a procedure, show its progress, and print its result as JSON.

    The procedure is checked before anything runs. Progress, and what tools print, go to the error
    output. After Ctrl-C, a failure or a crash a run with a journal can be resumed.

    A run in the journal is running, interrupted, succeeded, failed or cancelled; all but the
    first and the third can be resumed. --format is for --list and --show.
    """
    if lists or shown_id is not None:
        if file is not None or (lists and shown_id is not None):
            raise Misuse("--list and --show look at a journal: name it, and nothing to run")
        _look_at(journal_path, shown_id, format_)
        return
    if pairs and text is not None:
        raise Misuse("give the inputs with --input or with --inputs, not both")
    if run_id is not None and (pairs or text is not None):
        raise Misuse("a run that is resumed has its inputs already")
    if run_id is None and (force or repeat_unfinished):
        raise Misuse("--force and --repeat-unfinished need --resume")
    if run_id is not None and journal_path is None:
        raise Misuse("--resume needs --journal")
    options = ctx.ensure_object(dict)
    is_quiet, is_verbose = options.get("quiet", False), options.get("verbose", False)
    # the journal of a run that goes on must be there; a new one is made only once all is checked
    with _opened(None if run_id is None else journal_path, create=False) as former:
        record = None if former is None else _record(former, str(run_id))
        if record is not None and record.state == "succeeded":
            show(f"run {run_id} has succeeded already; nothing was done", err=True)
            show_json(record.result)
            return
        job = _prepare(_source(file, record), tools, is_quiet=is_quiet)
        # before the inputs: a plan needs none
        if dry_run:
            show("\n\n".join(plan(each.procedure) for each in job.procedures if each.procedure))
            return
        inputs = _inputs(job.procedure, pairs, text) if former is None else {}
        with (
            _opened(journal_path if former is None else None, create=True) as made,
            progress_display(is_quiet=is_quiet, is_verbose=is_verbose) as hear,
        ):
            source = job.procedures[0]
            begin: Begin = partial(job.manager.run, source, inputs, journal=made)
            if former is not None:
                begin = partial(
                    job.manager.resume,
                    former,
                    str(run_id),
                    source=source,
                    force=force,
                    repeat_unfinished=repeat_unfinished,
                )
            # options of the run that its journal does not know, for the command that resumes it
            job = job._replace(
                journal=former or made,
                resume_arguments=(
                    # the file may lie elsewhere by now
                    *((file,) if former is not None and file is not None else ()),
                    *(part for each in tools.directories for part in ("--tools", each)),
                    *(() if tools.entry_points else ("--no-entry-points",)),
                    *({None: (), True: ("--locked",), False: ("--no-locked",)}[tools.locked]),
                    *(("--force",) if force else ()),
                ),
            )
            result = execute(job, begin, timeout=timeout, hear=hear)
    show_json(result)


def _opened(path: str | None, *, create: bool) -> AbstractContextManager[Journal | None]:
    try:
        return nullcontext() if path is None else Journal(path, create=create)
    except JournalError as error:
        raise Misuse(f"--journal {error}") from error


def _look_at(path: str | None, run_id: str | None, format_: str) -> None:
    """Show one run of a journal, or list them all."""
    if path is None:
        raise Misuse("--list and --show need --journal")
    with _opened(path, create=False) as journal:
        assert journal is not None  # noqa: S101 - for the types: there is a path
        try:
            if run_id is None:
                list_runs(journal, format_)
            else:
                show_run(journal, run_id, format_)
        except (JournalError, RunNotFoundError) as error:
            raise Misuse(str(error)) from error


def _record(journal: Journal, run_id: str) -> RunRecord:
    try:
        return journal.run(run_id)
    except RunNotFoundError as error:
        raise Misuse(str(error)) from error


def _source(file: str | None, record: RunRecord | None) -> str | Mapping[str, JSON]:
    """Return what was named, or what a run was made of: a file, or the text of a dictionary."""
    if file is not None:
        return file
    if record is None:
        raise Misuse("name the file of a procedure, or a run with --journal and --resume")
    # a run that a program began from a dictionary has no file, but its text is in the journal
    document: dict[str, JSON] = {} if record.path else json.loads(record.text)
    return record.path or document


def _prepare(source: str | Mapping[str, JSON], tools: ToolOptions, *, is_quiet: bool) -> Job:
    """Return a procedure with its tools; exit with 1 if it is unsound, and say why.

    Warnings are left out if the user wants it quiet.
    """
    procedures = with_procedures_it_runs(source)
    sound = [each.procedure for each in procedures if each.procedure is not None]
    steps = [step for each in sound for step in each.every_step()]
    names: set[str] = set()
    registry = None
    # an action that is not built in may be brought by any tool; otherwise only those that are
    # called are loaded, so that no other can fail or slow the run down
    if all(step.action in ACTIONS for step in steps):
        names = {step.fields["tool"] for step in steps if step.action == "tool"}
        registry = folders_of(tools.settings(), names)
    if registry is None or not all(name in registry for name in names):
        registry = all_tools(tools)
    manager = ProcedureManager(registry)
    found = [wrong for each in procedures for wrong in manager.check(each)]
    errors = [each for each in found if each.severity == "error"]
    show_diagnostics(errors if is_quiet else found, err=True)
    procedure = procedures[0].procedure
    if errors or procedure is None:
        raise click.exceptions.Exit(FINDINGS)
    return Job(manager, procedure, procedures)


def _inputs(procedure: Procedure, pairs: Sequence[str], text: str | None) -> dict[str, JSON]:
    """Return the inputs that the options give, checked.

    Raises:
        Misuse: they do not fit.
    """
    if text is None:
        found = parse_pairs(pairs, procedure.inputs, "--inputs")
    else:
        try:
            found = parse_json(read_json(text, "--inputs"))
        except ValueError as error:
            raise Misuse(f"--inputs {text}: they are no JSON: {error}") from error
        if not isinstance(found, dict):
            raise Misuse(f"--inputs {text}: they must be an object, not {kind(found)}")
    try:
        return checked_inputs(procedure, found)
    except InputError as error:
        raise Misuse(str(error)) from error


def plan(procedure: Procedure) -> str:
    """Return the name, the inputs, the steps and the output of a procedure, a line each."""
    lines = [f"{procedure.name}: {shortened(procedure.description, 90)}"]
    required: Sequence[str] = procedure.inputs.get("required", ())
    inputs = []
    for name, schema in procedure.inputs.get("properties", {}).items():
        known = schema if isinstance(schema, dict) else {}
        said = known.get("type", "any")
        words = said if isinstance(said, str) else " or ".join(said)
        if "default" in known:
            words += f", default {shortened(json.dumps(known['default'], ensure_ascii=False))}"
        elif name not in required:
            words += ", optional"
        inputs.append(f"{name} ({words})")
    if inputs:
        lines.append(f"inputs: {', '.join(inputs)}")
    lines += _tree(outline_steps(procedure))
    if procedure.output is not None:
        lines.append(f"output: {bare(procedure.output)}")
    return "\n".join(lines)


def _tree(steps: Sequence[Outline]) -> Iterator[str]:
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        notes = f"  ({'; '.join(step.notes)})" if step.notes else ""
        yield f"{'└' if is_last else '├'} {step.title}{notes}"
        for line in _blocks(step):
            yield f"{' ' if is_last else '│'} {line}"


def _blocks(step: Outline) -> Iterator[str]:
    for number, block in enumerate(step.blocks):
        if not block.caption:
            yield from _tree(block.steps)
            continue
        is_last = number == len(step.blocks) - 1
        yield f"{'└' if is_last else '├'} {block.caption}:"
        for line in _tree(block.steps):
            yield f"{' ' if is_last else '│'} {line}"


class Job(NamedTuple):
    """What is to be run.

    Attributes:
        manager: with the tools that it needs.
        procedure: the procedure.
        procedures: it and those that it runs, as they are written.
        journal: where the run is written down.
        resume_arguments: those that resuming the run needs as well.
    """

    manager: ProcedureManager
    procedure: Procedure
    procedures: tuple[ProcedureDocument, ...]
    journal: Journal | None = None
    resume_arguments: tuple[str, ...] = ()


Begin: TypeAlias = Callable[..., Coroutine[Any, Any, JSON]]
"""Begins a run, or goes on with one, given what hears of its events: ``on_event``."""


def execute(job: Job, begin: Begin, *, timeout: float | None, hear: Listener) -> JSON:
    """Run a procedure, or go on with a run, and return the result.

    Args:
        job: the procedure, and what it needs.
        begin: begins the run.
        timeout: how long it may take, in seconds.
        hear: called with what happens.

    Raises:
        Misuse: the run can't go on; nothing was done.
        ClickException: a step failed, the time was over, or somebody broke off. What can be
            resumed has been written down, and the message says how.
    """
    # known only once the run has begun; before that there is nothing to resume
    run_ids: list[str] = []

    def on_event(event: Event) -> None:
        if isinstance(event, RunStarted):
            run_ids.append(event.run_id)
        hear(event)

    async def work() -> JSON:
        # SIGTERM is taken for Ctrl-C, so that the run ends in order. A loop that handles one signal
        # wakes up for all, also for a Ctrl-C that the system has given to another thread.
        with suppress(NotImplementedError):  # on Windows, where a loop wakes up anyway
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
        async with asyncio.timeout(timeout):
            return await begin(on_event=on_event)

    try:
        return asyncio.run(work())
    except (ChangedProcedureError, RunNotFoundError) as error:
        raise Misuse(f"{error}{_ADVICE.get(type(error), '')}") from error
    except (StepError, TimeoutError, KeyboardInterrupt) as error:
        words = f"{_failure(error, job, timeout)}{_ADVICE.get(type(error), '')}"
        raise click.ClickException(words + _how_to_resume(job, run_ids)) from error


def _failure(error: BaseException, job: Job, timeout: float | None) -> str:
    """Return why a run has ended, with the place of the step in its file."""
    if isinstance(error, StepError):
        # the step may belong to a procedure that the one at the command line runs
        for each in job.procedures:
            is_it = each.procedure is not None and each.procedure.name == error.procedure
            if is_it and each.place is not None:
                line, column = each.place(error.path, text_line=error.line)
                return plain(f"{each.path}:{line}:{column}: {error}")
        return plain(str(error))
    is_late = isinstance(error, TimeoutError)
    return f"the run took longer than {timeout:g} s" if is_late else "the run was interrupted"


def _how_to_resume(job: Job, run_ids: Sequence[str]) -> str:
    """Return lines that say how a run can go on; "" if it can't."""
    journal = job.journal
    if journal is None or not run_ids:
        return ""
    command = ["sovl-tools", "run", "--journal", shortest_path(journal.path), "--resume", *run_ids]
    # a step that may have been done must not be done twice unless the user says so
    step = job.manager.unfinished_step(journal, run_ids[0], job.procedures[0])
    arguments, why = job.resume_arguments, ""
    if step is not None:
        arguments = (*arguments, "--repeat-unfinished")
        what = step.tool or step.action
        why = plain(f"{what!r} was under way [{step.key}]: going on runs it once more")
    way = f"to go on: {shlex.join([*command, *arguments])}"
    return "".join(f"\n{line}" for line in (why, way) if line)


_ADVICE: Mapping[type[BaseException], str] = {
    ChangedProcedureError: "; go on all the same with --force",
    UnfinishedError: "; take it again with --repeat-unfinished",
}
