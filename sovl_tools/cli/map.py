"""``sovl-tools map``, and its files: inputs read one by one, results that can be resumed.

A result is one line. If the process is killed, all lines but the last are complete,
and the last one is written again.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

import click

from sovl_tools.cli.arguments import MAX_BYTES, opened_input, parse_pairs
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    Progress,
    ToolOptions,
    dask_option,
    locked_option,
    mode_option,
    note,
    registry_options,
    timeout_option,
)
from sovl_tools.cli.load_tools import complete_names, one_tool, parameters_of
from sovl_tools.cli.output import write
from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.cluster import connected
from sovl_tools.dispatch.tooler import Mapped, Tooler
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.call import Mode
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.model.policy import Policy
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl
  sovl-tools map resize --inputs photos.csv -o sizes.jsonl --workers 8
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl --resume
  sovl-tools map resize --inputs photos.jsonl --dask tcp://10.0.0.1:8786"""
EXITS = {
    1: "A call failed, the run was interrupted, or a result can't be written.",
    2: "The tool is unknown, or a file can't be read or resumed.",
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
    help="Where the results go. Default: the standard output.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="The number of calls at a time. Default: one a core.",
)
@mode_option
@dask_option
@timeout_option("The time limit of each call.")
@locked_option
@click.option("--ordered", is_flag=True, help="Write the results in the order of the inputs.")
@click.option("--resume", is_flag=True, help="Continue the results in -o.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first call that fails.")
@click.pass_context
def map_tool(
    ctx: click.Context,
    *,
    name: str,
    tools: ToolOptions,
    inputs: str,
    output: str | None,
    workers: int | None,
    mode: Mode | None,
    dask: str | None,
    timeout: float | None,
    ordered: bool,
    resume: bool,
    fail_fast: bool,
) -> None:
    """Call one tool with each of many inputs.

    A result is {"index": 0, "input_hash": "…", "value": …}, or has {"error": {"kind", "message"}}
    instead of the value if the call failed. Results are written as they finish; index is the place
    of the input, from 0. Inputs are read and results written
    one by one, so their number isn't limited.

    Calls are made in worker processes if sovl-tools[process] is installed, unless --mode or the
    manifest has another mode. After Ctrl-C or a crash --resume makes only the calls without a
    result: each input has exactly one.
    """
    if resume and (output is None or inputs == "-"):
        raise Misuse("--resume needs -o FILE and --inputs FILE")
    if output is not None and is_csv(output):
        raise Misuse(f"{output}: results are JSON Lines; name it {output[:-4]}.jsonl")
    registry = one_tool(tools, name)
    parameters = parameters_of(registry, name)
    by_default: Mode | None = "process" if processes_missing() is None else None
    total = _total(inputs)
    if resume and total is None:
        raise Misuse(f"--resume reads the inputs once more, and {inputs} is not a file")
    with ExitStack() as stack:
        file = stack.enter_context(opened_input(inputs))
        earlier = {} if output is None else _earlier(output, resumes=resume)
        put: Callable[[str], object] = partial(write, end="")
        if output is not None:
            put = stack.enter_context(_results_file(output))
        cluster = stack.enter_context(connected(dask))
        tooler = Tooler(
            registry,
            policy=_policy(tools, by_default),
            timeout=timeout,
            max_processes=workers,
            executor=cluster.executor,
        )
        stack.enter_context(tooler)
        run = _Run(put, earlier)
        progress = stack.enter_context(Progress(total or 0, done=len(earlier)))
        # inputs with a result are skipped, so these places differ from those of Tooler.map
        mapped = tooler.map(
            name,
            run.due(read_inputs(file, inputs, parameters)),
            # more than run at a time, so that no worker waits for the next
            limit=workers or 2 * cluster.threads or None,
            ordered=ordered,
            mode=mode if dask is None else "process",
        )
        _take(run, mapped, progress, fail_fast=fail_fast)
    if run.report():
        ctx.exit(FINDINGS)


def _policy(tools: ToolOptions, by_default: Mode | None) -> Policy:
    policy = tools.settings().policy
    return policy.but(mode=policy.mode or by_default)


