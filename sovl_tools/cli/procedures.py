"""What commands do with procedures: find those of a file, and show runs of a journal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sovl_tools.cli.command import Misuse
from sovl_tools.cli.output import show, show_json, table, write
from sovl_tools.model.document import JSON
from sovl_tools.procedures.journal import Journal
from sovl_tools.procedures.outline import shortened
from sovl_tools.procedures.parse.files import file_beside
from sovl_tools.procedures.parse.library import ProcedureDocument, read_procedure
from sovl_tools.procedures.records import RunRecord, StepRecord
from sovl_tools.reporting.text import plain


def with_procedures_it_runs(source: str | Mapping[str, JSON]) -> tuple[ProcedureDocument, ...]:
    """Return a procedure and the files of all that it runs, each once.

    Raises:
        Misuse: there's no such file.
    """
    if isinstance(source, str) and not os.path.isfile(source):
        raise Misuse(f"there's no file {source!r}")
    found = [read_procedure(source)]
    paths = {os.path.abspath(found[0].path)}
    for each in found:  # grows on the way
        beside = (file_beside(each.path, name) for name in each.runs if each.path)
        for path in filter(None, beside):
            if os.path.abspath(path) not in paths:
                paths.add(os.path.abspath(path))
                found.append(read_procedure(path))
    return tuple(found)


def shortest_path(path: str) -> str:
    """Return an absolute path as it is, or relative to the current directory if that is shorter."""
    try:
        return min(path, os.path.relpath(path), key=len)
    except ValueError:  # another drive
        return path


_COLUMNS = ("RUN", "PROCEDURE", "STATE", "STARTED", "TOOK")
_LONGEST = 100


def list_runs(journal: Journal, format_: str) -> None:
    """Print the runs in a journal, the latest first."""
    found = journal.runs()
    if format_ == "json":  # without the strings of the procedures
        entries = [
            {key: value for key, value in each._asdict().items() if key != "text"} for each in found
        ]
        show_json(entries, indent=2)
        return
    rows = [
        (each.id, plain(each.procedure), each.state, _moment(each.started), _took(each))
        for each in found
    ]
    if rows:
        write(table(_COLUMNS, rows))
    else:
        show("no runs")


def show_run(journal: Journal, run_id: str, format_: str) -> None:
    """Print one run with its steps; as JSON, everything the journal knows about it."""
    if format_ == "json":
        show_json(journal.export(run_id), indent=2)
    else:
        show("\n".join(_lines(journal.run(run_id), journal.steps(run_id))))


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
