"""``sovl-tools run``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import click

from sovl_tools.cli.arguments import given, paired
from sovl_tools.cli.command import (
    FINDINGS,
    SECONDS,
    Command,
    Misuse,
    entry_points_option,
    tools_option,
)
from sovl_tools.cli.output import json_text, write
from sovl_tools.cli.performing import Job, Resumption, performed
from sovl_tools.cli.plan import plan
from sovl_tools.cli.procedures import diagnosed, reached, registry_of, tell
from sovl_tools.cli.steps import showing
from sovl_tools.model.document import JSON, kind, parse_json
from sovl_tools.procedures.errors import InputError, JournalError, RunNotFoundError
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.journal.records import RunRecord
from sovl_tools.procedures.manager import ProcedureManager
from sovl_tools.procedures.model import Procedure
from sovl_tools.procedures.run.scope import checked_inputs

EXAMPLES = """\b
Examples:
  sovl-tools run weekly_report.yaml --input url=https://example.org/ --input limit=5
  sovl-tools run weekly_report.yaml --dry-run
  sovl-tools run weekly_report.yaml --journal runs.db
  sovl-tools run --journal runs.db --resume 20261122-101530-7f3a

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
@click.option("--timeout", type=SECONDS, metavar="SECONDS", help="How long the run may take.")
@tools_option
@entry_points_option
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
    timeout: float | None,
    tools: tuple[str, ...],
    entry_points: bool,
) -> None:
    """Run a procedure, show its progress, and print its result as JSON.

    The procedure is checked before anything runs. Progress, and what tools print, go to the error
    output. After Ctrl-C, a failure or a crash a run with a journal can be resumed.
    """
    if pairs and text is not None:
        raise Misuse("give the inputs with --input or with --inputs, not both")
    if run_id is not None and (pairs or text is not None):
        raise Misuse("a run that is resumed has its inputs already")
    options = ctx.ensure_object(dict)
    is_quiet, is_verbose = options.get("quiet", False), options.get("verbose", False)
    is_new = run_id is None
    with _opened(None if is_new else journal_path, create=False) as former:
        resumption = _resumption(former, run_id, force=force, repeat_unfinished=repeat_unfinished)
        if resumption is not None and _record(resumption).state == "succeeded":
            click.echo(f"run {run_id} has succeeded already; nothing was done", err=True)
            write(json_text(_record(resumption).result))
            return
        source = _source(file, resumption)
        job = _job(source, tools, entry_points=entry_points, is_quiet=is_quiet)
        moved = file if resumption is not None else None
        again = tuple(_again(moved, tools, entry_points=entry_points, force=force))
        if dry_run:
            write("\n\n".join(plan(each.procedure) for each in job.procedures if each.procedure))
            return
        inputs = _inputs(job.procedure, pairs, text) if is_new else {}
        with (
            _opened(journal_path if is_new else None, create=True) as journal,
            showing(is_quiet=is_quiet, is_verbose=is_verbose) as show,
        ):
            kept = resumption or journal
            result = performed(job._replace(again=again), inputs, kept, timeout=timeout, show=show)
    write(json_text(result))


def _again(
    moved: str | None, tools: Sequence[str], *, entry_points: bool, force: bool
) -> Iterator[str]:
    """Yield what was said of a run that its journal does not know, as arguments."""
    if moved is not None:
        yield moved
    for each in tools:
        yield from ("--tools", each)
    if not entry_points:
        yield "--no-entry-points"
    if force:
        yield "--force"


def _opened(path: str | None, *, create: bool) -> AbstractContextManager[Journal | None]:
    try:
        return nullcontext() if path is None else Journal(path, create=create)
    except JournalError as error:
        raise Misuse(f"--journal {error}") from error


def _resumption(
    journal: Journal | None, run_id: str | None, *, force: bool, repeat_unfinished: bool
) -> Resumption | None:
    """Return what is to go on; None if it is a new run."""
    if run_id is None:
        if force or repeat_unfinished:
            raise Misuse("--force and --repeat-unfinished need --resume")
        return None
    if journal is None:
        raise Misuse("--resume needs --journal")
    return Resumption(journal, run_id, force, repeat_unfinished)


def _source(file: str | None, resumption: Resumption | None) -> str | Mapping[str, JSON]:
    """Return what was named, or what a run was made of: a file, or the text of a dictionary."""
    if file is not None:
        return file
    if resumption is None:
        raise Misuse("name the file of a procedure, or a run with --journal and --resume")
    record = _record(resumption)
    document: dict[str, JSON] = {} if record.path else json.loads(record.text)
    return record.path or document


def _record(resumption: Resumption) -> RunRecord:
    try:
        return resumption.journal.run(resumption.run_id)
    except RunNotFoundError as error:
        raise Misuse(str(error)) from error


def _job(
    source: str | Mapping[str, JSON], tools: Sequence[str], *, entry_points: bool, is_quiet: bool
) -> Job:
    """Return a procedure with its tools; exit with 1 if it is unsound, and say why.

    Warnings are left out if the user wants it quiet.
    """
    procedures = reached(source)
    manager = ProcedureManager(registry_of(procedures, tools, entry_points=entry_points))
    found = diagnosed(manager, procedures)
    errors = [each for each in found if each.severity == "error"]
    tell(errors if is_quiet else found)
    procedure = procedures[0].procedure
    if errors or procedure is None:
        raise click.exceptions.Exit(FINDINGS)
    return Job(manager, procedure, procedures)


def _inputs(procedure: Procedure, pairs: Sequence[str], text: str | None) -> dict[str, JSON]:
    """Return the inputs that the options give, checked.

    Raises:
        Misuse: they do not fit.
    """
    found = paired(pairs, procedure.inputs) if text is None else _document(text)
    try:
        return checked_inputs(procedure, found)
    except InputError as error:
        raise Misuse(str(error)) from error


def _document(text: str) -> dict[str, JSON]:
    """Return the object that ``--inputs`` names."""
    try:
        found = parse_json(given(text, "--inputs"))
    except ValueError as error:
        raise Misuse(f"--inputs {text}: they are no JSON: {error}") from error
    if not isinstance(found, dict):
        raise Misuse(f"--inputs {text}: they must be an object, not {kind(found)}")
    return found