def _total(path: str) -> int | None:
    """Return the maximum number of inputs; None for a source that can be read only once."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        return sum(piece.count(b"\n") for piece in iter(partial(file.read, 1 << 20), b"")) + 1


class _Run:
    """The calls of a run, and their results.

    Args:
        put: writes a line of the results.
        earlier: the results of earlier runs.
    """

    def __init__(self, put: Callable[[str], object], earlier: Mapping[int, Earlier]) -> None:
        self._put = put
        self._earlier = earlier
        # index and hash of each running input, by its place in Tooler.map
        self._places: dict[int, tuple[int, str]] = {}
        self._failures = 0
        self._lines: list[str] = []

    def due(self, inputs: Iterator[Input]) -> Iterator[Arguments]:
        """Yield the inputs that have no result yet."""
        place = 0
        for index, given in enumerate(inputs):
            known = self._earlier.get(index)
            if known is None:
                self._places[place] = index, given.hash
                place += 1
                yield given.arguments
            elif known.hash != given.hash:
                words = f"it has a result of another input with the index {index}"
                raise Misuse(f"-o can't be resumed: {words}")

    def add(self, mapped: Mapped) -> None:
        """Write a result in one piece, and keep a line for the report if the call failed."""
        index, hash_ = self._places.pop(mapped.place)
        error = mapped.result.error
        outcome: dict[str, JSON] = {"value": mapped.result.value}
        if error is not None:
            outcome = {"error": {"kind": error.kind, "message": error.message}}
            self._failures += 1
            if len(self._lines) < _MOST_FAILURES:
                words = " ".join(error.message.split())
                self._lines.append(f"input {index}: {error.kind}: {words:.200}")
        document = {"index": index, "input_hash": hash_, **outcome}
        self._put(json.dumps(document, ensure_ascii=False) + "\n")

    def report(self) -> int:
        """Report the failed calls, the first ones in a line each; return their number."""
        for line in self._lines:
            note(line)
        more = self._failures - len(self._lines)
        if more:
            note(f"… and {more:,} more")
        before = sum(each.is_failure for each in self._earlier.values())
        total = self._failures + before
        if total:
            of_them = f", {before:,} of them before" if before else ""
            note(f"{counted(total, 'call')} failed{of_them}")
        return total


def _take(run: _Run, mapped: Iterator[Mapped], progress: Progress, *, fail_fast: bool) -> None:
    """Write the results as they finish, unless the tool can't be called at all."""
    try:
        for each in mapped:
            error = each.result.error
            if error is not None and error.kind in {"unavailable", "unknown_tool"}:
                raise click.ClickException(plain(error.message))
            run.add(each)
            progress.advance()
            if error is not None and fail_fast:
                break
    except KeyboardInterrupt:
        raise click.ClickException("interrupted; --resume continues it") from None


class Input(NamedTuple):
    """An input, and a hash that identifies it when a run is resumed."""

    arguments: Arguments
    hash: str


def is_csv(path: str) -> bool:
    """Return whether a file is CSV, by its name; other files are JSON Lines."""
    return path.lower().endswith(".csv")


def read_inputs(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    """Yield the inputs of a file: objects, one a line, or rows of values for its columns.

    A line that isn't an object is yielded unchanged: its call reports the error. Cells are read
    according to the parameters; an empty cell is an omitted argument.

    Raises:
        Misuse: the file isn't CSV, or a line is too long.
    """
    if is_csv(name):
        yield from _read_rows(file, name, parameters)
        return
    for line in _read_lines(file, name):
        if text := line.strip():
            yield Input(text, _hash_of(text))


def _read_lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    lines = iter(partial(file.readline, MAX_BYTES + 1), b"")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_BYTES:
            raise Misuse(f"{name}:{number}: the line has more than {MAX_BYTES:,} bytes")
        yield line


def _read_rows(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    lines = (line.decode("utf-8-sig") for line in _read_lines(file, name))
    rows = csv.DictReader(lines, restkey="", strict=True)
    try:
        header = rows.fieldnames or [""]
        if "" in header or len({*header}) < len(header):
            raise Misuse(f"{name}:1: each cell of the first row must name another parameter")
        for row in rows:
            if "" in row:
                raise Misuse(f"{name}:{rows.line_num}: the row has more cells than the first one")
            pairs = [f"{key}={text}" for key, text in row.items() if text]
            arguments = parse_pairs(pairs, parameters)
            yield Input(arguments, _hash_of(json.dumps(arguments).encode()))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Misuse(f"{name}:{rows.line_num}: this is not CSV: {error}") from error


def _hash_of(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


class Earlier(NamedTuple):
    """A result of an earlier run: the hash of its input, and whether the call failed."""

    hash: str
    is_failure: bool


def _earlier(path: str, *, resumes: bool) -> dict[int, Earlier]:
    """Return the results in a file by their indices, and cut off an incomplete last line.

    Raises:
        Misuse: a new run would append to results, or a line isn't a result.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise Misuse(f"{path} is not a file; without -o the results go to the standard output")
    if not os.path.exists(path) or not os.path.getsize(path):
        return {}
    if not resumes:
        raise Misuse(f"{path} already exists; --resume continues it")
    found: dict[int, Earlier] = {}
    whole = 0
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                index, earlier = _read_result(line, found)
            except (ValueError, RecursionError) as error:
                words = f"this is not a result of map with these inputs: {error}"
                raise Misuse(f"{path}:{number}: {words}") from error
            found[index] = earlier
    os.truncate(path, whole)
    return found


def _read_result(line: bytes, found: Mapping[int, Earlier]) -> tuple[int, Earlier]:
    match parse_json(line):
        case {"index": int(index)} if index in found:
            raise ValueError(f"there is a result of the index {index} already")
        case {"index": int(index), "input_hash": str(hash_), "value": _}:
            return index, Earlier(hash_, is_failure=False)
        case {"index": int(index), "input_hash": str(hash_), "error": _}:
            return index, Earlier(hash_, is_failure=True)
    raise ValueError("it is not an object with an index, a hash, and a value or an error")


@contextmanager
def _results_file(path: str) -> Iterator[Callable[[str], object]]:
    """Open the file of results; yield what adds a line to it.

    Raises:
        Misuse: it can't be opened.
        OSError: a line can't be written.
    """
    try:
        file = open(path, "a", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - the body's errors are its own
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from error
    with file:
        yield partial(print, end="", file=file, flush=True)
