"""``sovl-tools run``."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import click

from sovl_tools.cli import option
from sovl_tools.cli.arguments import parse_pairs, read_json
from sovl_tools.cli.command import FINDINGS, Command, Misuse, is_quiet
from sovl_tools.cli.load_tools import all_tools
from sovl_tools.cli.output import show, show_diagnostics, show_json
from sovl_tools.cli.procedures import (
    list_runs,
    shortest_path,
    show_run,
    with_procedures_it_runs,
)
from sovl_tools.cli.terminal_host import Reports, terminal_host
from sovl_tools.configured import open_registry
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.actions import ACTIONS
from sovl_tools.model.call import LogMessage, Progress
from sovl_tools.model.document import JSON, kind, parse_json
from sovl_tools.procedures.errors import (
    ChangedProcedureError,
    RunNotFoundError,
    StepError,
    UnfinishedError,
)
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.outline import plan
from sovl_tools.procedures.parse.library import ProcedureDocument
from sovl_tools.procedures.procedure import Procedure, checked_inputs
from sovl_tools.procedures.run.environment import (
    Event,
    RunStarted,
    StepEnded,
    StepRetried,
    StepStarted,
)
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools run weekly_report.yaml --input week=31 --input limit=5
  sovl-tools run weekly_report.yaml --journal runs.db
  sovl-tools run --journal runs.db --resume 20261122-101530-7f3a
  sovl-tools run --journal runs.db --list
  sovl-tools run --journal runs.db --show 20261122-101530-7f3a

A value is read according to the input's schema: as text for a string, otherwise as JSON, or as
text if only the text is valid."""
EXITS = {
    1: "The procedure is invalid, a step failed, the time was over, or the run was interrupted.",
    2: "The file or the run does not exist, an input is invalid, or the procedure has changed.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("file", type=click.Path(), required=False)
@click.option("--input", "pairs", multiple=True, metavar="KEY=VALUE", help="One input; repeatable.")
@click.option("--inputs", "text", metavar="JSON|@FILE|-", help="All inputs as one JSON object.")
@option.file("--journal", "journal_path", words="Record the run in this file, to resume it.")
@click.option("--resume", "run_id", metavar="ID", help="Continue a run of the journal.")
@click.option("--force", is_flag=True, help="Resume although the procedure has changed.")
@click.option("--repeat-unfinished", is_flag=True, help="Also take steps again that were running.")
@click.option("--dry-run", is_flag=True, help="Check and print the plan without running it.")
@click.option("--list", "lists", is_flag=True, help="List the runs of the journal, latest first.")
@click.option("--show", "shown_id", metavar="ID", help="Show a run of the journal with its steps.")
@option.format_("text", "json")
@option.timeout("The time limit of the run.")
@option.registry
@option.locked
def run(**options: Any) -> None:
    """Run a procedure, show its progress, and print its result as JSON.

    The procedure is checked before anything runs. Progress and the output of tools go to the error
    output. After Ctrl-C, a failure or a crash a run with a journal can be resumed.

    A run in the journal is running, interrupted, succeeded, failed or cancelled; all but the
    first and the third can be resumed. --format is for --list and --show.
    """
    asked = _Options(**options)
    if asked.journal_path is None:
        if asked.lists or asked.shown_id is not None or asked.run_id is not None:
            raise Misuse("--list, --show and --resume need --journal")
        _begin(asked, None)
    elif asked.lists or asked.shown_id is not None:
        with Journal(asked.journal_path, create=False) as journal:
            if asked.shown_id is None:
                list_runs(journal, asked.format_)
            else:
                show_run(journal, asked.shown_id, asked.format_)
    elif asked.run_id is not None:
        with Journal(asked.journal_path, create=False) as journal:
            _resume(asked, journal, asked.run_id)
    else:
        _begin(asked, asked.journal_path)


class _Options(NamedTuple):
    """The options of the command line, by the names of its parameters."""

    file: str | None
    pairs: tuple[str, ...]
    text: str | None
    journal_path: str | None
    run_id: str | None
    force: bool
    repeat_unfinished: bool
    dry_run: bool
    lists: bool
    shown_id: str | None
    format_: str
    timeout: float | None
    tools: option.ToolOptions


def _begin(asked: _Options, journal_path: str | None) -> None:
    """Run the procedure of a file."""
    if asked.file is None:
        raise Misuse("name the file of a procedure, or a run with --journal and --resume")
    job = _prepare(asked.file, asked)
    if asked.dry_run:
        _show_plan(job)
        return
    inputs = _inputs(job.procedure, asked.pairs, asked.text)
    # a new journal is made only once everything is checked
    with nullcontext() if journal_path is None else Journal(journal_path) as journal:
        begin = partial(job.manager.run, job.procedures[0], inputs, journal=journal)
        _execute(job, begin, journal, asked)


def _resume(asked: _Options, journal: Journal, run_id: str) -> None:
    """Continue a run of the journal."""
    if asked.pairs or asked.text is not None:
        raise Misuse("a run that is resumed has its inputs already")
    record = journal.run(run_id)
    if record.state == "succeeded":
        show(f"run {run_id} has succeeded already; nothing was done", err=True)
        show_json(record.result)
        return
    # a program can run a dictionary, whose text is in the journal
    document: dict[str, JSON] = {} if record.path else json.loads(record.text)
    job = _prepare(asked.file or record.path or document, asked)
    if asked.dry_run:
        _show_plan(job)
        return
    begin = partial(
        job.manager.resume,
        journal,
        run_id,
        source=job.procedures[0],
        force=asked.force,
        repeat_unfinished=asked.repeat_unfinished,
    )
    _execute(job, begin, journal, asked)


def _show_plan(job: Job) -> None:
    show("\n\n".join(plan(each.procedure) for each in job.procedures if each.procedure))


class Job(NamedTuple):
    """A procedure that is ready to run.

    Attributes:
        manager: with the tools that it needs.
        reports: shows what the tools tell.
        procedure: the procedure.
        procedures: the documents of it and of the procedures that it runs.
    """

    manager: ProcedureManager
    reports: Reports
    procedure: Procedure
    procedures: tuple[ProcedureDocument, ...]


def _prepare(source: str | Mapping[str, JSON], asked: _Options) -> Job:
    """Return a procedure with its tools; exit with 1 if it is unsound, and show its findings.

    Warnings are omitted if the command must be quiet.
    """
    tools = asked.tools
    procedures = with_procedures_it_runs(source)
    sound = [each.procedure for each in procedures if each.procedure is not None]
    steps = [step for each in sound for step in each.every_step()]
    names: set[str] = set()
    registry = None
    # any tool may bring an action that isn't built in; otherwise only the called tools are loaded,
    # so that no other can fail or slow the run down
    if all(step.action in ACTIONS for step in steps):
        names = {step.fields["tool"] for step in steps if step.action == "tool"}
        registry = open_registry(settings=tools.settings(), names=names, code=False)
    if registry is None or not all(name in registry for name in names):
        registry = all_tools(tools)
    reports = Reports(is_quiet=is_quiet())
    policy, host = tools.settings().policy, terminal_host(reports)
    manager = ProcedureManager(registry, Tooler(registry, policy=policy, host=host))
    found = [wrong for each in procedures for wrong in manager.check(each)]
    errors = [each for each in found if each.severity == "error"]
    show_diagnostics(errors if is_quiet() else found, err=True)
    procedure = procedures[0].procedure
    if errors or procedure is None:
        raise click.exceptions.Exit(FINDINGS)
    return Job(manager, reports, procedure, procedures)


def _inputs(procedure: Procedure, pairs: Sequence[str], text: str | None) -> dict[str, JSON]:
    """Return the inputs that the options give, checked.

    Raises:
        Misuse, InputError: they do not match.
    """
    if text is None:
        return checked_inputs(procedure, parse_pairs(pairs, procedure.inputs, "--inputs"))
    if pairs:
        raise Misuse("give the inputs with --input or with --inputs, not both")
    try:
        found = parse_json(read_json(text, "--inputs"))
    except ValueError as error:
        raise Misuse(f"--inputs {text}: they aren't JSON: {error}") from error
    if not isinstance(found, dict):
        raise Misuse(f"--inputs {text}: they must be an object, not {kind(found)}")
    return checked_inputs(procedure, found)


Begin: TypeAlias = Callable[..., Coroutine[Any, Any, JSON]]
"""Begins or continues a run; takes a listener for its events, ``on_event``."""


def _execute(job: Job, begin: Begin, journal: Journal | None, asked: _Options) -> None:
    """Run a procedure, show its progress and print its result.

    Raises:
        Misuse: the run can't be continued; no step was taken.
        ClickException: a step failed, the time was over, or the user interrupted the run. The
            message has the command that resumes it.
    """
    # known only once the run has begun; before that there is nothing to resume
    run_ids: list[str] = []
    is_shown, lines = not is_quiet(), Lines(job.reports)

    def on_event(event: Event) -> None:
        if isinstance(event, RunStarted):
            run_ids.append(event.run_id)
        if is_shown:
            lines.hear(event)

    async def work() -> JSON:
        # SIGTERM counts as Ctrl-C, so that the run ends in order. A loop that handles one signal
        # wakes up for all, also for a Ctrl-C that the system has given to another thread.
        with suppress(NotImplementedError):  # on Windows, where a loop wakes up anyway
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, signal.raise_signal, signal.SIGINT)
        async with asyncio.timeout(asked.timeout):
            return await begin(on_event=on_event)

    try:
        result = asyncio.run(work())
    except (ChangedProcedureError, RunNotFoundError) as error:
        raise Misuse(f"{error}{_ADVICE.get(type(error), '')}") from error
    except (StepError, TimeoutError, KeyboardInterrupt) as error:
        words = f"{_failure(error, job, asked.timeout)}{_ADVICE.get(type(error), '')}"
        raise click.ClickException(words + _how_to_resume(journal, run_ids, asked)) from error
    show_json(result)


