"""``sovl-tools stats``."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import BinaryIO, get_args

import click

from sovl_tools.cli.arguments import opened_input
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    ToolOptions,
    format_option,
    is_quiet,
    note,
    registry_options,
    targets_option,
)
from sovl_tools.cli.output import aligned, serialized, write
from sovl_tools.dispatch.statistics import CallLog, Statistics, summary
from sovl_tools.dispatch.telemetry import readable
from sovl_tools.model.definition import ToolDefinition
from sovl_tools.model.document import JSON, dotted, parse_json
from sovl_tools.model.result import FailureKind
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.text import cut, plain
from sovl_tools.schema.engine import compile_schema
from sovl_tools.schema.problem import Validator, describe, shown

EXAMPLES = """\b
Examples:
  sovl-tools stats calls.jsonl
  sovl-tools stats calls.jsonl --tool 'search_*' --format json
  tail -n 1000 calls.jsonl | sovl-tools stats -
  sovl-tools stats --tokens --target openai-strict,anthropic"""
EXITS = {1: "A line can not be read.", 2: "The file can not be opened."}

_RECORD: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "time": {"type": "string"},
        "tool": {"type": "string"},
        "duration": {"type": "number", "minimum": 0, "maximum": 1_000_000_000},
        "ok": {"type": "boolean"},
        "error": {"enum": list(get_args(FailureKind))},
        "abandoned": {"type": "boolean"},
    },
    "required": ["time", "tool", "duration", "ok"],
    "if": {"properties": {"ok": {"const": False}}, "required": ["ok"]},
    "then": {"required": ["error"]},
}
# bounds for a file that is none of calls, or a device: memory, time and the error output
_LONGEST_LINE = 1_000_000
_MOST_PIECES = 64
_MOST_WARNINGS = 20

_COLUMNS = ("TOOL", "CALLS", "P50", "P95", "P99", "LONGEST", "TOTAL", "ERRORS")
_LONGEST_NAME = 64


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("file", required=False, type=click.Path())
@registry_options
@click.option("--tool", "pattern", metavar="PATTERN", help="Only these tools: a shell pattern.")
@click.option("--tokens", is_flag=True, help="Estimate the tokens of the tools' definitions.")
@targets_option("With --tokens: for these formats.")
@format_option("table", "json", "yaml")
@click.pass_context
def stats(
    ctx: click.Context,
    *,
    file: str | None,
    tools: ToolOptions,
    pattern: str | None,
    tokens: bool,
    targets: tuple[str, ...],
    format_: str,
) -> None:
    """Sum up the calls that JsonLines wrote to FILE, by tool; - is the standard input.

    Times are in seconds in JSON and YAML. A line that can't be read is reported and left out.

    With --tokens there is no FILE: it estimates how many tokens the definitions of the tools take
    in each format.
    """
    if tokens:
        if file is not None:
            raise Misuse("--tokens is about the tools, so there can't be a file of calls")
        from sovl_tools.cli.load_tools import all_tools  # noqa: PLC0415 - summing up needs no tools

        found = all_tools(tools).filter(name_pattern=pattern)
        _print_tokens(found, targets or USUAL, format_)
        return
    if file is None:
        raise Misuse("name a file of calls, or ask for --tokens")
    tally = _Tally(pattern or "*")
    source = "standard input" if file == "-" else file
    bad = 0
    with opened_input(file) as lines:
        for bad, (number, words) in enumerate(_warnings(lines, tally), 1):
            if bad <= _MOST_WARNINGS:
                click.echo(plain(f"{source}:{number}: {words}"), err=True)
    if bad > _MOST_WARNINGS:
        click.echo(f"{source}: {counted(bad - _MOST_WARNINGS, 'more bad line')}", err=True)
    # the busiest first: those are looked for
    called = sorted(summary(tally.logs).values(), key=lambda each: (-each.calls, each.tool))
    if format_ != "table":
        times = ("p50", "p95", "p99", "mean", "shortest", "longest", "total")
        entries: list[dict[str, JSON]] = [
            {
                "tool": each.tool,
                "calls": each.calls,
                "errors": dict(_errors(each)),
                "abandoned": each.abandoned,
                **{name: round(getattr(each, name), 9) for name in times},
            }
            for each in called
        ]
        write(serialized(entries, format_))
    else:
        rows = [_COLUMNS, *map(_row, called)]
        shown = aligned(rows, numbers=range(1, len(_COLUMNS) - 1))
        write("\n".join(shown) if called else "no calls")
    if called and not is_quiet():
        calls = counted(sum(each.calls for each in called), "call")
        first, last = (
            time.isoformat(timespec="seconds").replace("+00:00", "Z")
            for time in (tally.first, tally.last)
        )
        click.echo(f"{calls} of {counted(len(called), 'tool')} from {first} to {last}", err=True)
    ctx.exit(FINDINGS if bad else 0)


class _Tally:
    """The calls of the tools that fit a shell pattern."""

    def __init__(self, pattern: str) -> None:
        self.logs: dict[str, CallLog] = defaultdict(CallLog)
        self._pattern = pattern
        self.first = datetime.max.replace(tzinfo=UTC)
        self.last = datetime.min.replace(tzinfo=UTC)

    def add(self, record: dict[str, JSON], time: datetime) -> None:
        """Count the call of a valid record."""
        tool: str = record["tool"]
        if not fnmatchcase(tool, self._pattern):
            return
        if record["ok"]:
            self.logs[tool].succeeded(record["duration"])
        else:
            abandoned = record.get("abandoned", False)
            self.logs[tool].failed(record["error"], record["duration"], abandoned=abandoned)
        self.first = min(self.first, time)
        self.last = max(self.last, time)


def _warnings(file: BinaryIO, tally: _Tally) -> Iterator[tuple[int, str]]:
    """Count all calls of the file; yield the number of each bad line and what is wrong with it."""
    validator = compile_schema(_RECORD)
    for number, line in enumerate(_lines(file), 1):
        if line.isspace():
            continue
        if _is_cut(line):
            yield number, f"is longer than {_LONGEST_LINE:,} bytes"
            continue
        try:
            record = parse_json(line)
        except ValueError:
            yield number, "is no JSON"
            continue
        try:
            tally.add(*_parse_record(record, validator))
        except ValueError as error:
            yield number, str(error)


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield the lines; of one that is too long the beginning, so that memory stays bounded."""
    while line := file.readline(_LONGEST_LINE):
        yield line
        for _ in range(_MOST_PIECES):
            if not _is_cut(line):
                break
            line = file.readline(_LONGEST_LINE)
        else:
            return  # a device, whose line never ends


