"""``sovl-tools runs``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

import click

from sovl_tools.cli.command import Command, Misuse, format_option
from sovl_tools.cli.output import json_text, write
from sovl_tools.cli.procedures import near
from sovl_tools.model.document import JSON
from sovl_tools.procedures.errors import JournalError, RunNotFoundError
from sovl_tools.procedures.journal.journal import Journal
from sovl_tools.procedures.journal.records import RunRecord, StepRecord
from sovl_tools.procedures.outline import shortened
from sovl_tools.reporting.plain import plain

EXAMPLES = """\b
Examples:
  sovl-tools runs runs.db
  sovl-tools runs runs.db 20261122-101530-7f3a
  sovl-tools runs runs.db 20261122-101530-7f3a --export > run.json"""

_COLUMNS = ("RUN", "PROCEDURE", "STATE", "STARTED", "TOOK")
_GAP = "  "
_LONGEST = 100


@click.command(cls=Command, epilog=EXAMPLES)
@click.argument("journal", type=click.Path(dir_okay=False))
@click.argument("run_id", metavar="[ID]", required=False)
@format_option("text", "json")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="No more than the latest N.")
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
                write(_listed(opened.runs(limit), format_))
                return
            document = opened.export(run_id)
            run, steps = opened.run(run_id), opened.steps(run_id)
    except (JournalError, RunNotFoundError) as error:
        raise Misuse(str(error)) from error
    if export or format_ == "json":
        write(json_text(document, indent=2))
    else:
        write("\n".join(_lines(run, steps)))


def _listed(found: Sequence[RunRecord], format_: str) -> str:
    if format_ == "json":
        return json_text([_entry(each) for each in found], indent=2)
    return _table([_row(each) for each in found]) if found else "no runs"


def _entry(run: RunRecord) -> dict[str, JSON]:
    """Return a run without the text of its procedure."""
    return {key: value for key, value in run._asdict().items() if key != "text"}


def _row(run: RunRecord) -> tuple[str, ...]:
    return run.id, plain(run.procedure), run.state, _moment(run.started), _took(run)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    lines = [_COLUMNS, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_GAP.join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _moment(seconds: float) -> str:
    """Return a moment in local time."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"


def _took(record: RunRecord | StepRecord) -> str:
    """Return how long something took, from the beginning of its last attempt or of the run."""
    return "" if record.ended is None else f"{record.ended - record.started:.2f} s"


def _lines(run: RunRecord, steps: Sequence[StepRecord]) -> Iterator[str]:
    yield f"run {run.id} of {plain(run.procedure)}: {run.state}"
    yield f"file: {plain(near(run.path))}" if run.path else "of a dictionary"
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
