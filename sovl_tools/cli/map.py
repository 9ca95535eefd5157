"""``sovl-tools map``, and its files: inputs read one by one, results that can be resumed.

A result is one line. If the process is killed, all lines but the last are complete,
and the last one is written again.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from hashlib import blake2b
from itertools import count
from typing import BinaryIO, NamedTuple

import click

from sovl_tools.cli import option
from sovl_tools.cli.arguments import opened_input, parse_pairs
from sovl_tools.cli.command import FINDINGS, Command, Misuse, note, progress
from sovl_tools.cli.load_tools import complete_names, one_tool, parameters_of
from sovl_tools.cli.output import write
from sovl_tools.dispatch.arguments import Arguments
from sovl_tools.dispatch.cluster import connected
from sovl_tools.dispatch.tooler import Mapped, Tooler
from sovl_tools.loading.requirements import processes_missing
from sovl_tools.model.call import Mode
from sovl_tools.model.document import JSON, parse_json
from sovl_tools.reporting.outcome import counted

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


@click.command("map", cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", shell_complete=complete_names)
@option.registry
@click.option(
    "--inputs",
    required=True,
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="The arguments of each call: a JSON object a line, or .csv with the names of parameters in"
    " the first row; - for the standard input.",
)
@option.file("-o", "--output", words="Where the results go. Default: the standard output.")
@click.option(
    "--workers",
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="The number of calls at a time. Default: one a core.",
)
@option.mode
@option.dask
@option.timeout("The time limit of each call.")
@option.locked
@click.option("--ordered", is_flag=True, help="Write the results in the order of the inputs.")
@click.option("--resume", is_flag=True, help="Continue the results in -o.")
@click.pass_context
def map_tool(
    ctx: click.Context,
    *,
    name: str,
    tools: option.ToolOptions,
    inputs: str,
    output: str | None,
    workers: int | None,
    mode: Mode | None,
    dask: str | None,
    timeout: float | None,
    ordered: bool,
    resume: bool,
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
    if resume and (output is None or not os.path.isfile(inputs)):
        raise Misuse("--resume needs -o FILE and --inputs FILE")
    registry = one_tool(tools, name)
    parameters = parameters_of(registry, name)
    policy = tools.settings().policy
    if policy.mode is None and processes_missing() is None:
        policy = policy.but(mode="process")
    with ExitStack() as stack:
        file = stack.enter_context(opened_input(inputs))
        earlier = {} if output is None else _earlier(output, resumes=resume)
        put: Callable[[str], object] = write
        if output is not None:
            results = open(output, "a", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115 - the next line
            put = partial(print, file=stack.enter_context(results), flush=True)
        cluster = stack.enter_context(connected(dask))
        tooler = Tooler(
            registry,
            policy=policy,
            timeout=timeout,
            max_processes=workers,
            executor=cluster.executor,
        )
        stack.enter_context(tooler)
        advance = stack.enter_context(progress(_count_lines(inputs), done=len(earlier)))
        running: dict[int, Input] = {}
        mapped = tooler.map(
            name,
            _due(read_inputs(file, inputs, parameters), earlier, running),
            # more than run at a time, so that no worker waits for the next
            limit=workers or 2 * cluster.threads or None,
            ordered=ordered,
            mode=mode if dask is None else "process",
        )
        failures = 0
        try:
            for each in mapped:
                failures += _take(each, running.pop(each.place), put, is_shown=failures < _MOST)
                advance("")
        except KeyboardInterrupt:
            raise click.ClickException("interrupted; --resume continues it") from None
    before = sum(each.is_failure for each in earlier.values())
    if failures + before:
        of_them = f", {before:,} of them before" if before else ""
        note(f"{counted(failures + before, 'call')} failed{of_them}")
        ctx.exit(FINDINGS)


_MOST = 20
"""The number of failed calls that are shown, and not only counted."""


class Input(NamedTuple):
    """An input, its number from 0, and a hash that identifies it when a run is resumed."""

    number: int
    arguments: Arguments
    hash: str


class Earlier(NamedTuple):
    """A result of an earlier run: the hash of its input, and whether the call failed."""

    hash: str
    is_failure: bool


def _count_lines(path: str) -> int:
    """Return about how many inputs a file has; 0 for a source that can be read only once."""
    if not os.path.isfile(path):
        return 0
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def _due(
    inputs: Iterable[Input], earlier: Mapping[int, Earlier], running: dict[int, Input]
) -> Iterator[Arguments]:
    """Yield the inputs without a result; each is added to ``running``, by its place here."""
    places = count()
    for given in inputs:
        known = earlier.get(given.number)
        if known is None:
            running[next(places)] = given
            yield given.arguments
        elif known.hash != given.hash:
            words = f"it has a result of another input with the index {given.number}"
            raise Misuse(f"-o can't be resumed: {words}")


def _take(mapped: Mapped, given: Input, put: Callable[[str], object], *, is_shown: bool) -> bool:
    """Write a result, and show why the call failed; return whether it did.

    Raises:
        ClickException: the tool can't be called at all.
    """
    error = mapped.result.error
    outcome: dict[str, JSON] = {"value": mapped.result.value}
    if error is not None:
        if error.kind in {"unavailable", "unknown_tool"}:
            raise click.ClickException(error.message)
        outcome = {"error": {"kind": error.kind, "message": error.message}}
        if is_shown:
            words = " ".join(error.message.split())
            note(f"input {given.number}: {error.kind}: {words:.200}")
    document = {"index": given.number, "input_hash": given.hash, **outcome}
    put(json.dumps(document, ensure_ascii=False))
    return error is not None


def read_inputs(file: BinaryIO, name: str, parameters: Mapping[str, JSON]) -> Iterator[Input]:
    """Yield the inputs of a file: objects, one a line, or rows of values for its columns.

    A line that isn't an object is yielded unchanged: its call reports the error. Cells are read
    according to the parameters; an empty cell is an omitted argument.

    Raises:
        Misuse: the file isn't CSV.
    """
    if not name.lower().endswith(".csv"):
        lines = filter(None, (line.strip() for line in file))
        yield from (Input(index, line, _hash_of(line)) for index, line in enumerate(lines))
        return
    rows = csv.DictReader((line.decode("utf-8-sig") for line in file), restkey="", strict=True)
    try:
        for index, row in enumerate(rows):
            if "" in row:
                raise Misuse(f"{name}:{rows.line_num}: the row has more cells than the first one")
            pairs = [f"{key}={text}" for key, text in row.items() if text]
            arguments = parse_pairs(pairs, parameters)
            yield Input(index, arguments, _hash_of(json.dumps(arguments).encode()))
    except (csv.Error, UnicodeDecodeError) as error:
        raise Misuse(f"{name}:{rows.line_num}: this is not CSV: {error}") from error


def _hash_of(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def _earlier(path: str, *, resumes: bool) -> dict[int, Earlier]:
    """Return the results in a file by their indices, and cut off an incomplete last line.

    Raises:
        Misuse: a new run would append to results, or a line isn't a result.
    """
    if not os.path.isfile(path) or not os.path.getsize(path):
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
                result = parse_json(line)
                found[result["index"]] = Earlier(result["input_hash"], "error" in result)
            except (ValueError, LookupError, TypeError) as error:
                words = f"this is not a result of map with these inputs: {error!r}"
                raise Misuse(f"{path}:{number}: {words}") from error
    os.truncate(path, whole)
    return found