def _is_cut(line: bytes) -> bool:
    return len(line) == _LONGEST_LINE and not line.endswith(b"\n")


def _parse_record(record: JSON, validator: Validator) -> tuple[dict[str, JSON], datetime]:
    """Return those keys of a record that are looked at, and when the call was.

    Raises:
        ValueError: it is no record of a call; the message says why.
    """
    if not isinstance(record, dict):
        raise ValueError("is no JSON object")  # noqa: TRY004 - the line is wrong, not a type
    # arguments and results may be anything, also what the check would stumble over
    known = {key: record[key] for key in _RECORD["properties"] if key in record}
    if not validator.is_valid(known):
        problem = validator.problems(known)[0]
        place = f"{dotted(problem.path)!r} " if problem.path else ""
        raise ValueError(f"{place}{describe(problem)}")
    text = known["time"]
    with contextlib.suppress(ValueError, OverflowError):
        time = datetime.fromisoformat(text)
        if time.tzinfo is not None:
            return known, time.astimezone(UTC)
    raise ValueError(f"'time' must be like 2026-01-31T12:00:00Z, not {shown(text)}")


def _row(statistics: Statistics) -> tuple[str, ...]:
    times = (getattr(statistics, name) for name in ("p50", "p95", "p99", "longest", "total"))
    errors = ", ".join(f"{count:,} {kind}" for kind, count in _errors(statistics))
    abandoned = f" ({statistics.abandoned:,} abandoned)" if statistics.abandoned else ""
    return (
        cut(plain(statistics.tool), _LONGEST_NAME),  # a log may have anything as a name
        f"{statistics.calls:,}",
        *map(readable, times),
        f"{errors}{abandoned}",
    )


def _errors(statistics: Statistics) -> list[tuple[FailureKind, int]]:
    """Return the kinds of failures with their counts, the most frequent first."""
    return sorted(statistics.errors.items(), key=lambda item: (-item[1], item[0]))


USUAL = ("openai", "openai-strict", "anthropic", "gemini", "mcp", "prompt")
"""The targets of ``--tokens`` unless somebody asks for others."""

_ACCURACY = "estimated from the number of characters: up to half too many, hardly ever too few"


def _print_tokens(tools: Sequence[ToolDefinition], targets: Sequence[str], format_: str) -> None:
    """Print an estimate for each tool and target, and for all tools together."""
    from sovl_tools.formats.base import estimate  # noqa: PLC0415 - summing up calls needs none
    from sovl_tools.loading.exporting import Target, exported  # noqa: PLC0415 - likewise

    # by target; a tool that a target can't say is missing there
    counts: dict[str, dict[str, int]] = {}
    for target in targets:
        shapes = exported(tools, Target.of(target)).shapes
        counts[target] = {name: estimate(shape.definition) for name, shape in shapes.items()}
    totals = {target: sum(each.values()) for target, each in counts.items()}
    names = [tool.name for tool in tools]
    if format_ == "table":
        lines = [["TOOL", *(target.upper() for target in counts)]]
        for name in names:
            cells = (each.get(name) for each in counts.values())
            lines.append([plain(name), *("-" if cell is None else f"{cell:,}" for cell in cells)])
        lines.append(["all", *(f"{total:,}" for total in totals.values())])
        write("\n".join(aligned(lines, numbers=range(1, len(counts) + 1))))
    else:
        entries = [
            {
                "tool": name,
                "tokens": {key: each[name] for key, each in counts.items() if name in each},
            }
            for name in names
        ]
        write(serialized({"estimate": True, "tools": entries, "total": totals}, format_))
    note(f"tokens are {_ACCURACY}")
