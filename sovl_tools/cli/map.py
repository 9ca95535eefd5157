"""``sovl-tools map``, and its files: inputs read one by one, results that can be resumed.

A result is one line, also in CSV. If the process is killed, all lines but the last are complete,
and the last one is written again.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from hashlib import blake2b
from io import FileIO
from typing import BinaryIO, NamedTuple

import click

from sovl_tools.cli.arguments import MAX_BYTES, opened_input, parse_pairs
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    Progress,
    ToolOptions,
    locked_option,
    mode_and_dask_options,
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
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools map resize --inputs photos.jsonl -o sizes.jsonl
  sovl-tools map resize --inputs photos.csv -o sizes.csv --workers 8
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
    help="Where the results go, as JSON Lines or .csv. Default: the standard output.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="The number of calls at a time. Default: one a core.",
)
@mode_and_dask_options
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
    of the input, from 0. In CSV the value is a cell of JSON. Inputs are read and results written
    one by one, so their number isn't limited.

    Calls are made in worker processes if sovl-tools[process] is installed, unless --mode or the
    manifest has another mode. After Ctrl-C or a crash --resume makes only the calls without a
    result: each input has exactly one.
    """
    if resume and (output is None or inputs == "-"):
        raise Misuse("--resume needs -o FILE and --inputs FILE")
    registry = one_tool(tools, name)
    parameters = parameters_of(registry, name)
    by_default: Mode | None = "process" if processes_missing() is None else None
    total = _total(inputs)
    if resume and total is None:
        raise Misuse(f"--resume reads the inputs once more, and {inputs} is not a file")
    with ExitStack() as stack:
        # the limit of a cell's length is 128 KiB by default, and one for the whole process
        stack.callback(csv.field_size_limit, csv.field_size_limit(_LONGEST_CELL))
        file = stack.enter_context(opened_input(inputs))
        earlier = EarlierResults(0)
        put: Callable[[str], object] = partial(write, end="")
        as_csv = output is not None and is_csv(output)
        if output is not None:
            target = stack.enter_context(open_results(output, resumes=resume))
            earlier, put = read_earlier(target, output, total or 0), _writer(target, output)
            if as_csv and target.tell() == 0:
                put(_row(COLUMNS))
        cluster = stack.enter_context(connected(dask))
        tooler = Tooler(
            registry,
            timeout=timeout,
            mode=by_default,
            max_processes=workers,
            executor=cluster.executor,
        )
        stack.enter_context(tooler)
        run = _Run(put, earlier, as_csv=as_csv)
        progress = stack.enter_context(Progress(total or 0, done=earlier.count))
        # inputs with a result are skipped, so these places differ from those of Tooler.map
        mapped = tooler.map(
            name,
            run.due(read_inputs(file, inputs, parameters)),
            # more than run at a time, so that no worker waits for the next
            limit=workers or 2 * cluster.threads or None,
            ordered=ordered,
            mode=mode,
        )
        _take(run, mapped, progress, fail_fast=fail_fast)
    run.report()
    if run.failures or earlier.failures:
        ctx.exit(FINDINGS)


def _total(path: str) -> int | None:
    """Return the maximum number of inputs; None for a source that can be read only once."""
    if path == "-":
        return None
    try:
        if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
            return None
        with open(path, "rb") as file:
            pieces = iter(lambda: file.read(1 << 20), b"")
            return sum(piece.count(b"\n") for piece in pieces) + 1
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from error


def _writer(file: FileIO, name: str) -> Callable[[str], None]:
    def write_line(line: str) -> None:
        data = line.encode("utf-8", "backslashreplace")
        try:
            while data:  # a signal may come between
                data = data[file.write(data) :]
        except OSError as error:
            raise click.ClickException(f"{name!r} can't be written: {error.strerror}") from error

    return write_line


class _Run:
    """The calls of a run, and their results.

    Args:
        put: writes a line of the results.
        earlier: the results of earlier runs.
        as_csv: whether results are rows of CSV.

    Attributes:
        failures: the number of failed calls.
    """

    def __init__(
        self, put: Callable[[str], object], earlier: EarlierResults, *, as_csv: bool
    ) -> None:
        self._put = put
        self._earlier = earlier
        self._as_csv = as_csv
        # index and hash of each running input, by its place in Tooler.map
        self._places: dict[int, tuple[int, str]] = {}
        self.failures = 0
        self._lines: list[str] = []

    def due(self, inputs: Iterator[Input]) -> Iterator[Arguments]:
        """Yield the inputs that have no result yet."""
        place = 0
        for index, given in enumerate(inputs):
            try:
                is_done = self._earlier.has(index, given.hash)
            except ValueError as error:
                raise Misuse(f"-o can't be resumed: {error}") from error
            if not is_done:
                self._places[place] = index, given.hash
                place += 1
                yield given.arguments

    def add(self, mapped: Mapped) -> None:
        """Write a result in one piece, and keep a line for the report if the call failed."""
        index, hash_ = self._places.pop(mapped.place)
        value, error = mapped.result.value, mapped.result.error
        words = "" if error is None else " ".join(error.message.split())
        if error is not None:
            self.failures += 1
            if len(self._lines) < _MOST_FAILURES:
                self._lines.append(f"input {index}: {error.kind}: {words:.200}")
        if self._as_csv:
            text = "" if error else json.dumps(value, ensure_ascii=False)
            self._put(_row((index, hash_, text, error.kind if error else "", words)))
            return
        outcome = (
            {"error": {"kind": error.kind, "message": error.message}} if error else {"value": value}
        )
        document = {"index": index, "input_hash": hash_, **outcome}
        self._put(json.dumps(document, ensure_ascii=False) + "\n")

    def report(self) -> None:
        """Report the failed calls, the first ones in a line each."""
        for line in self._lines:
            note(line)
        more = self.failures - len(self._lines)
        if more:
            note(f"… and {more:,} more")
        total = self.failures + self._earlier.failures
        if total:
            before = f", {self._earlier.failures:,} of them before" * bool(self._earlier.failures)
            note(f"{counted(total, 'call')} failed{before}")


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