def _failure(error: BaseException, job: Job, timeout: float | None) -> str:
    """Return the reason why a run has ended, with the place of the step in its file."""
    if isinstance(error, StepError):
        # the step may belong to a procedure that the one at the command line runs
        for each in job.procedures:
            is_it = each.procedure is not None and each.procedure.name == error.procedure
            if is_it and each.place is not None:
                line, column = each.place(error.path)
                return plain(f"{each.path}:{line}:{column}: {error}")
        return plain(str(error))
    is_late = isinstance(error, TimeoutError)
    return f"the run took longer than {timeout:g} s" if is_late else "the run was interrupted"


def _how_to_resume(journal: Journal | None, run_ids: Sequence[str], asked: _Options) -> str:
    """Return a line with the command that resumes a run; "" if it can't be resumed."""
    if journal is None or not run_ids:
        return ""
    command = ["sovl-tools", "run", "--journal", shortest_path(journal.path), "--resume", *run_ids]
    command += [part for each in asked.tools.directories for part in ("--tools", each)]
    return f"\nto continue: {shlex.join(command)}"


_ADVICE: Mapping[type[BaseException], str] = {
    ChangedProcedureError: "; continue all the same with --force",
    UnfinishedError: "; take it again with --repeat-unfinished",
}

_WORDS = {
    "started": ("started", "cyan"),
    "succeeded": ("done", "green"),
    "failed": ("failed", "bold red"),
    "skipped": ("skipped", "dim"),
    "continued": ("failed, goes on", "yellow"),
    "known": ("done before", "green"),
}
"""The words for the state of a step, and their style in a terminal."""
_WIDTH = max(len(word) for word, _ in _WORDS.values())


