"""``sovl-tools map``."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from io import FileIO
from time import perf_counter
from typing import BinaryIO, NamedTuple

import click

from sovl_tools.cli.arguments import opened_input
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    Progress,
    dask_option,
    is_quiet,
    locked_option,
    mode_beside,
    mode_option,
    registry_options,
    timeout_option,
)
from sovl_tools.cli.load_tools import complete_names, one_tool, parameters_of
from sovl_tools.cli.map_files import (
    EarlierResults,
    Input,
    Results,
    count_lines,
    is_csv,
    open_results,
    read_earlier,
    read_inputs,
)
from sovl_tools.cli.output import write
from sovl_tools.dispatch.cluster import connected
from sovl_tools.dispatch.parse_arguments import Arguments
from sovl_tools.dispatch.tooler import Mapped, Tooler
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.call import Mode
from sovl_tools.model.result import Failure
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl
  sovl-tools map resize --inputs photos.csv -o sizes.csv --workers 8 --timeout 30
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl --resume
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl --dask tcp://10.0.0.1:8786"""
EXITS = {
    1: "A call has failed, the run was interrupted, or a result can't be written.",
    2: "There is no such tool, or a file can't be read or gone on with.",
}
_MOST_FAILURES = 20


@click.command("map", cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", shell_complete=complete_names)
@registry_options
@click.option(
    "--inputs",
    required=True,
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="The arguments of each call: a JSON object a line, or .csv with the names of parameters in"
    " the first row; - for the standard input.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Where the results go, as JSON Lines or .csv. Default: the standard output.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How many calls are made at a time. Default: one a core.",
)
@mode_option
@dask_option
@timeout_option("How long each call may take.")
@locked_option
@click.option("--ordered", is_flag=True, help="Write the results in the order of the inputs.")
@click.option("--resume", is_flag=True, help="Go on with the results in -o.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first call that fails.")
@click.pass_context
def map_tool(
    ctx: click.Context,
    *,
    name: str,
    tools: tuple[str, ...],
    entry_points: bool,
    inputs: str,
    output: str | None,
    workers: int | None,
    mode: Mode | None,
    dask: str | None,
    timeout: float | None,
    locked: bool | None,
    ordered: bool,
    resume: bool,
    fail_fast: bool,
) -> None:
    """Call one tool with each of many inputs.

    A result is {"index": 0, "input_hash": "…", "value": …}, with {"error": {"kind", "message"}} in
    place of the value for a call that fails. Results come as they are there; index is the place of
    the input, from 0. In CSV the value is a cell of JSON. Inputs are read, and results written, one
    by one: there may be any number.

    Calls are made in worker processes if sovl-tools[process] is installed and neither --mode nor
    the manifest says otherwise. After Ctrl-C or a crash --resume makes the calls that have no
    result yet, and no other: each input has exactly one.
    """
    mode = mode_beside(dask, mode)
    if resume and (output is None or inputs == "-"):
        raise Misuse("--resume needs -o FILE and --inputs FILE")
    registry = one_tool(tools, name, entry_points=entry_points, locked=locked)
    parameters = parameters_of(registry, name)
    by_default: Mode | None = "process" if processes_missing() is None else None
    total = _total(inputs)
    if resume and total is None:
        raise Misuse(f"--resume reads the inputs once more, and {inputs} is no file")
    with ExitStack() as stack:
        file, written, earlier = _open(stack, inputs, output, total=total, resumes=resume)
        cluster = stack.enter_context(connected(dask))
        tooler = stack.enter_context(
            Tooler(
                registry,
                timeout=timeout,
                mode=by_default,
                max_processes=workers,
                executor=cluster.executor,
            )
        )
        run = _Run(written, earlier, {})
        progress = stack.enter_context(Progress(total or 0, done=earlier.count))
        # those that have a result already come between, so the places are ours and not of map
        mapped = tooler.map(
            name,
            run.due(read_inputs(file, inputs, parameters)),
            # more than it can run at a time, so that no worker waits for the next
            limit=workers or 2 * cluster.threads or None,
            ordered=ordered,
            mode=mode,
        )
        failures = _take(run, mapped, progress, fail_fast=fail_fast)
    _report_failures(failures, earlier)
    if failures.count or earlier.failures:
        ctx.exit(FINDINGS)


def _total(path: str) -> int | None:
    """Return how many inputs there are at most; None for what can be read only once."""
    if path == "-":
        return None
    try:
        is_once = not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path)
        return None if is_once else count_lines(path)
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from error


