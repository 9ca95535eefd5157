"""``sovl-tools runs``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from sovl_tools.cli.command import Command, Misuse, format_option, limit_option
from sovl_tools.cli.load_procedures import shortest_path
from sovl_tools.cli.output import aligned, json_text, write
from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import JournalError, RunNotFoundError
from sovl_tools.procedures.journal.database import RunRecord, StepRecord
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.outline import shortened
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools runs runs.db
  sovl-tools runs runs.db 20261122-101530-7f3a
  sovl-tools runs runs.db 20261122-101530-7f3a --export > run.json"""

_COLUMNS = ("RUN", "PROCEDURE", "STATE", "STARTED", "TOOK")
_LONGEST = 100


@click.command(cls=Command, epilog=EXAMPLES)
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
