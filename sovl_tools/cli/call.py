"""``sovl-tools call``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from sovl_tools.cli import option
from sovl_tools.cli.arguments import parse_pairs, read_json
from sovl_tools.cli.command import FINDINGS, MISUSE, Command, Misuse, is_quiet
from sovl_tools.cli.load_tools import complete_names, one_tool, parameters_of
from sovl_tools.cli.output import json_text, show, show_json, write_to
from sovl_tools.cli.terminal_host import Reports, terminal_host
from sovl_tools.dispatch.cluster import connected
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import Mode
from sovl_tools.model.content import Audio, Image
from sovl_tools.model.result import ToolResult
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools call example_tool number1=5 number2=3
  echo '{"number1": 5, "number2": 3}' | sovl-tools call example_tool --args -
  sovl-tools call example_tool number1=5 number2=3 --mode process --timeout 10"""
EXITS = {
    1: "The tool did not load, failed, took too long, or returned a value that isn't JSON.",
    2: "The tool is unknown, or the arguments are invalid.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", shell_complete=complete_names)
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@option.registry
@click.option("--args", "text", metavar="JSON|@FILE|-", help="All arguments as one JSON object.")
@option.timeout("The time limit of the call.")
@option.mode
@option.dask
@option.locked
@click.option("--lenient", is_flag=True, help="Repair arguments where there is one way to do so.")
@option.file(
    "-o",
    "--output",
    words="Write JSON into a file, or the result's picture or sound.",
)
@click.pass_context
def call(
    ctx: click.Context,
    *,
    name: str,
    pairs: tuple[str, ...],
    tools: option.ToolOptions,
    text: str | None,
    timeout: float | None,
    mode: Mode | None,
    dask: str | None,
    lenient: bool,
    output: str | None,
) -> None:
    """Call a tool and print its result as JSON.

    Only this tool is imported. Its own output and its progress go to the error output.
    `sovl-tools -v call …` shows the traceback of a tool that fails, -vv with our own lines.

    A value is read according to the parameter's schema: as text for a string, otherwise as JSON,
    or as text if only the text is valid.
    """
    if pairs and text is not None:
        raise Misuse("give the arguments as KEY=VALUE or with --args, not both")
    registry = one_tool(tools, name)
    parameters = parameters_of(registry, name)
    arguments = (
        parse_pairs(pairs, parameters, "--args") if text is None else read_json(text, "--args")
    )

    with (
        connected(dask) as cluster,
        Reports(is_quiet=is_quiet()) as reports,
        Tooler(
            registry,
            policy=tools.settings().policy,
            timeout=timeout,
            executor=cluster.executor,
            coerce="lenient" if lenient else None,
            host=terminal_host(reports),
        ) as tooler,
    ):
        result = tooler.call_sync(name, arguments, mode=mode if dask is None else "process")
    for repair in result.repairs:
        show(plain(f"{repair.path}: {repair.given!r} was taken as {repair.used!r}"), err=True)
    failure = result.error
    if failure is not None:
        where = "" if failure.place is None else f" ({failure.place})"
        for line in f"{failure.message}{where}".split("\n"):
            show(plain(line), err=True)
        is_misuse = failure.kind in {"invalid_arguments", "unknown_tool"}
        ctx.exit(MISUSE if is_misuse else FINDINGS)
    if output is None:
        show_json(result.value)
    else:
        _save(result, output)


def _save(result: ToolResult, path: str) -> None:
    """Write a result to a file, several pictures or sounds to several, and print the paths."""
    blocks = [each for each in result.content if isinstance(each, Image | Audio)]
    if not blocks:
        write_to(path, json_text(result.value, indent=2))
    stem, extension = os.path.splitext(path)
    for number, block in enumerate(blocks, 1):
        name = path if number == 1 else f"{stem}-{number}{extension}"
        Path(name).write_bytes(block.data)
        show(plain(name))