COLUMNS = ("index", "input_hash", "value", "error_kind", "error")
"""Of results in CSV; in JSON Lines they are keys, with one ``error`` of kind and message."""
_LONGEST_CELL = (1 << 31) - 1
_HASH = re.compile(r"[0-9a-f]{16}")


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
    for _, line in _read_lines(file, name):
        if text := line.strip():
            yield Input(text, _hash_of(text))


def _read_lines(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers."""
    lines = iter(partial(file.readline, MAX_BYTES + 1), b"")
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_BYTES:
            raise Misuse(f"{name}:{number}: the line has more than {MAX_BYTES:,} bytes")
        yield number, line


def _read_rows(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    rows = csv.reader((line.decode() for _, line in _read_lines(file, name)), strict=True)
    try:
        header = [each.removeprefix("\ufeff") for each in next(rows, [])] or [""]
        if "" in header or len({*header}) < len(header):
            raise Misuse(f"{name}:1: each cell of the first row must name another parameter")
        for row in rows:
            if len(row) > len(header):
                words = f"{len(row)} cells for {len(header)} columns"
                raise Misuse(f"{name}:{rows.line_num}: the row has {words}")
            cells = dict(zip(header, row, strict=False))
            pairs = [f"{key}={text}" for key, text in cells.items() if text]
            if row:
                arguments = parse_pairs(pairs, parameters)
                yield Input(arguments, _hash_of(json.dumps(arguments).encode()))
    except csv.Error as error:
        raise Misuse(f"{name}:{rows.line_num}: this is not CSV: {error}") from error
    except UnicodeDecodeError as error:  # the reader never got this line
        raise Misuse(f"{name}:{rows.line_num + 1}: this is not CSV: {error}") from error


def _hash_of(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


class EarlierResults:
    """The results that a file already has.

    Attributes:
        count: the number of results.
        failures: the number of errors among them.
    """

    def __init__(self, total: int) -> None:
        self.count = 0
        self.failures = 0
        self._hashes = array("Q", bytes(8 * total))

    def add(self, index: object, hash_: object, *, is_failure: bool) -> None:
        """Add a result.

        Raises:
            ValueError: it isn't a result of these inputs, or is there twice.
        """
        if type(index) is not int or not 0 <= index < len(self._hashes):
            raise ValueError(f"there is no input of the index {index!r:.40}")
        if not isinstance(hash_, str) or not _HASH.fullmatch(hash_):
            raise ValueError(f"{hash_!r:.40} is not the hash of an input")
        if self._hashes[index]:
            raise ValueError(f"there is a result of the index {index} already")
        self._hashes[index] = int(hash_, 16) or 1
        self.count += 1
        self.failures += is_failure

    def has(self, index: int, hash_: str) -> bool:
        """Return whether an input has a result.

        Raises:
            ValueError: the result belongs to another input.
        """
        known = self._hashes[index] if index < len(self._hashes) else 0
        if known and known != (int(hash_, 16) or 1):
            raise ValueError(f"it has a result of another input with the index {index}")
        return known != 0


def _row(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def read_earlier(file: io.FileIO, name: str, total: int) -> EarlierResults:
    """Read the results in a file, and cut off an incomplete last line.

    Raises:
        Misuse: a line isn't a result of these inputs.
    """
    earlier, whole = EarlierResults(total), 0
    lines = io.BufferedReader(file)
    try:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                _add_line(earlier, line, as_csv=is_csv(name), is_first=number == 1)
            except (ValueError, RecursionError, csv.Error) as error:
                words = f"this is not a result of map with these inputs: {error}"
                raise Misuse(f"{name}:{number}: {words}") from error
    finally:
        lines.detach()
    file.seek(whole)
    file.truncate()
    return earlier


def _add_line(earlier: EarlierResults, line: bytes, *, as_csv: bool, is_first: bool) -> None:
    if not as_csv:
        document = parse_json(line)
        if not isinstance(document, dict) or not ("value" in document) ^ ("error" in document):
            raise ValueError("it is not an object with a value or an error")
        is_failure = "error" in document
        earlier.add(document.get("index"), document.get("input_hash"), is_failure=is_failure)
    elif not is_first:
        (cells,) = csv.reader([line.decode()], strict=True)
        if len(cells) != len(COLUMNS) or not cells[0].isascii() or not cells[0].isdigit():
            raise ValueError("it is not a row of an index, a hash, a value and an error")
        earlier.add(int(cells[0][:18]), cells[1], is_failure=cells[3] != "")
    elif line.decode() != _row(COLUMNS):
        raise ValueError("the first row has other names")


def open_results(path: str, *, resumes: bool) -> io.FileIO:
    """Open the file of results for this process alone.

    Raises:
        Misuse: a new run would append to results, another process writes the file, or it isn't one.
    """
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    except OSError as error:
        raise Misuse(f"{path}: {error.strerror}") from error
    file = io.FileIO(descriptor, "r+")
    with ExitStack() as stack:
        stack.callback(file.close)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Misuse(f"{path} is not a file; without -o the results go to the standard output")
        try:
            if os.name == "posix":
                import fcntl  # noqa: PLC0415 - not on every platform

                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Misuse(f"{path}: another process writes it") from error
        if not resumes and os.fstat(descriptor).st_size:
            raise Misuse(f"{path} already exists; --resume continues it")
        stack.pop_all()
    return file
