"""``sovl-tools call``."""

from __future__ import annotations

import click

from sovl_tools.cli.arguments import parse_pairs, read_json
from sovl_tools.cli.command import (
    FINDINGS,
    MISUSE,
    Command,
    Misuse,
    ToolOptions,
    is_quiet,
    locked_option,
    mode_and_dask_options,
    registry_options,
    timeout_option,
)
from sovl_tools.cli.load_tools import complete_names, one_tool, parameters_of
from sovl_tools.cli.output import show, show_json
from sovl_tools.dispatch.cluster import connected
from sovl_tools.dispatch.tooler import Tooler
from sovl_tools.model.call import LogMessage, Mode, Progress
from sovl_tools.reporting.text import plain

EXAMPLES = """\b
Examples:
  sovl-tools call example_tool number1=5 number2=3
  sovl-tools call example_tool --args '{"number1": 5, "number2": 3}'
  echo '{"number1": 5, "number2": 3}' | sovl-tools call example_tool --args -
  sovl-tools call example_tool number1=5 number2=3 --mode process --timeout 10"""
EXITS = {
    1: "The tool did not load, failed, took too long, or returned a value that isn't JSON.",
    2: "The tool is unknown, or the arguments are invalid.",
}


@click.command(cls=Command, epilog=EXAMPLES, exits=EXITS)
@click.argument("name", shell_complete=complete_names)
@click.argument("pairs", nargs=-1, metavar="[KEY=VALUE]...")
@registry_options
@click.option("--args", "text", metavar="JSON|@FILE|-", help="All arguments as one JSON object.")
@timeout_option("The time limit of the call.")
@mode_and_dask_options
@locked_option
@click.option("--lenient", is_flag=True, help="Repair arguments where there is one way to do so.")
@click.pass_context
def call(
    ctx: click.Context,
    *,
    name: str,
    pairs: tuple[str, ...],
    tools: ToolOptions,
    text: str | None,
    timeout: float | None,
    mode: Mode | None,
    dask: str | None,
    lenient: bool,
) -> None:
    """Call a tool and print its result as JSON, nothing else.

    Only this tool is imported. Its own output and its progress go to the error output.
    `sovl-tools -v call …` shows the traceback of a tool that fails, -vv with our own lines.

    A value is read according to the parameter's schema: as text for a string, otherwise as JSON,
    or as text if only the text is valid.
    """
    if pairs and text is not None:
        raise Misuse("give the arguments as KEY=VALUE or with --args, not both")
    quiet = is_quiet()  # tools say things in other threads, where click has no context
    registry = one_tool(tools, name)
    parameters = parameters_of(registry, name)
    arguments = (
        parse_pairs(pairs, parameters, "--args") if text is None else read_json(text, "--args")
    )

    def hear(event: Progress | LogMessage) -> None:
        if not quiet:
            show(plain(describe_event(event)), err=True)

    with (
        connected(dask) as cluster,
        Tooler(
            registry,
            timeout=timeout,
            executor=cluster.executor,
            coerce="lenient" if lenient else "strict",
            on_event=hear,
        ) as tooler,
    ):
        result = tooler.call_sync(name, arguments, mode=mode)
    for repair in result.repairs:
        show(plain(f"{repair.path}: {repair.given!r} was taken as {repair.used!r}"), err=True)
    failure = result.error
    if failure is not None:
        where = "" if failure.place is None else f" ({failure.place})"
        for line in f"{failure.message}{where}".split("\n"):
            show(plain(line), err=True)
        is_misuse = failure.kind in {"invalid_arguments", "unknown_tool"}
        ctx.exit(MISUSE if is_misuse else FINDINGS)
    show_json(result.value)


def describe_event(event: Progress | LogMessage) -> str:
    """Return a tool's message about a running call in one line."""
    if isinstance(event, LogMessage):
        return f"{event.tool}: {event.level}: {event.message}"
    share = "" if not event.total else f" of {event.total:g} ({event.done / event.total:.0%})"
    words = f": {event.message}" if event.message else ""
    return f"{event.tool}: {event.done:g}{share}{words}"
