"""What commands do with procedures: find those of a file, ``sovl-tools graph`` and ``runs``."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import click

from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    format_option,
    limit_option,
    output_option,
)
from sovl_tools.cli.output import aligned, json_text, write, write_to
from sovl_tools.model.diagnostic import Diagnostic
from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import JournalError, RunNotFoundError
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.journal.records import RunRecord, StepRecord
from sovl_tools.procedures.outline import mermaid, shortened
from sovl_tools.procedures.parse.files import file_beside, files, is_procedure
from sovl_tools.procedures.parse.library import (
    ProcedureDocument,
    read_procedure,
)
from sovl_tools.reporting.text import block, plain

_EXAMPLES = 5


def with_procedures_it_runs(source: str | Mapping[str, JSON]) -> tuple[ProcedureDocument, ...]:
    """Return a procedure and the files of all that it runs, each once.

    Raises:
        Misuse: there is no such file, or it can't be opened.
    """
    found = [_read(source)]
    paths = {os.path.abspath(found[0].path)}
    for each in found:  # grows on the way
        beside = (file_beside(each.path, name) for name in each.runs if each.path)
        for path in filter(None, beside):
            if os.path.abspath(path) not in paths:
                paths.add(os.path.abspath(path))
                found.append(_read(path))
    return tuple(found)


def _read(source: str | Mapping[str, JSON]) -> ProcedureDocument:
    try:
        return read_procedure(source)
    except OSError as error:
        if not isinstance(source, str) or not os.path.isdir(source):
            raise Misuse(f"{source}: {error.strerror or error}") from error
        found = []
        with suppress(OSError):  # it can't be listed
            found = [each for each in files(source) if is_procedure(each)]
        if not found:
            words = "without procedures; name the file of one"
            raise Misuse(f"{source} is a directory {words}") from error
        names = f"{', '.join(found[:_EXAMPLES])}{', …' if len(found) > _EXAMPLES else ''}"
        raise Misuse(f"{source} is a directory; name a procedure in it: {names}") from error


def print_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Show diagnostics with excerpts on the error output."""
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    for each in diagnostics:
        click.echo(block(each, color=color), err=True)


def shortest_path(path: str) -> str:
    """Return an absolute path as it is, or relative to the current directory if that is shorter."""
    try:
        return min(path, os.path.relpath(path), key=len)
    except ValueError:  # another drive
        return path


RUNS_EXAMPLES = """\b
Examples:
  sovl-tools runs runs.db
  sovl-tools runs runs.db 20261122-101530-7f3a
  sovl-tools runs runs.db 20261122-101530-7f3a --export > run.json"""

_COLUMNS = ("RUN", "PROCEDURE", "STATE", "STARTED", "TOOK")
_LONGEST = 100


@click.command(cls=Command, epilog=RUNS_EXAMPLES)
@click.argument("journal", type=click.Path(dir_okay=False))
@click.argument("run_id", metavar="[ID]", required=False)
@format_option("text", "json")
@limit_option(None, "No more than the latest N.")
@click.option("--export", is_flag=True, help="Print all that is known of the run as JSON.")
def runs(
    *, journal: str, run_id: str | None, format_: str, limit: int | None, export: bool
) -> None:
    """List the runs in a journal, the latest first, or show one with its steps.

    A run is running, interrupted, succeeded, failed or cancelled. One that is interrupted, failed
    or cancelled can be resumed: sovl-tools run --journal JOURNAL --resume ID.
    """
    if export and run_id is None:
        raise Misuse("--export needs the ID of a run")
    try:
        with Journal(journal, create=False) as opened:
            if run_id is None:
                found = opened.runs(limit)
                if format_ == "json":  # without the texts of the procedures
                    entries = [
                        {key: value for key, value in each._asdict().items() if key != "text"}
                        for each in found
                    ]
                    write(json_text(entries, indent=2))
                else:
                    rows = [
                        (
                            each.id,
                            plain(each.procedure),
                            each.state,
                            _moment(each.started),
                            _took(each),
                        )
                        for each in found
                    ]
                    write("\n".join(aligned([_COLUMNS, *rows])) if rows else "no runs")
                return
            document = opened.export(run_id)
            run, steps = opened.run(run_id), opened.steps(run_id)
    except (JournalError, RunNotFoundError) as error:
        raise Misuse(str(error)) from error
    if export or format_ == "json":
        write(json_text(document, indent=2))
    else:
        write("\n".join(_lines(run, steps)))


def _moment(seconds: float) -> str:
    """Return a moment in local time."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"


def _took(record: RunRecord | StepRecord) -> str:
    """Return how long something took, from the beginning of its last attempt or of the run."""
    return "" if record.ended is None else f"{record.ended - record.started:.2f} s"


def _lines(run: RunRecord, steps: Sequence[StepRecord]) -> Iterator[str]:
    yield f"run {run.id} of {plain(run.procedure)}: {run.state}"
    yield f"file: {plain(shortest_path(run.path))}" if run.path else "of a dictionary"
    yield f"inputs: {_shown(run.inputs)}"
    again = f", resumed {run.resumed} time{'s' * (run.resumed != 1)}" if run.resumed else ""
    yield f"started: {_moment(run.started)}{again}"
    if run.ended is not None:
        yield f"took: {_took(run)}"
    if run.error is not None:
        yield f"error: {shortened(run.error, _LONGEST)}"
    if run.state == "succeeded":
        yield f"result: {_shown(run.result)}"
    yield "steps:" if steps else "no steps"
    for step in steps:
        yield from _step(step)


def _step(step: StepRecord) -> Iterator[str]:
    label = plain(f"{step.action} {step.tool or ''}".strip())
    attempts = f", attempt {step.attempt}" if step.attempt > 1 else ""
    took = _took(step)
    yield f"  {step.state:9}  {plain(step.key)}  {label}{f'  {took}' if took else ''}{attempts}"
    value = step.arguments if step.result is None else step.result
    outcome = _shown(value) if step.error is None else step.error
    if step.state in {"succeeded", "failed"}:
        yield f"             {shortened(outcome, _LONGEST)}"


def _shown(value: JSON) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _LONGEST)


GRAPH_EXAMPLES = """\b
Examples:
  sovl-tools graph weekly_report.yaml
  sovl-tools graph weekly_report.yaml -o weekly_report.mmd"""


class _GraphFormat(click.Choice[str]):
    """The formats of ``graph``; says what replaced SVG."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "svg":
            advice = "an image: mmdc -i chart.mmd -o chart.svg, with @mermaid-js/mermaid-cli"
            raise Misuse(
                f"graph no longer writes SVG; use Mermaid: GitHub shows it, and for {advice}"
            )
        return super().convert(value, param, ctx)


@click.command(cls=Command, epilog=GRAPH_EXAMPLES, exits={1: "The file isn't a procedure."})
@click.argument("file", type=click.Path())
@click.option(
    "--format",
    type=_GraphFormat(["mermaid"]),
    default="mermaid",
    expose_value=False,
    show_default=True,
    help="How the result is written.",
)
@output_option
@click.pass_context
def graph(ctx: click.Context, *, file: str, output: str | None) -> None:
    """Draw the steps of a procedure as a Mermaid flowchart.

    This reads only the file, and loads no tools.
    """
    found = with_procedures_it_runs(file)[0]
    if found.procedure is None:
        print_diagnostics(found.diagnostics(found.verdicts))
        ctx.exit(FINDINGS)
    write_to(output, mermaid(found.procedure))
