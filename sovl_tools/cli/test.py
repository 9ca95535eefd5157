"""``sovl-tools test``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from time import perf_counter

import click

from sovl_tools.cli import option
from sovl_tools.cli.arguments import read_text
from sovl_tools.cli.command import (
    FINDINGS,
    Command,
    Misuse,
    is_quiet,
    progress,
    refuse_unlisted,
    settings,
)
from sovl_tools.cli.load_tools import all_tools, complete_names, named_folders
from sovl_tools.cli.output import json_text, show, show_json, table, write_each
from sovl_tools.cli.terminal_host import Reports, terminal_host
from sovl_tools.configuration import Configuration
from sovl_tools.linting.example_processes import run_examples
from sovl_tools.linting.examples import LIMIT, Example, Tested, examples_of, groups_of
from sovl_tools.linting.routing import (
    DEPTHS,
    OFFERING,
    WAYS,
    Routed,
    RouteError,
    Routing,
    document_of,
    read_routes,
    routing_of,
)
from sovl_tools.loading.lock import read_lock
from sovl_tools.loading.pipeline import load_folder
from sovl_tools.loading.sources import aliases_of, collect
from sovl_tools.model.document import JSON
from sovl_tools.model.folder import Settings, ToolFolder
from sovl_tools.reporting.outcome import counted
from sovl_tools.reporting.services import Case, Failure, junit_document
from sovl_tools.reporting.text import Piece, plain
from sovl_tools.schema.problem import shown

EXAMPLES = """\b
Examples:
  sovl-tools test                              the examples of all tools
  sovl-tools test weather -k "example[0]"      one of them
  sovl-tools test --include network            also those that reach outside
  sovl-tools test -n 4 --junit report.xml      in CI
  sovl-tools test --routes routes.jsonl --at-least 0.9"""
EXITS = {
    1: "An example fails, a tool can't be loaded, or the recall is below --at-least.",
    2: "A tool or a path does not exist, or an option is wrong.",
}
_COLORS = {"failed": "red", "skipped": "yellow"}
_MOST_PROCESSES = 64


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_names)
@option.tools
@click.option(
    "-k",
    "words",
    multiple=True,
    metavar="WORD",
    help="Only examples with this word in their path, number or description; can be repeated.",
)
@click.option(
    "--include",
    multiple=True,
    callback=option.value_reader(groups_of),
    metavar="GROUPS",
    help="Also run tools that are skipped by default: destructive,network.",
)
@click.option(
    "-n",
    "processes",
    type=click.IntRange(1, _MOST_PROCESSES),
    default=1,
    metavar="N",
    help="The number of tools that run at a time.",
)
@click.option(
    "-i",
    "--interactive",
    is_flag=True,
    help="Run them in this process, one after another, with progress, questions and approval.",
)
@option.timeout(
    f"The time limit of an example. Default: execution.timeout of its manifest, or {LIMIT:g}."
)
@option.locked
@click.option(
    "--routes",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="Test instead whether the strings in a file lead to their tools.",
)
@click.option(
    "--at-least",
    type=click.FloatRange(0, 1),
    metavar="R",
    help="With --routes: fail if the recall@1 of both ways together is less.",
)
@option.file("--junit", words="Also write the results to a file, in JUnit's format.")
@option.format_("text", "json")
@click.pass_context
def test(
    ctx: click.Context,
    *,
    names: tuple[str, ...],
    tools: tuple[str, ...],
    words: tuple[str, ...],
    include: frozenset[str],
    processes: int,
    interactive: bool,
    timeout: float | None,
    locked: bool | None,
    routes: str | None,
    at_least: float | None,
    junit: str | None,
    format_: str,
) -> None:
    """Run the examples of manifests, and compare the results with their outputs.

    An example is called as a model would call it, in a child process and in a temporary directory
    with copies of the files in the tool's folder `examples`. An example without an output, or with
    a description as its output, must only succeed. `output_match` selects the comparison:
    "subset" (the default), "exact", "approx" or "schema".

    Tools that are destructive or reach outside (open_world) are skipped unless --include names
    them, and so are disabled and unavailable tools. With -i, you approve destructive calls and
    answer the questions of tools, as in `sovl-tools call`.

    Each line of the FILE of --routes is an object such as {"text": "will it rain", "tool":
    "weather"}, with null for the tool if none is meant; FILE can be -. Recall@3 is the share of
    the strings whose tool is among the first three; NDCG@10 counts a tool for less the later it
    comes. "both" takes what phrases find first, then what searching finds, as agents do; "suggest"
    takes only good matches of these. Shown are strings for which another tool comes first, with
    the words that lead to it, and those that lead to a tool although none is meant; --format json
    also has those that contain phrases of several tools.
    """
    if routes is not None:
        if names or words or include or junit:
            raise Misuse("--routes takes no NAME, -k, --include or --junit")
        options = option.ToolOptions(tools, locked)
        ctx.exit(check_routes(routes, options, format_, at_least=at_least))
    if at_least is not None:
        raise Misuse("--at-least needs --routes")
    if interactive:
        if processes > 1:
            raise Misuse("-i runs one example after another; omit -n")
        include |= {"destructive"}
    started = perf_counter()
    found = settings(tools, locked=locked)
    locked_tools = read_lock(found.lock_file) if found.locked else None
    examples = [
        example
        for folder in _folders(found, names)
        # parsing runs no code of a tool; that's left to the processes of the examples
        for example in examples_of(
            load_folder(folder, Settings(imports=False, locked=locked_tools)), include, timeout
        )
        if _has_any(words, example)
    ]
    if words and not examples:
        raise Misuse("no example has the words of -k")
    if interactive:
        with Reports(is_quiet=is_quiet()) as reports:
            tested = run_examples(examples, settings=found, host=terminal_host(reports))
    else:
        with progress(len(examples)) as advance:
            tested = run_examples(
                examples,
                settings=found,
                processes=processes,
                observe=lambda each: advance(each.example.folder.name),
            )
    _write(tested, perf_counter() - started, format_, junit)
    ctx.exit(FINDINGS if any(each.status == "failed" for each in tested) else 0)


def _folders(found: Configuration, names: Collection[str]) -> list[ToolFolder]:
    """Return the folders of the tools of some names or aliases, or all; the first of each name."""
    collected = collect(found.paths, exclude=found.exclude)
    refuse_unlisted(collected.diagnostics)
    if not collected.folders:
        raise Misuse(f"there's no tool in {' or '.join(map(repr, found.paths))}")
    own = {each.name for each in collected.folders}
    wanted = collect(found.paths, names=names, exclude=found.exclude).folders if names else ()
    owners = {alias: each.name for each in wanted for alias in aliases_of(each)}
    return named_folders(
        collected.folders, [each if each in own else owners.get(each, each) for each in names]
    )


def _has_any(words: Sequence[str], example: Example) -> bool:
    text = f"{example.id} {example.document.get('description', '')}".casefold()
    return not words or any(word.casefold() in text for word in words)


def _write(tested: Sequence[Tested], duration: float, format_: str, junit: str | None) -> None:
    """Write the results to the standard output and, for ``--junit``, to a file."""
    if format_ == "json":
        shown: str | list[Piece] = json_text(_document(tested), indent=2)
    else:
        # failures come last, next to the summary
        kinds = ("skipped", "failed")
        unpassed = [each for kind in kinds for each in tested if each.status == kind]
        shown = [*chain.from_iterable(map(_pieces, unpassed)), _summary(tested, duration)]
    results: list[tuple[str | None, str | list[Piece]]] = [(None, shown)]
    if junit is not None:
        cases = [_case(each) for each in tested]
        results.append((junit, junit_document("sovl-tools test", cases, duration)))
    write_each(results)


def _pieces(tested: Tested) -> Iterator[Piece]:
    """Yield a line for a skipped example, and all details of a failed one."""
    status, example = tested.status, tested.example
    yield f"{plain(example.place)}: {example.name} "
    yield from ((status, _COLORS[status]), f": {plain(tested.first)}\n")
    if status == "failed":
        yield from (f"{line}\n" for line in tested.details)
        if tested.printed:
            yield "  printed:\n"
            yield from (f"    {plain(each)}\n" for each in tested.printed.splitlines())


def _summary(tested: Sequence[Tested], duration: float) -> str:
    counts = Counter(each.status for each in tested)
    states = [f"{counts[each]} {each}" for each in ("passed", "failed", "skipped") if counts[each]]
    words = f"{counted(len(tested), 'example')} in {duration:.2f} s"
    return f"{words}: {', '.join(states)}" if states else words


def _document(tested: Sequence[Tested]) -> JSON:
    counts = Counter(each.status for each in tested)
    return {
        "version": 1,
        "summary": {
            "examples": len(tested),
            **{status: counts[status] for status in ("passed", "failed", "skipped")},
        },
        "examples": [
            {
                "id": each.example.id,
                "tool": each.example.folder.name,
                "status": each.status,
                "message": each.message or None,
                "path": each.example.path,
                "line": each.example.line,
                "column": each.example.column,
                "duration": each.duration,
            }
            for each in tested
        ],
    }


def _case(tested: Tested) -> Case:
    example = tested.example
    failures = [Failure("example", tested.first, f"{example.place}: {tested.message}")]
    return Case(
        example.path,
        example.name,
        failures if tested.status == "failed" else (),
        tested.printed,
        tested.message if tested.status == "skipped" else "",
        tested.duration,
    )


_MOST_LINES = 20
_MOST_WORDS = 5


def check_routes(
    file: str, tools: option.ToolOptions, format_: str, *, at_least: float | None
) -> int:
    """Show the routes of a file's strings; return the exit code.

    Raises:
        Misuse: the file can't be read, or a line of it is wrong.
    """
    try:
        routes = read_routes(read_text(file))
        if not routes:
            raise Misuse(f"{file}: there's no string in it")
        routing = routing_of(routes, all_tools(tools))
    except RouteError as error:
        raise Misuse(f"{file}:{error.line}: {plain(error.message)}") from error
    recall = routing.recall("both", DEPTHS[0])
    if at_least is not None and recall is None:
        raise Misuse(f"{file}: no string is meant for a tool that is there, so there's no recall")
    if format_ == "json":
        show_json(document_of(routing), indent=2)
    else:
        show("\n".join(_routing_lines(file, routing)))
    if at_least is None or recall is None or recall >= at_least:
        return 0
    show(f"recall@{DEPTHS[0]} is {recall:.3f}, below {at_least:g}", err=True)
    return FINDINGS


def _routing_lines(file: str, routing: Routing) -> Iterator[str]:
    yield from _some([_missed(file, each) for each in routing.meant if each.is_missed])
    yield from _some([_false_offer(file, each) for each in routing.false_offers("both")])
    yield from _some(
        [f"{file}:{route.line}: omitted: {plain(why)}" for route, why in routing.left_out]
    )
    if routing.meant:
        head = ["recall", *(f"@{depth}" for depth in DEPTHS), f"NDCG@{DEPTHS[-1]}"]
        rows = [
            [way, *(f"{routing.recall(way, d):.2f}" for d in DEPTHS), f"{routing.ndcg(way):.2f}"]
            for way in WAYS
        ]
        yield table(head, rows, numbers=range(1, len(head)))
    number = len(routing.unmeant)
    if number:
        by_way = [f"{len(routing.false_offers(way))} by {way}" for way in OFFERING]
        yield f"false offers: {', '.join(by_way)} of {counted(number, 'text')} for no tool"
    yield f"{counted(len(routing.routed), 'text')}, {len(routing.meant)} of them for a tool"


def _some(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_LINES]
    if len(lines) > _MOST_LINES:
        yield f"… and {len(lines) - _MOST_LINES:,} more like the last one"


def _missed(file: str, routed: Routed) -> str:
    route, rank = routed.route, routed.rank("both")
    place = "is not found" if rank is None else f"comes as number {rank}"
    others = routed.found["both"][:1]
    astray = _astray(routed.astray) if others else ""
    first = f"{others[0]!r} comes first{astray}" if others else "no tool is found"
    text = f"{file}:{route.line}: {shown(route.text)} is meant for {route.tool!r}, which {place}"
    return f"{plain(text)}; {first}"


def _astray(words: Sequence[str]) -> str:
    """Return the words that lead astray; there are none where only the meaning is similar."""
    return f", by {', '.join(map(repr, words[:_MOST_WORDS]))}" if words else ""


def _false_offer(file: str, routed: Routed) -> str:
    tool = routed.found["both"][0]
    way = next(way for way in WAYS if tool in routed.found[way])
    text = f"{file}:{routed.route.line}: {shown(routed.route.text)} is meant for no tool"
    return f"{plain(text)}; {way} finds {tool!r}"