class Lines:
    """Writes events of a run to the error output."""

    def __init__(self, reports: Reports) -> None:
        self._last: str | None = None
        self._reports = reports

    def hear(self, event: Event) -> None:
        """Show an event."""
        if not isinstance(event, Progress | LogMessage):
            self._reports.end()
        match event:
            case RunStarted():
                run = f", run {event.run_id}" if event.run_id else ""
                show(plain(f"{event.procedure}{run}"), err=True)
            case StepStarted():
                _show_step("started", event)
            case StepRetried():
                again = f"attempt {event.attempt + 1} in {event.delay:g} s"
                _show_step("failed", event, f": {event.message}; {again}")
            case StepEnded():
                _show_step(event.state, event, self._ending(event))
            case _:
                self._reports.hear(event)

    def _ending(self, event: StepEnded) -> str:
        """Return the duration of a step, and the reason of a failure unless it was just shown."""
        took = "" if event.state in {"skipped", "known"} else f"  in {event.duration:.2f} s"
        is_news = event.message is not None and event.message != self._last
        self._last = event.message
        return f"{took}: {event.message}" if is_news else took


def _show_step(state: str, event: StepStarted | StepRetried | StepEnded, more: str = "") -> None:
    word, tint = _WORDS[state]
    indent = " " * (_WIDTH - len(word) + 2 + 2 * event.depth)
    show([(word, tint), plain(f"{indent}{event.label}  [{event.key}]{more}")], err=True)