def _open(
    stack: ExitStack, inputs: str, output: str | None, *, total: int | None, resumes: bool
) -> tuple[BinaryIO, Results, EarlierResults]:
    """Open the inputs, and where the results go with what is there already."""
    file = stack.enter_context(opened_input(inputs))
    if output is None:
        written, earlier = Results(partial(write, end=""), as_csv=False), EarlierResults(0)
    else:
        target = stack.enter_context(open_results(output, resumes=resumes))
        earlier = read_earlier(target, output, total or 0)
        written = Results(_writer(target, output), as_csv=is_csv(output))
        if target.tell() == 0:
            written.header()
    return file, written, earlier


def _writer(file: FileIO, name: str) -> Callable[[str], None]:
    def write_line(line: str) -> None:
        data = line.encode("utf-8", "backslashreplace")
        try:
            while data:  # a signal may come between
                data = data[file.write(data) :]
        except OSError as error:
            raise click.ClickException(f"{name!r} can't be written: {error.strerror}") from error

    return write_line


class _Failures:
    """Calls that have failed: how many, and the first of them in a line each."""

    def __init__(self) -> None:
        self.count = 0
        self.lines: list[str] = []

    def add(self, index: int, error: Failure) -> None:
        self.count += 1
        if len(self.lines) < _MOST_FAILURES:
            words = " ".join(error.message.split())
            self.lines.append(f"input {index}: {error.kind}: {words:.200}")


class _Run(NamedTuple):
    """What connects the inputs that are due with their results.

    Attributes:
        written: where the results go.
        earlier: those that are there already.
        places: index and hash of each input that is under way, by the place that map gives it.
    """

    written: Results
    earlier: EarlierResults
    places: dict[int, tuple[int, str]]

    def due(self, inputs: Iterator[Input]) -> Iterator[Arguments]:
        """Yield the inputs that have no result yet."""
        place = 0
        for index, given in enumerate(inputs):
            try:
                is_done = self.earlier.has(index, given.hash)
            except ValueError as error:
                raise Misuse(f"-o can't be gone on with: {error}") from error
            if not is_done:
                self.places[place] = index, given.hash
                place += 1
                yield given.arguments

    def write(self, mapped: Mapped) -> int:
        """Write a result; return the index of its input."""
        index, hash_ = self.places.pop(mapped.place)
        self.written.add(mapped._replace(place=index), hash_)
        return index


def _take(run: _Run, mapped: Iterator[Mapped], progress: Progress, *, fail_fast: bool) -> _Failures:
    """Write the results as they come; return the failures.

    Raises:
        ClickException: the tool can't be called at all, or somebody has interrupted the run.
    """
    failures, started = _Failures(), perf_counter()
    try:
        for count, each in enumerate(mapped, 1):
            error = each.result.error
            if error is not None and error.kind in {"unavailable", "unknown_tool"}:
                raise click.ClickException(plain(error.message))
            index = run.write(each)
            progress.advance(_pace(count, progress.left, perf_counter() - started))
            if error is not None:
                failures.add(index, error)
                if fail_fast:
                    break
    except KeyboardInterrupt:
        raise click.ClickException("interrupted; --resume goes on with it") from None
    return failures


def _pace(count: int, left: int, seconds: float) -> str:
    """Return how fast it goes, and how long it will."""
    rate = count / max(seconds, 1e-6)
    minutes, rest = divmod(round(left / rate), 60)
    hours, minutes = divmod(minutes, 60)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"{rate:,.1f}/s, {clock} left"


def _report_failures(failures: _Failures, earlier: EarlierResults) -> None:
    if is_quiet():
        return
    for line in failures.lines:
        click.echo(plain(line), err=True)
    more = failures.count - len(failures.lines)
    if more:
        click.echo(f"… and {more:,} more", err=True)
    total = failures.count + earlier.failures
    if total:
        before = f", {earlier.failures:,} of them before" if earlier.failures else ""
        click.echo(f"{counted(total, 'call')} failed{before}", err=True)
